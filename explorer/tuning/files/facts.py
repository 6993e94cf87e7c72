"""What an export reports of a run; explorer.runs.record has all of it."""

# ruff: noqa: D102 (each protocol says in its own docstring what the properties are)

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from explorer.tuning.spec import RunSpec


class OutcomeFacts(Protocol):
    """The scores. metrics: by split, then by metric. rows: how many held-out rows of each split were measured."""

    @property
    def metrics(self) -> Mapping[str, Mapping[str, float | None]]: ...
    @property
    def rows(self) -> Mapping[str, int]: ...


class RealFacts(Protocol):
    """A measurement on the real file of a bundled task: the task's title, the file, its rows, the date and the command."""

    @property
    def title(self) -> str: ...
    @property
    def file(self) -> str: ...
    @property
    def rows(self) -> int: ...
    @property
    def metrics(self) -> Mapping[str, float | None]: ...
    @property
    def date(self) -> str: ...
    @property
    def command(self) -> str: ...


class ScriptFacts(Protocol):
    """What train.py takes from a run. scale: as in RunFacts."""

    @property
    def name(self) -> str: ...
    @property
    def spec(self) -> RunSpec: ...
    @property
    def labels(self) -> tuple[str, ...]: ...
    @property
    def scale(self) -> tuple[float, float]: ...
    @property
    def kind(self) -> str: ...


class RunFacts(ScriptFacts, Protocol):
    """A run. columns: the names of its one or two texts. metrics: names, the leading one first.

    scale: the mean and spread by which a regression's scores were normalised; (0, 1) for classes.

    kept: the step whose weights it has, 0 for the last.
    """

    @property
    def task_title(self) -> str: ...
    @property
    def columns(self) -> tuple[str, ...]: ...
    @property
    def metrics(self) -> tuple[str, ...]: ...
    @property
    def step(self) -> int: ...
    @property
    def kept(self) -> int: ...
    @property
    def seconds(self) -> float: ...
    @property
    def trainable(self) -> int: ...
    @property
    def parameters(self) -> int: ...
    @property
    def outcome(self) -> OutcomeFacts | None: ...
    @property
    def real(self) -> Sequence[RealFacts]: ...

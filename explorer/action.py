"""Describes a lab: a page, its question, and named actions that run anywhere (page, API client, script)."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from markupsafe import Markup

from explorer.engine.protocol import Engine, Job
from explorer.models.families import Capability
from explorer.plain import Plain
from explorer.tables import Table
from explorer.worked import Opening

SAVE_BESIDE_THE_PACKAGE = """\
# Save this as script.py in the BERT Explorer's folder, the one with
# app.py, since Python looks for `explorer` beside the script. After
# `make setup` run it from that folder:
#     .venv/bin/python script.py"""
"""The first lines of every script that imports this package."""

CHAPTERS = ("Read", "Learn", "Family", "Look inside", "Adapt", "Compress")


@dataclass(frozen=True)
class Action:
    """One thing that a visitor can do.

    params: the frozen dataclass that the job takes; its fields are the endpoint's parameters besides `model`. table: makes
    the table behind the figure from the job's result. called: its name, if it is not the job's.
    """

    job: Job
    params: type
    table: Callable[[Any], Table]
    check: Callable[[Any], None] | None = None
    """Raises ExplorerError for a result that a page can show and that answers nothing."""
    plain: Plain | None = None
    """Makes a script that computes the table without this package."""
    openings: tuple[Opening, ...] = ()
    """What its tab opens with, if that takes too long to be computed for every visitor: for the page's first model, and
    for others that may be in the picker.
    """
    called: str = ""

    @property
    def name(self) -> str:
        """The endpoint, and its name for explorer.run."""
        return self.called or function_name(self.job)

    @property
    def takes_model(self) -> bool:
        """Whether the job runs on the page's model."""
        return self.job.on == "model"

    def script(self, model_id: str, params: Any) -> str:
        """Return a Python script that computes the same numbers outside the page; parameters at their default are left out."""
        named = model_id if self.job.on == "model" else getattr(params, "model", None)
        return _script(self.name, named, params)


@dataclass(frozen=True)
class LiveAction:
    """Something that goes on for a while and shows its progress.

    source: a job that is a generator; or, for runs that train, `module:function`, called as `(engine, params, owner)`:
    it yields results, and None if nothing is new, and never waits. params: a dataclass; a field called `model` is the
    page's. check: raises ExplorerError for a last result that is a failure. called: its name, if it is not the source's.
    """

    source: Job | str
    params: type
    table: Callable[[Any], Table]
    check: Callable[[Any], None] | None = None
    plain: Plain | None = None
    """As in Action."""
    openings: tuple[Opening, ...] = ()
    """As in Action."""
    called: str = ""

    @property
    def name(self) -> str:
        """As in Action."""
        return self.called or function_name(self.source)

    @property
    def takes_model(self) -> bool:
        """Whether the parameters name a model."""
        return any(field.name == "model" for field in fields(self.params))

    def follow(self, engine: Engine, params: Any, owner: str) -> Iterator[Any]:
        """Yield results as they come, and None if nothing is new; the caller pauses between two looks, and closes it."""
        if isinstance(self.source, Job):
            return engine.follow(self.source, params)
        module, name = self.source.split(":")
        results: Iterator[Any] = getattr(importlib.import_module(module), name)(engine, params, owner)
        return results

    def script(self, params: Any) -> str:
        """Return a script as Action.script does."""
        return _script(self.name, getattr(params, "model", None), params)


def function_name(source: Job | str) -> str:
    """Return the name of the function that answers."""
    return (source.function if isinstance(source, Job) else source).split(":")[1]


def _script(name: str, model_id: str | None, params: Any) -> str:
    given = [
        f"    {field.name}={getattr(params, field.name)!r},"
        for field in fields(params)
        if field.name != "model" and getattr(params, field.name) != field.default
    ]
    lines = [
        SAVE_BESIDE_THE_PACKAGE,
        "import explorer",
        "",
        "answer = explorer.run(",
        f"    {name!r},",
        *([f"    model={model_id!r},"] if model_id is not None else []),
        *given,
        ")",
        "print(answer)",
    ]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Reads:
    """How a page takes a sentence that a visitor brings from another.

    name: of the parameter that it becomes. tab: where that stands; "" for the first. how: "any" as it was typed; "whole" only
    where no word is hidden; "masked" with [MASK] for the hidden word; "hidden" with the word named in also_mask; "prefix" the
    words before the hidden one.
    """

    name: str
    how: Literal["any", "whole", "masked", "hidden", "prefix"]
    tab: str = ""


@dataclass(frozen=True)
class Lab:
    """One page.

    slug: its URL. question: the one that the page answers, its subtitle. tab: `module:function` that builds the page, or
    `module:name` of its one Tab; named rather than imported, so that scripts use the actions without the web interface.
    """

    slug: str
    title: str
    chapter: str
    question: str
    teaser: str
    needs: Capability | None
    actions: tuple[Action | LiveAction, ...]
    tab: str
    reads: Reads | None = None
    without_head: Mapping[str, Markup] = field(default_factory=dict)
    """Why a model lacks the head that this page needs, shown if the chosen one does: by the family's name in its
    config; "" for all others.
    """

"""The files beside a bundled model: the figures that were measured of it, and the log of its training."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from explorer.errors import ExplorerError

FORMATS = {
    "share": "{:.2%}",
    "nats": "{:.3f} nats",
    "bits": "{:.3f} bits",
    "plain": "{:.3f}",
    "count": "{:,.0f}",
    "times": "{:.2f} times",
}
"""The format of a figure for each unit."""

PROPORTIONS = ("mlm_top_", "nsp_", "sop_", "rtd_found", "rtd_false")
"""Beginnings of the names of measures that are a share of right answers, out of the number that `over` begins with."""

FURTHER = "further.json"
"""Beside training.json where a finished model has gone on: a list, one entry for each time."""

COUNTERS = ("step", "tokens", "seconds")
"""The counts that every point of a training's log has."""


@dataclass(frozen=True)
class Measure:
    """A figure with its name (a key), its description, its unit (a key of FORMATS) and what it was measured over.

    date: of the measurement, if it differs from the rest of its file.
    """

    name: str
    what: str
    value: float
    unit: str
    over: str
    date: str = ""

    @property
    def over_and_when(self) -> str:
        """What it was measured over, and the date if it is not the rest's."""
        return f"{self.over}, measured on {self.date}" if self.date else self.over

    @property
    def shown(self) -> str:
        """The figure in the format of its unit."""
        return FORMATS[self.unit].format(self.value)

    @property
    def standard_error(self) -> float | None:
        """The standard error of a share of right answers, the square root of p(1 - p)/n; None for any other figure.

        The answers count as independent: those of one text are not quite, so the true error is somewhat larger.
        """
        count = re.match(r"[\d,]+", self.over)
        if self.unit != "share" or count is None or not self.name.startswith(PROPORTIONS):
            return None
        return math.sqrt(self.value * (1 - self.value) / int(count.group().replace(",", "")))

    @property
    def shown_with_error(self) -> str:
        """The figure with its standard error in points, if it has one."""
        error = self.standard_error
        return self.shown if error is None else f"{self.shown} ± {100 * error:.2f}"

    def __str__(self) -> str:
        return f"{self.what}: {self.shown_with_error} ({self.over})"


@dataclass(frozen=True)
class Scores:
    """The contents of a model's scores.json. command: measures the figures again. text: the file that they were measured on."""

    date: str
    command: str
    text: str
    measures: tuple[Measure, ...]

    def find(self, name: str) -> Measure | None:
        """Return the measure of a name; None if it was not measured."""
        return {measure.name: measure for measure in self.measures}.get(name)


def read_scores(folder: Path) -> Scores | None:
    """Return a model's held-out figures; None if none are kept. Raises ExplorerError for a file that is broken."""
    kept = _read(folder / "scores.json")
    if kept is None:
        return None
    try:
        measures = tuple(Measure(**measure) for measure in kept["measures"])
        return Scores(kept["date"], kept["command"], kept["text"], measures)
    except (KeyError, TypeError) as error:
        raise ExplorerError(f"{folder / 'scores.json'} is not as this app writes it ({error!r}).") from error


def read_curve(folder: Path) -> tuple[Mapping[str, float], ...]:
    """Return a training's points, each with COUNTERS and what was logged; empty if no log is kept."""
    kept = _read(folder / "curve.json")
    return () if kept is None else tuple(kept["points"])


def read_further(folder: Path) -> list[dict[str, Any]]:
    """Return the recipe of each time that a finished model has gone on, with its steps, tokens and seconds."""
    kept: list[dict[str, Any]] | None = _read(folder / FURTHER)
    return kept or []


def harder_from(folder: Path) -> int | None:
    """Return the step of its curve from which a model's training made its rows or states harder on purpose: by invented
    names, or by dropout. None if it never did.
    """
    begun = (_read(folder / "training.json") or {}).get("steps", 0)
    for more in read_further(folder):
        done = 0.0
        for stage in more["stages"]:
            if stage.get("new_names") or stage.get("dropout"):
                return int(begun + round(done * more["steps"]))
            done += stage["share"]
        begun += more["steps"]
    return None


def _read(path: Path) -> Any:
    if not path.is_file():
        return None
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ExplorerError(f"{path} is broken: {error}. Take it from the repository again.") from error

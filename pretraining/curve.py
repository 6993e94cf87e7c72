"""A training run's log, thinned to what a figure shows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

POINTS = 200
COUNTERS = ("step", "tokens", "seconds")


def thinned(log: Path, points: int = POINTS) -> list[dict[str, float]]:
    """At most `points` entries of a log.jsonl: the last counters and the mean losses and accuracies of as many stretches.

    A log of a run that was resumed from a checkpoint may tell some steps twice; the later entry counts.
    """
    by_step = {entry["step"]: entry for entry in map(json.loads, log.read_text().splitlines())}
    entries = [by_step[step] for step in sorted(by_step)]
    size = -(-len(entries) // points)
    return [_mean(entries[first : first + size]) for first in range(0, len(entries), size)] if entries else []


def _mean(entries: list[dict[str, Any]]) -> dict[str, float]:
    point: dict[str, float] = {name: round(entries[-1][name], 1) for name in COUNTERS}
    names = {name: None for entry in entries for name in entry if name.endswith(("_loss", "_accuracy", "_share"))}
    for name in names:
        values = [entry[name] for entry in entries if name in entry]
        point[name] = round(sum(values) / len(values), 4)
    return point


def gone_on(first: Sequence[Mapping[str, float]], log: Path) -> list[dict[str, float]]:
    """Return a first training's points with those of a further one after them, whose counters go on from there."""
    ended = first[-1] if first else dict.fromkeys(COUNTERS, 0.0)
    later = [point | {name: round(point[name] + ended[name], 1) for name in COUNTERS} for point in thinned(log)]
    return [*map(dict, first), *later]


def write_curve(points: Sequence[Mapping[str, float]], target: Path, name: str) -> None:
    """Write curve.json: the run's name and its points, one a line."""
    lines = ",\n".join(map(json.dumps, points))
    target.write_text(f'{{"name": {json.dumps(name)}, "points": [\n{lines}\n]}}\n')

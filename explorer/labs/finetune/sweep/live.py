"""A sweep's runs, started together and followed."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.engine.protocol import Engine
from explorer.labs.finetune.sweep.schema import SETTINGS, Sweep, SweepParams
from explorer.runs.comparing import follow_all, start_all
from explorer.tuning.methods import find_method


def sweep(engine: Engine, params: SweepParams, owner: str) -> Iterator[Sweep | None]:
    """Start every run of the sweep and follow them all; what this model cannot have is missing, with the reason."""
    runs, swept = engine.runs, SETTINGS[params.setting]
    started, missing = start_all(
        runs, params.specs(), owner, lambda spec: f"{find_method(spec.method).title}, {swept.of(spec)}"
    )
    for compared in follow_all(runs, started, missing):
        yield None if compared is None else Sweep(params.setting, compared)

"""A sweep's runs, started together and followed."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.engine.protocol import Engine
from explorer.errors import BadInputError, ExplorerError
from explorer.labs.finetune.sweep.schema import SETTINGS, Sweep, SweepParams
from explorer.runs.following import follow_all
from explorer.tuning.methods import find_method


def sweep(engine: Engine, params: SweepParams, owner: str) -> Iterator[Sweep | None]:
    """Start every run of the sweep and follow them all; what this model cannot have is missing, with the reason."""
    started, missing = list[str](), dict[tuple[str, str], None]()
    for spec in params.specs():
        try:
            started.append(engine.runs.start(spec, owner))
        except ExplorerError as error:
            missing[f"{find_method(spec.method).title}, {SETTINGS[params.setting].of(spec)}", str(error)] = None
    if not started:
        raise BadInputError(next(iter(missing))[1])
    for compared in follow_all(engine.runs, tuple(started), tuple(missing)):
        yield None if compared is None else Sweep(params.setting, compared)

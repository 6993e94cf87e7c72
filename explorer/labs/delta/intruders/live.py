"""Training LoRA and all of the model, to count both runs' intruders."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.engine.protocol import Engine, Job
from explorer.labs.delta.intruders.schema import IntruderParams, TrainedIntruders, TrainIntrudersParams
from explorer.labs.delta.live import require_success
from explorer.runs.comparing import Compared, follow_all

INTRUDERS = Job("explorer.labs.delta.intruders.jobs:intruder_dimensions", on="resources")


def train_intruders(engine: Engine, params: TrainIntrudersParams, owner: str) -> Iterator[TrainedIntruders | None]:
    """Train LoRA and all of the model on the same examples, then look for intruders in each (Shuttleworth et al. 2024)."""
    lora, full = started = tuple(engine.runs.start(spec, owner) for spec in params.specs())
    last = Compared(())
    for compared in follow_all(engine.runs, started):
        last = compared or last
        yield TrainedIntruders(compared) if compared is not None else None
    require_success(last)  # before anything is asked of a run that failed
    asked = IntruderParams(lora, full, params.layer, params.module, params.k, params.epsilon)
    yield TrainedIntruders(last, engine.follow(INTRUDERS, asked).last.result())

"""What a student saves: parameters, bytes and milliseconds, measured here beside its teacher."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from torch import nn
from transformers import PreTrainedModel

from explorer.labs.distillation.train import MeasureParams, Size
from explorer.models.inside import depth_of
from explorer.models.timing import typical_milliseconds
from explorer.runs.open import OpenRun, OpenRuns
from explorer.settings import settings
from explorer.tasks.sources import load
from explorer.tuning.adapted import Adapted, adapt
from explorer.tuning.merging import merged
from explorer.tuning.rows import tokenise
from explorer.tuning.spec import LONGEST_ROW

BATCHES = (1, 16)
TIMED = 7


def measure(open_run: OpenRuns, params: MeasureParams) -> tuple[Size, ...]:
    """Weigh and time each run's model. How long it takes depends on its shape alone, so its weights need not be here."""
    works = [_Timed(open_run(run_id)) for run_id in params.runs]
    names = params.runs
    if params.whole:
        works, names = [_Timed(open_run(params.runs[0]), whole=True), *works], ("", *params.runs)
    calls = [partial(work.answer, batch) for work in works for batch in range(len(BATCHES))]
    # In turns, so that a busy moment hits all alike.
    times = [spent.median for spent in typical_milliseconds(calls, works[0].device, TIMED)]
    return tuple(
        Size(
            run_id,
            sum(parameter.numel() for parameter in work.model.parameters()),
            sum(parameter.numel() * parameter.element_size() for parameter in work.model.parameters()),
            (times[len(BATCHES) * place], times[len(BATCHES) * place + 1]),
        )
        for place, (run_id, work) in enumerate(zip(names, works, strict=True))
    )


class _Timed:
    """One run's model with its batches of held-out texts. whole: builds all layers of the model that it is cut from."""

    def __init__(self, run: OpenRun, whole: bool = False) -> None:
        spec, loaded = run.record.spec, run.loaded()
        if whole:
            spec = replace(spec, student_layers=depth_of(loaded.model), start="teacher")
        adapted = adapt(loaded, len(run.record.labels) or 1, spec)  # a score has no labels, and one output
        self.model, self.device = _plain(adapted), adapted.loaded.device
        held_out = next(iter(load(run.record.spec.task, settings()).validation.values()))
        rows = tokenise(adapted.loaded, held_out[: BATCHES[-1]], min(LONGEST_ROW, adapted.longest))
        # The text of median length.
        middle = sorted(range(len(rows)), key=lambda place: int(rows.lengths[place]))[len(rows) // 2]
        self.inputs = [adapted.taken(rows.batch(places, self.device)[0]) for places in ([middle], range(len(rows)))]

    def answer(self, batch: int) -> object:
        """Run one forward pass."""
        return self.model(**self.inputs[batch])


def _plain(adapted: Adapted) -> PreTrainedModel | nn.Module:
    """Return the model as it would be served: merged if the method allows that."""
    return adapted.model if adapted.method.unmergeable else merged(adapted)

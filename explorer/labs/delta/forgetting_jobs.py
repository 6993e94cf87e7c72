"""The job behind forgetting: the model before, then one run a turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import cast

from torch import Tensor

from explorer.engine.resources import Resources
from explorer.errors import BadInputError
from explorer.labs.delta.forgetting import Estimate, ForgettingParams, ForgettingResult, Remembered
from explorer.maths.paired import bootstrapped_means, interval
from explorer.runs.open import OpenRun
from explorer.settings import settings
from explorer.tasks.formats.text import TEXT
from explorer.tasks.sources import load
from explorer.tuning.adapted import Adapted
from explorer.tuning.forgetting import Guessed, guess, held_out_rows, untouched, why_unmeasured, with_own_head
from explorer.tuning.methods import find_method


def forgetting(resources: Resources, params: ForgettingParams) -> Iterator[ForgettingResult]:
    """Measure accuracy and loss of hidden words, of the model and of each run's body under the model's own head.

    Raises BadInputError for runs of several models, MissingCapabilityError for a model that fills no masks.
    """
    runs = [resources.open_run(name) for name in params.runs]
    models = list(dict.fromkeys(run.record.spec.model for run in runs))
    if len(models) > 1:
        raise BadInputError(
            f"These runs are of different models ({', '.join(models)[:120]}), which know different things to begin with. "
            "Choose runs of one model."
        )
    reasons = {run.record.run_id: _why_not(run) for run in runs}
    measured = [run for run in runs if not reasons[run.record.run_id]]
    left_out = tuple((run.record.name, reasons[run.record.run_id]) for run in runs if reasons[run.record.run_id])
    if not measured:
        raise BadInputError(": ".join(left_out[0]))
    before = _before(resources, measured[0])
    accuracy, loss = _mean(before.right, before.words), _mean(before.loss, before.words)
    result = ForgettingResult(
        models[0], len(before.words), int(before.words.sum()), accuracy, loss, (), left_out, len(measured)
    )
    yield result  # the model's own bar, at once
    for run in measured:
        result = replace(result, runs=(*result.runs, _remembered(run, _after(resources, run), before)))
        yield result


def _why_not(run: OpenRun) -> str:
    """Say why a run has no before and after; "" if it has."""
    if run.record.from_nothing:
        return "it began from nothing, so there is nothing that it could have forgotten."
    if reason := why_unmeasured(find_method(run.record.spec.method)):
        return reason
    try:
        run.require_weights()
    except BadInputError as error:
        return str(error)
    return ""


def _before(resources: Resources, run: OpenRun) -> Guessed:
    def make() -> Guessed:
        return _guessed(run, run.restore(), after=False)

    return cast(Guessed, resources.once(("before", run.record.spec.model), make))  # what its runs share


def _after(resources: Resources, run: OpenRun) -> Guessed:
    def make() -> Guessed:
        return _guessed(run, run.restore(), after=True)

    return cast(Guessed, resources.once(("after", run.record.run_id), make))


def _guessed(run: OpenRun, adapted: Adapted, after: bool) -> Guessed:
    sentences = load(TEXT.slug, settings()).validation["validation"]
    model = with_own_head(adapted) if after else untouched(run.loaded())
    return guess(model, adapted, held_out_rows(run.loaded(), sentences))


def _remembered(run: OpenRun, after: Guessed, before: Guessed) -> Remembered:
    record, words = run.record, after.words
    return Remembered(
        record.name,
        find_method(record.spec.method).title,
        record.leading_metric,
        record.score,
        _mean(after.right, words),
        _mean(after.loss, words),
        # Differences on the same words vary less than their means.
        _mean(after.right - before.right, words),
        _mean(after.loss - before.loss, words),
    )


def _mean(totals: Tensor, words: Tensor) -> Estimate:
    """Return the mean over words; its interval draws sentences again, since words of one sentence are guessed together."""
    return Estimate(float(totals.sum() / words.sum()), *interval(bootstrapped_means([totals], words)[0]))

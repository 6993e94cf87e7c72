"""The pruning lab's jobs, each a second or so: on a pretrained model, or (names ending in _of_run) on a fine-tuned run."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from explorer.compress import between, quantised
from explorer.compress.cuts import Cut
from explorer.compress.importance import Weights, block_names, unit_sums, weight_scores
from explorer.compress.removal import Removed, count_parameters, masked, remove, size_in_bytes
from explorer.compress.saving import opens_plainly, zip_pruned
from explorer.compress.sparse import Masks, share_gone, weights_gone, without_weights, zeroed
from explorer.compress.subject import Subject, of_model, of_run
from explorer.compress.timing import batch_of, milliseconds
from explorer.errors import BadInputError
from explorer.labs.pruning.kept import Kept, find, keep, weights_of
from explorer.labs.pruning.params import Asking, CutJob, ExportParams, UnitJob, WeightJob
from explorer.labs.pruning.schema import (
    About,
    Exported,
    FormResult,
    Grid,
    ImportanceResult,
    Left,
    Measured,
    Speed,
    Thinned,
    Trained,
    UnitSums,
)
from explorer.models.bundle import Bundle
from explorer.settings import settings
from explorer.tasks.metrics import METRICS
from explorer.tasks.sources import load
from explorer.tuning.files.zips import export_path
from explorer.tuning.reading import Scale

if TYPE_CHECKING:
    from explorer.backend.runs.open import OpenRuns

STANDARD_TASK = "sst2"
COLUMN_BATCH = 16
"""Rows of the calls that the milliseconds of a table are of."""

GAP_ROWS = 16
MOST_SUBJECTS = 2


_SUBJECTS_LOCK, _SCORES_LOCK = threading.Lock(), threading.Lock()
_SUBJECTS: OrderedDict[Any, Subject] = OrderedDict()
_SCORES: dict[Any, tuple[Subject, Weights, dict[tuple[int, str], float]]] = {}


def _subject(key: Any, make: Callable[[], Subject]) -> Subject:
    """Made once for the jobs that ask about it; outside of inference mode, so that gradients can flow through it."""
    with _SUBJECTS_LOCK:
        if key not in _SUBJECTS:
            with torch.inference_mode(False), torch.no_grad():
                _SUBJECTS[key] = make()
        _SUBJECTS.move_to_end(key)
        while len(_SUBJECTS) > MOST_SUBJECTS:
            _SUBJECTS.popitem(last=False)
        return _SUBJECTS[key]


def _of_model(bundle: Bundle, params: Asking) -> Subject:
    task = params.task or STANDARD_TASK
    key = (id(bundle.model), task, params.examples, params.held_out)
    return _subject(key, lambda: of_model(bundle, load(task, settings()), params.examples, params.held_out))


def _of_run(open_run: OpenRuns, params: Asking) -> Subject:
    run = open_run(params.run)
    run.require_weights()
    record, adapted = run.record, run.restore()
    task = params.task or record.spec.task
    key = (id(adapted), task, params.examples, params.held_out)

    def make() -> Subject:
        data = load(task, settings())
        return of_run(adapted, record.name, data, Scale(*record.scale), params.examples, params.held_out)

    return _subject(key, make)


Work = Callable[[Subject, Any], Any]


def _jobs(work: Work) -> tuple[Callable[[Bundle, Any], Any], Callable[[Any, Any], Any]]:
    """The same work as a job on a model and as one on runs."""

    def on_model(bundle: Bundle, params: Any) -> Any:
        return work(_of_model(bundle, params), params)

    def on_run(open_run: Any, params: Any) -> Any:
        return work(_of_run(open_run, params), params)

    return on_model, on_run


def _about(subject: Subject, params: Asking) -> About:
    asks = subject.kind.asks if params.loss == "labels" else "the entropy of the model's own output"
    return About(
        subject.name,
        subject.data.task.title,
        METRICS[subject.metric].title,
        asks,
        subject.shape,
        len(subject.examples),
        len(subject.held_out),
        subject.fixed,
    )


def _unit(subject: Subject, params: UnitJob) -> UnitSums:
    kept = weights_of(params.key, params.rounds)
    model = between.with_weights(subject, kept.weights) if kept else None
    stop = min(params.stop, len(subject.examples))
    found = unit_sums(subject, params.unit, params.loss, params.start, stop, params.cut, model)
    return UnitSums(_grid(found.absolute), _grid(found.squares), found.count)


def _grid(values: Tensor) -> Grid:
    return tuple(tuple(row) for row in values.tolist())


def _scored(subject: Subject, params: WeightJob) -> tuple[Weights, dict[tuple[int, str], float]]:
    """Scores of all weights; kept for the next job, for one model only, since they take as much memory as the weights."""
    examples = 0 if params.score == "magnitude" else len(subject.examples)
    key = (id(subject.model), subject.data.name, params.score, params.loss, examples)
    with _SCORES_LOCK:
        if key not in _SCORES:
            _SCORES.clear()
            with torch.inference_mode(False):
                _SCORES[key] = (subject, *weight_scores(subject, params.score, params.loss, examples))
        return _SCORES[key][1:]


def _weights(subject: Subject, params: WeightJob) -> ImportanceResult:
    scores, errors = _scored(subject, params)
    names = block_names(subject)
    blocks = range(subject.shape.blocks)
    grid = tuple(tuple(float(scores[block, name].mean()) for name in names) for block in blocks)
    wrong = tuple(tuple(errors.get((block, name)) for name in names) for block in blocks)
    count = len(subject.examples)
    return ImportanceResult(
        _about(subject, params), "weight", params.score, params.loss, grid, wrong, count, count, names
    )


def _without_weights(subject: Subject, params: WeightJob) -> Measured:
    scores, _ = _scored(subject, params)
    gone = weights_gone(subject, scores, params.share, params.order, params.seed)
    model = without_weights(subject, gone)
    return Measured(subject.measure(model), _not_zero(model, gone), size_in_bytes(model))


@torch.inference_mode(False)
@torch.no_grad()
def _thin(subject: Subject, params: WeightJob) -> Thinned:
    """One step towards a share of single weights at 0: scores of the model as it stands, then the threshold."""
    kept = weights_of(params.key, params.rounds)
    if kept is None:
        now, (scores, _) = subject, _scored(subject, params)
        kept = Kept(Cut(), {})
    else:
        now = _trained(subject, kept)
        scores, _ = weight_scores(now, params.score, params.loss, len(subject.examples))
    gone = weights_gone(now, scores, params.share, params.order, params.seed, kept.gone)
    keep(params.key, Kept(Cut(), {**kept.weights, **zeroed(now, gone)}, gone))
    return Thinned(share_gone(gone))


def _measure(subject: Subject, params: CutJob) -> Measured:
    kept = weights_of(params.key, params.rounds)
    with _pruned(subject, params) as model:
        spent = _timed(subject, [model])[0] if params.timed else None
        left = _not_zero(model, kept.gone if kept else {})
        return Measured(subject.measure(model), left, size_in_bytes(model), spent)


def _not_zero(model: Any, gone: Masks) -> int:
    """Parameters without the single weights that are gone."""
    return count_parameters(model) - sum(int(mask.sum()) for mask in gone.values())


def _timed(subject: Subject, models: list[Any], size: int = COLUMN_BATCH) -> list[float]:
    inputs = batch_of(subject, size)
    return milliseconds([lambda model=model: subject.scores(model, inputs) for model in models], subject.bundle.device)  # type: ignore[misc]


def _pruned(subject: Subject, params: CutJob) -> Any:
    """The model without the cut, with the weights that were trained under the job's key."""
    return _trained(subject, weights_of(params.key, params.rounds)).without(params.cut)


def _trained(subject: Subject, kept: Kept | None) -> Subject:
    if kept is None or not kept.weights:
        return subject
    return subject.having(between.with_weights(subject, kept.weights))


def _speed(subject: Subject, params: CutJob) -> Speed:
    with _pruned(subject, params) as model:
        before, after = _timed(subject, [subject.tree(), model], params.batch)
    return Speed(params.batch, before, after)


def _check(subject: Subject, params: CutJob) -> Left:
    """What is left, and whether masked and removed say the same; from here on it can be taken home by the job's key."""
    kept = weights_of(params.key, params.rounds)
    keep(params.key, Kept(params.cut, kept.weights if kept else {}))
    subject, shape = _trained(subject, kept), subject.shape
    reason = subject.why_not(params.cut)
    if reason is not None:
        depths = tuple(range(shape.depth))
        return Left((shape.heads,) * shape.depth, (shape.neurons,) * shape.depth, depths, None, False, reason)
    removed = remove(subject.model, subject.bundle.architecture, params.cut)
    inputs, tree = batch_of(subject, min(GAP_ROWS, len(subject.held_out))), subject.tree()
    with masked(tree, subject.bundle.architecture, params.cut, shape):
        expected = subject.scores(tree, inputs).float()
    gap = float((subject.scores(removed.model, inputs).float() - expected).abs().max())
    plain = opens_plainly(removed, subject.bundle.architecture)
    return Left(*_by_layer(removed), gap, plain)


def _by_layer(removed: Removed) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """heads and neurons of each layer that is left; a shared block's at every depth."""
    if not removed.before.shared:
        return removed.heads, removed.neurons, removed.layers
    blocks = [removed.before.block_of(depth) for depth in removed.layers]
    heads, neurons = (tuple(part[block] for block in blocks) for part in (removed.heads, removed.neurons))
    return heads, neurons, removed.layers


def _train(subject: Subject, params: CutJob) -> Trained:
    kept = weights_of(params.key, params.rounds) or Kept(params.cut, {})
    weights, loss = between.trained(subject, params.cut, kept.weights, params.steps, params.rounds, kept.gone)
    keep(params.key, Kept(params.cut, weights, kept.gone))
    return Trained(loss)


def _form(subject: Subject, params: CutJob) -> FormResult:
    with subject.without(params.cut) as model:
        form = quantised.in_form(model, params.form)
    metric = subject.on_cpu().measure(form.model, quick=False)
    return FormResult(form.name, 0.0, form.bytes, None, metric, form.note)


def _forms_timed(subject: Subject, params: CutJob) -> tuple[float, ...]:
    """Milliseconds of every form, in turns."""
    inputs = {name: tensor.cpu() for name, tensor in batch_of(subject, params.batch).items()}
    on_cpu = subject.on_cpu()
    with subject.without(params.cut) as model:
        forms = [quantised.in_form(model, name).model for name in quantised.FORMS]
    calls = [lambda form=form: on_cpu.scores(form, inputs) for form in forms]
    return tuple(milliseconds(calls, torch.device("cpu")))


def _export(subject: Subject, params: ExportParams) -> Exported:
    kept = find(params.key)
    if kept is None:
        raise BadInputError("This pruned model is not kept any more. Prune again, then take it home.")
    subject = _trained(subject, kept)
    reason = subject.why_not(kept.cut)
    if reason is not None:
        raise BadInputError(f"These parts are masked and not taken out, so there is nothing to take home: {reason}.")
    removed = remove(subject.model, subject.bundle.architecture, kept.cut)
    target = export_path("pruned", params.key, "pruned-model.zip", settings())
    title = f"{subject.name}, pruned"
    return Exported(
        str(target), zip_pruned(removed, subject.bundle.architecture, subject.bundle.tokenizer, target, title)
    )


about, about_of_run = _jobs(_about)
unit, unit_of_run = _jobs(_unit)
weights, weights_of_run = _jobs(_weights)
without, without_of_run = _jobs(_without_weights)
thin, thin_of_run = _jobs(_thin)
measure, measure_of_run = _jobs(_measure)
speed, speed_of_run = _jobs(_speed)
check, check_of_run = _jobs(_check)
train, train_of_run = _jobs(_train)
form, form_of_run = _jobs(_form)
forms_timed, forms_timed_of_run = _jobs(_forms_timed)
export, export_of_run = _jobs(_export)

"""The pruning lab's jobs: importance chunk by chunk, the three orders, the forms of a model, heads by hand, what goes home.

Each works on the run that is named, else on the model, and gives its results as they come.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

import torch

from explorer.compress import quantised
from explorer.compress.cuts import NOTHING, by_hand, check_cut, chosen, share_gone
from explorer.compress.importance import block_names, weights_gone, without_weights
from explorer.compress.removal import remove, size_in_bytes
from explorer.compress.saving import zip_pruned
from explorer.engine.computation import AT_ONCE, Together
from explorer.engine.resources import Resources
from explorer.errors import BadInputError
from explorer.labs.pruning.params import (
    FORMS,
    SHARES,
    ExportParams,
    HandParams,
    ImportanceParams,
    OrdersParams,
    QuantiseParams,
)
from explorer.labs.pruning.schema import (
    Exported,
    FormResult,
    Grid,
    HandResult,
    ImportanceResult,
    Measured,
    OrderPoint,
    OrdersResult,
    QuantiseResult,
)
from explorer.labs.pruning.work import Pruned, Work, find, grid_of, importance_of, opened, parameters_left
from explorer.maths.importance import Sums, agreement
from explorer.models.timing import milliseconds
from explorer.settings import settings
from explorer.tuning.files.zips import export_path


def importance(resources: Resources, params: ImportanceParams) -> Generator[Any, Any, None]:
    """Measure the importance of every head, neuron, layer or weight: ImportanceResult, with more examples each time."""
    work = opened(resources, params)
    if params.unit == "weight":
        yield _of_weights(work, params)
        return
    parts: list[Sums] = []
    for first in range(0, len(work.starts), AT_ONCE):
        parts += yield Together(lambda start: work.sums(params.unit, start), work.starts[first : first + AT_ONCE])
        whole = reduce(add, parts)
        mean, error = importance_of(whole, params.score)
        yield ImportanceResult(
            work.about, params.unit, params.score, params.loss, grid_of(mean), _errors(error, whole.count), whole.count,
            # Halves of all examples: earlier ones would mislead.
            work.about.examples, agreement=agreement(parts) if whole.count >= work.about.examples else (),
        )  # fmt: skip


def _errors(error: torch.Tensor, count: int) -> tuple[tuple[float | None, ...], ...]:
    """Return the errors as plain values, None if one example gives no error."""
    return grid_of(error) if count > 1 else tuple((None,) * len(row) for row in error)


def _of_weights(work: Work, params: ImportanceParams) -> ImportanceResult:
    scores, errors = work.scores(params.score)
    names, blocks = block_names(work.subject), range(work.subject.shape.blocks)
    grid = tuple(tuple(float(scores[block, name].mean()) for name in names) for block in blocks)
    wrong = tuple(tuple(errors.get((block, name)) for name in names) for block in blocks)
    count = work.about.examples
    return ImportanceResult(work.about, "weight", params.score, params.loss, grid, wrong, count, count, names)


def compare_orders(resources: Resources, params: OrdersParams) -> Generator[Any, Any, None]:
    """Measure the metric against the share left, least important first, most important first, at random: OrdersResult."""
    work = opened(resources, params)
    whole = work.measure()
    lines = [("least", 0), ("most", 0), *(("random", draw) for draw in range(params.draws))]
    # All lines begin at the whole model.
    points = [OrderPoint(order, draw, 0.0, whole.metric, whole.parameters) for order, draw in lines]
    places = [(order, draw, share) for share in SHARES for order, draw in lines]
    total = len(points) + len(places)
    yield OrdersResult(work.about, params.unit, tuple(points), total)
    # Single weights have scores, no gates.
    grids = {} if params.unit == "weight" else (yield from work.grids(params.unit, params.score))

    def point(place: tuple[str, int, float]) -> OrderPoint:
        return _point(work, params, grids, *place)

    for first in range(0, len(places), AT_ONCE):
        points += yield Together(point, places[first : first + AT_ONCE])
        ordered = sorted(points, key=lambda point: (point.order, point.draw, point.share))
        yield OrdersResult(work.about, params.unit, tuple(ordered), total)


def _point(work: Work, params: OrdersParams, grids: dict[str, Grid], order: str, draw: int, share: float) -> OrderPoint:
    """Measure one point of one line."""
    if params.unit == "weight":
        gone = weights_gone(work.subject, work.scores(params.score)[0], share, order, draw)
        model = without_weights(work.subject, gone)
        found = Measured(work.subject.measure(model), parameters_left(model, gone), size_in_bytes(model))
    else:
        cut = chosen(grids, work.subject.shape, share, order, draw)
        # Units go as wholes, so it is seldom just the share that was asked.
        found, share = work.measure(Pruned(cut)), share_gone(cut, params.unit, work.subject.shape)
    return OrderPoint(order, draw, share, found.metric, found.parameters)


def prune_heads(resources: Resources, params: HandParams) -> Generator[Any, Any, None]:
    """Measure the model without the heads that a visitor has switched off: HandResult."""
    work = opened(resources, params)
    pruned = Pruned(replace(NOTHING, heads=by_hand(params.heads, work.subject.shape)))
    check_cut(pruned.cut, work.subject.shape)
    yield HandResult(work.about, params.heads)
    before = after = work.measure()
    yield None  # a turn for other questions
    speed = work.speed(pruned, 16)
    yield None
    if not pruned.cut.empty:
        after = work.measure(pruned)
    before, after = replace(before, milliseconds=speed.before), replace(after, milliseconds=speed.after)
    yield HandResult(work.about, params.heads, before, after)


def quantise(resources: Resources, params: QuantiseParams) -> Generator[Any, Any, None]:
    """Measure the model in float32, bf16 and int8, and the same pruned if a share is asked for: QuantiseResult."""
    work = opened(resources, params)
    cuts = {0.0: NOTHING}
    if params.share:
        grids = yield from work.grids("both", "gradient")
        cuts[params.share] = chosen(grids, work.subject.shape, params.share, "least", 0)
    forms: tuple[FormResult, ...] = ()
    total = len(cuts) * len(FORMS)
    for share, cut in cuts.items():
        for name in FORMS:
            with work.subject.without(cut) as model:
                form = quantised.in_form(model, name)
            metric = work.subject.on_cpu().measure(form.model, quick=False)  # int8 is multiplied on a CPU alone
            forms = (*forms, FormResult(form.name, share, form.bytes, None, metric, form.note))
            yield QuantiseResult(work.about, params.batch, forms, total)
    timed: list[float] = []
    for cut in cuts.values():
        timed += _forms_timed(work, Pruned(cut), params.batch)
        yield None
    forms = tuple(replace(form, milliseconds=spent) for form, spent in zip(forms, timed, strict=True))
    yield QuantiseResult(work.about, params.batch, forms, total)


def _forms_timed(work: Work, pruned: Pruned, batch: int) -> list[float]:
    """Return the milliseconds of every form, in turns."""
    inputs = {name: tensor.cpu() for name, tensor in work.subject.batch(batch).items()}
    on_cpu = work.subject.on_cpu()
    with work.subject.without(pruned.cut) as model:
        forms = [quantised.in_form(model, name).model for name in quantised.FORMS]
    return milliseconds([lambda form=form: on_cpu.scores(form, inputs) for form in forms], torch.device("cpu"))  # type: ignore[misc]


def export_pruned(resources: Resources, params: ExportParams) -> Exported:
    """Write the pruned model of a key as a zip."""
    resources.is_kept = False  # the file goes after a while
    pruned = find(params.key)
    if pruned is None:
        raise BadInputError("This pruned model is not kept any more. Prune again, then take it home.")
    subject = opened(resources, params).left(pruned)
    reason = subject.why_not(pruned.cut)
    if reason is not None:
        raise BadInputError(f"These parts are masked and not taken out, so there is nothing to take home: {reason}.")
    architecture, target = (
        subject.loaded.architecture,
        export_path("pruned", params.key, "pruned-model.zip", settings()),
    )
    removed = remove(subject.model, architecture, pruned.cut)
    files = zip_pruned(removed, architecture, subject.loaded.tokenizer, target, f"{subject.name}, pruned")
    return Exported(str(target), files)

"""What goes on for a while: importance batch by batch, the three orders, a pruning step by step, the forms of a model."""

from __future__ import annotations

import secrets
from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import Any

from explorer.backend.executor import Executor
from explorer.compress.cuts import Cut, check_cut, kinds_of
from explorer.errors import BadInputError, ExplorerError
from explorer.labs.pruning.choosing import (
    added,
    agreement,
    by_hand,
    chosen,
    importance_of,
    share_gone,
)
from explorer.labs.pruning.flow import one, several, where
from explorer.labs.pruning.params import (
    FORMS,
    Asking,
    CutJob,
    ExportParams,
    HandParams,
    ImportanceParams,
    OrdersParams,
    PruneParams,
    QuantiseParams,
    StepsParams,
    UnitJob,
    WeightJob,
)
from explorer.labs.pruning.schema import (
    About,
    Exported,
    FormResult,
    HandResult,
    ImportanceResult,
    Measured,
    OrderPoint,
    OrdersResult,
    PruneResult,
    QuantiseResult,
    Step,
    StepsResult,
    Thinned,
    UnitSums,
)

CHUNK = 16
"""Examples a job."""

SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 0.9)
BATCHES = (1, 4, 16, 64)

WEIGHTS_STAY = (
    "Single weights are set to 0 and not taken out: the matrices keep their size, and 0 takes as long as any number."
)
STEP_LINES = ("one step", "many steps", "many steps, training between")


def importance(executor: Executor, params: ImportanceParams, owner: str) -> Iterator[ImportanceResult | None]:
    """The importance of every unit, redrawn after every CHUNK examples."""
    about: About = yield from one(executor, "about", Asking(**where(params)))
    if params.unit == "weight":
        yield (yield from one(executor, "weights", WeightJob(**where(params), score=params.score)))
        return
    found: dict[int, UnitSums] = {}
    for answer in several(executor, _chunks(params, params.unit, about)):
        if answer is None:
            yield None
            continue
        found.update(answer)
        parts = [found[place] for place in sorted(found)]
        whole = added(parts)
        grid, errors = importance_of(whole, params.score)
        done = whole.count >= about.examples
        yield ImportanceResult(
            about, params.unit, params.score, params.loss, grid, errors, whole.count, about.examples,
            agreement=agreement(parts) if done else (),
        )  # fmt: skip


def _grids(
    executor: Executor, params: Asking, unit: str, score: str, about: About, cut: Cut, key: str, rounds: int
) -> Generator[None, None, dict[str, tuple[tuple[float, ...], ...]]]:
    """The importance of each kind of unit, with what is gone already."""
    kinds, found = kinds_of(unit), dict[int, UnitSums]()
    asked = [_chunks(params, kind, about, cut=cut, key=key, rounds=rounds) for kind in kinds]
    for answer in several(executor, [job for jobs in asked for job in jobs]):
        found.update(answer or ())
        yield None
    parts, count = [found[place] for place in sorted(found)], len(asked[0])
    return {
        kind: importance_of(added(parts[place * count : (place + 1) * count]), score)[0]
        for place, kind in enumerate(kinds)
    }


def _chunks(params: Asking, kind: str, about: About, **given: Any) -> list[tuple[str, Asking]]:
    """The jobs that read all examples, CHUNK at a time."""
    return [
        ("unit", UnitJob(**where(params), unit=kind, start=start, stop=start + CHUNK, **given))
        for start in range(0, about.examples, CHUNK)
    ]


def compare_orders(executor: Executor, params: OrdersParams, owner: str) -> Iterator[OrdersResult | None]:
    """Metric against the share left: least important first, most important first, at random."""
    base = where(params)
    about: About = yield from one(executor, "about", Asking(**base))
    whole: Measured = yield from one(executor, "measure", CutJob(**base))
    lines = [("least", 0), ("most", 0), *(("random", draw) for draw in range(params.draws))]
    places = [(order, draw, share) for share in SHARES for order, draw in lines]
    points = {(order, draw, 0.0): OrderPoint(order, draw, 0.0, whole.metric, whole.parameters) for order, draw in lines}
    total = len(points) + len(places)
    yield OrdersResult(about, params.unit, tuple(points.values()), total)
    if params.unit == "weight":
        jobs: list[tuple[str, Asking]] = [
            ("without", WeightJob(**base, score=params.score, share=share, order=order, seed=draw))
            for order, draw, share in places
        ]
        shares = [share for _, _, share in places]
    else:
        grids = yield from _grids(executor, params, params.unit, params.score, about, Cut(), "", 0)
        cuts = [chosen(grids, about.shape, share, order, draw) for order, draw, share in places]
        jobs = [("measure", CutJob(**base, cut=cut)) for cut in cuts]
        shares = [share_gone(cut, params.unit, about.shape) for cut in cuts]
    for answer in several(executor, jobs):
        if answer is None:
            yield None
            continue
        for place, measured in answer:
            order, draw, share = places[place]
            point = OrderPoint(order, draw, shares[place], measured.metric, measured.parameters)
            points[order, draw, share] = point
        ordered = sorted(points.values(), key=lambda point: (point.order, point.draw, point.share))
        yield OrdersResult(about, params.unit, tuple(ordered), total)


def prune(executor: Executor, params: PruneParams, owner: str) -> Iterator[PruneResult | None]:
    """Take parts out in one step or in many, then measure what is left."""
    base, key = where(params), secrets.token_hex(8)
    trained = key if _changes_weights(params) else ""
    about: About = yield from one(executor, "about", Asking(**base))
    whole: Measured = yield from one(executor, "measure", CutJob(**base, timed=True))
    state = PruneResult(about, params.unit, params.order, params.train_between, (Step(0.0, whole),), params.steps + 1)
    yield state
    cut = Cut()
    for number in range(1, params.steps + 1):
        cut, step = yield from _one_step(executor, params, about, cut, trained, number)
        state = replace(state, steps=(*state.steps, step))
        yield state
    if params.unit == "weight":
        yield replace(state, key=key, note=WEIGHTS_STAY, done=True)
        return
    left = yield from one(executor, "check", CutJob(**base, cut=cut, key=key, rounds=params.steps if trained else 0))
    state = replace(state, left=left, note=left.why)
    yield state
    for batch in BATCHES:
        speed = yield from one(
            executor, "speed", CutJob(**base, cut=cut, key=trained, batch=batch, rounds=params.steps)
        )
        state = replace(state, speeds=(*state.speeds, speed))
        yield state
    yield replace(state, key=key if left.gap is not None else "", done=True)


def _one_step(
    executor: Executor, params: PruneParams, about: About, cut: Cut, key: str, number: int
) -> Generator[None, None, tuple[Cut, Step]]:
    """Importance again, the step's part of the share, a little training, the metric. key: of weights that change."""
    base = where(params)
    if params.unit == "weight":
        return cut, (yield from _one_thinning(executor, params, key, number))
    grids = yield from _grids(executor, params, params.unit, params.score, about, cut, key, number - 1)
    cut = chosen(
        grids,
        about.shape,
        params.share,
        params.order,
        params.seed,
        even=params.even,
        before=cut,
        part=number / params.steps,
        budget={"head": params.heads, "neuron": params.neurons},
    )
    check_cut(cut, about.shape)
    loss = None
    if params.train_between:
        job = CutJob(**base, cut=cut, key=key, steps=params.train_between, rounds=number - 1)
        loss = (yield from one(executor, "train", job)).loss
    measured = yield from one(executor, "measure", CutJob(**base, cut=cut, key=key, timed=True, rounds=number))
    return cut, Step(share_gone(cut, params.unit, about.shape), measured, loss)


def _one_thinning(executor: Executor, params: PruneParams, key: str, number: int) -> Generator[None, None, Step]:
    """The same for single weights: scores of the model as it stands, the lowest set to 0, which makes nothing smaller."""
    base, share = where(params), params.share * number / params.steps
    job = WeightJob(
        **base, score=params.score, share=share, order=params.order, seed=params.seed, key=key, rounds=number - 1
    )
    thinned: Thinned = yield from one(executor, "thin", job)
    loss = None
    if params.train_between:
        training = CutJob(**base, key=key, steps=params.train_between, rounds=number)
        loss = (yield from one(executor, "train", training)).loss
    measured = yield from one(executor, "measure", CutJob(**base, key=key, timed=True, rounds=number))
    return Step(thinned.share, measured, loss)


def _changes_weights(params: PruneParams) -> bool:
    """Whether a pruning needs weights of its own, kept under its key."""
    return bool(params.train_between) or params.unit == "weight"


def prune_heads(executor: Executor, params: HandParams, owner: str) -> Iterator[HandResult | None]:
    """Without the heads that a visitor has switched off."""
    base = where(params)
    about: About = yield from one(executor, "about", Asking(**base))
    cut = Cut(heads=by_hand(params.heads, about.shape))
    check_cut(cut, about.shape)
    yield HandResult(about, params.heads)
    before = after = yield from one(executor, "measure", CutJob(**base))
    speed = yield from one(executor, "speed", CutJob(**base, cut=cut))
    if not cut.empty:
        after = yield from one(executor, "measure", CutJob(**base, cut=cut))
    before, after = replace(before, milliseconds=speed.before), replace(after, milliseconds=speed.after)
    yield HandResult(about, params.heads, before, after)


def compare_steps(executor: Executor, params: StepsParams, owner: str) -> Iterator[StepsResult | None]:
    """The same share in one step, in many, and in many with training between."""
    base = {**where(params), "unit": params.unit, "score": params.score, "share": params.share}
    ways = [PruneParams(**base), PruneParams(**base, steps=params.steps)]
    if params.train_between:
        ways.append(PruneParams(**base, steps=params.steps, train_between=params.train_between))
    total, lines = sum(way.steps for way in ways), dict[str, tuple[Step, ...]]()
    about: About = yield from one(executor, "about", Asking(**where(params)))
    whole = Step(0.0, (yield from one(executor, "measure", CutJob(**where(params), timed=True))))
    for name, way in zip(STEP_LINES, ways, strict=False):
        lines[name], cut, key = (whole,), Cut(), secrets.token_hex(8)
        for number in range(1, way.steps + 1):
            cut, step = yield from _one_step(executor, way, about, cut, key if _changes_weights(way) else "", number)
            lines[name] = (*lines[name], step)
            done = sum(len(line) - 1 for line in lines.values())
            yield StepsResult(about, params.unit, params.share, tuple(lines.items()), done / total, done == total)


def quantise(executor: Executor, params: QuantiseParams, owner: str) -> Iterator[QuantiseResult | None]:
    """The model in each form, and the same pruned where a share is asked for."""
    base = where(params)
    about: About = yield from one(executor, "about", Asking(**base))
    cuts = {0.0: Cut()}
    if params.share:
        grids = yield from _grids(executor, params, "both", "gradient", about, Cut(), "", 0)
        cuts[params.share] = chosen(grids, about.shape, params.share, "least", 0)
    forms: tuple[FormResult, ...] = ()
    total = len(cuts) * len(FORMS)
    for share, cut in cuts.items():
        for name in FORMS:
            found = yield from one(executor, "form", CutJob(**base, cut=cut, form=name))
            forms = (*forms, replace(found, pruned=share))
            yield QuantiseResult(about, params.batch, forms, total)
    timed: tuple[float, ...] = ()
    for cut in cuts.values():
        timed = (*timed, *(yield from one(executor, "forms_timed", CutJob(**base, cut=cut, batch=params.batch))))
    forms = tuple(replace(form, milliseconds=spent) for form, spent in zip(forms, timed, strict=True))
    yield QuantiseResult(about, params.batch, forms, total)


def export_pruned(executor: Executor, params: ExportParams, owner: str) -> Iterator[Exported | None]:
    """The pruned model of a key as a zip."""
    yield (yield from one(executor, "export", params))


def require_metric(result: PruneResult | OrdersResult) -> None:
    """Raise ExplorerError where the metric is not defined on the held-out examples."""
    about = result.about
    first = result.steps[0].measured.metric if isinstance(result, PruneResult) else result.points[0].metric
    if first is None:
        raise ExplorerError(
            f"{about.metric} is not defined on these {about.held_out} held-out examples (all of one class?). Take more."
        )


def require_done(result: PruneResult | None) -> None:
    """Raise where nothing came."""
    if result is None:
        raise BadInputError("Nothing was pruned. Try again.")
    require_metric(result)

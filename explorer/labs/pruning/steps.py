"""Pruning step by step: importance again before each, a little training after it, and what is left at the end."""

from __future__ import annotations

import secrets
from collections.abc import Generator
from dataclasses import replace
from typing import Any

import torch

from explorer.compress import between, importance
from explorer.compress.cuts import check_cut, chosen, share_gone
from explorer.compress.importance import weight_scores
from explorer.compress.removal import Removed, masked, remove
from explorer.compress.saving import opens_plainly
from explorer.engine.resources import Resources
from explorer.labs.pruning.params import PruneParams, StepsParams
from explorer.labs.pruning.schema import Left, PruneResult, Step, StepsResult
from explorer.labs.pruning.work import COLUMN_BATCH, UNTOUCHED, Pruned, Work, keep, opened, own_weights

BATCHES = (1, 4, 16, 64)
GAP_ROWS = 16
WEIGHTS_STAY = (
    "Single weights are set to 0 and not taken out: the matrices keep their size, and 0 takes as long as any number."
)
STEP_LINES = ("one step", "many steps", "many steps, training between")


def prune(resources: Resources, params: PruneParams) -> Generator[Any, Any, None]:
    """Take parts out in one step or in many, then measure what is left: PruneResult."""
    work = opened(resources, params)
    resources.is_kept = not _changes_weights(params)  # those weights are not kept as long as an answer
    with own_weights(_changes_weights(params)):
        state = PruneResult(
            work.about, params.unit, params.order, params.train_between, (_whole(work),), params.steps + 1
        )
        yield state
        pruned, key = UNTOUCHED, secrets.token_hex(8)  # unguessable: whoever has it may take the model home
        for number in range(1, params.steps + 1):
            pruned, step = yield from _one_step(work, params, pruned, number)
            state = replace(state, steps=(*state.steps, step))
            yield state
        keep(key, pruned)
        if params.unit == "weight":
            yield replace(state, key=key, note=WEIGHTS_STAY, done=True)
            return
        left = left_of(work, pruned)
        state = replace(state, left=left, note=left.why)
        yield state
        for batch in BATCHES:
            state = replace(state, speeds=(*state.speeds, work.speed(pruned, batch)))
            yield state
        state = _in_turns(state)
        # Masked parts cannot be taken out, so nothing goes home.
        yield replace(state, key=key if left.gap is not None else "", done=True)


def _in_turns(state: PruneResult) -> PruneResult:
    """Give the whole and the pruned model the times that they took in turns: those of two moments are no comparison."""
    speed = next(speed for speed in state.speeds if speed.batch == COLUMN_BATCH)
    whole, *between, last = state.steps
    ends = [(whole, speed.before), (last, speed.after)]
    first, end = (replace(step, measured=replace(step.measured, milliseconds=spent)) for step, spent in ends)
    return replace(state, steps=(first, *between, end))


def compare_steps(resources: Resources, params: StepsParams) -> Generator[Any, Any, None]:
    """Take the same share out in one step, in many, and in many with training between: StepsResult."""
    work = opened(resources, params)
    ways = [_way(params), _way(params, steps=params.steps)]
    if params.train_between:
        ways.append(_way(params, steps=params.steps, train_between=params.train_between))
    resources.is_kept = not params.train_between
    total, lines = sum(way.steps for way in ways), dict[str, tuple[Step, ...]]()
    for name, way in zip(STEP_LINES, ways, strict=False):  # there may be two ways of the three
        with own_weights(_changes_weights(way)):
            lines[name], pruned = (_whole(work),), UNTOUCHED
            for number in range(1, way.steps + 1):
                pruned, step = yield from _one_step(work, way, pruned, number)
                lines[name] = (*lines[name], step)
                done = sum(len(line) - 1 for line in lines.values())  # without the whole model, each line's first
                yield StepsResult(
                    work.about, params.unit, params.share, tuple(lines.items()), done / total, done == total
                )


def _way(params: StepsParams, **changes: Any) -> PruneParams:
    shared = {name: getattr(params, name) for name in PruneParams.__dataclass_fields__ if hasattr(params, name)}
    return PruneParams(**{**shared, "steps": 1, "train_between": 0, **changes})


def _whole(work: Work) -> Step:
    return Step(0.0, work.measure(timed=True))


def _changes_weights(params: PruneParams) -> bool:
    """Return whether a pruning needs weights of its own."""
    return bool(params.train_between) or params.unit == "weight"


def _one_step(work: Work, params: PruneParams, pruned: Pruned, number: int) -> Generator[Any, Any, tuple[Pruned, Step]]:
    """Measure the importance of what is left, take the step's part of the share, train a little, measure the metric."""
    if params.unit == "weight":
        pruned = thinned(work, params, pruned, number)
        share = importance.share_gone(pruned.gone)
    else:
        grids = yield from work.grids(params.unit, params.score, pruned)
        pruned = replace(pruned, cut=_cut(work, params, grids, pruned, number))
        share = share_gone(pruned.cut, params.unit, work.subject.shape)
    loss = None
    yield None  # a turn for other questions
    if params.train_between:
        passed = number if params.unit == "weight" else number - 1
        weights, loss = between.trained(
            work.subject, pruned.cut, pruned.weights, params.train_between, passed, pruned.gone
        )
        pruned = replace(pruned, weights=weights)
        yield None
    return pruned, Step(share, work.measure(pruned, timed=True), loss)


def _cut(work: Work, params: PruneParams, grids: Any, pruned: Pruned, number: int) -> Any:
    cut = chosen(
        grids,
        work.subject.shape,
        params.share,
        params.order,
        params.seed,
        even=params.even,
        before=pruned.cut,
        part=number / params.steps,
        budget={"head": params.heads, "neuron": params.neurons},
    )
    check_cut(cut, work.subject.shape)
    return cut


@torch.inference_mode(False)
@torch.no_grad()
def thinned(work: Work, params: PruneParams, pruned: Pruned, number: int) -> Pruned:
    """Go one step towards a share of single weights at 0: score the model as it is now, and set the lowest to 0."""
    now = work.left(pruned)
    if pruned.untouched:
        scores = work.scores(params.score)[0]
    else:
        scores = weight_scores(now, params.score, params.loss, len(now.examples))[0]
    share = params.share * number / params.steps
    gone = importance.weights_gone(now, scores, share, params.order, params.seed, pruned.gone)
    return replace(pruned, weights={**pruned.weights, **importance.zeroed(now, gone)}, gone=gone)


def left_of(work: Work, pruned: Pruned) -> Left:
    """Return what is left of each layer, and whether masked and removed say the same."""
    subject = work.left(pruned)
    shape, architecture = subject.shape, subject.loaded.architecture
    reason = subject.why_not(pruned.cut)
    if reason is not None:
        depths = tuple(range(shape.depth))
        return Left((shape.heads,) * shape.depth, (shape.neurons,) * shape.depth, depths, None, False, reason)
    removed = remove(subject.model, architecture, pruned.cut)
    inputs, tree = subject.batch(min(GAP_ROWS, len(subject.held_out))), subject.tree()
    with masked(tree, architecture, pruned.cut, shape):
        expected = subject.scores(tree, inputs).float()  # the gates at 0: what removing has to equal
    gap = float((subject.scores(removed.model, inputs).float() - expected).abs().max())
    return Left(*_by_layer(removed), gap, opens_plainly(removed, architecture))


def _by_layer(removed: Removed) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Return heads and neurons of each layer that is left; a shared block's at every depth."""
    if not removed.before.shared:
        return removed.heads, removed.neurons, removed.layers
    blocks = [removed.before.block_of(depth) for depth in removed.layers]
    heads, neurons = (tuple(part[block] for block in blocks) for part in (removed.heads, removed.neurons))
    return heads, neurons, removed.layers

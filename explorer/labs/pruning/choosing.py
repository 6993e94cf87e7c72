"""From sums of gradients to importances, and from importances to what goes; plain Python, for a page's own process."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from explorer.compress.cuts import Cut, Shape, choose, kept_of_share, kinds_of
from explorer.errors import BadInputError
from explorer.labs.pruning.schema import Grid, UnitSums
from explorer.tasks import correlation


def added(parts: Sequence[UnitSums]) -> UnitSums:
    """The sums of several batches of examples."""
    if len(parts) == 1:
        return parts[0]
    return UnitSums(
        _summed([part.absolute for part in parts]),
        _summed([part.squares for part in parts]),
        sum(part.count for part in parts),
    )


def _summed(grids: Sequence[Grid]) -> Grid:
    return tuple(tuple(map(sum, zip(*rows, strict=True))) for rows in zip(*grids, strict=True))


def importance_of(sums: UnitSums, score: str) -> tuple[Grid, tuple[tuple[float | None, ...], ...]]:
    """I = E|g| and its standard error; with the score `normalised` both divided by the l2 norm of their row.

    Whole layers are one row, which is not normalised. The error is None for one example.
    """
    count = sums.count
    grid = tuple(tuple(value / count for value in row) for row in sums.absolute)
    errors: tuple[tuple[float | None, ...], ...] = tuple(
        tuple(_error(mean, square, count) for mean, square in zip(row, squares, strict=True))
        for row, squares in zip(grid, sums.squares, strict=True)
    )
    if score != "normalised":
        return grid, errors
    norms = [math.sqrt(sum(value * value for value in row)) or 1.0 for row in grid]
    return (
        tuple(tuple(value / norm for value in row) for row, norm in zip(grid, norms, strict=True)),
        tuple(
            tuple(None if value is None else value / norm for value in row)
            for row, norm in zip(errors, norms, strict=True)
        ),
    )


def _error(mean: float, square: float, count: int) -> float | None:
    if count < 2:
        return None
    return math.sqrt(max(0.0, square - count * mean * mean) / (count - 1) / count)


def agreement(parts: Sequence[UnitSums]) -> tuple[tuple[int, float], ...]:
    """(n, ρ): Spearman's correlation of the importance from the first n examples with that from all the others.

    The two share no example, so that a high ρ is no artefact; n grows by batches up to half of all.
    """
    found = []
    for count in range(1, len(parts)):
        first, others = added(parts[:count]), added(parts[count:])
        if first.count > others.count:
            break
        found.append((first.count, rank_correlation(_flat(first.absolute), _flat(others.absolute))))
    return tuple(found)


def _flat(grid: Grid) -> list[float]:
    return [value for row in grid for value in row]


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> float:
    """Spearman's ρ, equal values sharing their mean rank; 0 where one of the two is constant."""
    return correlation.spearman(list(zip(one, other, strict=True))) or 0.0


def chosen(
    grids: Mapping[str, Grid],
    shape: Shape,
    share: float,
    order: str,
    seed: int,
    even: bool = False,
    before: Cut | None = None,
    part: float = 1.0,
    budget: Mapping[str, int] | None = None,
) -> Cut:
    """What is gone after a part (of one) of the way to a share, or to a budget of units that a layer keeps.

    grids: the importance of each kind. before: what is gone already, and stays so. Raises BadInputError for a budget that a
    layer does not have.
    """
    cut = before or Cut()
    budgeted = budget is not None and any(budget.values())
    for kind, grid in grids.items():
        rows, width = len(grid), len(grid[0])
        units = width if even else rows * width
        if budgeted:
            keep = (budget or {})[kind]
            if keep > width:
                raise BadInputError(f"A layer has {width} {kind}s, so it cannot keep {keep}.")
            if not keep:
                continue
            target = keep if even else keep * rows
        else:
            target = kept_of_share(units, share)
        keep_now = units - round(part * (units - target))
        cut = cut.having(kind, choose(grid, max(1, keep_now), order, seed, even, cut.of(kind)))
    return cut


def share_gone(cut: Cut, unit: str, shape: Shape) -> float:
    """The share of the units that is gone; of heads and neurons the mean of the two shares."""
    shares = []
    for kind in kinds_of(unit):
        rows, width = shape.rows(kind)
        shares.append(sum(cut.of(kind)) / (rows * width))
    return sum(shares) / len(shares)


def by_hand(heads: Sequence[tuple[int, int]], shape: Shape) -> bytes:
    """The bytes of a cut; a shared head that is named at any depth goes at all of them. Raises BadInputError."""
    gone = bytearray(shape.blocks * shape.heads)
    for layer, head in heads:
        if layer >= shape.depth or head >= shape.heads:
            raise BadInputError(
                f"There is no head {head} in layer {layer}: layers are 0 to {shape.depth - 1}, heads 0 to {shape.heads - 1}."
            )
        gone[shape.block_of(layer) * shape.heads + head] = 1
    return bytes(gone)

"""Cuts: the parts removed from a model, in plain values, and how they are chosen by importance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from explorer.errors import BadInputError

UNITS = ("head", "neuron", "both", "layer", "weight")
ORDERS = ("least", "most", "random")


@dataclass(frozen=True)
class Shape:
    """The numbers of a model's parts.

    depth: layers that a text passes. blocks: layers that have weights of their own; fewer than depth if weights are
    shared, as in ALBERT. heads, neurons: of one block.
    """

    depth: int
    blocks: int
    heads: int
    neurons: int

    @property
    def shared(self) -> bool:
        """Whether one block serves several depths."""
        return self.blocks < self.depth

    def rows(self, unit: str) -> tuple[int, int]:
        """Return (rows, units a row) of a grid of these units; whole layers have one row."""
        return {
            "head": (self.blocks, self.heads),
            "neuron": (self.blocks, self.neurons),
            "layer": (1, self.depth),
        }[unit]

    def block_of(self, depth: int) -> int:
        """Return the block that a depth uses."""
        return depth * self.blocks // self.depth


@dataclass(frozen=True)
class Cut:
    """The removed parts: one byte for each unit, 1 if it is removed, block after block; empty if nothing of that kind is."""

    heads: bytes = b""
    neurons: bytes = b""
    layers: bytes = b""

    def of(self, unit: str) -> bytes:
        """Return the bytes of one kind."""
        return {"head": self.heads, "neuron": self.neurons, "layer": self.layers}[unit]

    def having(self, unit: str, gone: bytes) -> Cut:
        """Return the cut with another choice for one kind."""
        return replace(self, **{{"head": "heads", "neuron": "neurons", "layer": "layers"}[unit]: gone})

    @property
    def empty(self) -> bool:
        """Whether nothing is removed."""
        return not (any(self.heads) or any(self.neurons) or any(self.layers))


NOTHING = Cut()


def kinds_of(unit: str) -> tuple[str, ...]:
    """Return the kinds that a unit of UNITS removes: both stands for heads and neurons."""
    return ("head", "neuron") if unit == "both" else (unit,)


def in_order(importance: Sequence[float], order: str, seed: int = 0) -> list[int]:
    """Return all units, the first to go first. Equal ones keep their own order."""
    places = list(range(len(importance)))
    if order == "random":
        Random(seed).shuffle(places)
        return places
    return sorted(places, key=lambda place: importance[place], reverse=order == "most")


def choose(
    grid: Sequence[Sequence[float]],
    keep: int,
    order: str = "least",
    seed: int = 0,
    even: bool = False,
    gone: bytes = b"",
) -> bytes:
    """Choose which units go, so that `keep` of them are left in all, or in each row if `even`.

    grid: the importance of each unit, row by row. gone: the units removed before, which stay removed.
    """
    rows, width = len(grid), len(grid[0])
    before = gone or bytes(rows * width)
    parts = [(row * width, width) for row in range(rows)] if even else [(0, rows * width)]
    flat = [value for row in grid for value in row]
    chosen = bytearray(before)
    for start, count in parts:
        wanted = count - keep - sum(before[start : start + count])
        # Another seed for each row, else all rows would lose the same places.
        ranked = in_order(flat[start : start + count], order, seed + start)
        for place in [start + place for place in ranked if not before[start + place]][: max(0, wanted)]:
            chosen[place] = 1
    return bytes(chosen)


def kept_of_share(units: int, share: float) -> int:
    """Return how many units are left when a share of them goes."""
    return units - round(share * units)


def check_cut(cut: Cut, shape: Shape) -> None:
    """Raise BadInputError if all units of a kind would be gone, or if the cut is of a model of another shape."""
    for unit, name in (("head", "head"), ("neuron", "neuron"), ("layer", "layer")):
        gone, (rows, width) = cut.of(unit), shape.rows(unit)
        if gone and len(gone) != rows * width:
            raise BadInputError(f"This choice is of a model with {len(gone)} {name}s, and this one has {rows * width}.")
        if gone and all(gone):
            raise BadInputError(f"Every {name} would be gone. Leave at least one.")


def chosen(
    grids: Mapping[str, Sequence[Sequence[float]]],
    shape: Shape,
    share: float,
    order: str,
    seed: int,
    even: bool = False,
    before: Cut = NOTHING,
    part: float = 1.0,
    budget: Mapping[str, int] | None = None,
) -> Cut:
    """Return the cut after a part (of one) of the way to a share, or to a budget of units that a layer keeps.

    grids: the importance of each kind. before: what is removed already, and stays so. Raises BadInputError for a budget
    that a layer does not have.
    """
    cut = before
    budgeted = budget is not None and any(budget.values())
    for kind, grid in grids.items():
        rows, width = len(grid), len(grid[0])
        units = width if even else rows * width
        if budgeted:
            keep = (budget or {})[kind]
            if keep > width:
                raise BadInputError(f"A layer has {width} {kind}s, so it cannot keep {keep}.")
            if not keep:  # 0 in a budget leaves that kind alone
                continue
            target = keep if even else keep * rows
        else:
            target = kept_of_share(units, share)
        keep_now = units - round(part * (units - target))
        cut = cut.having(kind, choose(grid, max(1, keep_now), order, seed, even, cut.of(kind)))
    return cut


def share_gone(cut: Cut, unit: str, shape: Shape) -> float:
    """Return the share of the units that is removed; for heads and neurons the mean of the two shares."""
    shares = []
    for kind in kinds_of(unit):
        rows, width = shape.rows(kind)
        shares.append(sum(cut.of(kind)) / (rows * width))
    return sum(shares) / len(shares)


def by_hand(heads: Sequence[tuple[int, int]], shape: Shape) -> bytes:
    """Return the bytes of a cut for chosen heads; a shared head that is named at any depth goes at all of them. Raises
    BadInputError.
    """
    gone = bytearray(shape.blocks * shape.heads)
    for layer, head in heads:
        if layer >= shape.depth or head >= shape.heads:
            raise BadInputError(
                f"There is no head {head} in layer {layer}: layers are 0 to {shape.depth - 1}, heads 0 to {shape.heads - 1}."
            )
        gone[shape.block_of(layer) * shape.heads + head] = 1
    return bytes(gone)

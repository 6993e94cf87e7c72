"""W's whole spectrum beside ΔW's: which of the two is of low rank."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest

from markupsafe import Markup

from explorer.action import Action
from explorer.charts import Panel, Picture, Trace, axis, level, line, picture
from explorer.charts.words import caption, counted, facts, measures, percent, prose, strong
from explorer.engine.protocol import Job
from explorer.labs.delta import plain
from explorer.labs.delta.params import OPENING_LAYER, PlacementParams
from explorer.labs.delta.spectrum_figures import STILL_ZERO, module_name
from explorer.tables import Table
from explorer.worked import Opening

SHARES = (0.5, 0.9, 0.99)
"""Of the energy: how many directions hold so much is counted."""


@dataclass(frozen=True)
class Whole:
    """A matrix's singular values from large to small, as many as its rank allows, and the share of the squared norm that the
    first i of them hold. needed: the fewest directions for each of SHARES."""

    values: tuple[float, ...]
    energy: tuple[float, ...]
    needed: tuple[int, ...]


@dataclass(frozen=True)
class WholeSpectra:
    """W, its update, and a Gaussian matrix of the same shape and W's norm, for one matrix of one layer.

    directions: min(rows, columns), as many as a matrix of this shape has. rank: the most that ΔW's can be; low_rank: whether
    that is LoRA's doing.
    """

    name: str
    layer: int
    module: str
    directions: int
    rank: int
    low_rank: bool
    weight: Whole
    update: Whole
    random: Whole


MOST_OF_IT = SHARES.index(0.9)
"""The share that the sentence speaks of."""

ALIKE = 1.05
"""Counts no further apart than this are called about as many."""


def whole_table(result: WholeSpectra) -> Table:
    """direction (from 1), share_of_directions, weight_value, weight_energy, update_value, update_energy, random_energy.

    Each matrix's singular value, and its energy up to there; nothing beyond ΔW's rank.
    """
    columns = ("direction", "share_of_directions", "weight_value", "weight_energy", "update_value", "update_energy")
    three = (result.weight, result.update, result.random)
    # ΔW's rank may be lower than W's.
    values = zip_longest(*(column for whole in three for column in (whole.values, whole.energy)))
    rows = [
        (place, place / result.directions, weight, weight_energy, update, update_energy, random_energy)
        for place, (weight, weight_energy, update, update_energy, _, random_energy) in enumerate(values, start=1)
    ]
    return Table.of((*columns, "random_energy"), rows)


def whole_sentence(result: WholeSpectra) -> Markup:
    """Say how many directions W and ΔW need for most of their energy."""
    own, update = (one.needed[MOST_OF_IT] for one in (result.weight, result.update))
    place = f"Layer {result.layer}, {module_name(result.module)}: "
    needs = strong(counted(own, "direction"))
    if not update:
        return prose(place, "W needs ", needs, " for nine tenths of its energy. ", STILL_ZERO)
    return prose(place, "for nine tenths of its energy W needs ", needs, ", ΔW ", strong(str(update)), ".")


def whole_notes(result: WholeSpectra) -> Markup:
    """Say how many directions W and ΔW need for most of their energy, and what of it the method has decided beforehand."""
    place = f"Layer {result.layer}, {module_name(result.module)}: "
    own, random, update = (one.needed[MOST_OF_IT] for one in (result.weight, result.random, result.update))
    parts = [
        place,
        "W needs ",
        strong(f"{own} of its {result.directions} directions"),
        f" for {percent(SHARES[MOST_OF_IT])} of its energy (a random matrix: {random})",
    ]
    if not update:
        return caption(*parts, ".")
    return caption(*parts, ", ΔW ", strong(str(update)), " for as much of its own. ", _verdict(result, own, update))


def _verdict(result: WholeSpectra, own: int, update: int) -> str:
    """Say what follows for the hypothesis, which is about the update."""
    weight = "W is not of low rank" if 4 * own > result.directions else "W itself lies in few directions"
    if result.low_rank:  # its low rank is LoRA's doing and no evidence
        return (
            f"{weight}. ΔW's factors allow it {counted(result.rank, 'direction')} in all: whether an update that may take any "
            "would do with few is seen on a run of full fine-tuning."
        )
    fewer = own / update
    compared = "about as many as W"
    if fewer >= ALIKE:
        compared = f"{fewer:.1f} times fewer than W"
    elif 1 / fewer >= ALIKE:
        compared = f"{1 / fewer:.1f} times more than W"
    return f"{weight}; nothing bounds this ΔW's rank, and it takes {compared}."


def whole_facts(result: WholeSpectra) -> Markup:
    """State how many directions hold 50, 90 and 99% of each one's energy."""

    def counts(whole: Whole, name: str) -> Markup:
        shares = (f"{share:.0%} in {number}" for share, number in zip(SHARES, whole.needed, strict=True))
        return measures(*shares, name=name)

    return facts(
        counts(result.weight, "W"), counts(result.update, "ΔW"), counts(result.random, "a random matrix of W's shape")
    )


def whole_figure(result: WholeSpectra) -> Picture:
    """Draw energy against the share of directions, and singular values over the first: one axis for matrices of any
    size.
    """
    shares = (0.001, 0.01, 0.1, 1)
    names = [f"{100 * share:g}%" for share in shares]
    across = axis("share of the directions", log=True, tickmode="array", tickvals=shares, ticktext=names)
    energy = axis("energy up to there", percent=True, span=(0, 1.03))
    values = axis("σᵢ / σ₁", log=True, tickformat="~g", nticks=6)
    panels = [
        Panel(_lines(result, energies=True), across, energy, "how much of the whole", [level(SHARES[MOST_OF_IT])]),
        Panel(_lines(result, energies=False), across, values, "how strong each is"),
    ]
    return picture(whole_sentence(result), panels, height=420, low=350, phone=720, legend=True, gap=0.14)


def _lines(result: WholeSpectra, energies: bool) -> list[Trace]:
    drawn = (
        ("W", "@second", "", result.weight),
        ("ΔW", "@first", "", result.update),
        ("random matrix", "@muted", "dash", result.random),
    )
    return [_line(name, colour, dash, whole, result.directions, energies) for name, colour, dash, whole in drawn]


def _line(name: str, colour: str, dash: str, whole: Whole, directions: int, energies: bool) -> Trace:
    """Draw one matrix; a zero matrix has no line, and the line ends with the values."""
    first = whole.values[0]
    relative = [value / first if value > 0 else None for value in whole.values] if first else []
    shares = [place / directions for place in range(1, len(whole.values) + 1)] if first else []
    held = list(whole.energy) if first else []
    said = "%{y:.2%} of the energy" if energies else "%{y:.3g} of the strongest"
    size = 6 if len(whole.values) <= 16 else 0
    hover = (
        f"the first %{{customdata}} directions (%{{x:.2%}}): {said}"
        if energies
        else f"direction %{{customdata}}: {said}"
    )
    numbers = list(range(1, len(shares) + 1))
    return line(
        shares,
        held if energies else relative,
        colour,
        name,
        dash=dash,
        size=size,
        hover=hover,
        aside=name,
        customdata=numbers,
    )


WEIGHT_SPECTRUM = Action(
    Job("explorer.labs.delta.jobs:weight_spectrum", on="runs"),
    PlacementParams,
    whole_table,
    plain=plain.weight_spectrum,
    openings=(Opening(PlacementParams(layer=OPENING_LAYER), WholeSpectra),),
)

"""Several blanks: filled each alone, one after another, or over and over, and what the whole is worth."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

from markupsafe import Markup

from explorer.charts import MAGNITUDE, Look, Panel, Picture, axis, colorbar, heat, picture
from explorer.charts.words import caption, fixed, in_quotes, label, percent, prose, quoted
from explorer.kinds import Sentence, Whole
from explorer.params import Shown, params
from explorer.tables import Table

OPENING = ("The president of the [MASK] [MASK] lives in the White House.", 2)

TRY = (
    ("A city in California", ("She lives in [MASK] [MASK], a city in California.", 2)),
    ("He or she, his or her", ("The boy said that [MASK] had lost [MASK] keys.", 2)),
    ("A whole clause", ("The [MASK] [MASK] [MASK] [MASK] in the park.", 4)),
    ("A line of eight", ("[MASK] [MASK] [MASK] [MASK] [MASK] [MASK] [MASK] [MASK].", 4)),
    ("The same, in one step", ("[MASK] [MASK] [MASK] [MASK] [MASK] [MASK] [MASK] [MASK].", 1)),
)
"""One-click experiments."""


FEWEST, MOST = 2, 12
"""Blanks."""

ORDERS = ("each alone", "left to right", "surest first", "in steps")
"""All from one look; one after another, each seeing those before; the same, the surest blank next; all at once, and again
where the model was least sure (Ghazvininejad et al. 2019)."""


@params
class SeveralParams:
    """A text with several blanks. steps: how often the last of the ORDERS looks."""

    text: Annotated[
        str, Sentence(), Shown(f"A text with {FEWEST} to {MOST} blanks", "Type [MASK] for each.", lines=(2, 5))
    ] = OPENING[0]
    steps: Annotated[int, Whole(1, MOST), Shown("Steps (for “in steps”)", slider=(1, MOST))] = OPENING[1]


@dataclass(frozen=True)
class FillingStep:
    """What stands in each blank after one step, None where still nothing does, and its probability when it was put there.

    fresh: which blanks this step filled.
    """

    tokens: tuple[str | None, ...]
    probabilities: tuple[float | None, ...]
    fresh: tuple[bool, ...]


@dataclass(frozen=True)
class Filling:
    """One way to fill the blanks. joint: ln p of all its tokens together, by the chain rule from left to right."""

    order: str
    steps: tuple[FillingStep, ...]
    joint: float

    @property
    def last(self) -> FillingStep:
        """The step after which all blanks are filled."""
        return self.steps[-1]

    @property
    def as_chosen(self) -> float:
        """The sum of ln p of each token when it was put in: a joint probability only where each saw those before it."""
        # 1e-45: about the least float32 above 0.
        return math.fsum(math.log(max(share, 1e-45)) for share in self.last.probabilities if share is not None)


@dataclass(frozen=True)
class SeveralResult:
    """The four fillings. positions: of the blanks."""

    model: str
    positions: tuple[int, ...]
    fillings: tuple[Filling, ...]

    @property
    def best(self) -> Filling:
        """The one whose tokens are likeliest together."""
        return max(self.fillings, key=lambda filling: filling.joint)


def several_table(result: SeveralResult) -> Table:
    """order, step, position, token, probability, joint: what each blank holds after each step of each way.

    joint: ln p of the finished filling. An empty blank has neither token nor probability.
    """
    rows = [
        (filling.order, number, position, token, share, filling.joint)
        for filling in result.fillings
        for number, step in enumerate(filling.steps, start=1)
        for position, token, share in zip(result.positions, step.tokens, step.probabilities, strict=True)
    ]
    return Table.of(("order", "step", "position", "token", "probability", "joint"), rows)


def filled_words(filling: Filling) -> str:
    """Write the tokens of a finished filling."""
    return " … ".join(token or "" for token in filling.last.tokens)


def several_sentence(result: SeveralResult) -> Markup:
    """Say which filling is likeliest as a whole, and what filling each blank alone gives away."""
    alone, best = result.fillings[0], result.best
    if len({filling.last.tokens for filling in result.fillings}) == 1:
        return prose("All four ways fill in ", in_quotes(filled_words(alone)), ".")
    together = ("Likeliest together is ", in_quotes(filled_words(best)))
    if alone.last.tokens == best.last.tokens:
        return prose(*together, ", what each blank alone gives.")
    return prose(*together, ", not ", in_quotes(filled_words(alone)), ", what each blank alone gives.")


def several_facts(result: SeveralResult) -> Markup:
    """Tabulate each way with its filling, the joint ln p of it, and the sum of ln p as the tokens were chosen."""
    rows = [
        (filling.order, filled_words(filling), fixed(filling.joint), fixed(filling.as_chosen), len(filling.steps))
        for filling in result.fillings
    ]
    return quoted(("way", "filling", "joint ln p", "as chosen", "forward passes"), rows) + caption(
        f"{label(result.model)}. Each alone: every blank is guessed without knowing what the others will hold. Joint: ln p of "
        "the first blank, plus that of the second with the first filled, and so on: one measure for all. As chosen: the sum of "
        "ln p of each token when it was put in, which for each alone is no joint probability."
    )


def several_figure(result: SeveralResult) -> Picture:
    """Draw for each way a row a step: what each blank holds, coloured by its probability when it was put in."""
    numbers = [str(number) for number in range(1, len(result.positions) + 1)]
    most = max(len(filling.steps) for filling in result.fillings)
    panels = [_panel(filling, numbers, most) for filling in result.fillings]
    each = 34 * most + 90
    key = {"colorscale": MAGNITUDE, "cmin": 0, "cmax": 1, "colorbar": colorbar("p", ".0%")}
    look: Look = {"height": 2 * each + 30, "phone": 4 * (each + 10), "coloraxis": key}
    return picture(several_sentence(result), panels, columns=2, gap=0.1, **look)


def _panel(filling: Filling, numbers: list[str], most: int) -> Panel:
    steps = [*filling.steps, *[None] * (most - len(filling.steps))]  # as many rows in every panel
    shares = [list(step.probabilities) if step else [None] * len(numbers) for step in steps]
    words = [[label(token or "", 12) for token in step.tokens] if step else [""] * len(numbers) for step in steps]
    read = [
        [f"{word}: {percent(share)}" if share is not None else "empty" for word, share in zip(*pair, strict=True)]
        for pair in zip(words, shares, strict=True)
    ]
    look: Look = {"texts": words, "size": 14, "shared": True, "customdata": read, "hover": "%{customdata}"}
    cells = heat(numbers, [str(number) for number in range(1, most + 1)], shares, MAGNITUDE, (0, 1), **look)
    across = axis("blank", names=True, outer=True)
    return Panel(
        cells, across, axis("step", names=True, down=True, outer=True), f"{filling.order}: {fixed(filling.joint)}"
    )

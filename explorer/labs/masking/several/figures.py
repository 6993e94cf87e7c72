"""Several blanks filled in several orders, as pictures, sentences and tables, from plain results."""

from __future__ import annotations

from markupsafe import Markup

from explorer.charts import CIVIDIS, Look, Panel, Picture, axis, colorbar, heat, picture
from explorer.charts.words import caption, fixed, in_quotes, label, percent, prose, quoted
from explorer.labs.masking.several.schema import Filling, SeveralResult
from explorer.tables import Table


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
    """The tokens of a finished filling."""
    return " … ".join(token or "" for token in filling.last.tokens)


def several_sentence(result: SeveralResult) -> Markup:
    """Which filling is likeliest as a whole, and what filling each blank alone gives away."""
    alone, best = result.fillings[0], result.best
    if len({filling.last.tokens for filling in result.fillings}) == 1:
        return prose("All four ways fill in ", in_quotes(filled_words(alone)), ".")
    together = ("Likeliest together is ", in_quotes(filled_words(best)))
    if alone.last.tokens == best.last.tokens:
        return prose(*together, ", what each blank alone gives.")
    return prose(*together, ", not ", in_quotes(filled_words(alone)), ", what each blank alone gives.")


def several_facts(result: SeveralResult) -> Markup:
    """Each way with its filling, the joint ln p of it, and the sum of ln p as the tokens were chosen."""
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
    """For each way a row a step: what each blank holds, coloured by its probability when it was put in."""
    numbers = [str(number) for number in range(1, len(result.positions) + 1)]
    most = max(len(filling.steps) for filling in result.fillings)
    panels = [_panel(filling, numbers, most) for filling in result.fillings]
    each = 34 * most + 90
    key = {"colorscale": CIVIDIS, "cmin": 0, "cmax": 1, "colorbar": colorbar("p", ".0%")}
    look: Look = {"height": 2 * each + 30, "phone": 4 * (each + 10), "coloraxis": key}
    return picture(several_sentence(result), panels, columns=2, gap=0.1, **look)


def _panel(filling: Filling, numbers: list[str], most: int) -> Panel:
    steps = [*filling.steps, *[None] * (most - len(filling.steps))]
    shares = [list(step.probabilities) if step else [None] * len(numbers) for step in steps]
    words = [[label(token or "", 12) for token in step.tokens] if step else [""] * len(numbers) for step in steps]
    read = [
        [f"{word}: {percent(share)}" if share is not None else "empty" for word, share in zip(*pair, strict=True)]
        for pair in zip(words, shares, strict=True)
    ]
    look: Look = {"texts": words, "size": 14, "shared": True, "customdata": read, "hover": "%{customdata}"}
    cells = heat(numbers, [str(number) for number in range(1, most + 1)], shares, CIVIDIS, (0, 1), **look)
    across = axis("blank", names=True, outer=True)
    return Panel(
        cells, across, axis("step", names=True, down=True, outer=True), f"{filling.order}: {fixed(filling.joint)}"
    )

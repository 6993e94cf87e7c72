"""What heads do when they are gone, as pictures, sentences and tables."""

from __future__ import annotations

import math
from itertools import groupby
from typing import Any

from markupsafe import Markup

from explorer.charts import DIVERGING, Look, Picture, axis, bars, chart, colorbar, rows
from explorer.charts.words import in_quotes, label, percent, prose, strong
from explorer.labs.attention.head.figures import KEY, by_head, head_cells
from explorer.labs.attention.switch.schema import AblateResult, AnswerChange, EachHeadResult
from explorer.tables import Table

MOST_BARS = 16


def ablate_table(result: AblateResult) -> Table:
    """position, token, probability_before, probability_after."""
    answers = [(change.position, _said(result, change), change.before, change.after) for change in result.answers]
    return Table.of(("position", "token", "probability_before", "probability_after"), answers)


def _said(result: AblateResult, change: AnswerChange) -> str:
    """The answer; for replaced tokens the token that is judged."""
    return result.tokens[change.position].shown if result.question == "replaced" else change.answer


def ablate_sentence(result: AblateResult) -> Markup:
    """How many heads are off, and what becomes of the leading answer."""
    count = len(result.off)
    total = result.layers * result.heads
    places = [list(changes) for _, changes in groupby(result.answers, key=lambda change: change.position)]
    first = places[0]
    led, leads = max(first, key=lambda change: change.before), max(first, key=lambda change: change.after)
    if not count:
        return prose(
            f"All {total} heads are on. ",
            in_quotes(_said(result, led)),
            f" has {percent(led.before)}. Press heads in the grid to switch them off and see what changes.",
        )
    parts: list[str] = [strong(f"{count} of {total} heads off: "), in_quotes(_said(result, led))]
    parts.append(f" goes from {percent(led.before)} to {percent(led.after)}")
    if leads is not led and result.question != "replaced":
        parts += [", and ", in_quotes(_said(result, leads)), f" leads now with {percent(leads.after)}"]
    parts.append(f". The whole answer moved by KL = {result.divergence / math.log(2):.3g} bits")
    parts.append(f" (mean of {len(places)} places)." if len(places) > 1 else ".")
    if result.shared:
        parts.append(
            " One layer serves every depth here: a switch acts at its depth alone, or everywhere if you say so."
        )
    return prose(*parts)


def ablate_figure(result: AblateResult) -> Picture:
    """Two bars for each answer: with all heads, and without those that are off; one while none is."""
    changes = result.answers[:MOST_BARS]
    several, places = len({change.position for change in changes}) > 1, range(len(changes))
    before = [f"{change.position}: " if several else "" for change in changes]
    names = [label(at + _word(_said(result, change)), 24) for at, change in zip(before, changes, strict=True)]
    traces = []
    for name, side, colour in (("all heads", "before", "@first"), ("heads off", "after", "@second")):
        shares = [getattr(change, side) for change in changes]
        look: Look = {"texts": map(percent, shares), "customdata": names, "hover": "%{customdata}: %{x:.4%}"}
        traces.append(bars(places, shares, colour, name, aside=name, size=15, **look))
    said, drawn, off = ablate_sentence(result), traces if result.off else traces[:1], bool(result.off)
    across, down = axis("probability", percent=True, span=(0, 1)), rows(names, size=17)
    height = max(300, 90 + 44 * len(changes))
    return chart(said, drawn, across, down, height=height, right=56, barmode="group", bargap=0.25, legend=off)


def _word(text: str) -> str:
    """An answer that is all blanks has a sign that stands for them."""
    return text.strip() or "␣"


def switches(result: AblateResult) -> dict[str, Any]:
    """The grid of switches."""
    return {
        "layers": result.layers,
        "heads": result.heads,
        "off": [list(head) for head in result.off],
        "model": result.model,
        "label": "Heads: a press switches one off or on",
    }


def off_text(result: AblateResult) -> str:
    """The heads that are off as AblateParams takes them."""
    return ", ".join(f"{layer}.{head}" for layer, head in result.off)


def each_head_table(result: EachHeadResult) -> Table:
    """layer, head, token (the answer followed), probability_before, probability_after."""
    cells = [(layer, head, result.answer, result.before, after) for after, layer, head in by_head(result.after)]
    return Table.of(("layer", "head", "token", "probability_before", "probability_after"), cells)


def each_head_sentence(result: EachHeadResult) -> Markup:
    """Which head the answer leans on most, which works against it, and how many hardly matter."""
    cells = [(after - result.before, layer, head) for after, layer, head in by_head(result.after)]
    worst, best = min(cells), max(cells)
    idle = sum(abs(change) < 0.01 for change, _, _ in cells)
    parts: list[str] = [in_quotes(result.answer), f" has {percent(result.before)} with all heads. "]
    if worst[0] < 0:
        parts += ["It leans most on ", strong(f"layer {worst[1]}, head {worst[2]}")]
        parts.append(f": without it {percent(result.before + worst[0])}. ")
    if best[0] > 0:
        parts.append(f"Without layer {best[1]}, head {best[2]} it would be {percent(result.before + best[0])}. ")
    parts.append(f"{idle} of {len(cells)} heads change it by less than a percentage point when they go alone.")
    return prose(*parts)


def each_head_figure(result: EachHeadResult) -> Picture:
    """A cell for each head: the change of the answer's probability when it alone is off."""
    changes = [[after - result.before for after in row] for row in result.after]
    bound = max(0.01, max(abs(change) for change, _, _ in by_head(changes)))
    title = f"change of p({label(_word(result.answer), 20)}) without it"
    bar = colorbar("", "+.0%" if bound >= 0.05 else "+.1%", **KEY)
    hover, height = "without layer %{y}, head %{x}: %{z:+.2%}", min(700, max(270, 96 + 30 * len(changes)))
    drawn = head_cells(changes, title, scale=DIVERGING, ends=(-bound, bound), bar=bar, hover=hover)
    return chart(each_head_sentence(result), *drawn, height=height, above=44)

"""What heads do when they are gone, as pictures, sentences and tables."""

from __future__ import annotations

import math
from itertools import groupby
from typing import Any

from markupsafe import Markup

from explorer.figures import DIVERGING, label, percent, picture, prose, strong
from explorer.labs.attention.switch_schema import AblateResult, AnswerChange, EachHeadResult
from explorer.tables import Table

MOST_BARS = 16


def ablate_table(result: AblateResult) -> Table:
    """position, token, probability_before, probability_after."""
    rows = [(change.position, _said(result, change), change.before, change.after) for change in result.answers]
    return Table.of(("position", "token", "probability_before", "probability_after"), rows)


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
            strong(_said(result, led)),
            f" has {percent(led.before)}. Press heads in the grid to switch them off and see what changes.",
        )
    parts: list[str] = [strong(f"{count} of {total} heads off: "), strong(_said(result, led))]
    parts.append(f" goes from {percent(led.before)} to {percent(led.after)}")
    if leads is not led and result.question != "replaced":
        parts += [", and ", strong(_said(result, leads)), f" leads now with {percent(leads.after)}"]
    parts.append(f". The whole answer moved by KL = {result.divergence / math.log(2):.3g} bits")
    parts.append(f" (mean of {len(places)} places)." if len(places) > 1 else ".")
    if result.shared:
        parts.append(
            " One layer serves every depth here: a switch acts at its depth alone, or everywhere if you say so."
        )
    return prose(*parts)


def ablate_figure(result: AblateResult) -> dict[str, Any]:
    """Two bars for each answer: with all heads, and without those that are off; one while none is."""
    changes = result.answers[:MOST_BARS]
    several = len({change.position for change in changes}) > 1
    names = [
        label((f"{change.position}: " if several else "") + (_said(result, change).strip() or "␣"), 24)
        for change in changes
    ]
    places = list(range(len(names)))
    traces = [
        {
            "type": "bar",
            "orientation": "h",
            "name": name,
            "y": places,
            "x": [getattr(change, side) for change in changes],
            "text": [percent(getattr(change, side)) for change in changes],
            "textposition": "outside",
            "textfont": {"size": 15},
            "cliponaxis": False,
            "marker": {"color": color},
            "customdata": names,
            "hovertemplate": "%{customdata}: %{x:.4%}<extra>" + name + "</extra>",
        }
        for name, side, color in (("all heads", "before", "@first"), ("heads off", "after", "@second"))
        if side == "before" or result.off
    ]
    return picture(
        traces,
        ablate_sentence(result).striptags(),
        height=max(300, 90 + 44 * len(changes)),
        barmode="group",
        bargap=0.25,
        showlegend=bool(result.off),
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "traceorder": "normal"},
        margin={"l": 8, "r": 56, "t": 34, "b": 8},
        xaxis={"range": [0, 1], "tickformat": ".0%", "title": {"text": "probability"}},
        yaxis={
            "autorange": "reversed",
            "tickvals": places,
            "ticktext": names,
            "tickfont": {"size": 17},
            "showgrid": False,
        },
    )


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
    rows = [
        (layer, head, result.answer, result.before, after)
        for layer, row in enumerate(result.after)
        for head, after in enumerate(row)
    ]
    return Table.of(("layer", "head", "token", "probability_before", "probability_after"), rows)


def each_head_sentence(result: EachHeadResult) -> Markup:
    """Which head the answer leans on most, which works against it, and how many hardly matter."""
    cells = [
        (after - result.before, layer, head) for layer, row in enumerate(result.after) for head, after in enumerate(row)
    ]
    worst, best = min(cells), max(cells)
    idle = sum(abs(change) < 0.01 for change, _, _ in cells)
    parts: list[str] = [strong(result.answer.strip() or "␣"), f" has {percent(result.before)} with all heads. "]
    if worst[0] < 0:
        parts += ["It leans most on ", strong(f"layer {worst[1]}, head {worst[2]}")]
        parts.append(f": without it {percent(result.before + worst[0])}. ")
    if best[0] > 0:
        parts.append(f"Without layer {best[1]}, head {best[2]} it would be {percent(result.before + best[0])}. ")
    parts.append(f"{idle} of {len(cells)} heads change it by less than a percentage point when they go alone.")
    return prose(*parts)


def each_head_figure(result: EachHeadResult) -> dict[str, Any]:
    """A cell for each head: the change of the answer's probability when it alone is off."""
    changes = [[after - result.before for after in row] for row in result.after]
    bound = max(0.01, max(abs(change) for row in changes for change in row))
    heads = len(changes[0])
    trace = {
        "type": "heatmap",
        "z": changes,
        "x": [str(head) for head in range(heads)],
        "y": [str(layer) for layer in range(len(changes))],
        "colorscale": DIVERGING,
        "zmin": -bound,
        "zmax": bound,
        "xgap": 2,
        "ygap": 2,
        "hovertemplate": "without layer %{y}, head %{x}: %{z:+.2%}<extra></extra>",
        "colorbar": {"tickformat": "+.0%" if bound >= 0.05 else "+.1%", "thickness": 12, "len": 0.9},
    }
    return picture(
        [trace],
        each_head_sentence(result).striptags(),
        height=min(700, max(270, 96 + 30 * len(changes))),
        margin={"l": 8, "r": 8, "t": 44, "b": 8},
        xaxis={
            "title": {"text": f"head · change of p({label(result.answer.strip() or '␣', 20)}) without it"},
            "side": "top",
            "showgrid": False,
            "type": "category",
        },
        yaxis={"title": {"text": "layer"}, "autorange": "reversed", "showgrid": False, "type": "category"},
    )

"""One token of a continuation: what its decoding allowed, as bars, curves, a sentence and a table."""

from __future__ import annotations

from math import log10
from typing import Any

from markupsafe import Markup

from explorer.charts import Look, Mark, Panel, Picture, Trace, axis, bars, level, line, picture, points, rows
from explorer.charts.chips import chip, chips
from explorer.charts.words import caption, counted, fixed, in_quotes, label, percent, prose, strong
from explorer.labs.generation.continued import DECODINGS, Candidate, NextResult
from explorer.labs.generation.continued_figures import setting
from explorer.tables import Table


def next_sentence(result: NextResult) -> Markup:
    """Say what a place's decoding allowed."""
    parts: list[str] = ["After ", in_quotes(result.context), f", {setting(result.decoding, result)} "]
    if result.decoding == "greedy":
        parts.append("takes the likeliest token")
    elif result.decoding == "beam":
        parts.append("weighs whole texts and rules out no token by itself")
    elif result.decoding == "temperature":
        parts.append(_tempered(result))
    else:
        parts += ["allows ", strong(counted(_allowed(result)[0], "token"))]
    return prose(*parts, ".")


def next_notes(result: NextResult) -> Markup:
    """Say how much the allowed tokens hold, what was written there, and the entropy."""
    count, mass = _allowed(result)
    parts: list[str] = []
    if count:
        parts.append(f"Of {result.vocabulary:,} tokens; those allowed hold {percent(mass)}. ")
    if written := result.written:
        parts += ["It wrote ", in_quotes(written.text, bold=False)]
        parts.append(f", rank {written.rank:,}, p = {percent(written.probability)}. ")
    return caption(*parts, f"Entropy: {fixed(result.entropy)} nats.")


def _allowed(result: NextResult) -> tuple[int, float]:
    """Return how many tokens the decoding allowed, and what they hold; (0, 0) if it has no such limit."""
    return {"top_k": result.top_k, "top_p": result.top_p}.get(result.decoding, (0, 0.0))


def _tempered(result: NextResult) -> str:
    """Say what a temperature allows and does to the likeliest token."""
    best = result.top[0]
    if not result.temperature:  # at 0 it is greedy
        return "takes the likeliest token"
    if percent(best.tempered) == percent(best.probability):
        return f"allows every token as it is, the likeliest with {percent(best.probability)}"
    return (
        f"allows every token, and the likeliest gets {percent(best.tempered)} in place of {percent(best.probability)}"
    )


def next_figure(result: NextResult) -> Picture:
    """Draw the likeliest tokens as bars with the decoding's cut; beside them what the likeliest hold together, by rank."""
    panels = [_bars_panel(result), _mass_panel(result)]
    return picture(next_sentence(result), panels, height=400, phone=760, gap=0.13, legend=True)


def _colour(one: Candidate, written: Candidate | None) -> str:
    if written is not None and one.token_id == written.token_id:
        return "@highlight"
    return "@accent" if one.allowed else "@muted"


def _bars_panel(result: NextResult) -> Panel:
    top, names = result.top, {"@accent": "allowed", "@muted": "left out", "@highlight": "written"}
    traces: list[Trace] = []
    for colour, name in names.items():
        places = [place for place, one in enumerate(top) if _colour(one, result.written) == colour]
        if places:
            shares = [top[place].probability for place in places]
            look: Look = {"texts": list(map(percent, shares)), "hover": "%{customdata}", "size": 14}
            told = [f"{label(top[place].text, 20)}: rank {top[place].rank}" for place in places]
            traces.append(bars(places, shares, colour, name, customdata=told, **look))
    if result.decoding == "temperature":
        heated = [one.tempered for one in top]
        name = f"at T = {result.temperature:g}"
        mark: Look = {"symbol": "diamond", "size": 10, "hover": f"{name}: %{{x:.2%}}"}
        traces.append(points(heated, list(range(len(top))), "@second", name, **mark))
    cuts = {"greedy": 1, "top_k": result.top_k[0], "top_p": result.top_p[0]}
    cut = cuts.get(result.decoding, len(top))
    marks: list[Mark] = [level(cut - 0.5, "@text")] if cut < len(top) else []
    most = max([one.probability for one in top] + [one.tempered for one in top if result.decoding == "temperature"])
    across = axis("probability", percent=True, span=(0, 1.3 * most), nticks=5)
    # An ellipsis joins a piece to the word before.
    spelled = [label("…" * (one.joined and one.text.isalnum()) + one.text, 14) for one in top]
    down = rows(spelled, size=14, autorange=False, span=(len(top) - 0.4, -0.6), zeroline=False)
    return Panel(traces, across, down, f"the {len(top)} likeliest next tokens", marks, width=1.25)


def _mass_panel(result: NextResult) -> Panel:
    read = "the likeliest %{x:,}: %{y:.1%}"
    traces = [line(result.ranks, result.mass, "@first", "mass at T = 1", hover=read)]
    marks: list[Mark] = []
    if result.decoding == "temperature":
        traces.append(
            line(result.ranks, result.tempered_mass, "@second", f"at T = {result.temperature:g}", dash="dash")
        )
    for name, (count, mass), symbol in (("top-k", result.top_k, "circle"), ("top-p", result.top_p, "square")):
        colour = "@third" if name == "top-k" else "@fourth"
        hover = f"{name}: {count:,} tokens, {percent(mass)}"
        titled = f"{name}: {count:,}"
        traces.append(points([count], [mass], colour, titled, size=12, symbol=symbol, hover=hover))
        if DECODINGS[result.decoding] == name:
            marks.append(level(count, colour, upright=True))
    if written := result.written:
        look: Look = {"size": 14, "symbol": "star", "hover": f"{label(written.text, 20)}: rank {written.rank:,}"}
        at = _mass_at(result, written.rank)
        traces.append(points([written.rank], [at], "@highlight", f"written: rank {written.rank:,}", **look))
    across = axis("tokens, likeliest first", log=True, dtick=1)
    up = axis("", percent=True, span=(0, 1.02))
    return Panel(traces, across, up, "what the likeliest hold together", marks)


def _mass_at(result: NextResult, rank: int) -> float:
    """Return what the tokens up to a rank hold together, along the drawn curve."""
    after = next(place for place, one in enumerate(result.ranks) if one >= rank)
    if result.ranks[after] == rank:
        return result.mass[after]
    (low, high), (below, above) = result.ranks[after - 1 : after + 1], result.mass[after - 1 : after + 1]
    share = log10(rank / low) / log10(high / low)  # the axis is logarithmic
    return below + share * (above - below)


def alternatives(result: NextResult) -> dict[str, Any]:
    """Return the likeliest tokens as chips to press: a branch for each, but for the end of the text."""
    row = [
        chip(
            one.text,
            f"{one.text}, p = {percent(one.probability)}: go on with it",
            "plain" if one.allowed else "special",
            position=place,
            below=percent(one.probability),
        )
        for place, one in enumerate(result.top)
    ]
    ids = [[*result.branch, one.token_id] for one in result.top]
    return chips("Go on with another token: press it", row, branches=ids)


def next_table(result: NextResult) -> Table:
    """The likeliest tokens; yes or no as 1 or 0."""
    return Table.each(
        result.top,
        "rank",
        token="text",
        probability="probability",
        in_top_k=lambda one: int(one.in_top_k),
        in_top_p=lambda one: int(one.in_top_p),
        at_temperature="tempered",
        token_id="token_id",
    )

"""Continuations as rows of coloured tokens, the distribution of one of them, sentences and tables."""

from __future__ import annotations

from collections.abc import Sequence
from math import log10
from typing import Any

from markupsafe import Markup

from explorer.charts import (
    CIVIDIS,
    Look,
    Mark,
    Panel,
    Picture,
    Trace,
    axis,
    bars,
    ink,
    level,
    line,
    picture,
    points,
    rows,
    shade,
)
from explorer.charts.chips import chip, chips
from explorer.charts.words import caption, counted, fixed, label, percent, prose, strong
from explorer.labs.generation.continued.schema import (
    DECODINGS,
    Candidate,
    ContinueParams,
    ContinueResult,
    NextResult,
    Row,
    Written,
)
from explorer.tables import Table

FAINTEST = 1e-3
"""From this probability down a token has the darkest colour; the scale is logarithmic from here to 1."""

MOST_QUOTED = 40
"""Characters of what is repeated."""


def setting(decoding: str, params: ContinueParams | NextResult) -> str:
    """A decoding with its parameter."""
    beams = f", {params.beams} beams" if isinstance(params, ContinueParams) else ""
    own = {"beam": beams, "top_k": f", k = {params.k}", "top_p": f", p = {params.p:g}"}
    own |= {"temperature": f", T = {params.temperature:g}"}
    return DECODINGS[decoding] + own.get(decoding, "")


def rows_view(result: ContinueResult) -> dict[str, Any]:
    """What assets/writing.js draws: a row for each decoding, its tokens coloured by their probability."""
    return {
        "label": "The continuations: press a token to see what else could have stood there",
        "rows": [_row(row, result) for row in result.rows],
        "words": {"branch": "branch"},
    }


def _row(row: Row, result: ContinueResult) -> dict[str, Any]:
    tokens = [_token(token) for token in row.tokens]
    ending = {"end": "end of text"} if row.ended is not None else {"going": True} if not result.done else {}
    name = setting(row.decoding, result.asked)
    return {"decoding": row.decoding, "name": name, "facts": _facts(row), "tokens": tokens, **ending}


def _facts(row: Row) -> str:
    """The numbers beside a row's name."""
    if row.surprisal is None:
        return ""
    facts = [f"mean −ln p {fixed(row.surprisal)}"]
    facts += [f"ln p {fixed(row.score, 1)}"] if row.decoding == "beam" else []
    facts += [f"distinct bigrams {percent(row.distinct)}"] if row.distinct is not None else []
    return " · ".join(facts)


def _token(token: Written) -> dict[str, Any]:
    title = f"{token.text}: p = {percent(token.probability)}, rank {token.rank:,}"
    look = {"text": token.text, "joined": token.joined, "id": token.token_id, "chosen": token.by_hand}
    share = 1 + log10(max(token.probability, FAINTEST)) / -log10(FAINTEST)
    return {**look, "title": title, "colour": shade(share, CIVIDIS), "ink": ink(share, CIVIDIS)}


def legend() -> Markup:
    """The key to the tokens' colours."""
    stops = ", ".join(f"{shade(at / 8, CIVIDIS)} {12.5 * at}%" for at in range(9))
    names = Markup("").join(Markup("<span>{}</span>").format(name) for name in ("≤ 0.1%", "1%", "10%", "100%"))
    return Markup(
        '<div class="writing-key"><span>probability</span><div><i style="background: linear-gradient(90deg, {})"></i>'
        '<div class="ticks">{}</div></div><span class="below-note">press a token</span></div>'
    ).format(Markup(stops), names)


def progress_line(result: ContinueResult) -> Markup:
    """How far it has come, while it goes on; and what is left out for want of room."""
    if not result.done:
        return caption(f"Token {result.steps} of {result.of}.")
    if result.room is not None:
        return caption(
            f"{result.model} reads a text and its continuation up to a certain length, and there was room for "
            f"{counted(result.room, 'more token')} only."
        )
    return Markup("")


def branch_view(result: ContinueResult) -> Markup:
    """Where the rows begin, after a branch was chosen."""
    own = [token for token in result.rows[0].tokens if token.by_hand]
    if not own:
        return Markup("")
    return caption(
        "Every row begins with ", strong(_short(_spelled(own))), ", your branch; Continue goes back to the text alone."
    )


def continue_sentence(result: ContinueResult) -> Markup:
    """Which continuation is likeliest and which least likely, which repeat themselves, which came to an end."""
    known = {row: row.surprisal for row in result.rows if row.surprisal is not None}
    if not known:
        return prose(f"{result.model} begins to write.")
    ordered = sorted(known, key=lambda row: known[row] or 0.0)
    low, high = ordered[0], ordered[-1]
    parts: list[str] = [
        f"{result.model} writes; mean −ln p a token: ",
        strong(f"{fixed(known[low] or 0.0)} nats"),
        f" ({DECODINGS[low.decoding]})",
    ]
    if low is not high:
        parts += [" to ", strong(fixed(known[high] or 0.0)), f" ({DECODINGS[high.decoding]})"]
    return prose(*parts, ". ", *_beaten(result), *_repeating(result), *_ended(result))


def _beaten(result: ContinueResult) -> list[str]:
    """Beam search against greedy, by what both of them seek."""
    scores = {row.decoding: row.score for row in result.rows}
    if not {"beam", "greedy"} <= set(scores):
        return []
    return [f"Sum of ln p: beam search {fixed(scores['beam'], 1)}, greedy {fixed(scores['greedy'], 1)}. "]


def _repeating(result: ContinueResult) -> list[str]:
    """Which rows repeat themselves, and what the one that does most goes round in."""
    found = [row for row in result.rows if row.repeats_itself]
    if not found:
        return ["None repeats itself. "] if result.done else []
    most = min(found, key=lambda row: row.distinct or 0.0)
    tokens, times = most.refrain
    names = _listed([DECODINGS[row.decoding] for row in found])
    who = "it" if len(found) == 1 else DECODINGS[most.decoding]
    verb = "repeats itself" if len(found) == 1 else "repeat themselves"
    return [
        strong(names[0].upper() + names[1:]),
        f" {verb}: {who} writes “{_short(_spelled(tokens))}” {_times(times)}. ",
    ]


def _times(count: int) -> str:
    return "twice" if count == 2 else f"{count} times"


def _spelled(tokens: Sequence[Written]) -> str:
    """Tokens as they stand in a sentence."""
    return "".join(token.text if token.joined else f" {token.text}" for token in tokens).strip()


def _ended(result: ContinueResult) -> list[str]:
    """Which rows the model ended by itself."""
    ended = [
        f"{DECODINGS[row.decoding]} after {counted(len(row.own), 'token')}"
        for row in result.rows
        if row.ended is not None
    ]
    return [f"The model ended its text by {_listed(ended)}."] if ended else []


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _short(text: str) -> str:
    return text if len(text) <= MOST_QUOTED else text[: MOST_QUOTED - 1] + "…"


def continue_table(result: ContinueResult) -> Table:
    """Every token of every row; a branch's tokens come first."""
    found = [
        (row.decoding, position, token.text, token.probability, token.rank, token.token_id)
        for row in result.rows
        for position, token in enumerate(row.tokens, start=1)
    ]
    return Table.of(("decoding", "position", "token", "probability", "rank", "token_id"), found)


def next_sentence(result: NextResult) -> Markup:
    """What a place's decoding allowed, and what stood there."""
    parts: list[str] = ["After “", strong(result.context), f"”, {setting(result.decoding, result)} "]
    count, mass = {"top_k": result.top_k, "top_p": result.top_p}.get(result.decoding, (0, 0.0))
    if result.decoding == "greedy":
        parts += ["takes the likeliest token"]
    elif result.decoding == "beam":
        parts += ["weighs whole texts and rules out no token by itself"]
    elif result.decoding == "temperature":
        best = result.top[0]
        parts += [f"allows every token, and the likeliest gets {percent(best.tempered)} in place of "]
        parts += [percent(best.probability)]
    else:
        parts += ["allows ", strong(f"{count:,} of {result.vocabulary:,}"), f" tokens, which hold {percent(mass)}"]
    parts += [". "]
    if written := result.written:
        parts += ["It wrote ", strong(written.text), f", rank {written.rank:,}, p = {percent(written.probability)}. "]
    return prose(*parts, f"Entropy: {fixed(result.entropy)} nats.")


def next_figure(result: NextResult) -> Picture:
    """The likeliest tokens as bars with the decoding's cut; beside them how much the likeliest hold together, by rank."""
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
    """What the tokens up to a rank hold together, along the drawn curve."""
    after = next(place for place, one in enumerate(result.ranks) if one >= rank)
    if result.ranks[after] == rank:
        return result.mass[after]
    (low, high), (below, above) = result.ranks[after - 1 : after + 1], result.mass[after - 1 : after + 1]
    share = log10(rank / low) / log10(high / low)  # the axis is logarithmic
    return below + share * (above - below)


def alternatives(result: NextResult) -> dict[str, Any]:
    """The likeliest tokens to press: a branch for each, but for the end of the text."""
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
        rank=lambda one: one.rank,
        token=lambda one: one.text,
        probability=lambda one: one.probability,
        in_top_k=lambda one: int(one.in_top_k),
        in_top_p=lambda one: int(one.in_top_p),
        at_temperature=lambda one: one.tempered,
        token_id=lambda one: one.token_id,
    )

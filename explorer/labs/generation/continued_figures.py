"""Continuations as rows of coloured tokens, the distribution of one of them, sentences and tables."""

from __future__ import annotations

from collections.abc import Sequence
from math import log10
from typing import Any

from markupsafe import Markup

from explorer.charts import MAGNITUDE, ink
from explorer.charts.words import caption, counted, fixed, in_quotes, percent, prose, strong
from explorer.labs.generation.continued import DECODINGS, ContinueParams, ContinueResult, NextResult, Row, Written
from explorer.tables import Table

FAINTEST = 1e-3
"""From this probability down a token has the darkest colour; the scale is logarithmic from here to 1."""

MOST_QUOTED = 40
"""Characters of what is repeated."""


def setting(decoding: str, params: ContinueParams | NextResult) -> str:
    """Name a decoding with its parameter."""
    beams = f", {params.beams} beams" if isinstance(params, ContinueParams) else ""
    own = {"beam": beams, "top_k": f", k = {params.k}", "top_p": f", p = {params.p:g}"}
    own |= {"temperature": f", T = {params.temperature:g}"}
    return DECODINGS[decoding] + own.get(decoding, "")


def rows_view(result: ContinueResult) -> dict[str, Any]:
    """Return what assets/writing.js draws: a row for each decoding, its tokens coloured by their probability."""
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
    """Write the numbers beside a row's name."""
    if row.surprisal is None:
        return ""
    facts = [f"mean −ln p {fixed(row.surprisal)}"]
    facts += [f"ln p {fixed(row.score, 1)}"] if row.decoding == "beam" else []
    facts += [f"distinct bigrams {percent(row.distinct)}"] if row.distinct is not None else []
    return " · ".join(facts)


def _token(token: Written) -> dict[str, Any]:
    title = f"{token.text}: p = {percent(token.probability)}, rank {token.rank:,}"
    look = {"text": token.text, "joined": token.joined, "id": token.token_id, "chosen": token.by_hand}
    share = 1 + log10(max(token.probability, FAINTEST)) / -log10(FAINTEST)  # from 0 at FAINTEST to 1, by powers of ten
    return {**look, "title": title, "share": round(share, 3), "ink": ink(share, MAGNITUDE)}


def legend() -> Markup:
    """Draw the key to the tokens' colours."""
    names = Markup("").join(Markup("<span>{}</span>").format(name) for name in ("≤ 0.1%", "1%", "10%", "100%"))
    return Markup(
        '<div class="writing-key"><span>probability</span><div><i></i>'
        '<div class="ticks">{}</div></div><span class="below-note">press a token</span></div>'
    ).format(names)


def progress_line(result: ContinueResult) -> Markup:
    """Say how far it has come, while it goes on; and what is left out for want of room."""
    if not result.done:
        return caption(f"Token {result.steps} of {result.of}.")
    if result.room is not None:
        return caption(
            f"{result.model} reads a text and its continuation up to a certain length, and there was room for "
            f"{counted(result.room, 'more token')} only."
        )
    return Markup("")


def branch_view(result: ContinueResult) -> Markup:
    """Say where the rows begin, after a branch was chosen."""
    own = [token for token in result.rows[0].tokens if token.by_hand]  # the branch is the same in every row
    if not own:
        return Markup("")
    return caption(
        "Every row begins with ",
        in_quotes(_short(_spelled(own))),
        ", your branch; Continue goes back to the text alone.",
    )


def continue_sentence(result: ContinueResult) -> Markup:
    """Say which continuation is likeliest and which least likely."""
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
    return prose(*parts, ".")


def continue_notes(result: ContinueResult) -> Markup:
    """Say whether beam search found more than greedy, which rows repeat themselves, which came to an end."""
    parts = [*_beaten(result), *_repeating(result), *_ended(result)]
    return caption(*parts) if parts else Markup("")


def _beaten(result: ContinueResult) -> list[str]:
    """Compare beam search with greedy, by what both of them seek."""
    scores = {row.decoding: row.score for row in result.rows}
    if not {"beam", "greedy"} <= set(scores):
        return []
    return [f"Sum of ln p: beam search {fixed(scores['beam'], 1)}, greedy {fixed(scores['greedy'], 1)}. "]


def _repeating(result: ContinueResult) -> list[str]:
    """Name the rows that repeat themselves, and the refrain of the one that does so most."""
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
        f" {verb}: {who} writes ",
        in_quotes(_short(_spelled(tokens)), bold=False),
        f" {_times(times)}. ",
    ]


def _times(count: int) -> str:
    return "twice" if count == 2 else f"{count} times"


def _spelled(tokens: Sequence[Written]) -> str:
    """Write tokens as they stand in a sentence."""
    return "".join(token.text if token.joined else f" {token.text}" for token in tokens).strip()


def _ended(result: ContinueResult) -> list[str]:
    """Say which rows the model ended by itself."""
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

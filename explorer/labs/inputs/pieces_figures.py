"""A text in pieces, by several tokenizers: chips, bars, a sentence and the table, from plain results."""

from __future__ import annotations

from collections import Counter
from typing import Any

from markupsafe import Markup

from explorer.charts import SERIES, Look, Picture, axis, bars, chart
from explorer.charts.words import caption, counted, in_quotes, label, percent, prose, strong
from explorer.labs.inputs.schema import LONGEST_WORD, Piece, TokenizedText, TokenizeResult
from explorer.tables import Table

MOST_CHIPS = 250
MOST_WORDS = 24
BELOW = {"id": "id", "bytes": "UTF-8 bytes", "nothing": "nothing"}
"""What may stand under a piece, and how the choice is worded."""


def tokenize_table(result: TokenizeResult) -> Table:
    """model, position, token, id, is_unknown."""
    rows = [
        (done.name, piece.position, piece.text, piece.token_id, piece.unknown)
        for done in result.tokenized
        for piece in done.pieces
    ]
    return Table.of(("model", "position", "token", "id", "is_unknown"), rows)


def pieces_view(result: TokenizeResult, below: str = "id") -> dict[str, Any]:
    """Return a row of chips for each tokenizer; pressing a chip tells which word it is of."""
    rows = [
        {
            "name": done.name,
            "kind": f"{done.kind} of {done.vocabulary:,}",
            "facts": facts(done, len(result.words)),
            "chips": [_chip(result, piece, below) for piece in done.pieces[:MOST_CHIPS]],
            "more": max(0, len(done.pieces) - MOST_CHIPS),
        }
        for done in result.tokenized
    ]
    rows += [{"name": name, "kind": "", "facts": "", "chips": [], "problem": why} for name, why in result.refused]
    return {"rows": rows, "label": "Pieces. Press one to see how its word is cut."}


def facts(done: TokenizedText, words: int) -> str:
    """State totals of one tokenizer: special tokens are left out, and a word is what stands between spaces."""
    own = len(done.own)
    lost = f"{percent(done.unknown / own) if done.unknown else '0%'} unknown" if own else "nothing left"
    return " · ".join([counted(own, "piece"), f"{own / max(1, words):.2f} a word", lost])


def _chip(result: TokenizeResult, piece: Piece, below: str) -> dict[str, Any]:
    source = result.text[piece.start : piece.stop]
    utf8 = " ".join(f"{byte:02X}" for byte in piece.utf8)
    under = {"id": str(piece.token_id), "bytes": utf8}.get(below, "")
    says = [f"{piece.text}, id {piece.token_id}, position {piece.position}"]
    if not piece.special:
        says.append(f"stands for {f'“{source}”' if source else 'a space'}" + (f", UTF-8 {utf8}" if utf8 else ""))
    return {
        "text": piece.shown,
        "lost": source if piece.unknown else "",
        "below": under,
        "style": "special" if piece.special else "unknown" if piece.unknown else "plain",
        "joined": piece.joined,
        "word": piece.word,
        "press": _word_of(result, piece),
        "title": "; ".join(says),
    }


def _word_of(result: TokenizeResult, piece: Piece) -> dict[str, Any] | None:
    """Return what pressing the piece asks about: its word or, if that is very long, what comes from the piece on."""
    if piece.word is None:
        return None
    start, stop = result.words[piece.word]
    if stop - start > LONGEST_WORD:
        start = piece.start
    word = result.text[start : min(stop, start + LONGEST_WORD)]
    return {"word": word, "after_space": start > 0 and result.text[start - 1].isspace()}


def tokenize_sentence(result: TokenizeResult) -> Markup:
    """Say who needs fewest pieces, and who most."""
    fewest, most = (choose(result.tokenized, key=lambda done: len(done.own)) for choose in (min, max))
    few, many = len(fewest.own), len(most.own)
    cut = strong(counted(few, "piece"))
    if few == many:
        who = fewest.name if len(result.tokenized) == 1 else "Each of them"
        return prose(who, " cuts this text into ", cut, ".")
    return prose(fewest.name, " cuts this text into ", cut, ", ", most.name, " into ", strong(str(many)), ".")


def tokenize_notes(result: TokenizeResult) -> Markup:
    """Say how long the text is, who needs how many pieces, and what is lost."""
    counts = ", ".join(
        f"{counted(len(done.own), 'piece')} by {done.name}"
        for done in sorted(result.tokenized, key=lambda done: len(done.own))
    )
    parts: list[str] = [f"{counted(len(result.words), 'word')}, {len(result.text.encode()):,} bytes: {counts}. "]
    for done in result.tokenized:
        lost = [result.text[piece.start : piece.stop] for piece in done.own if piece.unknown]
        if lost:
            parts += [f"Unknown to {done.name}: ", _listed(lost), ". "]
    whole = [done.name for done in result.tokenized if not done.unknown]
    if len(whole) == len(result.tokenized):
        parts.append("Nothing is unknown.")
    elif whole:
        parts.append(f"Nothing is unknown to {' and '.join(whole)}.")
    if result.respaced:
        many = "tabs, line breaks or control characters were" if result.respaced > 1 else "tab or line break was"
        parts.append(f" {result.respaced} {many} made a space before the text was cut; ")
        parts.append("a byte-level tokenizer has pieces of its own for them.")
    return caption(*parts)


def _listed(names: list[str], most: int = 4) -> Markup:
    distinct = list(dict.fromkeys(name.strip()[:20] for name in names))
    more = f" and {len(distinct) - most} more" if len(distinct) > most else ""
    return Markup(", ").join(map(in_quotes, distinct[:most])) + more


def words_figure(result: TokenizeResult) -> Picture:
    """Draw bars: pieces of each word, a colour a tokenizer; of many words the first."""
    if not result.words or not result.tokenized:
        return {}
    names = [label(result.text[start:stop], 14) for start, stop in result.words[:MOST_WORDS]]
    places, drawn = list(range(len(names))), []
    look: Look = {"hover": "%{customdata}: %{y} pieces", "aside": "%{fullData.name}", "customdata": names}
    for number, done in enumerate(result.tokenized):
        counts = Counter(piece.word for piece in done.own)
        heights = [counts[place] for place in places]
        drawn.append(bars(places, heights, SERIES[number], label(done.name), upright=True, **look))
    left_out = f", the first {MOST_WORDS} of {len(result.words)} words" if len(result.words) > MOST_WORDS else ""
    across = axis(grid=False, size=14, tickmode="array", tickvals=places, ticktext=names, zeroline=False)
    up = axis(f"pieces a word{left_out}", zero=True, tickformat=",d")
    return chart(tokenize_sentence(result), drawn, across, up, height=240, legend=True, barmode="group")

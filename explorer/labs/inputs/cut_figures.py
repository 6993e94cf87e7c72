"""How a word is cut: the steps of each tokenizer as rows of pieces, a sentence and the table, from plain results."""

from __future__ import annotations

import math
from typing import Any

from markupsafe import Markup

from explorer.charts.words import caption, counted, fixed, in_quotes, prose
from explorer.labs.inputs.schema import Alternative, CutPart, CutResult, Step, WordCut
from explorer.labs.inputs.spelling import readable
from explorer.tables import Table

MOST_TRIED = 10
METHODS = {
    "WordPiece": "From the left, always the longest piece of the vocabulary that fits.",
    "BPE": "Merge the neighbours that come first in the list.",
    "Unigram": "The most probable of all cuts.",
    "whole": "Taken whole: it is an entry of the vocabulary by itself.",
}


def cut_table(result: CutResult) -> Table:
    """model, part, stage (step, alternative or cut), number, pieces, detail, rank, log_probability."""
    rows: list[tuple[str | int | float | None, ...]] = []
    for cut in result.cuts:
        for number, part in enumerate(cut.parts, start=1):
            for place, step in enumerate(part.steps, start=1):
                tried = f"tried {' '.join(step.tried)}" if step.tried else ""
                rows.append((cut.name, number, "step", place, " ".join(step.pieces), tried, step.rank, step.score))
            for place, other in enumerate(part.alternatives, start=1):
                rows.append((cut.name, number, "alternative", place, " ".join(other.pieces), "", None, other.total))
        ids = " ".join(map(str, cut.ids))
        rows.append((cut.name, None, "cut", None, " ".join(cut.pieces), f"ids {ids}", None, None))
    return Table.of(("model", "part", "stage", "number", "pieces", "detail", "rank", "log_probability"), rows)


def cut_view(result: CutResult) -> dict[str, Any]:
    """Return a block for each tokenizer: what it ends with, then every step that leads there."""
    blocks = [_block(cut) for cut in result.cuts]
    blocks += [{"name": name, "kind": "", "problem": why} for name, why in result.refused]
    return {"blocks": blocks, "label": f"How “{result.word}” is cut"}


def _block(cut: WordCut) -> dict[str, Any]:
    styles = ["unknown" if piece == cut.unknown else "plain" for piece in cut.pieces]
    result = [
        {"text": readable(piece, cut.byte_level), "below": str(number), "style": style}
        for piece, number, style in zip(cut.pieces, cut.ids, styles, strict=True)
    ]
    parts = [_part(cut, part) for part in cut.parts]
    return {"name": cut.name, "kind": cut.kind, "result": result, "before": _before(cut), "parts": parts}


def _before(cut: WordCut) -> str:
    """Say what happens before the cutting: normalisation, and splitting into parts."""
    says = []
    if cut.byte_level:
        says.append("Begins with bytes; Ġ is a space.")
    if len(cut.parts) > 1:
        parts = " | ".join(readable(part.text, cut.byte_level) for part in cut.parts)
        says.append(f"Split first, at spaces, punctuation and the like: {parts}.")
    return " ".join(says)


def _part(cut: WordCut, part: CutPart) -> dict[str, Any]:
    return {
        "title": readable(part.text, cut.byte_level) if len(cut.parts) > 1 else "",
        "method": METHODS[part.method],
        "rows": [_row(cut, part, place) for place in range(len(part.steps))],
        "alternatives": [_alternative(cut, part, place) for place in range(len(part.alternatives))],
    }


def _row(cut: WordCut, part: CutPart, place: int) -> dict[str, Any]:
    step = part.steps[place]
    chips = [
        {"text": readable(piece, cut.byte_level), "style": "new" if number == step.new else "plain"}
        for number, piece in enumerate(step.pieces)
    ]
    if step.rest and not (part.method == "WordPiece" and part.lost and place == len(part.steps) - 1):
        chips.append({"text": step.rest, "style": "rest"})
    return {"chips": chips, "note": _note(cut, part, place), "tried": _shortened(step.tried)}


def _shortened(tried: tuple[str, ...]) -> list[str]:
    """Return all that was tried, or the first and the last of it."""
    if len(tried) <= MOST_TRIED:
        return list(tried)
    return [*tried[: MOST_TRIED - 3], f"… {len(tried) - MOST_TRIED + 1} more …", *tried[-2:]]


def _note(cut: WordCut, part: CutPart, place: int) -> str:
    step = part.steps[place]
    if part.method == "WordPiece":
        return _match_note(part, step)
    if part.method == "BPE":
        if step.rank is None or step.new is None:
            return "to begin with" if len(part.steps) > 1 else "no pair of neighbours is in the list"
        before = part.steps[place - 1].pieces
        first, second = (readable(piece, cut.byte_level) for piece in before[step.new : step.new + 2])
        end = "; no further pair is in the list" if place == len(part.steps) - 1 else ""
        return f"merge {step.rank:,}: {first} + {second}{end}"
    return "" if step.score is None else f"log p = {fixed(step.score)}"


def _match_note(part: CutPart, step: Step) -> str:
    found = step.pieces[step.new] if step.new is not None else ""
    if part.lost is not None:
        whole = "" if part.text == step.rest else f", so the whole word “{part.text}” is unknown"
        return f"nothing in the vocabulary begins “{step.rest}”{whole}" if step.rest else "too long to be looked up"
    return f"found {found}" + (f", after {len(step.tried)} that are not there:" if step.tried else " at once")


def _alternative(cut: WordCut, part: CutPart, place: int) -> dict[str, Any]:
    other, style = part.alternatives[place], "new" if place == 0 else "plain"
    chips = [
        {"text": readable(piece, cut.byte_level), "below": fixed(score, 1), "style": style}
        for piece, score in zip(other.pieces, other.scores, strict=True)
    ]
    behind = part.alternatives[0].total - other.total
    rest = "the best" if place == 0 else f"{_times(behind)} less probable"
    return {"chips": chips, "note": f"log p = {fixed(other.total)}, {rest}"}


def _times(behind: float) -> str:
    """Write a difference of natural logarithms as a factor."""
    digits = behind / math.log(10)
    # Larger factors are only digits.
    return f"{10**digits:,.0f} times" if 10**digits < 1e6 else f"10^{digits:.0f} times"


def cut_sentence(result: CutResult) -> Markup:
    """Say what each method ends with."""
    parts: list[str] = []
    for place, cut in enumerate(result.cuts):
        pieces = Markup(" ").join(in_quotes(readable(piece, cut.byte_level)) for piece in cut.pieces[:12])
        parts += ["; " if place else "", f"{cut.name}: ", pieces, " …" if len(cut.pieces) > 12 else ""]
    return prose(*parts, ".")


def cut_notes(result: CutResult) -> Markup:
    """Say in how many steps each was done, and whether the tokenizer itself says the same."""
    works = f"{', '.join(f'{cut.name}: {_work(cut)}' for cut in result.cuts)}. "
    others = ", ".join(cut.name for cut in result.cuts if not cut.agrees)
    if others:
        return caption(
            works, f"{others} gives other ids when asked as a whole: it treats this text in a way of its own."
        )
    return caption(works, "Each tokenizer, asked as a whole, gives the same ids.")


def _work(cut: WordCut) -> str:
    """Say how much was done, in the method's own terms."""
    methods = {part.method for part in cut.parts}
    if methods == {"WordPiece"}:
        tried = sum(len(step.tried) for part in cut.parts for step in part.steps)
        # Each found piece was looked up too.
        return f"{tried + sum(len(part.steps) - (part.lost is not None) for part in cut.parts)} looked up"
    if methods == {"BPE"}:
        return counted(sum(len(part.steps) - 1 for part in cut.parts), "merge")
    best: list[Alternative] = [part.alternatives[0] for part in cut.parts if part.alternatives]
    return f"log p = {fixed(sum(entry.total for entry in best))}" if best else "taken whole"

"""What is said about bertviz's views, and the table behind them."""

from __future__ import annotations

from markupsafe import Markup

from explorer.charts.words import caption, counted, percent, prose, strong
from explorer.labs.attention.views.schema import SCALE, AttentionViewResult
from explorer.tables import Table

HINTS = {
    "head": "Point at a token to see where it looks (left) or who looks at it (right). Click a colour square to switch a head "
    "off or on, double-click it for that head alone.",
    "model": "Each small picture is one head: what looks stands left, what is looked at right. Click one to enlarge it, click "
    "again to close it.",
}


def view_title(result: AttentionViewResult) -> str:
    """Return the document's title."""
    part = f"layer {result.layers[0]}, all heads" if result.view == "head" else "every layer and head"
    return f"Attention of {result.model}: {part}"


def view_note(result: AttentionViewResult) -> Markup:
    """Say which weights are drawn, and how much of all attention they are."""
    share = strong(percent(result.share))
    if result.kept_from <= 1:  # the least that is not rounded to 0
        parts = ["All weights are drawn."]
    else:
        parts = [
            f"Weights of {_threshold(result.kept_from)} and more are drawn, and each token's largest: ",
            share,
            " of all attention",
            ", as much as a browser draws smoothly." if result.limited else ".",
        ]
    if result.view == "model" and result.drawn_from > result.kept_from:
        parts.append(f" The small pictures show those of {_threshold(result.drawn_from)} and more.")
    if result.causal:
        parts.append(" This model reads from left to right: a token looks at itself and at what stands before it.")
    return prose(*parts)


def _threshold(number: int) -> str:
    return f"{100 * number / SCALE:.3g}%"


def view_sentence(result: AttentionViewResult) -> Markup:
    """Say how much of the attention in view the lines are."""
    one = result.view == "head"
    heads = counted(len(result.heads), "head")
    start = f"In layer {result.layers[0]} the lines show " if one else "The lines show "
    if not one and result.drawn_from > result.kept_from:
        start = "Enlarged, the pictures show "
    if result.kept_from <= 1:
        return prose(start, strong("every weight"), f" of {heads}.")
    return prose(start, strong(percent(result.share)), f" of the attention of {heads}.")


def view_notes(result: AttentionViewResult) -> Markup:
    """Say what is in view, which weights are drawn, and what a pair's filter is for."""
    parts: list[str] = [f"{_where(result)}, {counted(len(result.tokens), 'token')}. ", view_note(result)]
    if result.second_starts is not None:
        parts.append(" The list above the picture keeps attention within or between the two texts.")
    return caption(*parts)


def _where(result: AttentionViewResult) -> str:
    if result.view == "head":
        return f"Layer {result.layers[0]}, {counted(result.heads_of_layer, 'head')}"
    return f"{counted(len(result.layers), 'layer')} × {counted(result.heads_of_layer, 'head')}"


def view_table(result: AttentionViewResult) -> Table:
    """layer, head, lines_drawn (weights that the view carries), share_of_attention (theirs of the head's)."""
    return Table.of(
        ("layer", "head", "lines_drawn", "share_of_attention"),
        [(head.layer, head.head, head.lines, head.share) for head in result.heads],
    )

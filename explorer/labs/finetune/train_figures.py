"""What LoRA adds to a model, drawn: W with B A beside it, and the layer with the matrices lit that it goes to."""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup

from explorer.charts.layer import layer_drawing
from explorer.charts.words import caption, counted, percent, prose, strong
from explorer.labs.finetune.schema import LowRank, PlanResult
from explorer.models.layer_sizes import Matrix

WIDE, HIGH, SIDE = 390, 300, 130
"""Pixels: of the drawing, and of W's longer side."""

LEFT, RIGHT, MIDDLE = 78, 258, 150
"""How far to the right W stands, and B A; how far down they have their middle."""

LEAST, ROOMY = 10, 100
"""Pixels that a side has at least, so that it is seen, and from which on a name has room inside."""


def lora_view(result: PlanResult) -> Markup:
    """Draw both with the numbers that they stand for; nothing if another method is chosen."""
    added, layer = result.low_rank, result.layer
    if added is None or layer is None or not added.matrices:
        return Markup("")
    lit = [role for matrix in added.matrices for role in matrix.name.split("+")]
    drawn = layer_drawing(layer.shapes, layer.heads, layer.activation, layer.norm, layer.norm_first, lit)
    under = f"A layer of {result.model_id}. Orange: the matrices that get such a pair."
    return Markup('<div class="lora-view"><figure>{}{}</figure><figure>{}{}</figure></div>').format(
        lora_drawing(added), _counted(added), drawn, caption(under)
    )


def lora_drawing(added: LowRank) -> Markup:
    """Draw the first of the chosen matrices as Figure 1 of Hu et al. 2021 has it: h = W x + (α/r) B A x, x at the
    bottom.
    """
    first, middle = added.matrices[0], (LEFT + RIGHT) // 2
    rows, columns, rank = (_pixels(count, first) for count in (first.rows, first.columns, added.rank))
    parts = [
        *_ways(middle),
        _shape("frozen", _rectangle(columns, rows)),
        *_name_of(first, columns, rows),
        _shape("trained", _trapezoid(rank, columns, MIDDLE + 6, MIDDLE + 68)),
        _shape("trained", _trapezoid(rows, rank, MIDDLE - 68, MIDDLE - 6)),
        _beside(f"A: {added.rank} × {first.columns:,}", columns, MIDDLE + 64),
        _beside(f"B: {first.rows:,} × {added.rank}", rows, MIDDLE - 52),
        _word(RIGHT + rank // 2 + 10, MIDDLE + 5, f"r = {added.rank}", "start"),
        _word(RIGHT + 8, MIDDLE - 82, f"· {_scale(added)}", "start"),
        Markup('<circle cx="{}" cy="{}" r="11"/>').format(middle, 40),
        _word(middle, 46, "+"),
        _word(middle, 16, f"h: {first.rows:,} numbers"),
        _word(middle, HIGH - 6, f"x: {first.columns:,} numbers"),
    ]
    whole = '<svg class="lora" viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img" aria-label="{2}">{3}</svg>'
    return Markup(whole).format(WIDE, HIGH, _described(added), Markup("").join(parts))


def _pixels(count: int, first: Matrix) -> int:
    """Return how long a side is beside the longer side of W, in pixels."""
    return max(LEAST, round(SIDE * count / max(first.rows, first.columns)))


def _scale(added: LowRank) -> str:
    if added.variant == "rslora":
        return f"α/√r = {added.alpha / added.rank**0.5:.3g}"
    return f"α/r = {added.alpha / added.rank:.3g}"


def _ways(middle: int) -> Iterable[Markup]:
    """Draw the two ways up for x, and the sum of what comes out."""
    for x in (LEFT, RIGHT):
        points = ((middle, HIGH - 22), (middle, HIGH - 40), (x, HIGH - 40), (x, 40), (middle, 40))
        path = " ".join(f"{across},{down}" for across, down in points)
        yield Markup('<polyline points="{}"/>').format(path)
    yield Markup('<polyline points="{0},40 {0},22"/>').format(middle)


def _rectangle(wide: int, high: int) -> Iterable[tuple[int, int]]:
    across, down = wide // 2, high // 2
    corners = ((-across, -down), (across, -down), (across, down), (-across, down))
    return [(LEFT + x, MIDDLE + y) for x, y in corners]


def _trapezoid(above: int, below: int, top: int, bottom: int) -> Iterable[tuple[int, int]]:
    """Return the corners of a matrix that takes `below` numbers to `above`, both as pixels."""
    upper, lower = above // 2, below // 2
    return [(RIGHT - upper, top), (RIGHT + upper, top), (RIGHT + lower, bottom), (RIGHT - lower, bottom)]


def _shape(style: str, corners: Iterable[tuple[int, int]]) -> Markup:
    """Draw a shape, opaque below its colour, so that no line shows through."""
    path = " ".join(f"{x},{y}" for x, y in corners)
    return Markup('<polygon class="ground" points="{0}"/><polygon class="{1}" points="{0}"/>').format(path, style)


def _name_of(first: Matrix, wide: int, high: int) -> Iterable[Markup]:
    """Write what W is: inside if there is room, else beside it or above it."""
    lines = (f"W, {first.name}", f"{first.rows:,} × {first.columns:,}", "frozen")
    x, y, anchor = LEFT, MIDDLE - 14, "middle"
    if wide < ROOMY:
        x, anchor = LEFT + wide // 2 + 8, "start"
    elif high < ROOMY:
        x, y, anchor = LEFT + 8, MIDDLE - high // 2 - 48, "start"
    return [_word(x, y + 20 * place, line, anchor) for place, line in enumerate(lines)]


def _beside(text: str, wide: int, y: int) -> Markup:
    """Write what A or B is: inside if it is wide enough, else to its right."""
    return _word(RIGHT, y, text) if wide >= ROOMY else _word(RIGHT + wide // 2 + 8, y, text, "start")


def _word(x: int, y: int, text: str, anchor: str = "middle") -> Markup:
    return Markup('<text x="{}" y="{}" text-anchor="{}">{}</text>').format(x, y, anchor, text)


def _described(added: LowRank) -> str:
    first = added.matrices[0]
    return (
        f"LoRA: x goes through W, {first.rows:,} by {first.columns:,} and frozen, and beside it through A, {added.rank} by "
        f"{first.columns:,}, and B, {first.rows:,} by {added.rank}, which are trained; the second, times {_scale(added)}, is "
        "added to the first."
    )


def _counted(added: LowRank) -> Markup:
    """Say what W and B A have, multiplied out, for each shape; then all of them together."""
    shapes: dict[tuple[int, int], list[Matrix]] = {}
    for matrix in added.matrices:
        shapes.setdefault((matrix.rows, matrix.columns), []).append(matrix)
    lines = Markup("").join(Markup("<p>{}</p>").format(_against(added, alike)) for alike in shapes.values())
    lengths = ", with the length of each row, which DoRA trains besides" if added.variant == "dora" else ""
    return lines + caption(
        f"In {counted(added.layers, 'layer')} that is {added.trained:,} trained parameters{lengths}."
    )


def _against(added: LowRank, alike: list[Matrix]) -> Markup:
    """State one shape's numbers, as a share of W's only if they are fewer."""
    first, rank = alike[0], added.rank
    square = first.rows == first.columns
    names = ", ".join(matrix.name for matrix in alike)
    factors = f"2 · {rank} · {first.rows:,}" if square else f"{rank} · ({first.rows:,} + {first.columns:,})"
    count = rank * (first.rows + first.columns)
    share = f" ({percent(count / first.numbers)})" if count < first.numbers else ", which is no fewer"
    return prose(
        f"{names}: {first.rows:,} · {first.columns:,} = {first.numbers:,} in W against {factors} = ",
        strong(f"{count:,}"),
        share,
        ".",
    )

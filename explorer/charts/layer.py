"""Draws one layer of an encoder: a token's state goes up through it, past its six matrices and its two sums."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from markupsafe import Markup

WIDE, BOX, AIR = 372, 34, 17
"""Pixels: the drawing's width, a box's height, and the space between two boxes."""

MIDDLE, EDGE = 208, 24
"""Pixels from the left: the line on which the state goes up, and the way past a block."""

_TITLES = {"ffn_in": "feed-forward, in", "ffn_out": "feed-forward, out"}
_ASKS = {"query": 96, "key": 208, "value": 320}
"""Pixels from the left of the middles of the three matrices that attention reads."""


def layer_drawing(
    shapes: Mapping[str, tuple[int, int]],
    heads: int,
    activation: str = "GELU",
    norm: str = "LayerNorm",
    norm_first: bool = False,
    lit: Collection[str] = (),
) -> Markup:
    """Return an SVG that scales with its place, with a description for screen readers; `.layer` in the style sheet
    colours it.

    shapes: (rows, columns) of each role's matrix: query, key, value, output, ffn_in, ffn_out. norm_first: whether a
    norm stands where a state enters a block, rather than behind the sum. lit: the roles that stand out.
    """
    steps: list[str] = ["x"]
    for inside in (("ask", "heads", "output"), ("ffn_in", activation, "ffn_out")):
        steps += ["split", *(["norm"] if norm_first else []), *inside, "sum", *([] if norm_first else ["norm"])]
    steps.append("next")
    drawing = _Drawing(shapes, heads, norm, set(lit))
    for step in steps:
        drawing.add(step)
    return drawing.svg(_described(shapes, heads, activation, norm, norm_first, lit))


class _Drawing:
    """Draws from the bottom up; `y` is the upper edge of the drawing so far, counted upwards."""

    def __init__(self, shapes: Mapping[str, tuple[int, int]], heads: int, norm: str, lit: Collection[str]) -> None:
        self._shapes, self._heads, self._norm, self._lit = shapes, heads, norm, lit
        self._parts: list[Markup] = []
        self._y = 0.0
        self._left = 0.0

    def add(self, step: str) -> None:
        """Draw the next step upwards."""
        if step in ("x", "next"):
            self._word("a token's state" if step == "x" else "to the next layer")
        elif step == "split":
            self._rise(8)
            self._left = self._y  # where the way past the block begins, which `_sum` draws
        elif step == "sum":
            self._sum()
        elif step == "ask":
            self._ask()
        elif step == "heads":
            across = self._shapes["query"][0]
            each = f" of {across // self._heads}" if across % self._heads == 0 else ""
            self._box(f"softmax of q · k in {self._heads} heads{each}", "block", MIDDLE, 308)
        elif step in self._shapes:
            rows, columns = self._shapes[step]
            self._box(f"{_TITLES.get(step, step)}: {columns:,} → {rows:,}", self._style(step), MIDDLE, 308)
        else:
            self._box(self._norm if step == "norm" else step, "block", MIDDLE, 150, 26)

    def svg(self, said: str) -> Markup:
        """Return the whole drawing, in SVG's coordinates."""
        high = round(self._y + 4)
        drawn = Markup("").join(self._parts)
        whole = (
            # y counts down in SVG, so everything is drawn at -y.
            '<svg class="layer" viewBox="0 {0} {1} {2}" width="{1}" height="{2}" role="img" aria-label="{3}">{4}</svg>'
        )
        return Markup(whole).format(-high, WIDE, high, said, drawn)

    def _style(self, role: str) -> str:
        return "matrix lit" if role in self._lit else "matrix"

    def _rise(self, by: float, at: int = MIDDLE) -> None:
        """Draw a line upwards."""
        self._line(((at, self._y), (at, self._y + by)))
        self._y += by

    def _line(self, points: Collection[tuple[float, float]], style: str = "") -> None:
        path = " ".join(f"{x:g},{-y:g}" for x, y in points)
        self._parts.append(Markup('<polyline class="{}" points="{}"/>').format(style, path))

    def _word(self, text: str) -> None:
        below = 4 if self._y == 0 else self._y + AIR
        if self._y:
            self._rise(AIR - 4)
        self._text(text, MIDDLE, below)
        self._y = below + 18

    def _text(self, text: str, x: float, y: float) -> None:
        self._parts.append(Markup('<text x="{:g}" y="{:g}">{}</text>').format(x, -y, text))

    def _box(self, text: str, style: str, x: int, wide: int, high: int = BOX) -> None:
        self._rise(AIR)
        self._rectangle(x, self._y, wide, high, style)
        self._text(text, x, self._y + high / 2 - 5)
        self._y += high

    def _rectangle(self, x: int, y: float, wide: int, high: int, style: str) -> None:
        box = '<rect class="{}" x="{:g}" y="{:g}" width="{}" height="{}" rx="6"/>'
        self._parts.append(Markup(box).format(style, x - wide / 2, -y - high, wide, high))

    def _ask(self) -> None:
        """Draw query, key and value beside each other, each from the same state."""
        high, start = BOX + 12, self._y
        for role, x in _ASKS.items():
            self._line(((MIDDLE, start), (MIDDLE, start + AIR / 2), (x, start + AIR / 2), (x, start + AIR)))
            rows, columns = self._shapes[role]
            self._rectangle(x, start + AIR, 100, high, self._style(role))
            self._text(role, x, start + AIR + high - 20)
            self._text(f"{columns:,} → {rows:,}", x, start + AIR + 10)
            if x != MIDDLE:
                self._line(((x, start + AIR + high), (x, start + AIR + high + AIR)))
        self._y = start + AIR + high

    def _sum(self) -> None:
        """Draw the sum of the state that went past and what came through."""
        self._rise(AIR)
        y = self._y + 11
        turn = ((MIDDLE, self._left), (EDGE, self._left), (EDGE, y), (MIDDLE - 11, y))
        self._line(turn, "past")
        self._parts.append(Markup('<circle cx="{}" cy="{:g}" r="11"/>').format(MIDDLE, -y))
        self._text("+", MIDDLE, y - 6)
        self._y += 22


def _described(
    shapes: Mapping[str, tuple[int, int]],
    heads: int,
    activation: str,
    norm: str,
    norm_first: bool,
    lit: Collection[str],
) -> str:
    """Describe the drawing in words."""
    sizes = ", ".join(f"{role} {columns:,} to {rows:,}" for role, (rows, columns) in shapes.items())
    where = "before each block" if norm_first else "behind each sum"
    said = (
        f"One layer, from below: query, key and value of the state; softmax in {heads} heads; output; the state added; then "
        f"feed-forward in, {activation}, feed-forward out; the state added again; {norm} {where}. Matrices: {sizes}."
    )
    return f"{said} Standing out: {', '.join(role for role in shapes if role in lit)}." if lit else said

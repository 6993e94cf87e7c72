"""The drawing of one layer: every matrix with its sizes, the norms where the family has them, what stands out, and its words."""

from __future__ import annotations

import re
from html import unescape

from markupsafe import escape

from explorer.charts.layer import layer_drawing
from tests.labs.drawing import HOSTILE
from tests.rows import each_row

SHAPES = {
    "query": (768, 768),
    "key": (768, 768),
    "value": (768, 768),
    "output": (768, 768),
    "ffn_in": (3072, 768),
    "ffn_out": (768, 3072),
}


def words(drawn: str) -> list[str]:
    """From the top down, as they stand in the drawing."""
    found = re.findall(r'<text x="[\d.]+" y="(-?[\d.]+)">([^<]*)</text>', drawn)
    return [unescape(text) for _, text in sorted(found, key=lambda one: float(one[0]))]


def test_a_state_goes_up_past_every_matrix_and_two_sums() -> None:
    drawn = layer_drawing(SHAPES, 12)
    assert words(drawn) == [
        "to the next layer",
        "LayerNorm",
        "+",
        "feed-forward, out: 3,072 → 768",
        "GELU",
        "feed-forward, in: 768 → 3,072",
        "LayerNorm",
        "+",
        "output: 768 → 768",
        "softmax of q · k in 12 heads of 64",
        *("query", "key", "value"),
        *["768 → 768"] * 3,
        "a token's state",
    ]
    assert drawn.count('class="matrix"') == 6
    assert drawn.count('class="past"') == 2


def test_a_norm_that_comes_first_stands_where_a_block_begins() -> None:
    found = words(layer_drawing(SHAPES, 12, "SiLU, gated", "RMSNorm", norm_first=True))
    assert found[:6] == ["to the next layer", "+", "feed-forward, out: 3,072 → 768", "SiLU, gated", found[4], "RMSNorm"]
    assert found[-2:] == ["RMSNorm", "a token's state"]
    assert found.count("RMSNorm") == 2


def test_what_is_lit_stands_out_and_is_named() -> None:
    drawn = layer_drawing(SHAPES, 12, lit=("value", "query"))
    assert drawn.count('class="matrix lit"') == 2
    assert "Standing out: query, value." in drawn
    assert "Standing out" not in layer_drawing(SHAPES, 12)


def test_heads_that_do_not_divide_a_matrix_have_no_width() -> None:
    assert "softmax of q · k in 5 heads" in words(layer_drawing(SHAPES, 5))


def test_it_is_described_for_who_does_not_see_it() -> None:
    said = re.search(r'aria-label="([^"]*)"', layer_drawing(SHAPES, 12))
    assert said
    assert "softmax in 12 heads" in said[1]
    assert "LayerNorm behind each sum" in said[1]
    assert "ffn_in 768 to 3,072" in said[1]


@each_row("text", HOSTILE)
def test_what_a_config_says_stays_text(text: str) -> None:
    drawn = layer_drawing(SHAPES, 12, activation=text)
    assert f">{escape(text)}</text>" in drawn
    assert drawn.count("<") == layer_drawing(SHAPES, 12).count("<")
    assert drawn.count('"') == layer_drawing(SHAPES, 12).count('"')

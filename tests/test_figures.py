"""What all figures share."""

from __future__ import annotations

import re
from typing import Any

import pytest
from markupsafe import Markup
from plotly.colors import sample_colorscale

from explorer.figures import (
    CIVIDIS,
    DIVERGING,
    PALETTES,
    cell_texts,
    fixed,
    ink,
    layout,
    percent,
    picture,
    prose,
    strong,
)
from tests.labs.drawing import HOSTILE, assert_draws, assert_safe, roles


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.5, "50.0%"),
        (0.123456, "12.3%"),
        (0.0712345, "7.12%"),
        (0.0000123456, "0.00123%"),
        (0.000002, "0.000200%"),
        (1e-9, "<0.0001%"),
        (1.0, "100%"),
        (0.999, "99.9%"),
        (0.9996, "99.96%"),
        (0.99999, "99.999%"),
        (0.9999999, "99.9999%"),
        (1 - 1e-15, "99.9999%"),
    ],
)
def test_percentages_have_three_significant_digits(share: float, text: str) -> None:
    assert percent(share) == text


def test_a_percentage_is_near_its_share_and_says_all_or_nothing_only_where_it_is_so() -> None:
    for exponent in range(1, 2000):
        for share in (10 ** (-exponent / 150), 1 - 10 ** (-exponent / 150)):
            if not 0 < share < 1:
                continue
            text = percent(share)
            assert re.fullmatch(r"<?\d{1,2}(\.\d+)?%", text), (share, text)
            if not text.startswith("<"):
                assert float(text[:-1]) == pytest.approx(100 * share, rel=0.006)
                assert float(text[:-1]) > 0


def luminance(colour: str) -> float:
    """Relative luminance of WCAG 2.1."""
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    ]
    return sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("scale", [CIVIDIS, DIVERGING], ids=["cividis", "diverging"])
def test_text_on_a_cell_is_black_or_white_and_stands_out_from_every_colour(scale: list[list[Any]]) -> None:
    steps = 500
    drawn = sample_colorscale(scale, [step / steps for step in range(steps + 1)], colortype="tuple")
    inks = set()
    for step, colour in enumerate(drawn):
        written = ink(step / steps, scale)
        inks.add(written)
        cell = luminance("#" + "".join(f"{round(255 * channel):02X}" for channel in colour))
        lighter, darker = sorted((luminance(written), cell), reverse=True)
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5, step / steps
    assert inks == {"#000000", "#FFFFFF"}


def test_texts_stand_on_their_cells() -> None:
    heat = {"x": ["a", "b"], "y": [0, 1], "z": [[0.0, 10.0], [None, 5.0]], "zmin": 0, "zmax": 10, "colorscale": CIVIDIS}
    written = cell_texts(heat | {"yaxis": "y2"}, [["no", "yes"], ["", "half"]], 14)
    assert list(zip(written["x"], written["y"], written["text"], strict=True)) == [
        ("a", 0, "no"),
        ("b", 0, "yes"),
        ("b", 1, "half"),
    ]
    assert written["textfont"] == {"size": 14, "color": ["#FFFFFF", "#000000", "#000000"]}
    assert (written["hoverinfo"], written["yaxis"], "xaxis" in written) == ("skip", "y2", False)


def test_nothing_is_nothing() -> None:
    assert float(percent(0.0)[:-1]) == 0
    assert not percent(0.0).startswith(("-", "<"))


def test_both_palettes_have_the_same_roles() -> None:
    assert set(PALETTES["light"]) == set(PALETTES["dark"])
    for palette in PALETTES.values():
        for colour in palette.values():
            assert re.fullmatch(r"#[0-9A-F]{6}|rgba\(0,0,0,0\)", colour)


@pytest.mark.parametrize("text", HOSTILE)
def test_prose_escapes_plain_text_and_keeps_markup(text: str) -> None:
    assert_safe(prose("Here: ", strong(text), " and ", text, Markup("<em>!</em>")), text, ("strong", "em"))
    assert prose("a ", text).striptags() == f"a {text}"


def test_an_empty_figure_draws_in_both_palettes() -> None:
    assert_draws(picture([], "Nothing yet.", height=200))


def test_changes_of_an_axis_go_on_top_of_the_shared_ones() -> None:
    made = layout(xaxis={"range": [0, 1]}, yaxis2={"title": {"text": "p"}}, height=300)
    assert made["xaxis"]["gridcolor"] == made["yaxis2"]["gridcolor"] == "@grid"
    assert made["xaxis"]["range"] == [0, 1]
    assert made["yaxis2"]["title"]["text"] == "p"
    assert "range" not in layout()["xaxis"]


def test_the_shared_layout_uses_known_roles() -> None:
    assert roles(layout()) <= set(PALETTES["light"])


@pytest.mark.parametrize(("number", "shown"), [(-0.001, "0.00"), (-1.5, "−1.50"), (2.0, "2.00")])
def test_a_number_has_a_minus_sign_and_zero_has_none(number: float, shown: str) -> None:
    assert fixed(number) == shown
    assert fixed(-1.25, 1) == "−1.2"

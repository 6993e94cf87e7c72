"""What all figures share."""

from __future__ import annotations

import re

import pytest
from markupsafe import Markup

from explorer.figures import PALETTES, fixed, layout, percent, picture, prose, strong
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

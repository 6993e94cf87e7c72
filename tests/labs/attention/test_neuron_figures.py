"""The neuron view's picture, sentence, tokens and table."""

from __future__ import annotations

import random
from typing import Any

import pytest

from explorer.labs.attention.head import TokenPlace
from explorer.labs.attention.neuron_figures import (
    MOST_ROWS,
    query_key_chips,
    query_key_figure,
    query_key_notes,
    query_key_sentence,
    query_key_table,
)
from explorer.labs.attention.views import LookedAt, QueryKeyResult
from tests.labs.drawing import HOSTILE, assert_draws, assert_safe

SIZE = 8


def place(position: int, text: str) -> TokenPlace:
    return TokenPlace(position, text, text, False, position == 0)


def result(tokens: tuple[str, ...] = ("[CLS]", "it", "cat"), looking: int = 1, **changes: Any) -> QueryKeyResult:
    draw = random.Random(0)
    query = tuple(draw.uniform(-2, 2) for _ in range(SIZE))
    keys = []
    for position, text in enumerate(tokens):
        key = tuple(draw.uniform(-2, 2) for _ in range(SIZE))
        score = 0.5 * sum(q * k for q, k in zip(query, key, strict=True))
        keys.append(LookedAt(place(position, text), key, score, (position + 1) / 100, False))
    plain = {
        "model": "m",
        "sentences": (" ".join(tokens), ""),
        "layer": 1,
        "head": 2,
        "depth": 4,
        "heads": 4,
        "looking": place(looking, tokens[looking]),
        "query": query,
        "keys": tuple(keys),
        "scaling": 0.5,
        "exact": True,
        "difference": 0.0,
        "window": False,
    }
    return QueryKeyResult(**{**plain, **changes})


def hiding(found: QueryKeyResult, *positions: int) -> QueryKeyResult:
    keys = tuple(
        LookedAt(seen.place, seen.key, seen.score, 0.0, True) if seen.place.position in positions else seen
        for seen in found.keys
    )
    return QueryKeyResult(**{**vars(found), "keys": keys})


def test_products_add_up_to_the_scores_that_stand_beside_them() -> None:
    found = result()
    figure = assert_draws(query_key_figure(found))
    query, keys, products, scores, weights = figure.data
    for row, key, score in zip(products.z, keys.z, scores.x, strict=True):
        assert sum(row) == pytest.approx(score, abs=1e-2)
        assert list(row) == pytest.approx([0.5 * q * k for q, k in zip(query.z[0], key, strict=True)], abs=1e-2)
    assert list(weights.x) == [0.01, 0.02, 0.03]
    for heat in (query, keys, products):
        assert heat.zmin == -heat.zmax
        assert heat.colorscale[1][0] == 0.5  # the paper


def test_a_long_text_keeps_the_tokens_with_the_largest_weights_in_order() -> None:
    found = result(tuple(f"t{number}" for number in range(MOST_ROWS + 60)))
    drawn = list(query_key_figure(found)["data"][4]["x"])
    assert len(drawn) == MOST_ROWS
    assert drawn == sorted(drawn)
    assert min(drawn) == pytest.approx(0.61)
    assert f"the {MOST_ROWS} of {MOST_ROWS + 60} tokens" in query_key_notes(found)
    assert len(query_key_table(found).rows) == MOST_ROWS + 60


def test_what_cannot_be_seen_is_said_and_grey() -> None:
    found = hiding(result(looking=0), 1, 2)
    assert_draws(query_key_figure(found))
    assert query_key_figure(found)["data"][3]["marker"]["color"] == ["@first", "@muted", "@muted"]
    assert "2 of 3 tokens, those that come later" in query_key_notes(found)
    assert "1 of 3 tokens, those outside the window" in query_key_notes(hiding(result(window=True), 0))
    assert [chip["below"] for chip in query_key_chips(found)["chips"]] == ["1%", "not seen", "not seen"]


def test_scores_have_the_colours_of_signs_as_the_products_have() -> None:
    found = result()
    scores = query_key_figure(found)["data"][3]
    assert {score > 0 for score in scores["x"]} == {True, False}
    assert scores["marker"]["color"] == ["@first" if score > 0 else "@second" for score in scores["x"]]


def test_the_sentence_says_where_it_looks_and_whether_the_scores_are_all() -> None:
    said = query_key_sentence(result()).striptags()
    assert said == "Layer 1, head 2: “it” looks most at “cat”, with 3.00%."
    assert "The softmax of all scores is the weights." in query_key_notes(result())
    assert "itself" in query_key_sentence(result(looking=2))
    missed = query_key_notes(result(exact=False, difference=0.25))
    assert "relative positions" in missed
    assert "25.0%" in missed


def test_the_token_that_looks_is_filled_and_every_token_can_be_pressed() -> None:
    chips = query_key_chips(result())["chips"]
    assert [chip["style"] for chip in chips] == ["special", "mask", ""]
    assert [chip["position"] for chip in chips] == [0, 1, 2]


def test_the_table_lists_scores_and_weights() -> None:
    found = result()
    table = query_key_table(found)
    assert table.columns == ("to", "token", "score", "weight")
    assert [row[0] for row in table.rows] == [0, 1, 2]
    assert [row[3] for row in table.rows] == [0.01, 0.02, 0.03]


@pytest.mark.parametrize("text", [*HOSTILE, "%{y}", "$x$", "${a}"])
def test_texts_stay_text(text: str) -> None:
    found = result(("[CLS]", text, text))
    figure = query_key_figure(found)
    assert_draws(figure)
    assert_safe(query_key_sentence(found), text)
    plain = query_key_figure(result())
    assert [trace["hovertemplate"] for trace in figure["data"]] == [trace["hovertemplate"] for trace in plain["data"]]
    for axis in ("yaxis", "yaxis2", "yaxis3"):
        assert not any("<" in name for name in figure["layout"][axis]["ticktext"])

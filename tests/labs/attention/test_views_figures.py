"""What is said about bertviz's views."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.labs.attention.views import (
    HINTS,
    VIEWS,
    AttentionViewResult,
    DrawnHead,
    view_note,
    view_notes,
    view_sentence,
    view_table,
    view_title,
)


def result(**changes: Any) -> AttentionViewResult:
    heads = (DrawnHead(0, 0, 30, 0.5), DrawnHead(0, 1, 10, 0.7))
    plain = {
        "model": "<b>m</b>",
        "view": "head",
        "tokens": ("[CLS]", "<i>"),
        "second_starts": None,
        "depth": 4,
        "layers": (0,),
        "heads": heads,
        "heads_of_layer": 2,
        "kept_from": 1,
        "drawn_from": 1,
        "counts": b"",
        "targets": b"",
        "weights": b"",
        "limited": False,
        "causal": False,
    }
    return AttentionViewResult(**{**plain, **changes})


def test_all_weights_or_which_of_them() -> None:
    assert view_note(result()).striptags() == "All weights are drawn."
    some = view_note(result(kept_from=205)).striptags()
    assert some == "Weights of 2.05% and more are drawn, and each token's largest: 60.0% of all attention."
    assert "smoothly" in view_note(result(kept_from=205, limited=True))
    assert "small pictures show those of 5% and more" in view_note(result(view="model", kept_from=200, drawn_from=500))
    assert "before it" in view_note(result(causal=True))


def test_a_pair_is_told_of_its_filter() -> None:
    assert "between the two texts" in view_notes(result(second_starts=1))
    assert "between the two texts" not in view_notes(result())
    assert view_notes(result()).striptags() == "Layer 0, 2 heads, 2 tokens. All weights are drawn."
    assert "2 layers × 2 heads" in view_notes(result(view="model", layers=(0, 1)))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "In layer 0 the lines show every weight of 2 heads."),
        ({"kept_from": 205}, "In layer 0 the lines show 60.0% of the attention of 2 heads."),
        ({"view": "model"}, "The lines show every weight of 2 heads."),
        (
            {"view": "model", "kept_from": 200, "drawn_from": 500},
            "Enlarged, the pictures show 60.0% of the attention of 2 heads.",
        ),
    ],
)
def test_the_sentence_says_how_much_of_the_attention_is_drawn(changes: dict[str, Any], said: str) -> None:
    assert view_sentence(result(**changes)).striptags() == said


def test_the_table_has_a_row_for_each_head() -> None:
    table = view_table(result())
    assert table.columns == ("layer", "head", "lines_drawn", "share_of_attention")
    assert table.rows == ((0, 0, 30, 0.5), (0, 1, 10, 0.7))


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_says_how_it_is_used_and_what_it_is(view: str) -> None:
    assert "lick" in HINTS[view]
    assert view_title(result(view=view)).startswith("Attention of <b>m</b>: ")
    assert "<i>" not in view_sentence(result(view=view)) + view_notes(result(view=view))

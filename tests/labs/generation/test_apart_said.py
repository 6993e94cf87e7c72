"""Metrics of texts taken apart: a sentence says what its numbers say."""

from __future__ import annotations

import pytest

from explorer.labs.generation.apart.figures import parts_sentence
from explorer.labs.generation.apart.jobs import score_parts
from explorer.labs.generation.apart.schema import PartsParams


def said(metric: str, hypothesis: str, references: str) -> str:
    return str(
        parts_sentence(score_parts(PartsParams(hypotheses=hypothesis, references=references)), metric).striptags()
    )


def test_the_largest_part_of_nist_has_its_share_and_is_never_most() -> None:
    told = said("NIST", "A pub serves cheap food by the river.", "A cheap pub by the river serves food.")
    assert "Most comes" not in told
    assert "The largest single part is “" in told
    assert "% of all bits, as much as" in told, "several words of one reference weigh alike"


def test_bleu_of_a_single_word_says_that_it_says_little() -> None:
    short, long = said("BLEU", "a", "b"), said("BLEU", "a pub by the river", "a pub near the river")
    assert "this score says little" in short
    assert "counts as half a match" in short
    assert "says little" not in long


@pytest.mark.parametrize(("text", "smoothed"), [("a pub by the river", True), ("a pub near the river", False)])
def test_smoothing_is_told_where_an_order_has_no_match(text: str, smoothed: bool) -> None:
    assert ("half a match" in said("BLEU", text, "a pub near the river")) is smoothed

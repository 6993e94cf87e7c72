"""Metrics of texts taken apart: a sentence says what its numbers say."""

from __future__ import annotations

import pytest

from explorer.labs.generation.apart import PartsParams, parts_notes, parts_sentence, score_parts
from tests.rows import each_row

PUB = "a pub near the river"


def said(metric: str, hypothesis: str, references: str) -> tuple[str, str]:
    """The headline and the notes."""
    result = score_parts(PartsParams(hypotheses=hypothesis, references=references))
    return parts_sentence(result, metric).striptags(), parts_notes(result, metric).striptags()


def test_the_largest_part_of_nist_has_its_share_and_is_never_most() -> None:
    told, notes = said("NIST", "A pub serves cheap food by the river.", "A cheap pub by the river serves food.")
    assert "no part is larger than “" in told
    assert told.endswith("% of all bits.")
    assert " have as much." in notes, "several words of one reference weigh alike"
    assert notes.startswith("The rarer an n-gram in all references, the more it counts.")


def test_bleu_of_a_single_word_says_that_it_says_little() -> None:
    (short, notes), (long, _) = said("BLEU", "a", "b"), said("BLEU", "a pub by the river", PUB)
    assert short.endswith("says little of a text of fewer than four words.")
    assert "counts as half a match" in notes
    assert "says little" not in long


@pytest.mark.parametrize(("text", "smoothed"), [("a pub by the river", True), (PUB, False)])
def test_smoothing_is_told_where_an_order_has_no_match(text: str, smoothed: bool) -> None:
    assert ("half a match" in said("BLEU", text, PUB)[1]) is smoothed


@each_row(
    ("metric", "text", "told", "noted"),
    [
        ("BLEU", PUB, "BLEU 100.0: every run of four words is in a reference.", "; no brevity penalty."),
        (
            "BLEU",
            "a pub by the river",
            ": no run of four words is in a reference.",
            "Of the runs of 1, 2, 3 and 4 words 4 of 5",
        ),
        ("BLEU", "one pub near the river", ": 50.0% of the runs of four words are in a reference.", "1 of 2 are in"),
        ("NIST", "other things", "NIST 0.00: no word is in a reference.", ""),
        ("METEOR", PUB, ": 5 words match the reference that fits best.", "in 1 chunk; F is 1.000"),
        ("METEOR", "pub", ": one word matches the reference that fits best.", "With reference 1: "),
        ("METEOR", "xyz", "METEOR 0.0: no word matches a reference.", ""),
        ("ROUGE-L", PUB, ": 5 words stand in the same order in the closest reference.", "Closest is reference 1."),
        ("ROUGE-L", "pub", ": one word is in the closest reference.", "precision of all references is 1.000"),
        ("ROUGE-L", "xyz", "ROUGE-L 0.0: no word is in a reference.", ""),
        ("CIDEr", PUB, "CIDEr 0.00: with one group of references no n-gram weighs anything.", "ln(1/1) = 0."),
    ],
)
def test_one_sentence_a_metric_and_the_rest_in_the_notes(metric: str, text: str, told: str, noted: str) -> None:
    sentence, notes = said(metric, text, PUB)
    assert sentence.endswith(told)
    assert noted in notes


def test_cider_of_several_groups_has_the_cosine_of_the_closest_reference() -> None:
    result = score_parts(PartsParams(hypotheses=f"{PUB}\nxyz", references=f"{PUB}\n\ncheap food for families"))
    assert ": the closest reference has a mean cosine of 1.000." in parts_sentence(result, "CIDEr").striptags()
    assert (
        "few of the 2 groups have weigh most. Closest is reference 1, with" in parts_notes(result, "CIDEr").striptags()
    )

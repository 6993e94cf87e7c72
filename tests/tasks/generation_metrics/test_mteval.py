"""BLEU and NIST: counted by hand, and beside sacrebleu and nltk."""

from __future__ import annotations

import math

import pytest
import sacrebleu
from nltk.translate.nist_score import corpus_nist

from explorer.tasks.generation_metrics.bleu import bleu, bleu_of_one
from explorer.tasks.generation_metrics.nist import BETA, Information, nist, nist_of_one
from explorer.tasks.generation_metrics.words import mteval_words
from tests.rows import each_row
from tests.tasks.generation_metrics.texts import FIRST, HYPOTHESES, MTEVAL, REFERENCES


def test_words_are_those_of_mteval() -> None:
    assert " ".join(mteval_words("It's £20-25, 3.5 out of 5: CAFÉ!")) == "it's £20 - 25 , 3.5 out of 5 : cafÉ !"


def test_bleu_is_sacrebleus() -> None:
    most = max(map(len, REFERENCES))
    columns = [[group[place] if place < len(group) else None for group in REFERENCES] for place in range(most)]
    theirs = sacrebleu.corpus_bleu(HYPOTHESES, columns, lowercase=True, tokenize="13a")  # type: ignore[arg-type]
    ours = bleu(*MTEVAL)
    assert 100 * ours.value == pytest.approx(theirs.score)
    assert (list(ours.matched), list(ours.of_all)) == (theirs.counts, theirs.totals)
    assert (ours.length, ours.closest, ours.brevity) == (theirs.sys_len, theirs.ref_len, pytest.approx(theirs.bp))


@each_row("place", range(4))
def test_one_sentence_is_smoothed_as_sacrebleu_does(place: int) -> None:
    theirs = sacrebleu.sentence_bleu(HYPOTHESES[place], REFERENCES[place], lowercase=True, tokenize="13a")
    assert 100 * bleu_of_one(MTEVAL[0][place], MTEVAL[1][place]).parts.value == pytest.approx(theirs.score)


def test_an_ngram_is_credited_as_often_as_one_reference_has_it() -> None:
    """Papineni et al. 2002, section 2.1: seven times `the`, of which one reference has two."""
    words = ("the",) * 7
    apart = bleu_of_one(words, [mteval_words("the cat is on the mat"), mteval_words("there is a cat on the mat")])
    assert [(one.count, one.allowed, one.credited) for one in apart.found if one.ngram == ("the",)] == [(7, 2, 2)]
    assert apart.parts.precisions[:2] == (pytest.approx(2 / 7), pytest.approx(1 / 2 / 6))
    assert apart.covered[0] == {0, 1}


def test_a_short_hypothesis_is_punished_by_the_closest_reference() -> None:
    parts = bleu([("a", "b", "c", "d")], [[tuple("abcdef"), tuple("abcdefghi")]])
    assert (parts.length, parts.closest) == (4, 6)
    assert parts.value == parts.brevity == pytest.approx(math.exp(1 - 6 / 4))
    assert bleu([tuple("abcd")], [[tuple("abc"), tuple("abcde")]]).closest == 3  # as close, and shorter


def test_less_than_four_words_score_what_mteval_says() -> None:
    assert bleu([("a", "b")], [[("a", "b")]]).value == 1.0


def test_nist_is_nltks_with_one_reference() -> None:
    groups = [[mteval_words(one) for one in group] for group in FIRST]
    assert nist(MTEVAL[0], groups, Information(groups)).value == pytest.approx(corpus_nist(groups, MTEVAL[0], 5))


def test_nist_by_hand() -> None:
    """Six words in two references, `a` three times: a tells 1 bit, b log2 6, a b log2 3."""
    groups = [[("a", "b", "c"), ("a", "a", "d")]]
    known = Information(groups)
    apart = nist_of_one(("a", "b"), groups[0], known)
    assert {one.ngram: one.info for one in apart.found} == {
        ("a",): pytest.approx(1.0),
        ("b",): pytest.approx(math.log2(6)),
        ("a", "b"): pytest.approx(math.log2(3)),
    }
    assert apart.parts.mean_length == 3.0
    penalty = math.exp(BETA * math.log(2 / 3) ** 2)
    assert penalty == pytest.approx(0.5)
    assert apart.parts.value == pytest.approx(penalty * ((1 + math.log2(6)) / 2 + math.log2(3)))


def test_nist_takes_the_mean_number_of_references() -> None:
    parts = nist(*MTEVAL, Information(MTEVAL[1]))
    words = sum(len(one) for group in MTEVAL[1] for one in group)
    assert parts.mean_length == pytest.approx(words / (8 / 4))

"""ROUGE-L, CIDEr and METEOR: what the challenge's own programs print, counted by hand, and beside nltk and rouge-score."""

from __future__ import annotations

import math
from importlib import import_module

import pytest
from nltk.translate.meteor_score import single_meteor_score
from rouge_score.rouge_scorer import RougeScorer

from explorer.tasks.generation_metrics.cider import Rarity, cider, cider_of_one
from explorer.tasks.generation_metrics.meteor import Pair, Weights, align, chunks_of, meteor, meteor_of_one
from explorer.tasks.generation_metrics.rouge_l import BETA, common_length, common_places, rouge_l, rouge_l_of_one
from explorer.tasks.generation_metrics.words import meteor_words, treebank_words
from tests.tasks.generation_metrics.texts import METEOR, TREEBANK

METEOR_MODULE = import_module("explorer.tasks.generation_metrics.meteor")
"""The package has a function of the same name."""

ROUGE_L, CIDER = 0.5905114116909352, 2.648999196726832
"""What pycocoevalcap 1.2, coco-caption as a package, prints for TREEBANK's texts, its Java tokeniser before it."""

JAVA_METEOR = 0.3374337140820756
JAVA_METEORS = (0.4130878505964355, 0.4505550676842954, 0.31434841661607343, 0.17829483271287647)
"""Of METEOR's texts, by meteor-1.5.jar with -l en -norm and only the stages that need no data: -m "exact stem" -w "1.0 0.6"."""


@pytest.fixture(autouse=True)
def no_wordnet(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine without nltk's data, whatever this one has."""
    monkeypatch.setattr(METEOR_MODULE, "_wordnet", lambda: None)


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def test_words_are_the_treebanks() -> None:
    text = "It's \"good\" (very), isn't it? £20-25 at O'Connor's family-friendly pub... 5/5 & 3.5."
    assert " ".join(treebank_words(text)) == (
        "it 's good -lrb- very -rrb- is n't it # 20-25 at o'connor 's family-friendly pub 5/5 & 3.5"
    )


def test_meteor_cuts_them_once_more() -> None:
    assert " ".join(meteor_words("It isn't 20-25; it's a family-friendly 5/5 boat's")) == (
        "it is n 't 20 25 it ' s a family friendly 5 / 5 boat ' s"
    )


def test_rouge_l_is_coco_captions() -> None:
    assert rouge_l(*TREEBANK) == pytest.approx(ROUGE_L, abs=1e-12)
    each = [rouge_l_of_one(words, group).value for words, group in zip(*TREEBANK, strict=True)]
    assert sum(each) / len(each) == pytest.approx(ROUGE_L, abs=1e-12)


def test_precision_and_recall_are_rouge_scores() -> None:
    first, second = ("the", "cat", "sat", "on", "a", "mat"), ("a", "cat", "lay", "on", "the", "mat")
    theirs = RougeScorer(["rougeL"]).score(" ".join(second), " ".join(first))["rougeL"]
    ours = rouge_l_of_one(first, [second])
    assert (ours.precision, ours.recall) == (theirs.precision, theirs.recall)
    assert ours.value == pytest.approx((1 + BETA**2) * 0.5 * 0.5 / (0.5 + BETA**2 * 0.5))


def test_the_largest_precision_and_recall_may_come_from_two_references() -> None:
    ours = rouge_l_of_one(("a", "b"), [("a", "b", "c", "d"), ("a",)])
    assert (ours.precision, ours.recall) == (1.0, 1.0)


@pytest.mark.parametrize(("first", "second"), [("abcbdab", "bdcaba"), ("", "abc"), ("aaa", "aa"), ("abc", "xyz")])
def test_both_ways_to_a_common_subsequence_agree(first: str, second: str) -> None:
    pairs = common_places(tuple(first), tuple(second))
    assert len(pairs) == common_length(tuple(first), tuple(second))
    assert all(first[here] == second[there] for here, there in pairs)
    assert pairs == sorted(pairs)
    assert len({there for _, there in pairs}) == len(pairs)


def test_cider_is_coco_captions() -> None:
    rarity = Rarity(TREEBANK[1])
    assert cider(*TREEBANK, rarity) == pytest.approx(CIDER, abs=1e-12)
    each = [cider_of_one(words, group, rarity).value for words, group in zip(*TREEBANK, strict=True)]
    assert sum(each) / len(each) == pytest.approx(CIDER, abs=1e-12)


def test_cider_by_hand() -> None:
    """Two groups: x is in both and tells nothing, y in one, ln 2; y twice counts as once, and one word more as exp(−1/72)."""
    rarity = Rarity([[("x", "y")], [("x", "z")]])
    apart = cider_of_one(("x", "y", "y"), [("x", "y")], rarity)
    weights = {one.ngram: one.weight for one in apart.found}
    assert weights[("x",)] == 0.0
    assert weights[("y",)] == pytest.approx(2 * math.log(2))
    compared = apart.references[0]
    assert compared.cosines == (pytest.approx(0.5), pytest.approx(1 / math.sqrt(2)), 0.0, 0.0)
    assert (compared.difference, compared.factor) == (1, pytest.approx(math.exp(-1 / 72)))
    assert apart.value == pytest.approx(10 * (0.5 + 1 / math.sqrt(2)) / 4 * math.exp(-1 / 72))


def test_meteor_is_javas_without_its_tables() -> None:
    assert meteor(*METEOR).value == pytest.approx(JAVA_METEOR, abs=1e-12)
    each = [meteor_of_one(words, group).parts.value for words, group in zip(*METEOR, strict=True)]
    assert each == pytest.approx(JAVA_METEORS, abs=1e-12)


def test_the_old_weights_give_nltks_meteor() -> None:
    """Lavie and Agarwal 2007: α = 0.9, β = 3, γ = 0.5, all words and stages alike; nltk has it, and needs no data for it here."""

    class NoSynonyms:
        def synsets(self, word: str) -> list[object]:
            return []

    old = Weights(0.9, 3.0, 0.5, 0.5, (1.0, 1.0, 1.0))
    words, reference = _words("a cat was sitting on the old mats"), _words("on the mat sits an old cat")
    stemmer = METEOR_MODULE._stemmer()
    theirs = single_meteor_score(list(reference), list(words), stemmer=stemmer, wordnet=NoSynonyms())  # type: ignore[arg-type]
    assert meteor_of_one(words, [reference], old).parts.value == pytest.approx(theirs)


def test_the_alignment_with_the_fewest_chunks_is_taken() -> None:
    pairs = align(_words("the cat and the dog"), _words("the dog and the cat"))
    assert pairs == (Pair(0, 3, 0), Pair(1, 4, 0), Pair(2, 2, 0), Pair(3, 0, 0), Pair(4, 1, 0))
    assert chunks_of(pairs) == 3


def test_stages_and_synonyms(monkeypatch: pytest.MonkeyPatch) -> None:
    class Synset:
        def name(self) -> str:
            return "inexpensive.a.01"

    class Wordnet:
        def synsets(self, word: str) -> list[Synset]:
            return [Synset()] if word in ("cheap", "inexpensive") else []

    assert align(["cheap", "pubs"], ["inexpensive", "pub"]) == (Pair(1, 1, 1),)
    monkeypatch.setattr(METEOR_MODULE, "_wordnet", Wordnet)
    METEOR_MODULE.synonyms.cache_clear()
    assert align(["cheap", "pubs"], ["inexpensive", "pub"]) == (Pair(0, 0, 2), Pair(1, 1, 1))
    METEOR_MODULE.synonyms.cache_clear()


def test_nothing_in_common_is_zero_and_the_same_is_one() -> None:
    assert meteor_of_one(("a",), [("b",)]).parts.value == 0.0
    assert meteor_of_one(("a", "b"), [("a", "b")]).parts.value == 1.0
    assert meteor_of_one((), [()]).parts.value == 0.0

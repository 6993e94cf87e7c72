"""All five together."""

from __future__ import annotations

import pytest

from explorer.errors import BadInputError
from explorer.tasks.generation_metrics import METRICS, score, take_apart
from explorer.tasks.generation_metrics.bleu import bleu
from tests.tasks.generation_metrics.texts import HYPOTHESES, MTEVAL, REFERENCES


def test_bleu_meteor_and_rouge_are_in_percent() -> None:
    scores = score(HYPOTHESES, REFERENCES)
    assert tuple(scores.named()) == METRICS
    assert scores.bleu == pytest.approx(100 * bleu(*MTEVAL).value)


def test_the_references_themselves_score_the_most() -> None:
    perfect = score(HYPOTHESES, [[one] for one in HYPOTHESES])
    assert (perfect.bleu, perfect.meteor, perfect.rouge_l, perfect.cider) == pytest.approx((100, 100, 100, 10))


def test_the_order_of_the_references_does_not_matter() -> None:
    turned = [list(reversed(group)) for group in REFERENCES]
    assert score(HYPOTHESES, turned).named() == pytest.approx(score(HYPOTHESES, REFERENCES).named())


def test_the_parts_of_a_sentence_are_the_corpus_where_it_is_all() -> None:
    alone, apart = score(HYPOTHESES[:1], REFERENCES[:1]), take_apart(HYPOTHESES[:1], REFERENCES[:1], 0)
    parts = apart.bleu.parts.value, apart.meteor.parts.value, apart.rouge_l.value
    assert [100 * value for value in parts] == pytest.approx([alone.bleu, alone.meteor, alone.rouge_l])
    assert (apart.nist.parts.value, apart.cider.value) == pytest.approx((alone.nist, alone.cider))


def test_texts_without_words_score_nothing() -> None:
    scores = score([" ", "..."], [["A pub."], ["!"]])
    assert all(value >= 0 for value in scores.named().values())


@pytest.mark.parametrize(("hypotheses", "references"), [([], []), (["a"], []), (["a"], [[]])])
def test_each_hypothesis_needs_references(hypotheses: list[str], references: list[list[str]]) -> None:
    with pytest.raises(BadInputError, match="its own references"):
        score(hypotheses, references)

"""Matched pairs: neither how B begins, nor its length, nor B itself tells the class; the pair does."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from numpy.typing import NDArray

from explorer.errors import BadInputError
from explorer.objectives.rows import IS_NEXT, NOT_NEXT
from pretraining.matched import LENGTH_STEP, LONGEST, SHORTEST, MatchedPairs, Neighbours, neighbours
from tests.objectives.stores import FALSE_ALARM, store_of

TOPICS = 6
HE, THEN = 7, 8
DRAWS = 4000


def pairs_of_topics(each: int = 12) -> tuple[Neighbours, tuple[NDArray[np.float32], NDArray[np.float32]]]:
    """Neighbours on six topics, a document each pair; B begins by He or Then and has 5 or 11 tokens. An embedding is a topic."""
    topics = [number % TOPICS for number in range(TOPICS * each)]
    seconds = [
        [HE if (number // TOPICS) % 2 else THEN, 1000 + number, *([1] * (3 if (number // TOPICS) % 4 < 2 else 9))]
        for number in range(len(topics))
    ]
    found = Neighbours(
        ("books",) * len(topics),
        tuple(range(len(topics))),
        tuple([2000 + number, 1, 1, 1] for number in range(len(topics))),
        tuple(seconds),
    )
    embedded = np.eye(TOPICS, dtype=np.float32)[topics]
    return found, (embedded, embedded)


@pytest.fixture(scope="module")
def drawn() -> list[tuple[list[int], list[int], int]]:
    made = MatchedPairs(*pairs_of_topics(), {}, ())
    rng = np.random.default_rng(0)
    return [made.draw(rng) for _ in range(DRAWS)]


def test_half_are_true_and_a_true_second_is_its_first_s_own(drawn: list[tuple[list[int], list[int], int]]) -> None:
    true = [(first[0] - 2000, second[1] - 1000) for first, second, label in drawn if label == IS_NEXT]
    assert all(first == second for first, second in true)
    assert abs(len(true) - DRAWS / 2) < 5 * np.sqrt(DRAWS) / 2


def test_a_false_second_is_of_another_topic_and_begins_and_lasts_as_the_true_one(
    drawn: list[tuple[list[int], list[int], int]],
) -> None:
    found, _ = pairs_of_topics()
    for first, second, label in drawn:
        if label == NOT_NEXT:
            own = found.seconds[first[0] - 2000]
            assert (second[1] - 1000) % TOPICS != (first[0] - 2000) % TOPICS
            assert second[0] == own[0]
            assert len(second) // LENGTH_STEP == len(own) // LENGTH_STEP


@pytest.mark.parametrize("what", ["opening", "length", "sentence"])
def test_nothing_of_the_second_sentence_tells_the_class(
    what: str, drawn: list[tuple[list[int], list[int], int]]
) -> None:
    """A test of homogeneity: chi squared stays below what it passes once in a million times."""
    stats = pytest.importorskip("scipy.stats")
    of = {"opening": lambda ids: ids[0], "length": len, "sentence": lambda ids: ids[1]}[what]
    counts = [Counter(of(second) for _, second, label in drawn if label == one) for one in (IS_NEXT, NOT_NEXT)]
    values = sorted(counts[0] | counts[1])
    table = [[count[value] for value in values] for count in counts]
    assert stats.chi2_contingency(table).pvalue > FALSE_ALARM


def test_pairs_that_an_encoder_finds_unrelated_are_left_out_unless_they_were_written_as_pairs() -> None:
    found, (firsts, seconds) = pairs_of_topics()
    turned = np.roll(seconds, 1, axis=1)
    with pytest.raises(BadInputError, match="related"):
        MatchedPairs(found, (firsts, turned), {}, ())
    slightly = 0.15 * firsts + np.sqrt(1 - 0.15**2) * turned
    with pytest.raises(BadInputError, match="related"):
        MatchedPairs(found, (firsts, slightly), {}, ())
    assert len(MatchedPairs(found, (firsts, slightly), {}, ("books",)).kept) == len(found.firsts)


def test_a_text_without_a_false_second_is_refused() -> None:
    found, (firsts, seconds) = pairs_of_topics()
    alone = Neighbours(found.sources, (0,) * len(found.sources), found.firsts, found.seconds)
    with pytest.raises(BadInputError, match="several documents"):
        MatchedPairs(alone, (firsts, seconds), {}, ()).draw(np.random.default_rng(0))


def test_neighbours_stand_in_one_paragraph_and_are_neither_short_nor_long() -> None:
    store = store_of([5, 6, LONGEST + 1, 7, 8], [SHORTEST - 1, 9, 9], [5, 5], paragraphs=[5, 3, 1, 1])
    found = neighbours({"books": store}, {"books": 10, "missing": 10}, seed=0)
    assert [(len(a), len(b)) for a, b in zip(found.firsts, found.seconds, strict=True)] == [(5, 6), (7, 8), (9, 9)]
    assert found.documents == (0, 0, 1)
    for first, second in zip(found.firsts, found.seconds, strict=True):
        assert second[0] == first[-1] + 1
    assert len(neighbours({"books": store}, {"books": 2}, seed=0).firsts) == 2
    with pytest.raises(BadInputError, match="follow each other"):
        neighbours({"books": store_of([5], [5])}, {"books": 2}, seed=0)

"""Rows with invented names and with a passage twice, by the bundled gpt2-mini's vocabulary."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer, PreTrainedTokenizerBase

from explorer.objectives.rows import RowMaker, row_maker
from explorer.objectives.text import TextStore
from explorer.settings import BUNDLED_MODELS
from pretraining.new_names import NewNames, twice

STORY = (
    "Holmes walked to London with Doctor Watson. The river was high. Holmes saw that Watson was tired. "
    "The people of London knew Holmes. Nobody else was there, and Bradstreet had gone."
)
"""Holmes (after its beginning), Watson and London come again; "The" is no name; Doctor and Bradstreet come once."""
FILLER = "It rained for days, and the road to the mill lay under water until the wind turned. " * 3


@pytest.fixture(scope="module")
def vocabulary() -> PreTrainedTokenizerBase:
    return AutoTokenizer.from_pretrained(BUNDLED_MODELS / "gpt2-mini")


@pytest.fixture
def maker(vocabulary: PreTrainedTokenizerBase) -> RowMaker:
    return row_maker(vocabulary)


@pytest.fixture
def store(vocabulary: PreTrainedTokenizerBase) -> TextStore:
    """Every row of it begins with its first sentence."""
    story = TextStore.from_documents([[STORY], [FILLER]], vocabulary)
    story.sentence_at = lambda _: 0
    return story


@pytest.fixture
def names(vocabulary: PreTrainedTokenizerBase, store: TextStore) -> NewNames:
    """The counts say of "the" and "nobody" that they are seldom names."""
    counts = torch.bincount(torch.from_numpy(store.ids).long(), minlength=len(vocabulary))
    for word in (" the", " nobody", " high"):
        counts[vocabulary(word)["input_ids"][0]] += 100
    return NewNames(vocabulary, counts)


def test_each_name_that_comes_again_is_another_one_everywhere_and_all_else_is_as_it_was(
    names: NewNames, maker: RowMaker, store: TextStore, vocabulary: PreTrainedTokenizerBase
) -> None:
    plain = vocabulary.decode(maker.running(store, 40, np.random.default_rng(0)).input_ids)
    found = vocabulary.decode(names.row(maker, store, 90, np.random.default_rng(0)).input_ids)
    assert plain.startswith(STORY[:60])
    for name in (" Holmes", " Watson", " London"):
        assert name not in found.partition("</s>")[0]
    for word in (
        "walked to",
        " with Doctor",
        "The river was high.",
        "The people of",
        "Nobody else",
        "Bradstreet had gone",
    ):
        assert word in found, word


def test_the_same_name_becomes_the_same_one_each_time(names: NewNames) -> None:
    old = (names.capitals[0],)
    rng = np.random.default_rng(1)
    drawn = [names.invented(rng) for _ in range(500)]
    assert len(set(drawn)) > 450
    assert {len(name) for name in drawn} == {1, 2, 3, 4}
    assert all(name[0] in names.capitals for name in drawn)
    assert sum(len(name) == 1 for name in drawn) / 500 == pytest.approx(0.6 * 0.4, abs=0.06)
    assert names.is_name(old) == (old[0] in names.names)


def test_rows_are_as_long_as_asked_and_depend_on_the_draws_alone(
    names: NewNames, maker: RowMaker, store: TextStore
) -> None:
    for draw in (names.row, twice):
        rows = [draw(maker, store, 48, np.random.default_rng(5)) for _ in range(2)]
        assert rows[0].input_ids == rows[1].input_ids
        assert len(rows[0].input_ids) == len(rows[0].token_type_ids) == 48


def test_an_invented_name_stands_as_often_as_the_one_it_replaces(
    names: NewNames, maker: RowMaker, store: TextStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = set(store.ids.tolist())
    unread = [token for token in names.capitals if token not in read]
    given = [(token,) for token in unread[:3]]
    left = iter(given)
    monkeypatch.setattr(names, "invented", lambda _: next(left))
    ids = maker.running(store, 44, np.random.default_rng(0)).input_ids
    again = [count for word, count in Counter(names._words(ids)).items() if count > 1 and names.is_name(word)]
    row = names.row(maker, store, 44, np.random.default_rng(0)).input_ids
    assert [row.count(token) for (token,) in given] == again
    assert again == [2, 2, 2], "London, Watson, Holmes"


def test_a_passage_comes_twice_with_a_separator_after_each(maker: RowMaker, store: TextStore) -> None:
    for seed in range(20):
        ids = twice(maker, store, 64, np.random.default_rng(seed)).input_ids
        lengths = [
            size for size in range(8, 33) if ids[:size] == ids[size : 2 * size] and ids[size - 1] == maker.sep_id
        ]
        assert lengths, seed
        assert len(ids) == 64

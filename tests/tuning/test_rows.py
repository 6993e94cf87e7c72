"""Batches: nothing lost, nothing too long, both texts of a pair kept, and the same order for the same seed."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer

from explorer.models.loaded_model import LoadedModel
from explorer.tasks.task import Example
from explorer.tuning.rows import epoch_batches, ordered_batches, tokenise
from tests.models import conftest as models_conftest
from tests.rows import each_row

bert_folder, bert, roberta = models_conftest.bert_folder, models_conftest.bert, models_conftest.roberta

ODD = "the cat sat 我 😀👩‍👩‍👧 é e\u0301 \u200b ﷽ Ω\t<s> [SEP] </s> ṩ̇ 𒀀 ß"


def pieces(draw: Random, most: int) -> str:
    return "".join(draw.choices(ODD, k=draw.randint(0, most)))


@pytest.mark.parametrize("name", ["bert", "roberta"])
@pytest.mark.parametrize("pair", [False, True])
def test_rows_that_are_too_long_are_cut_as_transformers_cuts_them(
    name: str, pair: bool, request: pytest.FixtureRequest
) -> None:
    loaded: LoadedModel = request.getfixturevalue(name)
    theirs = AutoTokenizer.from_pretrained(loaded.model_id)
    draw = Random(0)
    for longest in range(8, 20):
        made = [Example(pieces(draw, 60), pieces(draw, 60) if pair else None, 0.0) for _ in range(25)]
        texts = [[one.text for one in made], *([[one.second for one in made]] if pair else [])]
        rows = tokenise(loaded, made, longest)
        whole = theirs(*texts)["input_ids"]
        cut = theirs(*texts, truncation="longest_first", max_length=longest)
        assert rows.cut == sum(len(ids) > longest for ids in whole)
        assert rows.lengths.tolist() == [min(len(ids), longest) for ids in whole]
        for place, ours in enumerate(rows.inputs):
            reference = {key: list(cut[key][place]) for key in cut}
            assert set(ours) == set(reference)
            if ours != reference:  # the odd token may go to either text
                assert pair
                assert places(ours, theirs.sep_token_id) == pytest.approx(places(reference, theirs.sep_token_id), abs=1)
                assert len({len(ids) for ids in ours.values()}) == 1


def places(row: dict[str, list[int]], token: int) -> list[int]:
    return [place for place, one in enumerate(row["input_ids"]) if one == token]


def test_a_pair_keeps_something_of_both_texts(bert: LoadedModel) -> None:
    separator = bert.tokenizer.sep_token_id
    short, long = "cat mat", "the " * 50
    for first, second in ((short, long), (long, short), (long, long)):
        (row,) = tokenise(bert, [Example(first, second, 0.0)], 12).inputs
        ids, types = row["input_ids"], row["token_type_ids"]
        assert (len(ids), ids.count(separator), ids[-1]) == (12, 2, separator)
        middle = ids.index(separator)
        assert types == [0] * (middle + 1) + [1] * (11 - middle)
        lengths = (middle - 1, 12 - middle - 2)
        assert lengths == {0: (2, 7), 1: (7, 2), 2: (5, 4)}[(first == long) + (first == second)]


def test_a_text_that_holds_nothing_goes_beside_a_long_one(bert: LoadedModel) -> None:
    (row,) = tokenise(bert, [Example("\u200b", "the cat " * 30, 0.0)], 10).inputs
    assert len(row["input_ids"]) == 10
    (row,) = tokenise(bert, [Example("the cat " * 30, "", 0.0)], 10).inputs
    assert len(row["input_ids"]) == 10


def test_a_text_of_a_hundred_thousand_characters_is_cut_and_counted(bert: LoadedModel, roberta: LoadedModel) -> None:
    made = [Example("cat " * 25_000, None, 0.0), Example("the mat", None, 1.0), Example("a" * 100_000, None, 1.0)]
    rows = tokenise(bert, made)
    assert rows.cut == 1  # a hundred thousand letters are one word that the vocabulary lacks
    assert rows.lengths.tolist() == [bert.longest, 4, 3]
    assert tokenise(roberta, made).lengths.max() == roberta.longest
    assert rows.labels.tolist() == [0.0, 1.0, 1.0]


def test_tokenising_leaves_the_shared_tokenizer_as_it_was(bert: LoadedModel) -> None:
    before = bert.tokenizer.backend_tokenizer.to_str()
    tokenise(bert, [Example("the cat " * 40, "a mat " * 40, 0.0)], 12)
    assert bert.tokenizer.backend_tokenizer.to_str() == before


@each_row(("rows", "size"), [(1, 16), (16, 16), (17, 16), (700, 16), (513, 3), (5, 512), (1025, 16)])
def test_an_epoch_has_every_row_once(rows: int, size: int) -> None:
    lengths = np.random.default_rng(rows).integers(3, 60, rows)
    batches = epoch_batches(lengths, size, seed=3, epoch=1)
    assert sorted(place for batch in batches for place in batch) == list(range(rows))
    assert len(batches) == -(-rows // size)
    assert max(map(len, batches)) <= size


def test_the_order_depends_on_seed_and_epoch_alone() -> None:
    lengths = np.random.default_rng(0).integers(3, 60, 300)
    first = epoch_batches(lengths, 16, 0, 0)
    assert first == epoch_batches(lengths, 16, 0, 0)
    assert first != epoch_batches(lengths, 16, 1, 0)
    assert first != epoch_batches(lengths, 16, 0, 1)


def test_rows_of_like_length_stand_together() -> None:
    lengths = np.random.default_rng(0).integers(3, 60, 512)
    batches = epoch_batches(lengths, 16, 0, 0)
    padded = sum(len(batch) * int(lengths[batch].max()) for batch in batches)
    assert padded < 1.15 * lengths.sum()
    longest = [int(lengths[batch].max()) for batch in batches]
    assert longest != sorted(longest)


@pytest.mark.parametrize("tokens", [1, 64, 4096])
def test_evaluation_takes_every_row_once_and_no_batch_is_too_large(tokens: int) -> None:
    lengths = np.random.default_rng(0).integers(3, 60, 200)
    batches = list(ordered_batches(lengths, tokens))
    assert sorted(place for batch in batches for place in batch) == list(range(200))
    assert all(len(batch) == 1 or len(batch) * lengths[batch].max() <= tokens for batch in batches)
    assert list(ordered_batches(np.array([], dtype=int))) == []


def test_a_batch_is_padded_to_its_longest_row_with_the_models_own_token(roberta: LoadedModel) -> None:
    rows = tokenise(roberta, [Example("a", None, 0.0), Example("the cat", None, 2.5)])
    inputs, labels = rows.batch([1, 0], torch.device("cpu"))
    long, short = inputs["input_ids"].tolist()
    pad = roberta.tokenizer.pad_token_id
    assert long == rows.inputs[1]["input_ids"]
    assert short == rows.inputs[0]["input_ids"] + [pad] * (len(long) - len(rows.inputs[0]["input_ids"]))
    assert inputs["attention_mask"].tolist()[1] == [int(token != pad) for token in short]
    assert labels.tolist() == [2.5, 0.0]

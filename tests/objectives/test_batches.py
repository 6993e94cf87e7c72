"""Rows become tensors: padding, masks, and which pieces make a word."""

from __future__ import annotations

import torch
from transformers import PreTrainedTokenizerBase

from explorer.maths.corruption import IGNORED_LABEL, CorruptionRecipe
from explorer.models.hiding import Masker
from explorer.objectives.batches import collate
from explorer.objectives.rows import NOT_NEXT, Row
from tests.models.tiny import byte_level
from tests.objectives.stores import CLS, SEP


def rows_of(tokenizer: PreTrainedTokenizerBase, *texts: str) -> list[Row]:
    return [Row(ids, [0] * len(ids)) for ids in tokenizer(list(texts))["input_ids"]]


def test_rows_are_padded_to_the_longest_and_padding_is_masked_out(tokenizer: PreTrainedTokenizerBase) -> None:
    rows = [
        *rows_of(tokenizer, "One.", "One two three four."),
        Row([CLS, 1000, SEP, 1001, SEP], [0, 0, 0, 1, 1], NOT_NEXT),
    ]
    recipe, generator = CorruptionRecipe(rate=0.0), torch.Generator().manual_seed(0)
    batch = collate(rows, recipe, Masker(tokenizer), generator)
    longest = max(len(row.input_ids) for row in rows)
    for number, row in enumerate(rows):
        size = len(row.input_ids)
        assert batch.input_ids[number].tolist() == row.input_ids + [tokenizer.pad_token_id] * (longest - size)
        assert batch.token_type_ids[number].tolist() == row.token_type_ids + [0] * (longest - size)
        assert batch.attention_mask[number].tolist() == [1] * size + [0] * (longest - size)
    assert bool((batch.labels == IGNORED_LABEL).all())
    assert batch.pair_labels.tolist() == [IGNORED_LABEL, IGNORED_LABEL, NOT_NEXT]


def test_each_row_is_corrupted_and_neither_padding_nor_special_tokens_are(tokenizer: PreTrainedTokenizerBase) -> None:
    rows = rows_of(tokenizer, "A short row.", "A row that is a good deal longer than the other one.")
    recipe, generator = CorruptionRecipe(rate=0.3), torch.Generator().manual_seed(0)
    batch = collate(rows, recipe, Masker(tokenizer), generator)
    for number, row in enumerate(rows):
        size = len(row.input_ids)
        chosen = batch.labels[number] != IGNORED_LABEL
        assert int(chosen.sum()) == max(1, round(0.3 * (size - 2)))
        assert not chosen[size - 1 :].any()
        assert not chosen[0]
        original = torch.tensor(row.input_ids)
        assert torch.equal(batch.labels[number, :size][chosen[:size]], original[chosen[:size]])
        assert torch.equal(batch.input_ids[number, :size][~chosen[:size]], original[~chosen[:size]])


def test_whole_words_are_grouped_by_the_word_pieces(tokenizer: PreTrainedTokenizerBase) -> None:
    text = "Unforgettable photographers antagonised everyone."
    words = tokenizer(text).word_ids()
    assert len(words) > len(set(words)) + 3
    recipe, generator = CorruptionRecipe(rate=0.4, scheme="whole_word"), torch.Generator().manual_seed(0)
    for _ in range(30):
        batch = collate(rows_of(tokenizer, text), recipe, Masker(tokenizer), generator)
        chosen = (batch.labels[0] != IGNORED_LABEL).tolist()
        for word in set(words) - {None}:
            assert len({picked for picked, owner in zip(chosen, words, strict=True) if owner == word}) == 1


def test_byte_level_pieces_are_grouped_by_the_space_before_a_word() -> None:
    reader = byte_level()
    text = "the cat, the catcat"
    ids = reader(text)["input_ids"]
    words = Masker(reader).words(ids)
    assert words[0] is None
    assert words[-1] is None
    grouped: dict[int, str] = {}
    for name, word in zip(reader.convert_ids_to_tokens(ids), words, strict=True):
        if word is not None:
            grouped[word] = grouped.get(word, "") + name
    assert list(grouped.values()) == ["the", "Ġcat", ",", "Ġthe", "Ġcatcat"]


def test_a_batch_gives_its_text_back(tokenizer: PreTrainedTokenizerBase) -> None:
    rows = rows_of(tokenizer, "A row that is to be hidden in part.", "Short.")
    recipe, generator = CorruptionRecipe(rate=0.5), torch.Generator().manual_seed(0)
    batch = collate(rows, recipe, Masker(tokenizer), generator)
    assert batch.padded
    assert not batch.paired
    for number, row in enumerate(rows):
        assert batch.original_ids[number, : len(row.input_ids)].tolist() == row.input_ids

"""Rows of any tokenizer, hidden in part."""

from __future__ import annotations

import torch

from explorer.maths.corruption import IGNORED_LABEL, RANDOM, CorruptionRecipe, corrupt
from explorer.maths.schemes import SCHEMES
from explorer.models.encoding import replacement_ids
from explorer.models.hiding import Masker
from tests.models.tiny import byte_level, wordpiece
from tests.rows import each_row

TEXT = "the cats sat on the mat, sitting on a mat."


def drawn(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@each_row("scheme", SCHEMES)
@each_row("tokenizer", [wordpiece(), byte_level()], ids=["pieces", "bytes"])
def test_special_tokens_are_neither_chosen_nor_a_replacement(tokenizer: object, scheme: str) -> None:
    masker = Masker(tokenizer)  # type: ignore[arg-type]
    ids = masker.tokenizer(f"zebra {TEXT}")["input_ids"]
    recipe = CorruptionRecipe(rate=0.6, mask_share=0.3, random_share=0.6, scheme=scheme)
    special = torch.tensor([token in masker.special for token in ids])
    for seed in range(20):
        done = masker.corrupt(ids, recipe, drawn(seed))
        assert bool((done.labels[special] == IGNORED_LABEL).all())
        assert not masker.special & set(done.input_ids[done.fates == RANDOM].tolist())


def test_single_tokens_are_drawn_alike_however_words_are_told_apart() -> None:
    masker = Masker(wordpiece())
    batch = masker.tokenizer(TEXT)
    ids = torch.tensor(batch["input_ids"])
    alone = [None if token in masker.special else place for place, token in enumerate(ids.tolist())]
    others = replacement_ids(masker.tokenizer)
    for seed in range(5):
        found = masker.corrupt(ids, CorruptionRecipe(0.5), drawn(seed))
        for words in (alone, batch.word_ids()):
            by_hand = corrupt(ids, words, CorruptionRecipe(0.5), int(masker.mask or 0), others, drawn(seed))
            assert torch.equal(found.input_ids, by_hand.input_ids)
            assert torch.equal(found.labels, by_hand.labels)


def test_words_that_are_known_go_before_how_pieces_are_spelt() -> None:
    masker = Masker(wordpiece())
    ids = masker.tokenizer(TEXT)["input_ids"]
    nothing: list[int | None] = [None] * len(ids)
    assert masker.corrupt(ids, CorruptionRecipe(1.0), drawn(), nothing).input_ids.tolist() == ids

"""Pairs are scored against their labels, for a head of either kind."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import BertForPreTraining, PreTrainedTokenizerBase

from explorer.errors import BadInputError
from explorer.objectives.rows import RowMaker
from explorer.objectives.text import TextStore
from pretraining.corpus import read_documents
from pretraining.measures.pairs import KINDS, pair_accuracy


@pytest.fixture
def store(corpus: Path, tokenizer: PreTrainedTokenizerBase) -> TextStore:
    return TextStore.from_documents(read_documents(corpus / "wikitext.txt"), tokenizer)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("short_share", [0.0, 1.0])
@pytest.mark.parametrize("pair_class", [0, 1])
def test_a_model_that_always_says_the_same_is_right_on_that_class_s_share(
    model: BertForPreTraining,
    tokenizer: PreTrainedTokenizerBase,
    store: TextStore,
    kind: str,
    short_share: float,
    pair_class: int,
) -> None:
    _, drawer = KINDS[kind]
    rng = np.random.default_rng(0)
    maker = RowMaker(tokenizer.cls_token_id, tokenizer.sep_token_id)
    labels = [drawer(maker, store, 32, rng, short_share).pair_label for _ in range(40)]
    assert set(labels) == {0, 1}
    with torch.no_grad():
        model.cls.seq_relationship.bias.copy_(
            torch.tensor([100.0, 0.0]) if pair_class == 0 else torch.tensor([0, 100.0])
        )
    found = pair_accuracy(model.eval(), tokenizer, store, drawer, short_share, pairs=40, length=32)
    assert found == pytest.approx(labels.count(pair_class) / 40)


def test_a_text_of_one_document_says_what_is_missing(
    model: BertForPreTraining, tokenizer: PreTrainedTokenizerBase
) -> None:
    store = TextStore.from_documents([["One book. Without an empty line. It goes on."]], tokenizer)
    with pytest.raises(BadInputError, match="two documents"):
        pair_accuracy(model, tokenizer, store, RowMaker.pair, 0.0, pairs=2)

"""The measures of an MLM head: rigged models with known answers, and an independent count."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from transformers import BertForPreTraining, PreTrainedTokenizerBase

from explorer.maths.corruption import IGNORED_LABEL, CorruptionRecipe
from explorer.models.hiding import Masker
from explorer.objectives.batches import collate
from explorer.objectives.rows import RowMaker
from explorer.objectives.text import TextStore
from pretraining.corpus import read_documents
from pretraining.measures import masks
from pretraining.measures.masks import all_rows, mask_scores


def rig(model: BertForPreTraining, *best: int) -> None:
    """Every mask is guessed as `best`, the first far ahead."""
    with torch.no_grad():
        model.cls.predictions.bias.zero_()
        for rank, token in enumerate(best):
            model.cls.predictions.bias[token] = 100.0 - 10 * rank
    model.eval()


@pytest.fixture
def monotonous(tmp_path: Path, tokenizer: PreTrainedTokenizerBase) -> TextStore:
    """Three documents of one token, 80 times, in two paragraphs each: a rigged model can know every answer."""
    return TextStore.from_documents([["the " * 50, "the " * 30]] * 3, tokenizer)


def ids_of(tokenizer: PreTrainedTokenizerBase, words: str) -> list[int]:
    return tokenizer.convert_tokens_to_ids(words.split())


@pytest.mark.parametrize(
    ("guesses", "expected_1", "expected_5"),
    [("the", 1.0, 1.0), ("a in of to the", 0.0, 1.0), ("a in of to and", 0.0, 0.0), ("a the", 0.0, 1.0)],
)
def test_a_rigged_model_scores_what_it_was_rigged_for(
    model: BertForPreTraining,
    tokenizer: PreTrainedTokenizerBase,
    monotonous: TextStore,
    guesses: str,
    expected_1: float,
    expected_5: float,
) -> None:
    rig(model, *ids_of(tokenizer, guesses))
    top_1, top_5, loss, tokens = mask_scores(model, tokenizer, monotonous, length=32)
    assert (top_1, top_5) == (expected_1, expected_5)
    assert (loss < 0.01) == (expected_1 == 1.0)
    assert tokens == 3 * sum(round(0.15 * size) for size in (30, 30, 20))


def test_an_independent_count_agrees(
    model: BertForPreTraining, tokenizer: PreTrainedTokenizerBase, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through the model's own forward and over all positions, where the measure runs the head on the chosen ones."""
    rig(model, *ids_of(tokenizer, ". the near stood A was"))
    monkeypatch.setattr(masks, "ROWS_PER_BATCH", 5)
    store = TextStore.from_documents(read_documents(corpus / "wikitext.txt"), tokenizer)
    found = mask_scores(model, tokenizer, store, length=32)
    rows = all_rows(store, RowMaker(tokenizer.cls_token_id, tokenizer.sep_token_id), 32)
    assert len(rows) == 16
    generator = torch.Generator().manual_seed(0)
    hits, hits_5, total, loss = 0, 0, 0, 0.0
    for first in range(0, len(rows), 5):
        part = rows[first : first + 5]
        batch = collate(part, CorruptionRecipe(), Masker(tokenizer), generator)
        with torch.inference_mode():
            logits = model(batch.input_ids, batch.attention_mask, batch.token_type_ids).prediction_logits
        for row, labels in zip(logits.log_softmax(-1), batch.labels, strict=True):
            for scored, label in zip(row, labels.tolist(), strict=True):
                if label != IGNORED_LABEL:
                    rank = int((scored > scored[label]).sum())
                    hits, hits_5, total = hits + (rank == 0), hits_5 + (rank < 5), total + 1
                    loss -= float(scored[label])
    assert 0 < hits < hits_5 < total == found[3]
    assert found[:2] == (hits / total, hits_5 / total)
    assert found[2] == pytest.approx(loss / total, rel=1e-4)


def test_every_token_of_the_text_is_in_one_row(tokenizer: PreTrainedTokenizerBase, corpus: Path) -> None:
    store = TextStore.from_documents(read_documents(corpus / "wikitext.txt"), tokenizer)
    rows = all_rows(store, RowMaker(tokenizer.cls_token_id, tokenizer.sep_token_id), 16)
    assert [token for row in rows for token in row.input_ids[1:-1]] == store.ids.tolist()
    assert max(len(row.input_ids) for row in rows) == 16


def test_the_measure_is_the_same_each_time(
    model: BertForPreTraining, tokenizer: PreTrainedTokenizerBase, monotonous: TextStore
) -> None:
    model.eval()
    first = mask_scores(model, tokenizer, monotonous, length=32)
    assert mask_scores(model, tokenizer, monotonous, length=32) == first

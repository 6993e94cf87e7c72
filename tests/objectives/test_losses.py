"""Each loss is the one that transformers gives for the same labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from explorer.maths.corruption import IGNORED_LABEL, CorruptionRecipe
from explorer.models.families import by_family
from explorer.models.hiding import Masker
from explorer.objectives import electra
from explorer.objectives.batches import Batch, collate
from explorer.objectives.electra import ElectraPair, electra_loss, fill
from explorer.objectives.losses import Loss, causal_loss, masked_loss, with_pairs
from explorer.objectives.rows import row_maker
from explorer.objectives.text import TextStore, documents_in
from tests.models.tiny import build, wordpiece

TEXT = "The cat sat on the mat. A mat sat. The cats sit.\n\nA cat, a mat. On the cat sat a mat, sitting."


def batch_of(kind: str, rate: float = 0.4) -> Batch:
    """Six rows, some of them padded."""
    tokenizer, rng = wordpiece(), np.random.default_rng(0)
    store, maker = TextStore.from_documents(documents_in(TEXT.splitlines()), tokenizer), row_maker(tokenizer)
    rows = [getattr(maker, kind)(store, 20, rng) for _ in range(6)]
    batch = collate(rows, CorruptionRecipe(rate=rate), Masker(tokenizer), torch.Generator().manual_seed(0))
    assert batch.padded
    return batch


def model_of(family: str, class_name: str) -> Any:
    """With weights large enough that the losses of two places differ."""
    model = build(by_family(family), class_name).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.normal_(0.0, 0.2)
    return model


def own(model: Any, batch: Batch, **labels: Tensor) -> Any:
    """What the model's class computes by itself."""
    given = {"input_ids": batch.input_ids, "attention_mask": batch.attention_mask}
    if model.config.model_type != "gpt2":
        given["token_type_ids"] = batch.token_type_ids
    return model(**given, **labels)


@pytest.mark.parametrize("kind", ["pair", "text"])
@torch.inference_mode()
def test_masks_and_pairs_are_bert_s_own_two_losses(kind: str) -> None:
    model, batch = model_of("BERT", "BertForPreTraining"), batch_of(kind)
    loss: Loss = with_pairs(masked_loss(model, batch), model, batch)
    if kind == "text":
        output = own(model, batch)
        expected = cross_entropy(output.prediction_logits.flatten(0, 1), batch.labels.flatten())
        assert set(loss.figures) == {"mlm_loss", "mlm_accuracy"}
        assert float(loss.total) == pytest.approx(float(expected), abs=1e-5)
        return
    output = own(model, batch, labels=batch.labels, next_sentence_label=batch.pair_labels)
    assert float(loss.total) == pytest.approx(float(output.loss), abs=1e-5)
    pairs = cross_entropy(output.seq_relationship_logits, batch.pair_labels)
    assert loss.figures["pair_loss"] == pytest.approx(float(pairs), abs=1e-5)


@torch.inference_mode()
def test_the_next_token_is_asked_for_everywhere_but_after_the_end() -> None:
    model, batch = model_of("GPT-2", "GPT2LMHeadModel"), batch_of("doc_sentences", rate=0.0)
    labels = batch.input_ids.masked_fill(batch.attention_mask == 0, IGNORED_LABEL)
    expected = own(model, batch, labels=labels).loss
    assert float(causal_loss(model, batch).total) == pytest.approx(float(expected), abs=1e-5)


def test_electra_weighs_its_two_losses_and_shares_its_embeddings(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = ElectraPair(
        model_of("ELECTRA generator", "ElectraForMaskedLM"), model_of("ELECTRA discriminator", "ElectraForPreTraining")
    ).eval()
    batch = batch_of("full")
    drawn = torch.where(torch.arange(int((batch.labels >= 0).sum())) % 2 == 0, batch.labels[batch.labels >= 0], 6)
    monkeypatch.setattr(electra, "sampled", lambda logits, _: drawn[: len(logits)])
    loss = electra_loss(pair, batch, torch.Generator())
    shown = fill(batch, drawn)
    replaced = (shown.input_ids != batch.original_ids).long()
    assert 0 < int(replaced.sum()) < len(drawn)
    with torch.inference_mode():
        mlm = own(pair.generator, batch, labels=batch.labels).loss
        found = own(pair.discriminator, shown, labels=replaced).loss
    assert float(loss.total) == pytest.approx(float(mlm + 50 * found), rel=1e-5)
    assert float(electra_loss(pair, batch, torch.Generator(), weight=2).total) == pytest.approx(
        float(mlm + 2 * found), rel=1e-5
    )
    words = pair.discriminator.electra.embeddings.word_embeddings.weight
    assert pair.generator.get_output_embeddings().weight is words

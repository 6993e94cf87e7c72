"""Encoders and heads apart: only the masked positions carry a loss, and over a vocabulary of 29,000 a head that scores
all positions costs more than the encoder does.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from explorer.models.heads import before_decoder
from explorer.objectives.batches import Batch

PAIR_CLASSIFIERS = {"BertForPreTraining": "cls.seq_relationship", "AlbertForPreTraining": "sop_classifier"}
"""The map from the pooled state to the classes of a pair, by the name of the model's class."""

WITHOUT_SEGMENTS = ("distilbert", "roberta", "xlm-roberta", "camembert", "gpt2")
"""The model types that get no segment ids: DistilBERT and GPT-2 have none, RoBERTa's are not in use."""


def encode(model: PreTrainedModel, batch: Batch, **options: Any) -> Any:
    """Return the output of the model's encoder for a batch.

    options: passed on, such as output_hidden_states.
    """
    given: dict[str, Tensor] = {"input_ids": batch.input_ids}
    if batch.padded:  # attention without a mask is faster
        given["attention_mask"] = batch.attention_mask
    if model.config.model_type not in WITHOUT_SEGMENTS:
        given["token_type_ids"] = batch.token_type_ids
    return model.base_model(**{name: value.to(model.device) for name, value in given.items()}, **options)


def pair_logits(model: PreTrainedModel, pooled: Tensor) -> Tensor:
    """Return scores of a pair's two classes: pooled (rows, width); (rows, 2)."""
    logits: Tensor = model.get_submodule(PAIR_CLASSIFIERS[type(model).__name__])(pooled)
    return logits


def mlm_logits(model: PreTrainedModel, states: Tensor, chosen: Tensor) -> Tensor:
    """Return scores at the chosen positions, (chosen, vocabulary). Arguments and errors are those of
    explorer.models.heads.before_decoder.
    """
    logits: Tensor = model.get_output_embeddings()(before_decoder(model, states, chosen))
    return logits


@torch.no_grad()
def start_head(dense: nn.Linear, bias: Tensor, unigram_counts: Tensor) -> None:
    """Set an MLM head to the identity, and its decoder's bias to log frequency + 8.

    The first guess is then a frequent word near the hidden state. unigram_counts: (vocabulary,). A dense layer that
    narrows is not changed.
    """
    if dense.in_features == dense.out_features:
        dense.weight.copy_(torch.eye(dense.in_features))
    dense.bias.zero_()
    start_bias(bias, unigram_counts)


@torch.no_grad()
def start_bias(bias: Tensor, unigram_counts: Tensor) -> None:
    """Set a decoder's bias to log frequency + 8; both (vocabulary,)."""
    # 0.1: a token that never occurs has a finite logarithm.
    frequency = (unigram_counts + 0.1) / (unigram_counts + 0.1).sum()
    bias.copy_(frequency.log() + 8.0)


@torch.no_grad()
def tie(model: PreTrainedModel) -> None:
    """Make the decoder and the word embeddings one tensor again, after weights were put into either."""
    model.tie_weights()

"""The losses of one batch: masked tokens (BERT, RoBERTa, ALBERT), a pair's class (BERT, ALBERT), the next token (GPT-2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import PreTrainedModel

from explorer.models.heads import before_decoder
from explorer.objectives.batches import Batch
from explorer.objectives.chunks import TrueTokens, chunked_loss
from explorer.objectives.heads import encode, pair_logits


@dataclass(frozen=True)
class Loss:
    """The result of one batch: the sum to minimise, and figures for the log. Terms end in _loss, shares in _accuracy."""

    total: Tensor
    figures: dict[str, float]


@dataclass(frozen=True)
class Masked:
    """The encoder's output and the loss of one batch."""

    output: Any
    loss: Loss


def masked_loss(model: PreTrainedModel, batch: Batch, judge: TrueTokens | None = None, **options: Any) -> Masked:
    """Return the MLM loss: the mean over the chosen positions of -ln p(true token).

    judge: sees the scores of the chosen positions too, in their order, if an objective needs more of them. options:
    passed to the encoder, such as output_hidden_states.
    """
    output = encode(model, batch, **options)
    chosen = batch.labels >= 0
    states = before_decoder(model, output.last_hidden_state, chosen)
    judge = judge or TrueTokens(batch.labels[chosen].to(states.device))
    loss = chunked_loss(states, model.get_output_embeddings(), judge)
    return Masked(output, Loss(loss, {"mlm_loss": float(loss.detach()), "mlm_accuracy": judge.accuracy}))


def with_pairs(masked: Masked, model: PreTrainedModel, batch: Batch) -> Loss:
    """Return the MLM loss, plus the loss of each row's class by its pooled state if the rows are pairs."""
    if not batch.paired:
        return masked.loss
    logits = pair_logits(model, masked.output.pooler_output).float()
    truth = batch.pair_labels.to(logits.device)
    loss = cross_entropy(logits, truth)
    right = float((logits.detach().argmax(-1) == truth).float().mean())
    figures = {"pair_loss": float(loss.detach()), "pair_accuracy": right}
    return Loss(masked.loss.total + loss, masked.loss.figures | figures)


def causal_loss(model: PreTrainedModel, batch: Batch) -> Loss:
    """Return the mean over all tokens but each row's first of -ln p(token | those before it); padding carries none."""
    states = encode(model, batch).last_hidden_state[:, :-1]
    told = batch.attention_mask[:, 1:].bool().to(states.device)
    judge = TrueTokens(batch.input_ids[:, 1:].to(states.device)[told])
    loss = chunked_loss(states[told], model.get_output_embeddings(), judge)
    return Loss(loss, {"next_loss": float(loss.detach()), "next_accuracy": judge.accuracy})

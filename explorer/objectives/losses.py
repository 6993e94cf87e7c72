"""The losses of one batch: masked tokens (BERT, RoBERTa, ALBERT), a pair's class (BERT, ALBERT), the next token (GPT-2).

Encoders and heads are apart: only the masked positions carry a loss, and over a vocabulary of 29,000 a head that scores all
positions costs more than the encoder does.

A loss over a large vocabulary is computed a few rows at a time. Scores of 600 positions over 29,000 tokens are 70 MB, and
the usual way writes and reads them six times. Here the scores of some rows are computed, judged and turned into gradients
while they are in the processor's cache, and the gradients go straight back through the decoder. On two CPU cores a step of
bert-mini's size takes a quarter less time, one of gpt2-mini's half.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from transformers import PreTrainedModel

from explorer.models.heads import before_decoder
from explorer.objectives.batches import Batch

ROWS = 64
"""How many rows are scored at a time."""
GATHERED = 1024
"""How many rows' gradients are gathered before they are multiplied into the decoder's."""


class Judge(Protocol):
    """Computes a loss from the scores. It may count figures of its own; rows come in order, each once."""

    def __call__(self, rows: slice, logits: Tensor) -> tuple[float, Tensor]:
        """Return the summed loss of some rows and its gradient by their logits (rows, vocabulary), float32."""


class TrueTokens:
    """Judges by the true tokens (rows,): the loss is -ln p(true), summed; `hits` counts the rows whose true token has
    the top score.
    """

    def __init__(self, truth: Tensor) -> None:
        self.truth, self.hits = truth, 0

    def __call__(self, rows: slice, logits: Tensor) -> tuple[float, Tensor]:
        """Return the loss and its gradient, softmax(logits) - one_hot(true)."""
        truth = self.truth[rows]
        self.hits += int((logits.argmax(-1) == truth).sum())
        places = torch.arange(len(truth), device=truth.device)
        chances = logits.softmax(-1)
        # tiny: the logarithm of an underflown 0 would be infinite.
        loss = -float(chances[places, truth].clamp(min=torch.finfo(torch.float32).tiny).log().sum())
        chances[places, truth] -= 1.0
        return loss, chances

    @property
    def accuracy(self) -> float:
        """The share of rows whose true token has the top score."""
        return self.hits / max(1, len(self.truth))


def chunked_loss(states: Tensor, decoder: nn.Linear, judge: Judge) -> Tensor:
    """Return the mean over rows of a judge's loss of `decoder(states)`, ready for `backward`.

    states: (rows, width). Computes in autocast's type if autocast is on, else in the decoder's. Returns 0 without rows.
    """
    device = states.device.type
    dtype = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else decoder.weight.dtype
    loss: Tensor = _Chunked.apply(states, decoder.weight, decoder.bias, judge, dtype)  # type: ignore[no-untyped-call]
    return loss


class _Chunked(torch.autograd.Function):
    """Computes the gradients with the loss, so that the backward pass has only to scale them."""

    @staticmethod
    def forward(
        ctx: Any, states: Tensor, weight: Tensor, bias: Tensor | None, judge: Judge, dtype: torch.dtype
    ) -> Tensor:
        low, decoder = states.detach().to(dtype), weight.detach().to(dtype)
        offset = None if bias is None else bias.detach().to(dtype)
        count, total = max(1, len(states)), 0.0
        for_states = torch.empty_like(low)
        for_weight = torch.zeros_like(weight, dtype=torch.float32) if ctx.needs_input_grad[1] else None
        for_bias = None if bias is None else torch.zeros_like(bias, dtype=torch.float32)
        # The types are chosen above, whatever autocast would choose here.
        with torch.autocast(states.device.type, enabled=False):
            for rows in _slices(0, len(states), GATHERED):
                gradients = torch.empty(rows.stop - rows.start, len(weight), dtype=dtype, device=states.device)
                for part in _slices(rows.start, rows.stop, ROWS):
                    logits = torch.nn.functional.linear(low[part], decoder, offset).float()
                    loss, by_logits = judge(part, logits)
                    total += loss
                    gradients[part.start - rows.start : part.stop - rows.start] = by_logits
                for_states[rows] = gradients @ decoder
                if for_weight is not None:
                    for_weight += gradients.T @ low[rows]
                if for_bias is not None:
                    # A product with ones sums the rows.
                    for_bias += (gradients.new_ones(1, len(gradients)) @ gradients)[0]
        ctx.save_for_backward(*(None if g is None else g.float() / count for g in (for_states, for_weight, for_bias)))
        return torch.tensor(total / count, device=states.device)

    @staticmethod
    def backward(ctx: Any, *outer: Tensor) -> tuple[Tensor | None, ...]:
        scaled = (None if gradient is None else gradient * outer[0] for gradient in ctx.saved_tensors)
        return (*scaled, None, None)


def _slices(start: int, stop: int, size: int) -> Iterator[slice]:
    return (slice(first, min(first + size, stop)) for first in range(start, stop, size))


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

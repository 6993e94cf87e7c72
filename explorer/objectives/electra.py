"""ELECTRA (Clark et al. 2020): a generator fills masks, a discriminator tells for every token whether it was replaced.

Both are trained together on MLM + 50 x replaced-token loss. The generator's fillings are sampled, not its best guesses;
a filling that is the true token counts as original. No gradient flows through the sampling. The two share their
embeddings.
"""

from __future__ import annotations

import dataclasses

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits
from transformers import ElectraForMaskedLM, ElectraForPreTraining

from explorer.maths.detection import sampled
from explorer.objectives.batches import Batch
from explorer.objectives.losses import Loss, TrueTokens, encode, masked_loss, tie

REPLACED_WEIGHT = 50.0
"""The weight of the discriminator's loss beside the generator's (Clark et al. 2020, appendix A)."""


class ElectraPair(nn.Module):
    """A generator and a discriminator whose embeddings are one module."""

    def __init__(self, generator: ElectraForMaskedLM, discriminator: ElectraForPreTraining) -> None:
        super().__init__()
        self.discriminator, self.generator = discriminator, generator
        generator.electra.embeddings = discriminator.electra.embeddings
        tie(generator)  # the generator's decoder is tied to the embeddings that it had before

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return self.discriminator.device


def electra_loss(pair: ElectraPair, batch: Batch, draw: torch.Generator, weight: float = REPLACED_WEIGHT) -> Loss:
    """Return the generator's MLM loss plus `weight` times the discriminator's; `draw` draws the fillings.

    batch: corrupted by masks alone, as the generator sees it.
    """
    generated, filled = generator_loss(pair.generator, batch, draw)
    found = replaced_loss(pair.discriminator, filled)
    return Loss(generated.total + weight * found.total, generated.figures | found.figures)


def generator_loss(generator: ElectraForMaskedLM, batch: Batch, draw: torch.Generator) -> tuple[Loss, Batch]:
    """Return the generator's MLM loss, and the batch with its samples in place of the masks."""
    judge = Sampler(batch.labels[batch.labels >= 0].to(generator.device), draw)
    loss = masked_loss(generator, batch, judge).loss
    return loss, fill(batch, judge.tokens)


def replaced_loss(discriminator: ElectraForPreTraining, filled: Batch) -> Loss:
    """Return the discriminator's binary cross entropy over all tokens but padding; a filling that is the true token is
    original.
    """
    replaced = (filled.input_ids != filled.original_ids)[filled.attention_mask.bool()]
    logits = replaced_logits(discriminator, filled)
    truth = replaced.to(logits.device)
    loss = binary_cross_entropy_with_logits(logits, truth.float())
    figures = {
        "replaced_loss": float(loss.detach()),
        "replaced_accuracy": float(((logits.detach() > 0) == truth).float().mean()),
        "replaced_share": float(replaced.float().mean()),
    }
    return Loss(loss, figures)


class Sampler(TrueTokens):
    """Judges by the true tokens, and draws one token for each row from softmax(logits)."""

    def __init__(self, truth: Tensor, generator: torch.Generator) -> None:
        super().__init__(truth)
        self.generator, self.drawn = generator, list[Tensor]()

    def __call__(self, rows: slice, logits: Tensor) -> tuple[float, Tensor]:
        """Return the loss and gradient of TrueTokens."""
        self.drawn.append(sampled(logits, self.generator))
        return super().__call__(rows, logits)

    @property
    def tokens(self) -> Tensor:
        """The drawn tokens: (rows,), on the CPU."""
        return torch.cat(self.drawn) if self.drawn else torch.empty(0, dtype=torch.long)


def fill(batch: Batch, tokens: Tensor) -> Batch:
    """Return the text with the chosen positions filled by the generator's tokens (chosen,); the labels stay."""
    filled = batch.original_ids.clone()
    filled[batch.labels >= 0] = tokens
    return dataclasses.replace(batch, input_ids=filled)


def replaced_logits(discriminator: ElectraForPreTraining, batch: Batch) -> Tensor:
    """Return the discriminator's scores of all tokens but padding: (tokens,); above 0 it takes a token for replaced."""
    states = encode(discriminator, batch).last_hidden_state
    logits: Tensor = discriminator.discriminator_predictions(states)
    return logits[batch.attention_mask.bool().to(logits.device)].float()

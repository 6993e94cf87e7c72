"""ELECTRA (Clark et al. 2020): a generator fills masks, a discriminator tells for every token whether it was replaced.

Both are trained together on MLM + 50 x replaced-token loss. The generator's fillings are sampled, not its best guesses; one
that is the true token counts as original. No gradient flows through the sampling. The two share their embeddings.

A discriminator that begins from bert-mini's layers has lost what they knew, so it first learns to have bert-mini's hidden
states (`alignment`): after 200 steps bert-mini's own head guesses 35% of the masked tokens on it.
"""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits
from transformers import (
    BertForPreTraining,
    ElectraConfig,
    ElectraForMaskedLM,
    ElectraForPreTraining,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from explorer.maths.detection import sampled
from explorer.models.families.electra import generator_of
from pretraining.batches import Batch
from pretraining.chunks import TrueTokens
from pretraining.heads import encode, start_head, tie
from pretraining.objectives.alignment import load_teacher, states_apart
from pretraining.objectives.base import Loss, Pretrainer, masked_loss
from pretraining.recipes import ElectraRecipe
from pretraining.starts import distilbert
from pretraining.starts.transplant import fill_factorised, load

GENERATOR, DISCRIMINATOR = "generator", "discriminator"


class ElectraPair(nn.Module):
    """A generator and a discriminator whose embeddings are one module."""

    def __init__(self, generator: ElectraForMaskedLM, discriminator: ElectraForPreTraining) -> None:
        super().__init__()
        self.discriminator, self.generator = discriminator, generator
        generator.electra.embeddings = discriminator.electra.embeddings
        tie(generator)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.discriminator.device


class ElectraPretrainer(Pretrainer[ElectraRecipe]):
    """Both models learn in one step; two folders are exported."""

    model_class = ElectraForPreTraining
    starts = {"bert-mini": lambda self: self.from_bert()}
    new_parts = ("generator.", "discriminator.discriminator_predictions.", "discriminator.electra.embeddings_project.")
    word_embeddings = "discriminator.electra.embeddings.word_embeddings.weight"

    def own_tokenizer(self) -> PreTrainedTokenizerBase:
        """bert-mini's WordPieces."""
        return distilbert.load_tokenizer(self.place.downloads)

    def go_on(self) -> ElectraPair:
        """A published pair: the start names its discriminator, and its generator is named alike."""
        start = self.recipe.start
        return ElectraPair(
            load(generator_of(start), self.place.models, ElectraForMaskedLM),
            load(start, self.place.models, ElectraForPreTraining),
        )

    def loss(self, batch: Batch, step: int) -> Loss:
        """MLM of the generator plus the weighted loss of the discriminator over all tokens."""
        draw = torch.Generator().manual_seed(self.recipe.seed * 1_000_003 + step + 500_000)
        judge = Sampler(batch.labels[batch.labels >= 0].to(self.model.device), draw)
        masked = masked_loss(self.model.generator, batch, judge)
        filled = fill(batch, judge.tokens)
        if self.teacher is not None and step < self.recipe.aligned_steps:
            apart = self.states_apart(filled)
            return Loss(masked.loss.total + apart, masked.loss.figures | {"states_loss": float(apart.detach())})
        replaced = (filled.input_ids != batch.original_ids)[batch.attention_mask.bool()]
        logits = replaced_logits(self.model.discriminator, filled)
        truth = replaced.to(logits.device)
        loss = binary_cross_entropy_with_logits(logits, truth.float())
        figures = {
            "replaced_loss": float(loss.detach()),
            "replaced_accuracy": float(((logits.detach() > 0) == truth).float().mean()),
            "replaced_share": float(replaced.float().mean()),
        }
        return Loss(masked.loss.total + self.recipe.replaced_weight * loss, masked.loss.figures | figures)

    @cached_property
    def teacher(self) -> Any:
        """bert-mini, where the discriminator begins from it and is aligned at first; else None."""
        if self.recipe.start not in self.starts or not self.recipe.aligned_steps:
            return None
        return load_teacher(self.place)

    def states_apart(self, batch: Batch) -> Tensor:
        """How far the discriminator's states are from bert-mini's: its embeddings', and each layer's from the one it was."""
        own = encode(self.model.discriminator, batch, output_hidden_states=True).hidden_states
        matched = (0, *(layer + 1 for layer in self.recipe.layers))
        return states_apart(own, self.teacher, batch, matched)

    def models(self) -> dict[str, PreTrainedModel]:
        """NAME-generator and NAME-discriminator."""
        pair = self.model
        return {
            f"{self.recipe.name}-{GENERATOR}": pair.generator,
            f"{self.recipe.name}-{DISCRIMINATOR}": pair.discriminator,
        }

    def from_bert(self) -> ElectraPair:
        """A discriminator of bert-mini's layers with its embeddings in two factors, and a new narrow generator."""
        recipe, bert = self.recipe, load("bert-mini", self.place.models, BertForPreTraining)
        common = {
            "vocab_size": bert.config.vocab_size,
            "embedding_size": recipe.embedding_size,
            "num_hidden_layers": len(recipe.layers),
            "max_position_embeddings": bert.config.max_position_embeddings,
        }
        discriminator = ElectraForPreTraining(
            ElectraConfig(
                hidden_size=bert.config.hidden_size,
                num_attention_heads=bert.config.num_attention_heads,
                intermediate_size=bert.config.intermediate_size,
                **common,
            )
        )
        electra = discriminator.electra
        words = bert.bert.embeddings.word_embeddings.weight.detach()
        fill_factorised(electra.embeddings, electra.embeddings_project, bert, words, self.counts)
        for own, taken in zip(electra.encoder.layer, recipe.layers, strict=True):
            own.load_state_dict(bert.bert.encoder.layer[taken].state_dict())
        generator = ElectraForMaskedLM(
            ElectraConfig(
                hidden_size=recipe.generator_width,
                num_attention_heads=recipe.generator_heads,
                intermediate_size=4 * recipe.generator_width,
                **common,
            )
        )
        start_head(generator.generator_predictions.dense, generator.generator_lm_head.bias, self.counts)
        return ElectraPair(generator, discriminator)


class Sampler(TrueTokens):
    """Judges by the true tokens, and draws one token for each row from softmax(logits)."""

    def __init__(self, truth: Tensor, generator: torch.Generator) -> None:
        super().__init__(truth)
        self.generator, self.drawn = generator, list[Tensor]()

    def __call__(self, rows: slice, logits: Tensor) -> tuple[float, Tensor]:
        """As for the true tokens alone."""
        self.drawn.append(sampled(logits, self.generator))
        return super().__call__(rows, logits)

    @property
    def tokens(self) -> Tensor:
        """What was drawn: (rows,), on the CPU."""
        return torch.cat(self.drawn) if self.drawn else torch.empty(0, dtype=torch.long)


def fill(batch: Batch, tokens: Tensor) -> Batch:
    """The text with the chosen positions filled by the generator's tokens (chosen,); the labels stay."""
    filled = batch.original_ids.clone()
    filled[batch.labels >= 0] = tokens
    return dataclasses.replace(batch, input_ids=filled)


def replaced_logits(discriminator: ElectraForPreTraining, batch: Batch) -> Tensor:
    """The discriminator's scores of all tokens but padding: (tokens,); above 0 it takes a token for replaced."""
    states = encode(discriminator, batch).last_hidden_state
    logits: Tensor = discriminator.discriminator_predictions(states)
    return logits[batch.attention_mask.bool().to(logits.device)].float()

"""ELECTRA (Clark et al. 2020): a generator and a discriminator, trained together (explorer.objectives.electra).

A discriminator that begins from bert-mini's layers has lost what they knew, so it first learns to have bert-mini's hidden
states (`alignment`): after 200 steps bert-mini's own head guesses 35% of the masked tokens on it.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from transformers import (
    BertForPreTraining,
    ElectraConfig,
    ElectraForMaskedLM,
    ElectraForPreTraining,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from explorer.models.families.electra import generator_of
from explorer.objectives.batches import Batch
from explorer.objectives.electra import ElectraPair, electra_loss, generator_loss
from explorer.objectives.losses import Loss, encode, start_head
from pretraining.objectives.alignment import load_teacher, states_apart
from pretraining.objectives.base import Pretrainer
from pretraining.recipes import ElectraRecipe
from pretraining.starts import distilbert
from pretraining.starts.transplant import fill_factorised, load

GENERATOR, DISCRIMINATOR = "generator", "discriminator"


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
        if self.teacher is None or step >= self.recipe.aligned_steps:
            return electra_loss(self.model, batch, draw, self.recipe.replaced_weight)
        generated, filled = generator_loss(self.model.generator, batch, draw)
        apart = self.states_apart(filled)
        return Loss(generated.total + apart, generated.figures | {"states_loss": float(apart.detach())})

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

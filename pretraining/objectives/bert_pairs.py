"""Next-sentence prediction on matched pairs, for a BERT that has both heads already, with MLM held where it is.

Pooler, NSP head and the last layers learn; the layers below are still. Most batches are whole text, as visitors type it. In
one of `held_every` words are masked as in MLM, and the last states at every position but [CLS], which is what the MLM head
reads, learn to stay as the untouched layers have them (Li & Hoiem 2016, Learning without Forgetting, on states in place of
outputs).
"""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import BertForPreTraining, PreTrainedModel

from explorer.objectives.batches import Batch, collate
from explorer.objectives.losses import Loss, encode, pair_logits
from explorer.objectives.rows import Row
from pretraining.matched import MatchedPairs, neighbours
from pretraining.objectives.base import Place, Pretrainer
from pretraining.pair_recipes import MatchedPairsRecipe
from pretraining.recipes import Stage
from pretraining.starts.sentences import SentenceEncoder
from pretraining.store import everyday_store

BATCHES_SORTED = 10
"""Rows are drawn for so many steps at once and batched by length, so that little is padded."""
EVERYDAY = "everyday"


class BertPairsPretrainer(Pretrainer[MatchedPairsRecipe]):
    """NSP on matched pairs; the states that the MLM head reads are held."""

    model_class = BertForPreTraining
    new_parts = ("cls.seq_relationship.", "bert.pooler.")
    word_embeddings = "bert.embeddings.word_embeddings.weight"
    record = "pairs.json"

    def __init__(self, recipe: MatchedPairsRecipe, place: Place) -> None:
        super().__init__(recipe, place)
        layers = self.model.bert.encoder.layer
        self.before = copy.deepcopy(layers[recipe.first_layer :]).requires_grad_(False).eval()
        learning = tuple(f"bert.encoder.layer.{number}." for number in range(recipe.first_layer, len(layers)))
        for name, parameter in self.model.named_parameters():
            learns = name.startswith(learning + self.new_parts) and not name.startswith(recipe.still)
            parameter.requires_grad_(learns)
        stores = self.stores | {EVERYDAY: everyday_store(self.tokenizer)}
        found = neighbours(stores, recipe.neighbours, recipe.seed)
        embed = SentenceEncoder(self.tokenizer, place.downloads, place.work / "tokens")
        embedded = embed(found.firsts), embed(found.seconds)
        self.pairs = MatchedPairs(found, embedded, recipe.source_weights, recipe.written)

    def models(self) -> dict[str, PreTrainedModel]:
        """The whole model, in the place of the one that it began as."""
        return {self.recipe.into: self.model}

    def draw(self, step: int, stage: Stage) -> Batch:
        """The batch of one step; rows of like length stand together."""
        bucket, place = divmod(step, BATCHES_SORTED)
        rng = np.random.default_rng((self.recipe.seed, bucket))
        count = self.recipe.tokens_per_step // stage.length
        rows = sorted((self._row(rng) for _ in range(BATCHES_SORTED * count)), key=lambda row: len(row.input_ids))
        place = int(rng.permutation(BATCHES_SORTED)[place])
        generator = torch.Generator().manual_seed(self.recipe.seed * 1_000_003 + step)
        chosen = rows[place * count : (place + 1) * count]
        return collate(chosen, self.recipe.corruption, self.stream.masker, generator)

    def _row(self, rng: np.random.Generator) -> Row:
        return self.stream.maker.joined(*self.pairs.draw(rng))

    def loss(self, batch: Batch, step: int) -> Loss:
        """NSP of [CLS], and in one of `held_every` batches how far the other states have moved."""
        held = step % self.recipe.held_every == 0
        shown = batch if held else dataclasses.replace(batch, input_ids=batch.original_ids)
        output = encode(self.model, shown, output_hidden_states=held)
        logits = pair_logits(self.model, output.pooler_output).float()
        truth = batch.pair_labels.to(logits.device)
        loss = cross_entropy(logits, truth)
        right = float((logits.detach().argmax(-1) == truth).float().mean())
        figures = {"pair_loss": float(loss.detach()), "pair_accuracy": right}
        if held:
            moved = self._moved(output, batch)
            loss = loss + self.recipe.held_weight * self.recipe.held_every * moved
            figures["moved_loss"] = float(moved.detach())
        return Loss(loss, figures)

    def _moved(self, output: Any, batch: Batch) -> Tensor:
        """The mean squared change of the last states outside [CLS], in units of their variance: a scalar."""
        seen = batch.attention_mask.to(output.last_hidden_state.device)
        hidden = (1.0 - seen[:, None, None].float()) * torch.finfo(torch.float32).min
        with torch.no_grad():
            states = output.hidden_states[self.recipe.first_layer]
            for layer in self.before.to(states.device):
                given = layer(states, attention_mask=hidden)
                states = given[0] if isinstance(given, tuple) else given
        compared = seen.bool().clone()
        compared[:, 0] = False
        wanted = states.float()[compared]
        apart: Tensor = output.last_hidden_state.float()[compared] - wanted
        loss: Tensor = apart.square().mean() / wanted.var()
        return loss

"""Draws the batch of any training step from the tokenised text."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from transformers import PreTrainedTokenizerBase

from explorer.models.hiding import Masker
from explorer.objectives.batches import Batch, collate
from explorer.objectives.rows import USUAL_ROWS, Drawer, Row, row_maker
from explorer.objectives.text import TextStore
from pretraining.recipes import Stage, TrainingRecipe

EVERYDAY_SHARE = 0.6
"""Of the rows of one sentence, how many come from collections of single sentences; the rest from running text."""


class BatchStream:
    """Draws the batch of any step; the draw depends on seed and step alone, so a resumed run goes on unchanged.

    drawers: how the rows of each of a stage's kinds are drawn, where an objective has rows of its own.
    """

    def __init__(
        self,
        recipe: TrainingRecipe,
        stores: dict[str, TextStore],
        tokenizer: PreTrainedTokenizerBase,
        drawers: Mapping[str, Drawer] = USUAL_ROWS,
    ) -> None:
        self.recipe, self.tokenizer, self.drawers = recipe, tokenizer, drawers
        self.maker = row_maker(tokenizer)
        single = {name: store.sentences < 2 * (store.documents[-1] + 1) for name, store in stores.items()}
        self.short = [store for name, store in stores.items() if single[name]] or list(stores.values())
        self.long = [store for name, store in stores.items() if not single[name]] or self.short
        names = [name for name, store in stores.items() if store in self.long]
        weights = np.array([recipe.source_weights.get(name, len(stores[name].ids) / 1e8) for name in names])
        self.weights = weights / weights.sum()
        self.masker = Masker(tokenizer)

    def draw(self, step: int, stage: Stage) -> Batch:
        """The batch of one step."""
        rng = np.random.default_rng((self.recipe.seed, step))
        kind = rng.choice(["text", "sentence", "pair"], p=[stage.text, stage.sentence, stage.pair])
        length = self.recipe.sentence_length if kind == "sentence" else stage.length
        rows = [
            self._row(self._kind_of_text(stage, rng) if kind == "text" else kind, length, rng)
            for _ in range(self.recipe.tokens_per_step // length)
        ]
        generator = torch.Generator().manual_seed(self.recipe.seed * 1_000_003 + step)
        return collate(rows, self.recipe.corruption, self.masker, generator)

    @staticmethod
    def _kind_of_text(stage: Stage, rng: np.random.Generator) -> str:
        if not stage.new_names + stage.twice:
            return "text"
        drawn = rng.random()
        if drawn < stage.new_names:
            return "new_names"
        return "twice" if drawn < stage.new_names + stage.twice else "text"

    def _row(self, kind: str, length: int, rng: np.random.Generator) -> Row:
        if kind == "sentence" and rng.random() < EVERYDAY_SHARE:
            store = self.short[int(rng.integers(len(self.short)))]
        else:
            store = self.long[int(rng.choice(len(self.long), p=self.weights))]
        return self.drawers[kind](self.maker, store, length, rng)

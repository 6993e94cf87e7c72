"""GPT-2 (Radford et al. 2019): the next token, from the left alone; LayerNorm before each block."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import torch
from torch import nn
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerBase, RobertaForMaskedLM

from explorer.objectives.batches import Batch
from explorer.objectives.losses import Loss, causal_loss, tie
from explorer.objectives.rows import USUAL_ROWS, Drawer, RowMaker
from pretraining.new_names import NewNames, twice
from pretraining.objectives.base import Pretrainer
from pretraining.objectives.looking import Looking
from pretraining.objectives.roberta import MERGES
from pretraining.recipes import Gpt2Recipe
from pretraining.schedule import stage_at
from pretraining.starts import granite
from pretraining.starts.transplant import factors, load
from pretraining.vocabularies import cut_merges, gpt2_tokenizer

EMBEDDING_DEVIATION = 0.05
"""The starting embeddings' root mean square: about what a small GPT-2's grow to."""


class Gpt2Pretrainer(Pretrainer[Gpt2Recipe]):
    """-ln p(next token), the mean over all tokens but each row's first; where a stage teaches it, heads learn where to look."""

    model_class = GPT2LMHeadModel
    starts = {"roberta-mini": lambda self: self.from_roberta()}
    drawers = {**USUAL_ROWS, "text": RowMaker.running, "twice": twice}
    new_parts = ("transformer.",)
    word_embeddings = "transformer.wte.weight"

    def own_tokenizer(self) -> PreTrainedTokenizerBase:
        """roberta-mini's vocabulary."""
        pack = granite.read_pack(self.place.downloads)[1]
        return gpt2_tokenizer(*cut_merges(pack, MERGES), longest=self.recipe.positions)

    def row_drawers(self) -> Mapping[str, Drawer]:
        """Running text, and what is made of it for a stage that asks for that."""
        if not any(stage.new_names for stage in self.recipe.stages):
            return self.drawers
        return {**self.drawers, "new_names": NewNames(self.tokenizer, self.counts).row}

    @cached_property
    def looking(self) -> Looking:
        """The heads that learn where to look."""
        return Looking(self.model, self.recipe.looks_before, self.recipe.look_again)

    def loss(self, batch: Batch, step: int) -> Loss:
        """The loss of all next tokens; padding carries none."""
        stage = stage_at(self.recipe, step / self.recipe.steps)
        self._drop(stage.dropout)
        torch.manual_seed(1_000_003 * self.recipe.seed + step)  # what is dropped depends on seed and step alone
        if not stage.taught:
            return causal_loss(self.model, batch)
        with self.looking as looking:
            loss = causal_loss(self.model, batch)
            taught, figures = looking.loss(batch.input_ids)
        return Loss(loss.total + stage.taught * taught, {**loss.figures, **figures})

    def _drop(self, share: float) -> None:
        """Drop a share of the states, none of what attention gives."""
        for name, module in self.model.named_modules():
            if isinstance(module, nn.Dropout) and not name.endswith("attn_dropout"):
                module.p = share

    @torch.no_grad()
    def from_roberta(self) -> GPT2LMHeadModel:
        """New layers under roberta-mini's word embeddings, cut to the narrower width by SVD."""
        recipe = self.recipe
        torch.manual_seed(recipe.seed)
        model = GPT2LMHeadModel(
            GPT2Config(
                vocab_size=len(self.tokenizer),
                n_positions=recipe.positions,
                n_embd=recipe.width,
                n_layer=recipe.layers,
                n_head=recipe.heads,
                bos_token_id=self.tokenizer.eos_token_id,
                eos_token_id=self.tokenizer.eos_token_id,
                pad_token_id=self.tokenizer.pad_token_id,
            )
        )
        roberta = load("roberta-mini", self.place.models, RobertaForMaskedLM)
        words, _ = factors(roberta.roberta.embeddings.word_embeddings.weight, recipe.width, self.counts)
        words -= words.mean(0)
        model.transformer.wte.weight.copy_(words * (EMBEDDING_DEVIATION / words.pow(2).mean().sqrt()))
        tie(model)
        return model

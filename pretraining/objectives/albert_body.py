"""What albert-mini begins from: one layer that takes the places of bert-mini's six, under bert-mini's WordPieces.

One of six layers put at all six positions knows nothing, and trained from there it stays for a long time at what a token's
neighbours tell (15% of the masked tokens, where bert-mini guesses 40%), with its teacher's states to learn or without. So the
places change hands one by one, as in BERT-of-Theseus (Xu et al. 2020, section 3): in each step every position runs its
old layer or, with a chance that rises to 1, the shared one. The model works at every moment of it, and the old layers go on
learning too, since the embeddings under them have become narrow. That, and having bert-mini's states, can be learned only on
bert-mini's tokens: the body comes first, the vocabulary of its own after that.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AlbertConfig, AlbertForPreTraining, PreTrainedModel
from transformers.models.albert.modeling_albert import AlbertLayer

from explorer.models.heads import before_decoder
from explorer.objectives.batches import Batch
from explorer.objectives.losses import Loss, TrueTokens, chunked_loss, start_head, tie
from pretraining.objectives.alignment import load_teacher, states_apart
from pretraining.objectives.base import Pretrainer
from pretraining.recipes import AlbertBodyRecipe
from pretraining.starts.transplant import albert_layer, fill_factorised


class Successor(nn.Module):
    """An ALBERT of one layer, and the layers that it is to replace."""

    def __init__(self, student: AlbertForPreTraining) -> None:
        super().__init__()
        self.student = student
        self.replaced = nn.ModuleList(AlbertLayer(student.config) for _ in range(student.config.num_hidden_layers))

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.student.device

    @property
    def shared(self) -> AlbertLayer:
        """The one layer."""
        encoder: Any = self.student.albert.encoder
        layer: AlbertLayer = encoder.albert_layer_groups[0].albert_layers[0]
        return layer

    def states(self, batch: Batch, by_shared: Tensor) -> list[Tensor]:
        """The embeddings and what each position makes of them: (rows, length, width) each.

        by_shared: (layers,) bool, True where the shared layer stands.
        """
        albert = self.student.albert
        embedded = albert.embeddings(batch.input_ids.to(self.device), batch.token_type_ids.to(self.device))
        states = [albert.encoder.embedding_hidden_mapping_in(embedded)]
        hidden = (batch.attention_mask == 0).to(self.device)[:, None, None, :]
        mask = hidden * torch.finfo(states[0].dtype).min if batch.padded else None
        for old, is_shared in zip(self.replaced, by_shared.tolist(), strict=True):
            layer = self.shared if is_shared else old
            states.append(layer(states[-1], mask))
        return states


class AlbertBodyPretrainer(Pretrainer[AlbertBodyRecipe]):
    """MLM, and the weighted distance of the hidden states from the teacher's. The recipe's start is the teacher."""

    model_class = AlbertForPreTraining
    word_embeddings = "student.albert.embeddings.word_embeddings.weight"
    new_parts = ("student.predictions.", "student.albert.encoder.embedding_hidden_mapping_in.")

    def go_on(self) -> Successor:
        """The teacher in ALBERT's form, one layer of it twice: at its place and as the one that spreads."""
        return self.from_bert(self.teacher)

    @cached_property
    def teacher(self) -> Any:
        """The model of the recipe's start, its last states scaled; the pooler undoes it."""
        bert = load_teacher(self.place, self.recipe.start)
        norm = bert.bert.encoder.layer[-1].output.LayerNorm
        for parameter in (norm.weight, norm.bias):
            parameter.mul_(self.recipe.last_scale)
        bert.bert.pooler.dense.weight.div_(self.recipe.last_scale)
        return bert

    def loss(self, batch: Batch, step: int) -> Loss:
        """The sum of both, with the positions that the shared layer has in this step."""
        by_shared = self.places(step)
        states = self.model.states(batch, by_shared)
        student, chosen = self.model.student, batch.labels >= 0
        judge = TrueTokens(batch.labels[chosen].to(states[-1].device))
        mlm = chunked_loss(before_decoder(student, states[-1], chosen), student.get_output_embeddings(), judge)
        apart = states_apart(states, self.teacher, batch, range(len(states)))
        figures = {
            "mlm_loss": float(mlm.detach()),
            "mlm_accuracy": judge.accuracy,
            "states_loss": float(apart.detach()),
            "shared_share": float(by_shared.float().mean()),
        }
        return Loss(mlm + self.recipe.states_weight * apart, figures)

    def places(self, step: int) -> Tensor:
        """Which positions the shared layer has in a step: (layers,) bool, drawn by seed and step alone."""
        chance = min(1.0, step / max(1.0, self.recipe.replaced_share * self.recipe.steps))
        generator = torch.Generator().manual_seed(self.recipe.seed * 1_000_003 + step + 750_000)
        return torch.rand(len(self.model.replaced), generator=generator) < chance

    def models(self) -> dict[str, PreTrainedModel]:
        """The student with its one layer."""
        return {self.recipe.name: self.model.student}

    @torch.no_grad()
    def from_bert(self, bert: Any) -> Successor:
        """Embeddings in two factors, all layers and the pooler; the decoder reads back through the factors."""
        config = bert.config
        student = AlbertForPreTraining(
            AlbertConfig(
                vocab_size=config.vocab_size,
                embedding_size=self.recipe.embedding_size,
                hidden_size=config.hidden_size,
                num_hidden_layers=config.num_hidden_layers,
                num_attention_heads=config.num_attention_heads,
                intermediate_size=config.intermediate_size,
                max_position_embeddings=config.max_position_embeddings,
                layer_norm_eps=config.layer_norm_eps,
            )
        )
        words = bert.bert.embeddings.word_embeddings.weight
        encoder: Any = student.albert.encoder
        basis = fill_factorised(
            student.albert.embeddings, encoder.embedding_hidden_mapping_in, bert, words, self.counts
        )
        student.albert.pooler.load_state_dict(bert.bert.pooler.dense.state_dict())
        start_head(student.predictions.dense, student.predictions.bias, self.counts)
        student.predictions.dense.weight.copy_(basis)
        tie(student)
        model = Successor(student)
        for number, layer in enumerate(model.replaced):
            layer.load_state_dict(albert_layer(bert, number))
        model.shared.load_state_dict(albert_layer(bert, self.recipe.layer))
        return model

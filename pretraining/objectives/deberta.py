"""DeBERTa (He et al. 2021): MLM, with content and position apart. From RoBERTa's weights; its words and its rows too."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import layer_norm
from transformers import DebertaConfig, DebertaForMaskedLM, PreTrainedTokenizerBase, RobertaForMaskedLM
from transformers.models.deberta.modeling_deberta import DebertaLayerNorm, DisentangledSelfAttention

from explorer.objectives.batches import Batch
from explorer.objectives.losses import Loss, masked_loss, tie
from explorer.objectives.rows import USUAL_ROWS, RowMaker
from pretraining.objectives.base import Pretrainer
from pretraining.recipes import DebertaRecipe, Stage
from pretraining.starts.disentangled import fill_from_roberta, fit_distances
from pretraining.starts.transplant import load, load_tokenizer
from pretraining.stream import BatchStream

FITTED_ON = 8
"""Batches of the longest rows on which the distances' weights are fitted: 16,000 tokens."""
FROM_STEP = 10_000_000
"""They are drawn as those of a step that no training reaches."""
NEW = ("rel_embeddings", "pos_proj", "pos_q_proj")
SOURCE = "roberta-mini"


class DebertaPretrainer(Pretrainer[DebertaRecipe]):
    """MLM over rows of full sentences."""

    model_class = DebertaForMaskedLM
    starts = {SOURCE: lambda self: quick(self.from_roberta())}
    drawers = {**USUAL_ROWS, "text": RowMaker.full}
    word_embeddings = "deberta.embeddings.word_embeddings.weight"

    def own_tokenizer(self) -> PreTrainedTokenizerBase:
        """roberta-mini's vocabulary, as published DeBERTas of the first version have RoBERTa's."""
        return load_tokenizer(SOURCE, self.place.models)

    def go_on(self) -> nn.Module:
        """A DeBERTa of the recipe's start, to be trained further as it is."""
        model: nn.Module = quick(super().go_on())
        return model

    def loss(self, batch: Batch, step: int) -> Loss:
        """MLM at the chosen positions."""
        return masked_loss(self.model, batch).loss

    def peak_rate(self, parameter: str) -> float:
        """Everything that reads relative positions is new."""
        if any(name in parameter for name in NEW):
            return self.recipe.head_learning_rate
        return super().peak_rate(parameter)

    def from_roberta(self) -> Any:
        """roberta-mini's weights without its positions; its heads' average weights of distances in their place."""
        roberta = load(SOURCE, self.place.models, RobertaForMaskedLM).eval()
        roberta.set_attn_implementation("eager")
        config = roberta.config
        model = DebertaForMaskedLM(
            DebertaConfig(
                vocab_size=config.vocab_size,
                hidden_size=config.hidden_size,
                num_hidden_layers=config.num_hidden_layers,
                num_attention_heads=config.num_attention_heads,
                intermediate_size=config.intermediate_size,
                max_position_embeddings=int(self.tokenizer.model_max_length),
                layer_norm_eps=config.layer_norm_eps,
                pad_token_id=config.pad_token_id,
                bos_token_id=config.bos_token_id,
                eos_token_id=config.eos_token_id,
                relative_attention=True,
                max_relative_positions=self.recipe.span,
                position_biased_input=False,
                pos_att_type=["c2p", "p2c"],
            )
        ).eval()
        tie(model)
        fill_from_roberta(model, roberta)
        fit_distances(model, roberta, self._texts())
        return model

    def _texts(self) -> list[Tensor]:
        """Rows with masks in them, as in training, each batch cut to its shortest row."""
        stream = BatchStream(self.recipe, self.stores, self.tokenizer, self.row_drawers())
        rows = Stage(share=1.0, length=self.recipe.stages[-1].length, text=1.0, sentence=0.0, pair=0.0)
        drawn = (stream.draw(step, rows) for step in range(FROM_STEP, FROM_STEP + FITTED_ON))
        return [batch.input_ids[:, : int(batch.attention_mask.sum(1).min())] for batch in drawn]


def quick(model: Any) -> Any:
    """The same model for training: its LayerNorms in one call, and its attention in one type under autocast.

    transformers' attention fills masked scores with the least number of its queries' type. Under autocast float32 biases make
    the queries float32 and the scores bf16, which can't hold that number; in bf16 the biases leave both of one type.
    """
    for module in model.modules():
        if isinstance(module, DebertaLayerNorm):
            _norm_at_once(module)
        elif isinstance(module, DisentangledSelfAttention):
            _attend_in_half(module)
    return model


def _norm_at_once(module: Any) -> None:
    def forward(states: Tensor) -> Tensor:
        return layer_norm(states, module.weight.shape, module.weight, module.bias, module.variance_epsilon)

    module.forward = forward


def _attend_in_half(module: Any) -> None:
    transposed = module.transpose_for_scores

    def by_head(states: Tensor) -> Tensor:
        device = states.device.type
        kind = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else states.dtype
        given: Tensor = transposed(states).to(kind)
        return given

    module.transpose_for_scores = by_head

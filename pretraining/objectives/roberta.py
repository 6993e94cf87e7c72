"""RoBERTa (Liu et al. 2019): MLM alone, dynamic masking, full sentences, bytes.

No next-sentence prediction and no segments. The masks are drawn anew each time a text is seen: a batch's draw depends on
the step, so no masking is ever seen twice.
"""

from __future__ import annotations

from typing import Any

import torch
from transformers import BertForPreTraining, PreTrainedTokenizerBase, RobertaConfig, RobertaForMaskedLM

from explorer.objectives.batches import Batch
from explorer.objectives.losses import Loss, masked_loss, start_head, tie
from explorer.objectives.rows import USUAL_ROWS, RowMaker
from pretraining.objectives.base import Pretrainer
from pretraining.recipes import TrainingRecipe
from pretraining.starts import granite
from pretraining.starts.transplant import load, load_tokenizer, mapped_words
from pretraining.vocabularies import LONGEST, cut_merges, roberta_tokenizer

MERGES = 16_000
SPARE_POSITIONS = 2
"""RoBERTa counts positions from its padding token's id + 1."""


class RobertaPretrainer(Pretrainer[TrainingRecipe]):
    """MLM over rows of full sentences."""

    model_class = RobertaForMaskedLM
    starts = {"granite": lambda self: self.from_granite(), "bert-mini": lambda self: self.from_bert()}
    drawers = {**USUAL_ROWS, "text": RowMaker.full}
    new_parts = ("lm_head.",)
    word_embeddings = "roberta.embeddings.word_embeddings.weight"

    def own_tokenizer(self) -> PreTrainedTokenizerBase:
        """The bytes and the first merges of RoBERTa's own BPE."""
        return roberta_tokenizer(*cut_merges(granite.read_pack(self.place.downloads)[1], MERGES))

    def loss(self, batch: Batch, step: int) -> Loss:
        """MLM at the chosen positions."""
        return masked_loss(self.model, batch).loss

    def empty(self, **sizes: Any) -> RobertaForMaskedLM:
        """A RoBERTa of six layers of 384 over this vocabulary, with a head that begins at the identity."""
        usual: dict[str, Any] = {
            "hidden_size": 384,
            "num_hidden_layers": 6,
            "num_attention_heads": 12,
            "intermediate_size": 1536,
        }
        usual["max_position_embeddings"] = LONGEST + SPARE_POSITIONS
        model = RobertaForMaskedLM(
            RobertaConfig(
                vocab_size=len(self.tokenizer),
                type_vocab_size=1,
                layer_norm_eps=1e-12,
                **(usual | sizes),
            )
        )
        start_head(model.lm_head.dense, model.lm_head.bias, self.counts)
        return model

    def from_granite(self) -> RobertaForMaskedLM:
        """granite-embedding's encoder; of its word embeddings those that the cut vocabulary keeps."""
        weights, tokenizer = granite.read_pack(self.place.downloads)
        ids = [
            tokenizer["model"]["vocab"][name]
            for name in self.tokenizer.convert_ids_to_tokens(list(range(len(self.tokenizer))))
        ]
        words = granite.NAMES["word_emb"]
        weights[words] = weights[words][ids]
        model = self.empty()
        model.roberta.load_state_dict(weights, strict=False)
        tie(model)
        return model

    @torch.no_grad()
    def from_bert(self) -> RobertaForMaskedLM:
        """bert-mini's encoder and head; each token's embedding is the mean of its WordPieces'."""
        bert = load("bert-mini", self.place.models, BertForPreTraining)
        config = bert.config
        model = self.empty(
            hidden_size=config.hidden_size,
            num_hidden_layers=config.num_hidden_layers,
            num_attention_heads=config.num_attention_heads,
            intermediate_size=config.intermediate_size,
            max_position_embeddings=config.max_position_embeddings + SPARE_POSITIONS,
        )
        source, target = bert.bert.embeddings, model.roberta.embeddings
        target.word_embeddings.weight.copy_(
            mapped_words(bert, load_tokenizer("bert-mini", self.place.models), self.tokenizer)
        )
        target.position_embeddings.weight[SPARE_POSITIONS:].copy_(source.position_embeddings.weight)
        target.token_type_embeddings.weight.copy_(source.token_type_embeddings.weight[:1])
        target.LayerNorm.load_state_dict(source.LayerNorm.state_dict())
        model.roberta.encoder.load_state_dict(bert.bert.encoder.state_dict())
        transform = bert.cls.predictions.transform
        model.lm_head.dense.load_state_dict(transform.dense.state_dict())
        model.lm_head.layer_norm.load_state_dict(transform.LayerNorm.state_dict())
        tie(model)
        return model

"""ALBERT (Lan et al. 2020): factorised embeddings, one layer at every position, n-gram masks and sentence order."""

from __future__ import annotations

from typing import Any

import torch
from tokenizers import Tokenizer
from transformers import AlbertConfig, AlbertForPreTraining, BertForPreTraining, PreTrainedTokenizerBase

from explorer.pretraining.batches import Batch
from explorer.pretraining.heads import start_head, tie
from explorer.pretraining.objectives.base import Loss, Pretrainer, masked_loss, with_pairs
from explorer.pretraining.recipes import AlbertRecipe
from explorer.pretraining.rows import RowMaker
from explorer.pretraining.starts.transplant import albert_layer, fill_factorised, load, load_tokenizer, mapped_words
from explorer.pretraining.stream import USUAL_ROWS
from explorer.pretraining.vocabularies import as_albert, unigram_tokenizer


class AlbertPretrainer(Pretrainer[AlbertRecipe]):
    """MLM with n-gram masks (the recipe's scheme) plus SOP where the rows are pairs."""

    model_class = AlbertForPreTraining
    starts = {"bert-mini": lambda self: self.from_bert()}
    drawers = {**USUAL_ROWS, "pair": RowMaker.order}
    new_parts = ("predictions.", "sop_classifier.", "albert.encoder.embedding_hidden_mapping_in.")
    word_embeddings = "albert.embeddings.word_embeddings.weight"

    def own_tokenizer(self) -> PreTrainedTokenizerBase:
        """A unigram vocabulary learned from the text, once."""
        path = self.place.work / f"unigram-{self.recipe.vocabulary}.json"
        if not path.exists():
            unigram_tokenizer(self.place.corpus, self.recipe.vocabulary).backend_tokenizer.save(str(path))
        return as_albert(Tokenizer.from_file(str(path)))

    def loss(self, batch: Batch, step: int) -> Loss:
        """MLM, and SOP of [CLS] through the pooler."""
        return with_pairs(masked_loss(self.model, batch), self.model, batch)

    @torch.no_grad()
    def from_bert(self) -> AlbertForPreTraining:
        """bert-mini's embeddings in two factors, one of its layers, its pooler; the decoder reads back through the factors."""
        bert = load("bert-mini", self.place.models, BertForPreTraining)
        config = bert.config
        model = AlbertForPreTraining(
            AlbertConfig(
                vocab_size=len(self.tokenizer),
                embedding_size=self.recipe.embedding_size,
                hidden_size=config.hidden_size,
                num_hidden_layers=config.num_hidden_layers,
                num_attention_heads=config.num_attention_heads,
                intermediate_size=config.intermediate_size,
                max_position_embeddings=config.max_position_embeddings,
                layer_norm_eps=config.layer_norm_eps,
            )
        )
        words = mapped_words(bert, load_tokenizer("bert-mini", self.place.models), self.tokenizer)
        encoder: Any = model.albert.encoder
        basis = fill_factorised(model.albert.embeddings, encoder.embedding_hidden_mapping_in, bert, words, self.counts)
        encoder.albert_layer_groups[0].albert_layers[0].load_state_dict(albert_layer(bert, self.recipe.layer))
        model.albert.pooler.load_state_dict(bert.bert.pooler.dense.state_dict())
        start_head(model.predictions.dense, model.predictions.bias, self.counts)
        model.predictions.dense.weight.copy_(basis)
        tie(model)
        return model

"""ALBERT (Lan et al. 2020): factorised embeddings, one layer at every position, n-gram masks and sentence order."""

from __future__ import annotations

import copy

import torch
from tokenizers import Tokenizer
from transformers import AlbertForPreTraining, PreTrainedTokenizerBase

from explorer.objectives.batches import Batch
from explorer.objectives.losses import Loss, masked_loss, start_bias, tie, with_pairs
from explorer.objectives.rows import USUAL_ROWS, RowMaker
from pretraining.objectives.base import Pretrainer
from pretraining.recipes import AlbertRecipe
from pretraining.starts.pieces import in_wordpieces, mean_embeddings
from pretraining.starts.transplant import load, load_tokenizer
from pretraining.vocabularies import as_albert, unigram_tokenizer

BODY = "albert-body"
"""The recipe whose model it begins from."""
OF_VOCABULARY = (
    "albert.embeddings.word_embeddings.weight",
    "predictions.bias",
    "predictions.decoder.weight",
    "predictions.decoder.bias",
)


class AlbertPretrainer(Pretrainer[AlbertRecipe]):
    """MLM with n-gram masks (the recipe's scheme) plus SOP where the rows are pairs."""

    model_class = AlbertForPreTraining
    starts = {BODY: lambda self: self.from_body()}
    drawers = {**USUAL_ROWS, "pair": RowMaker.order}
    new_parts = ("predictions.bias", "sop_classifier.", "albert.pooler.")
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
    def from_body(self) -> AlbertForPreTraining:
        """All of albert-body but its vocabulary: each token's embedding is the mean of its WordPieces'."""
        body = load(BODY, self.place.models, AlbertForPreTraining)
        config = copy.deepcopy(body.config)
        config.vocab_size = len(self.tokenizer)
        model = AlbertForPreTraining(config)
        pieces = in_wordpieces(self.tokenizer, load_tokenizer(BODY, self.place.models))
        kept = {name: value for name, value in body.state_dict().items() if name not in OF_VOCABULARY}
        model.load_state_dict(kept, strict=False)
        words = body.albert.embeddings.word_embeddings.weight
        model.albert.embeddings.word_embeddings.weight.copy_(mean_embeddings(words, pieces))
        start_bias(model.predictions.bias, self.counts)
        tie(model)
        return model

"""BERT (Devlin et al. 2019): masked language model and next-sentence prediction."""

from __future__ import annotations

from transformers import BertForPreTraining, PreTrainedTokenizerBase

from explorer.objectives.batches import Batch
from explorer.objectives.losses import Loss, masked_loss, with_pairs
from pretraining.objectives.base import Pretrainer
from pretraining.recipes import TrainingRecipe
from pretraining.starts import distilbert, minilm


class BertPretrainer(Pretrainer[TrainingRecipe]):
    """MLM at the chosen positions plus NSP where the rows are pairs; the two losses are added."""

    model_class = BertForPreTraining
    starts = {
        "distilbert": lambda self: distilbert.bert_small(self.place.downloads, self.counts),
        "minilm": lambda self: minilm.bert_mini(self.place.downloads, self.tokenizer, self.counts),
    }
    new_parts = ("cls.", "bert.pooler.", "bert.embeddings.token_type_embeddings.")
    word_embeddings = "bert.embeddings.word_embeddings.weight"

    def own_tokenizer(self) -> PreTrainedTokenizerBase:
        """DistilBERT-base-cased's WordPieces."""
        return distilbert.load_tokenizer(self.place.downloads)

    def loss(self, batch: Batch, step: int) -> Loss:
        """MLM, and NSP of [CLS] through the pooler."""
        return with_pairs(masked_loss(self.model, batch), self.model, batch)

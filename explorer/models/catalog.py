"""The models that the picker offers, one ModelCard a line, and the names and folders of those that runs of this server have
made. Any other id or folder of a supported family works too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from explorer.models.families import Capability, by_family
from explorer.settings import BUNDLED_RUNS, Settings


@dataclass(frozen=True)
class ModelCard:
    """One model. lacks: heads that the family has and this checkpoint was published without.

    millions: parameters, heads included, rounded. Those of bundled models are counted; those of the hub's are as
    published on their pages, from memory if no paper is quoted, since their weights aren't here. A loaded model is
    counted anew.
    """

    model_id: str
    family: str
    millions: float
    bundled: bool = False
    lacks: tuple[Capability, ...] = ()

    @property
    def capabilities(self) -> tuple[Capability, ...]:
        """The heads that the model is known to have before it is loaded."""
        return tuple(head for head in by_family(self.family).heads if head not in self.lacks)


CATALOG = (
    ModelCard("bert-small", "BERT", 66.4, bundled=True),
    ModelCard("bert-mini", "BERT", 22.3, bundled=True),
    ModelCard("roberta-mini", "RoBERTa", 17.3, bundled=True),
    ModelCard("deberta-mini", "DeBERTa", 18.9, bundled=True),
    ModelCard("distilbert-mini", "DistilBERT", 16.8, bundled=True),
    ModelCard("albert-mini", "ALBERT", 4.2, bundled=True),
    ModelCard("gpt2-mini", "GPT-2", 7.4, bundled=True),
    ModelCard("electra-mini-discriminator", "ELECTRA discriminator", 11.1, bundled=True),
    ModelCard("electra-mini-generator", "ELECTRA generator", 4.6, bundled=True),
    ModelCard("google-bert/bert-base-uncased", "BERT", 110),
    ModelCard("google-bert/bert-base-cased", "BERT", 109),
    ModelCard("google-bert/bert-large-uncased-whole-word-masking", "BERT", 336),
    ModelCard("google/bert_uncased_L-2_H-128_A-2", "BERT", 4.4),
    ModelCard("google/bert_uncased_L-4_H-256_A-4", "BERT", 11.2),
    ModelCard("google/bert_uncased_L-4_H-512_A-8", "BERT", 28.8),
    ModelCard("google/bert_uncased_L-8_H-512_A-8", "BERT", 41.4),
    ModelCard("FacebookAI/roberta-base", "RoBERTa", 125),
    ModelCard("FacebookAI/xlm-roberta-base", "XLM-RoBERTa", 278),
    ModelCard("almanach/camembert-base", "CamemBERT", 111),
    ModelCard("albert/albert-base-v2", "ALBERT", 11.8),
    ModelCard("distilbert/distilbert-base-uncased", "DistilBERT", 67),
    ModelCard("google/electra-small-generator", "ELECTRA generator", 13.6),
    ModelCard("google/electra-small-discriminator", "ELECTRA discriminator", 13.5),
    ModelCard("google/electra-base-generator", "ELECTRA generator", 33.5),
    ModelCard("google/electra-base-discriminator", "ELECTRA discriminator", 109),
    ModelCard("microsoft/deberta-base", "DeBERTa", 139),
    ModelCard("microsoft/deberta-v3-xsmall", "DeBERTa-v2/v3", 71, lacks=(Capability.MLM,)),
    ModelCard("microsoft/deberta-v3-small", "DeBERTa-v2/v3", 142, lacks=(Capability.MLM,)),
    ModelCard("microsoft/deberta-v3-base", "DeBERTa-v2/v3", 184, lacks=(Capability.MLM,)),
    ModelCard("openai-community/gpt2", "GPT-2", 124),
    ModelCard("openai-community/gpt2-medium", "GPT-2", 355),
    ModelCard("distilbert/distilgpt2", "GPT-2", 81.9),
    ModelCard("answerdotai/ModernBERT-base", "ModernBERT", 150),
    ModelCard("answerdotai/ModernBERT-large", "ModernBERT", 396),
    ModelCard("jhu-clsp/mmBERT-small", "ModernBERT", 141),
    ModelCard("jhu-clsp/ettin-encoder-17m", "ModernBERT", 17),
    ModelCard("jhu-clsp/ettin-encoder-32m", "ModernBERT", 32),
    ModelCard("jhu-clsp/ettin-encoder-68m", "ModernBERT", 68),
    ModelCard("jhu-clsp/ettin-encoder-150m", "ModernBERT", 150),
    ModelCard("jhu-clsp/ettin-decoder-17m", "ModernBERT decoder", 17),
    ModelCard("jhu-clsp/ettin-decoder-32m", "ModernBERT decoder", 32),
    ModelCard("jhu-clsp/ettin-decoder-68m", "ModernBERT decoder", 68),
    ModelCard("jhu-clsp/ettin-decoder-150m", "ModernBERT decoder", 150),
    ModelCard("EuroBERT/EuroBERT-210m", "EuroBERT", 310),
)

DEFAULT_MODEL = CATALOG[0].model_id

OWN_TOKENIZERS = {
    "byte-level-bpe": "byte-level BPE · 16,000 pieces · made for this app",
    "unigram": "SentencePiece unigram · 16,000 pieces · made for this app",
}
"""Tokenizers without a model, in assets/tokenizers, so that the three methods can be compared offline."""


def find_card(model_id: str) -> ModelCard | None:
    """Return the catalog's card of a model; None for an id that is not listed."""
    return {card.model_id: card for card in CATALOG}.get(model_id)


def is_of(model_id: str, family: str) -> bool:
    """Return whether a model is of a family, in any version, as far as the catalog tells; an unlisted model may be, so
    it counts.
    """
    card = find_card(model_id)
    return card is None or card.family.startswith(family)


def bundled() -> tuple[str, ...]:
    """Return the names of the bundled models."""
    return tuple(card.model_id for card in CATALOG if card.bundled)


def all_with(capability: Capability) -> list[str]:
    """Return the listed models that have a head, bundled or of the hub."""
    return [card.model_id for card in CATALOG if capability in card.capabilities]


def bundled_with(capability: Capability) -> list[str]:
    """Return the bundled models that have a head, for a page that has to offer one."""
    return [card.model_id for card in CATALOG if card.bundled and capability in card.capabilities]


TRAINED_FOLDER = "model"
"""The folder in which a run keeps its model, followed by a hyphen and the step."""

_TRAINED = re.compile(r"([a-z0-9][a-z0-9-]{5,40})@(\d{1,6})")


def trained_id(run_id: str, step: int) -> str:
    """Return the id of the model that a run has made at a step."""
    return f"{run_id}@{step}"


def made_by(model_id: str) -> str:
    """Return the run that has made a model, by the model's id; empty for another model."""
    match = _TRAINED.fullmatch(model_id)
    return match[1] if match else ""


def own_folder(model_id: str, settings: Settings) -> Path:
    """Return the folder to which this server writes such a model."""
    run_id, _, step = model_id.partition("@")
    return settings.data_folder / "runs" / run_id / f"{TRAINED_FOLDER}-{step}"


def trained_folder(model_id: str, settings: Settings) -> Path | None:
    """Return the folder of such a model; None for another id, or if its weights are gone or not written yet."""
    if not made_by(model_id):
        return None
    own = own_folder(model_id, settings)
    folders = (own, BUNDLED_RUNS / own.parent.name / own.name)
    return next((folder for folder in folders if (folder / "config.json").is_file()), None)

"""The sizes of published models, as their config.json on the hub gives them: enough to count every parameter; quoted figures.

Only what differs from transformers' own default for the family is written down.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

BASE = {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072}
LARGE = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096}
DISENTANGLED = {
    "type_vocab_size": 0,
    "relative_attention": True,
    "position_biased_input": False,
    "pos_att_type": ["c2p", "p2c"],
    "max_relative_positions": -1,
}


@dataclass(frozen=True)
class Published:
    """One published model: its name on the hub, its family and its config's values."""

    model_id: str
    family: str
    values: Mapping[str, Any] = field(default_factory=dict)


PUBLISHED = (
    Published("google-bert/bert-base-uncased", "BERT", BASE),
    Published("google-bert/bert-large-uncased", "BERT", LARGE),
    Published(
        "FacebookAI/roberta-base",
        "RoBERTa",
        {**BASE, "vocab_size": 50265, "max_position_embeddings": 514, "type_vocab_size": 1},
    ),
    Published("albert/albert-base-v2", "ALBERT", {**BASE, "vocab_size": 30000, "embedding_size": 128}),
    Published(
        "albert/albert-xxlarge-v2",
        "ALBERT",
        {
            "vocab_size": 30000,
            "embedding_size": 128,
            "hidden_size": 4096,
            "num_attention_heads": 64,
            "intermediate_size": 16384,
        },
    ),
    Published("distilbert/distilbert-base-uncased", "DistilBERT"),
    Published("google/electra-small-discriminator", "ELECTRA discriminator"),
    Published("google/electra-base-discriminator", "ELECTRA discriminator", {**BASE, "embedding_size": 768}),
    Published("microsoft/deberta-base", "DeBERTa", {**BASE, "vocab_size": 50265, **DISENTANGLED}),
    Published(
        "microsoft/deberta-v3-small",
        "DeBERTa-v2/v3",
        {
            **BASE,
            "num_hidden_layers": 6,
            "vocab_size": 128100,
            **DISENTANGLED,
            "position_buckets": 256,
            "norm_rel_ebd": "layer_norm",
            "share_att_key": True,
        },
    ),
    Published("openai-community/gpt2", "GPT-2"),
    Published("answerdotai/ModernBERT-base", "ModernBERT"),
)


@dataclass(frozen=True)
class Written:
    """A row of the LoRA paper's Table 3: what wrote the E2E challenge's test sentences, and what they scored."""

    model: str
    method: str
    trainable: str
    bleu: float
    nist: float
    meteor: float
    rouge_l: float
    cider: float

    @property
    def values(self) -> tuple[float, ...]:
        """The five metrics, in the table's order."""
        return self.bleu, self.nist, self.meteor, self.rouge_l, self.cider


LORA_TABLE_3 = (
    Written("GPT-2 medium", "full", "354.92M", 68.2, 8.62, 46.2, 71.0, 2.47),
    Written("GPT-2 medium", "AdapterL", "0.37M", 66.3, 8.41, 45.0, 69.8, 2.40),
    Written("GPT-2 medium", "AdapterL", "11.09M", 68.9, 8.71, 46.1, 71.3, 2.47),
    Written("GPT-2 medium", "AdapterH", "11.09M", 67.3, 8.50, 46.0, 70.7, 2.44),
    Written("GPT-2 medium", "top 2 layers", "25.19M", 68.1, 8.59, 46.0, 70.8, 2.41),
    Written("GPT-2 medium", "PreLayer", "0.35M", 69.7, 8.81, 46.1, 71.4, 2.49),
    Written("GPT-2 medium", "LoRA", "0.35M", 70.4, 8.85, 46.8, 71.8, 2.53),
    Written("GPT-2 large", "full", "774.03M", 68.5, 8.78, 46.0, 69.9, 2.45),
    Written("GPT-2 large", "AdapterL", "0.88M", 69.1, 8.68, 46.3, 71.4, 2.49),
    Written("GPT-2 large", "AdapterL", "23.00M", 68.9, 8.70, 46.1, 71.3, 2.45),
    Written("GPT-2 large", "PreLayer", "0.77M", 70.3, 8.85, 46.2, 71.7, 2.47),
    Written("GPT-2 large", "LoRA", "0.77M", 70.4, 8.89, 46.8, 72.0, 2.47),
)
"""Hu et al. 2021, Table 3: E2E NLG Challenge."""

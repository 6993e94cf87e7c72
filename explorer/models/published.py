"""The sizes of published models, as their config.json on the hub gives them: enough to count every parameter.

Only values that differ from transformers' own default for the family are written down.
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
    """A published model: its name on the hub, its family and its config's values."""

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

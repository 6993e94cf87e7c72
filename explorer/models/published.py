"""What papers and the hub publish of models, quoted as plain data: their sizes, ablations of their pretraining, and the
tables of ALBERT and of GLUE's tasks that pages show.

A model's sizes are those of its config.json on the hub, enough to count every parameter; only values that differ from
transformers' own default for the family are written down.
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


BERT_TASKS = ("MNLI-m", "QNLI", "MRPC", "SST-2", "SQuAD 1.1")

BERT_TABLE_5 = (
    ("both directions, NSP", 84.4, 88.4, 86.7, 92.7, 88.5),
    ("both directions, no NSP", 83.9, 84.9, 86.5, 92.6, 87.9),
    ("left to right, no NSP", 82.1, 84.3, 77.5, 92.1, 77.8),
)
"""Devlin et al. 2019, Table 5, base size: the kind of pretraining, and its score on each of BERT_TASKS."""


@dataclass(frozen=True)
class InputFormat:
    """A row of RoBERTa's Table 2: the format of the training inputs, whether NSP is trained, and the scores in points."""

    name: str
    nsp: bool
    squad1: float
    squad2: float
    mnli: float
    sst2: float
    race: float

    @property
    def title(self) -> str:
        """The format's name with the objective."""
        return f"{self.name}, {'NSP' if self.nsp else 'no NSP'}"


ROBERTA_TABLE_2 = (
    InputFormat("segment pair", True, 90.4, 78.7, 84.0, 92.9, 64.2),
    InputFormat("sentence pair", True, 88.7, 76.2, 82.9, 92.1, 63.0),
    InputFormat("full sentences", False, 90.4, 79.1, 84.7, 92.5, 64.8),
    InputFormat("doc sentences", False, 90.6, 79.7, 84.7, 92.7, 65.6),
)
"""Liu et al. 2019, Table 2, base size, BookCorpus and Wikipedia; BERT's own format comes first."""

BERT_TABLE_8 = (
    ((80, 10, 10), 84.2, 95.4, 94.9),
    ((100, 0, 0), 84.3, 94.9, 94.0),
    ((80, 0, 20), 84.1, 95.2, 94.6),
    ((80, 20, 0), 84.4, 95.2, 94.7),
    ((0, 20, 80), 83.7, 94.8, 94.6),
    ((0, 0, 100), 83.6, 94.9, 94.6),
)
"""Devlin et al. 2019, Appendix C.2, Table 8: percent shown as [MASK], kept, random; scores on MNLI and on named entities (NER),
both fine-tuned, and on NER by features alone."""


ALBERT_TABLE_3 = (
    ("everything", ((64, 10, 79.0), (128, 12, 80.1), (256, 16, 79.6), (768, 31, 79.8))),
    ("nothing", ((64, 87, 81.3), (128, 89, 81.7), (256, 93, 81.8), (768, 108, 82.3))),
)
ALBERT_TABLE_4 = (("attention", ((128, 64, 81.7), (768, 83, 81.6))), ("ffn", ((128, 38, 80.2), (768, 57, 79.5))))
"""ALBERT-base: what its layers share; embedding size, millions of parameters, average score over five tasks."""


BERT_TABLE_1 = {
    "MNLI": "392k",
    "QQP": "363k",
    "QNLI": "108k",
    "SST-2": "67k",
    "CoLA": "8.5k",
    "STS-B": "5.7k",
    "MRPC": "3.5k",
    "RTE": "2.5k",
}

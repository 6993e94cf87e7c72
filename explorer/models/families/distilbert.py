"""DistilBERT: half of BERT's layers (Sanh et al. 2019)."""

from __future__ import annotations

from typing import Any

from explorer.models.families.family import (
    Architecture,
    Capability,
    Embeddings,
    FamilyNote,
    Head,
    Layers,
    Part,
    decoder,
    layer,
    times,
)


def _distilbert(c: Any) -> list[Part]:
    head = ("vocab_transform.", "vocab_layer_norm.", "vocab_projector.")
    return [
        Part(
            "embeddings (no segments)",
            f"({c.vocab_size:,} + {c.max_position_embeddings})·{c.dim} + 2·{c.dim}",
            ("distilbert.embeddings.",),
        ),
        Part(f"{c.n_layers} layers", times(c.n_layers, layer(c.dim, c.hidden_dim)), ("distilbert.transformer.",)),
        Part("MLM head (decoder tied to the embeddings)", decoder(c.dim, c.dim, c.vocab_size), head),
    ]


DISTILBERT = Architecture(
    "DistilBERT",
    "distilbert",
    "DistilBertForMaskedLM",
    {Capability.MLM: Head(("vocab_transform", "vocab_layer_norm", "vocab_projector"))},
    Layers(
        "distilbert",
        "transformer.layer.*",
        {
            "query": "attention.q_lin",
            "key": "attention.k_lin",
            "value": "attention.v_lin",
            "output": "attention.out_lin",
            "ffn_in": "ffn.lin1",
            "ffn_out": "ffn.lin2",
        },
    ),
    Embeddings(segment=None),
    parts=_distilbert,
    inner="hidden_dim",
)

ARCHITECTURES = (DISTILBERT,)

NOTE = FamilyNote(
    ("DistilBERT",),
    "Sanh et al. 2019",
    "Every second layer of BERT, no segments and no pooler, trained to say what its teacher says.",
    "5·T²·KL + 2·MLM + 1·cosine, T = 2 (its training code's; the paper names the terms alone)",
    "BERT's WordPiece",
)

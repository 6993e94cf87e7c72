"""ALBERT: narrow embeddings and one shared layer (Lan et al. 2020)."""

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
    embeddings,
    layer,
    times,
)


def _albert(c: Any) -> list[Part]:
    wide, narrow, one = c.hidden_size, c.embedding_size, layer(c.hidden_size, c.intermediate_size)
    encoder, groups = "albert.encoder.", c.num_hidden_groups
    return [
        embeddings("albert", c, narrow, c.type_vocab_size),
        Part(f"map {narrow} to {wide}", f"{narrow}·{wide} + {wide}", (f"{encoder}embedding_hidden_mapping_in.",)),
        Part(
            f"one layer, used {c.num_hidden_layers} times" if groups == 1 else f"{groups} layers",
            one if groups == 1 else times(groups, one),
            (f"{encoder}albert_layer_groups.",),
        ),
        Part("pooler", f"{wide}² + {wide}", ("albert.pooler.",)),
        Part("MLM head (decoder tied to the embeddings)", decoder(wide, narrow, c.vocab_size), ("predictions.",)),
        Part("SOP head", f"2·{wide} + 2", ("sop_classifier.",)),
    ]


ALBERT = Architecture(
    "ALBERT",
    "albert",
    "AlbertForPreTraining",
    {
        Capability.MLM: Head(("predictions",), "prediction_logits"),
        Capability.SOP: Head(("sop_classifier", "albert.pooler"), "sop_logits", "sentence_order_label"),
    },
    Layers(
        "albert",
        "encoder.albert_layer_groups.*.albert_layers.0",
        {
            "query": "attention.query",
            "key": "attention.key",
            "value": "attention.value",
            "output": "attention.dense",
            "ffn_in": "ffn",
            "ffn_out": "ffn_output",
        },
    ),
    Embeddings(stages=(("layer_norm", "embeddings.LayerNorm"), ("projection", "encoder.embedding_hidden_mapping_in"))),
    parts=_albert,
)

ARCHITECTURES = (ALBERT,)

NOTE = FamilyNote(
    ("ALBERT",),
    "Lan et al. 2020",
    "Embeddings of width 128 that are mapped to the layers' width, one layer that is used at every depth, masks of up to "
    "three words, and order in place of topic for pairs.",
    "MLM (n-grams) + SOP",
    "SentencePiece unigram, 30,000",
)

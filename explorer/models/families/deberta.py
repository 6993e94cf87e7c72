"""DeBERTa and its later versions: content and position apart (He et al. 2021, 2023)."""

from __future__ import annotations

from explorer.models.families.family import (
    Architecture,
    Capability,
    Embeddings,
    FamilyNote,
    Head,
    Layers,
    Layout,
    fused,
)


def _as_deberta(**attention: str) -> Layers:
    rest = {"output": "attention.output.dense", "ffn_in": "intermediate.dense", "ffn_out": "output.dense"}
    return Layers("deberta", "encoder.layer.*", {**attention, **rest})


_EMBEDDINGS = Embeddings(stages=(("projection", "embeddings.embed_proj"), ("layer_norm", "embeddings.LayerNorm")))

DEBERTA = Architecture(
    "DeBERTa",
    "deberta",
    "DebertaForMaskedLM",
    {Capability.MLM: Head(("cls.predictions", "lm_predictions"))},
    _as_deberta(**fused("attention.self.in_proj")),
    _EMBEDDINGS,
    half_precision=False,  # it fills masked scores with float32's least number, whatever type they have
    layout=Layout(
        by_head=True,
        beside=tuple(f"attention.self.{name}" for name in ("q_bias", "v_bias", "pos_proj", "pos_q_proj")),
        keeps_one=True,
        mixes_heads="talking_head",
    ),
    disentangled=True,
)
DEBERTA_V2 = Architecture(
    "DeBERTa-v2/v3",
    "deberta-v2",
    "DebertaV2ForMaskedLM",
    {Capability.MLM: Head(("cls.predictions", "lm_predictions"))},
    _as_deberta(**{role: f"attention.self.{role}_proj" for role in ("query", "key", "value")}),
    _EMBEDDINGS,
    layout=Layout(
        beside=tuple(f"attention.self.{name}" for name in ("pos_key_proj", "pos_query_proj")), keeps_one=True
    ),
    disentangled=True,
)

ARCHITECTURES = (DEBERTA, DEBERTA_V2)

NOTE = FamilyNote(
    ("DeBERTa", "DeBERTa-v2/v3"),
    "He et al. 2021; He et al. 2023",
    "What a token is and where it stands are two vectors; attention adds content-to-content, content-to-position and "
    "position-to-content. Version 3 learns as ELECTRA does.",
    "MLM; version 3: replaced tokens",
    "byte-level BPE, 50,265; version 3: SentencePiece, 128,100",
)

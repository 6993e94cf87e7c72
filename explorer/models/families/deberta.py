"""DeBERTa and its later versions: content and position apart (He et al. 2021, 2023)."""

from __future__ import annotations

from typing import Any

from explorer.models.families.family import (
    Architecture,
    Capability,
    Embeddings,
    FamilyNote,
    Head,
    Layers,
    Layout,
    Part,
    decoder,
    fused,
    times,
)


def _as_deberta(**attention: str) -> Layers:
    rest = {"output": "attention.output.dense", "ffn_in": "intermediate.dense", "ffn_out": "output.dense"}
    return Layers("deberta", "encoder.layer.*", {**attention, **rest})


def _deberta(c: Any) -> list[Part]:
    """Return the parts of the first version, as it is usually configured: relative positions, and neither segments nor
    absolute positions.
    """
    wide, inner, kinds = c.hidden_size, c.intermediate_size, c.pos_att_type or ()
    span = c.max_relative_positions if c.max_relative_positions > 0 else c.max_position_embeddings
    places = 0 if not c.position_biased_input else c.max_position_embeddings
    # Query, key, value and output, and one map for each kind of relative position.
    maps = 4 + len(kinds) * c.relative_attention
    biases = 3 + ("p2c" in kinds) * c.relative_attention
    each = f"({maps}·{wide}² + {biases}·{wide} + 2·{wide}·{inner} + {inner} + {wide} + 4·{wide})"
    rows = f"({c.vocab_size:,} + {places} + {c.type_vocab_size})·{wide} + 2·{wide}"
    relative = [Part("relative embeddings", f"2·{span}·{wide}", ("deberta.encoder.rel_embeddings.",))]
    return [
        Part("embeddings", rows, ("deberta.embeddings.",)),
        *(relative if c.relative_attention else []),
        Part(f"{c.num_hidden_layers} layers", times(c.num_hidden_layers, each), ("deberta.encoder.layer.",)),
        Part("MLM head (decoder tied to the embeddings)", decoder(wide, wide, c.vocab_size), ("cls.predictions.",)),
    ]


_EMBEDDINGS = Embeddings(stages=(("projection", "embeddings.embed_proj"), ("layer_norm", "embeddings.LayerNorm")))

DEBERTA = Architecture(
    "DeBERTa",
    "deberta",
    "DebertaForMaskedLM",
    {Capability.MLM: Head(("cls.predictions", "lm_predictions"))},
    _as_deberta(**fused("attention.self.in_proj")),
    _EMBEDDINGS,
    half_precision=False,  # it fills masked scores with the least number of its queries' type, not of the scores'
    layout=Layout(
        by_head=True,
        beside=tuple(f"attention.self.{name}" for name in ("q_bias", "v_bias", "pos_proj", "pos_q_proj")),
        keeps_one=True,
        mixes_heads="talking_head",
    ),
    parts=_deberta,
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

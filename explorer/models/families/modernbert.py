"""ModernBERT: BERT with what was learned since (Warner et al. 2024)."""

from __future__ import annotations

from explorer.models.families.family import (
    Architecture,
    Capability,
    Embeddings,
    FamilyNote,
    Head,
    Layers,
    fused,
)

MODERNBERT = Architecture(
    "ModernBERT",
    "modernbert",
    "ModernBertForMaskedLM",
    {Capability.MLM: Head(("head", "decoder"))},
    Layers(
        "model",
        "layers.*",
        {**fused("attn.Wqkv"), "output": "attn.Wo", "ffn_in": "mlp.Wi", "ffn_out": "mlp.Wo"},
        bias_switches=("attention_bias", "mlp_bias", "norm_bias"),
    ),
    Embeddings("embeddings.tok_embeddings", None, None, (("layer_norm", "embeddings.norm"),)),
)

ARCHITECTURES = (MODERNBERT,)

NOTE = FamilyNote(
    ("ModernBERT",),
    "Warner et al. 2024",
    "BERT built with what was learned since: rotary positions, attention to near tokens in two layers of three, gated "
    "feed-forward nets, 8,192 tokens.",
    "MLM (30%)",
    "byte-level BPE, 50,368",
)

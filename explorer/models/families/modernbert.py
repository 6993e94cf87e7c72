"""ModernBERT: BERT with what was learned since (Warner et al. 2024), and the same as a decoder (Weller et al. 2025)."""

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

_SWITCHES = ("attention_bias", "mlp_bias", "norm_bias")
_REST = {"output": "attn.Wo", "ffn_in": "mlp.Wi", "ffn_out": "mlp.Wo"}
_EMBEDDINGS = Embeddings("embeddings.tok_embeddings", None, None, (("layer_norm", "embeddings.norm"),))

MODERNBERT = Architecture(
    "ModernBERT",
    "modernbert",
    "ModernBertForMaskedLM",
    {Capability.MLM: Head(("head", "decoder"))},
    Layers("model", "layers.*", {**fused("attn.Wqkv"), **_REST}, bias_switches=_SWITCHES),
    _EMBEDDINGS,
    norm_first=True,
    gated=True,
)
DECODER = Architecture(
    "ModernBERT decoder",
    "modernbert-decoder",
    "ModernBertDecoderForCausalLM",
    {Capability.CAUSAL: Head(("lm_head", "decoder"))},
    Layers(
        "model",
        "layers.*",
        {"query": "attn.q_proj", "key": "attn.k_proj", "value": "attn.v_proj", **_REST},
        takes_prefix=True,
        reads_last=True,
        bias_switches=_SWITCHES,
    ),
    _EMBEDDINGS,
    ends_texts=True,
    norm_first=True,
    gated=True,
)

ARCHITECTURES = (MODERNBERT, DECODER)

NOTE = FamilyNote(
    ("ModernBERT", "ModernBERT decoder"),
    "Warner et al. 2024; Weller et al. 2025",
    "BERT built with what was learned since: rotary positions, attention to near tokens in two layers of three, gated "
    "feed-forward nets, 8,192 tokens. Ettin trains it twice on one text, as encoder and as decoder.",
    "MLM (30%); the decoder: the next token",
    "byte-level BPE, 50,368",
)

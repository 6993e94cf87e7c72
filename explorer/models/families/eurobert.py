"""EuroBERT: an encoder built as Llama is, in fifteen languages (Boizard et al. 2025)."""

from __future__ import annotations

from explorer.models.families.family import Architecture, Capability, Embeddings, FamilyNote, Head, Layers, Layout

EUROBERT = Architecture(
    "EuroBERT",
    "eurobert",
    "EuroBertForMaskedLM",
    {Capability.MLM: Head(("lm_head",))},
    Layers(
        "model",
        "layers.*",
        {
            "query": "self_attn.q_proj",
            "key": "self_attn.k_proj",
            "value": "self_attn.v_proj",
            "output": "self_attn.o_proj",
            "ffn_in": "mlp.up_proj",
            "ffn_out": "mlp.down_proj",
        },
        bias_switches=("attention_bias", "mlp_bias"),
    ),
    Embeddings("embed_tokens", None, None, ()),
    finds_answers=False,
    layout=Layout(beside_neurons=("mlp.gate_proj",)),
    norm="RMSNorm",
    norm_first=True,
    gated=True,
)

ARCHITECTURES = (EUROBERT,)

NOTE = FamilyNote(
    ("EuroBERT",),
    "Boizard et al. 2025",
    "An encoder of a decoder's parts: rotary positions, RMSNorm before each block, gated feed-forward nets; fifteen languages, "
    "mathematics and code, 8,192 tokens.",
    "MLM (50%, then 10%)",
    "byte-level BPE, 128,256",
)

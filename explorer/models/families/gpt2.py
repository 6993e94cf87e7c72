"""GPT-2: the unidirectional counterpart (Radford et al. 2019)."""

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
    fused,
    layer,
    times,
)


def _gpt2(c: Any) -> list[Part]:
    wide = c.n_embd
    return [
        Part(
            "embeddings (the output's too: tied)",
            f"({c.vocab_size:,} + {c.n_positions})·{wide}",
            ("transformer.wte.", "transformer.wpe."),
        ),
        Part(f"{c.n_layer} layers", times(c.n_layer, layer(wide, c.n_inner or 4 * wide)), ("transformer.h.",)),
        Part("last LayerNorm", f"2·{wide}", ("transformer.ln_f.",)),
    ]


GPT2 = Architecture(
    "GPT-2",
    "gpt2",
    "GPT2LMHeadModel",
    {Capability.CAUSAL: Head(("transformer.wte",))},
    Layers(
        "transformer",
        "h.*",
        {**fused("attn.c_attn"), "output": "attn.c_proj", "ffn_in": "mlp.c_fc", "ffn_out": "mlp.c_proj"},
        takes_prefix=True,
        reads_last=True,
        transposed=True,
    ),
    Embeddings(token="wte", segment="wte", position="wpe", stages=(), needs_segment_ids=True),
    parts=_gpt2,
    layout=Layout(keeps_one=True),
    inner="n_inner",
    fills_no_masks="GPT-2 reads only from the left, so it was never trained to fill a blank. Let it continue a text instead.",
    norm_first=True,
)

ARCHITECTURES = (GPT2,)

NOTE = FamilyNote(
    ("GPT-2",),
    "Radford et al. 2019",
    "The other direction: each token sees what stands to its left and nothing else, so it can write. LayerNorm comes before "
    "attention and feed-forward net.",
    "the next token",
    "byte-level BPE, 50,257",
)

"""RoBERTa: BERT's network under a better recipe (Liu et al. 2019)."""

from __future__ import annotations

from typing import Any

from explorer.models.families.family import (
    Architecture,
    Capability,
    Embeddings,
    FamilyNote,
    Head,
    as_bert,
)
from explorer.models.families.formulas import Part, decoder, embeddings, layer, times


def _roberta(c: Any) -> list[Part]:
    wide = c.hidden_size
    layers = times(c.num_hidden_layers, layer(wide, c.intermediate_size))
    return [
        embeddings("roberta", c, wide, c.type_vocab_size),
        Part(f"{c.num_hidden_layers} layers", layers, ("roberta.encoder.",)),
        Part("MLM head (decoder tied to the embeddings)", decoder(wide, wide, c.vocab_size), ("lm_head.",)),
    ]


ROBERTA = Architecture(
    "RoBERTa",
    "roberta",
    "RobertaForMaskedLM",
    {Capability.MLM: Head(("lm_head",))},
    as_bert("roberta"),
    Embeddings(after_padding=True),
    spare_positions=2,
    parts=_roberta,
)

ARCHITECTURES = (ROBERTA,)

NOTE = FamilyNote(
    ("RoBERTa",),
    "Liu et al. 2019",
    "The same network, trained longer on ten times the text, with new masks at every pass (dynamic masking), full sentences "
    "and no pairs.",
    "MLM",
    "byte-level BPE, 50,265",
)

"""RoBERTa: BERT's network under a better recipe (Liu et al. 2019), and the same in other languages."""

from __future__ import annotations

from typing import Any

from explorer.models.families.family import (
    Architecture,
    Capability,
    Embeddings,
    FamilyNote,
    Head,
    Part,
    as_bert,
    decoder,
    embeddings,
    layer,
    times,
)


def _roberta(c: Any) -> list[Part]:
    wide = c.hidden_size
    layers = times(c.num_hidden_layers, layer(wide, c.intermediate_size))
    return [
        embeddings("roberta", c, wide, c.type_vocab_size),
        Part(f"{c.num_hidden_layers} layers", layers, ("roberta.encoder.",)),
        Part("MLM head (decoder tied to the embeddings)", decoder(wide, wide, c.vocab_size), ("lm_head.",)),
    ]


def _as_roberta(family: str, model_type: str, model_class: str) -> Architecture:
    return Architecture(
        family,
        model_type,
        model_class,
        {Capability.MLM: Head(("lm_head",))},
        as_bert("roberta"),
        Embeddings(after_padding=True),
        spare_positions=2,
        parts=_roberta,
    )


ROBERTA = _as_roberta("RoBERTa", "roberta", "RobertaForMaskedLM")
XLM_ROBERTA = _as_roberta("XLM-RoBERTa", "xlm-roberta", "XLMRobertaForMaskedLM")
CAMEMBERT = _as_roberta("CamemBERT", "camembert", "CamembertForMaskedLM")

ARCHITECTURES = (ROBERTA, XLM_ROBERTA, CAMEMBERT)

NOTE = FamilyNote(
    ("RoBERTa", "XLM-RoBERTa", "CamemBERT"),
    "Liu et al. 2019; Conneau et al. 2020; Martin et al. 2020",
    "The same network, trained longer on ten times the text, with new masks at every pass (dynamic masking), full sentences "
    "and no pairs. XLM-RoBERTa reads a hundred languages, CamemBERT French.",
    "MLM",
    "byte-level BPE, 50,265; XLM-RoBERTa and CamemBERT: SentencePiece, 250,002 and 32,005",
)

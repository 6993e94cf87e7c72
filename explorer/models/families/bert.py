"""BERT: masked words and next sentences (Devlin et al. 2019)."""

from __future__ import annotations

from typing import Any

from explorer.models.families.family import (
    Architecture,
    Capability,
    FamilyNote,
    Head,
    Part,
    as_bert,
    decoder,
    embeddings,
    layer,
    times,
)


def _bert(c: Any) -> list[Part]:
    wide = c.hidden_size
    return [
        embeddings("bert", c, wide, c.type_vocab_size),
        Part(
            f"{c.num_hidden_layers} layers",
            times(c.num_hidden_layers, layer(wide, c.intermediate_size)),
            ("bert.encoder.",),
        ),
        Part("pooler", f"{wide}² + {wide}", ("bert.pooler.",)),
        Part("MLM head (decoder tied to the embeddings)", decoder(wide, wide, c.vocab_size), ("cls.predictions.",)),
        Part("NSP head", f"2·{wide} + 2", ("cls.seq_relationship.",)),
    ]


BERT = Architecture(
    "BERT",
    "bert",
    "BertForPreTraining",
    {
        Capability.MLM: Head(("cls.predictions",), "prediction_logits"),
        Capability.NSP: Head(("cls.seq_relationship", "bert.pooler"), "seq_relationship_logits", "next_sentence_label"),
    },
    as_bert("bert"),
    parts=_bert,
)

ARCHITECTURES = (BERT,)

NOTE = FamilyNote(
    ("BERT",),
    "Devlin et al. 2019",
    "The encoder reads both sides of a word at once. To make that a task, 15% of the tokens are chosen and guessed from the "
    "rest (80% masked, 10% random, 10% kept), and pairs of segments are judged.",
    "MLM + NSP",
    "WordPiece, 30,522",
)

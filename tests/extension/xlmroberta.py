"""XLM-RoBERTa: RoBERTa in a hundred languages (Conneau et al. 2020)."""

from explorer.models.families.family import Architecture, Capability, Embeddings, FamilyNote, Head, as_bert

ARCHITECTURES = (
    Architecture(
        "XLM-RoBERTa",
        "xlm-roberta",
        "XLMRobertaForMaskedLM",
        {Capability.MLM: Head(("lm_head",))},
        as_bert("roberta"),
        Embeddings(after_padding=True),
        spare_positions=2,
    ),
)

NOTE = FamilyNote(
    ("XLM-RoBERTa",),
    "Conneau et al. 2020",
    "RoBERTa on text of a hundred languages at once.",
    "MLM",
    "SentencePiece unigram, 250,002",
)

"""data2vec for text: RoBERTa's network, which learned to predict its own states (Baevski et al. 2022)."""

from explorer.models.families.family import Architecture, Capability, Embeddings, FamilyNote, Head, as_bert

ARCHITECTURES = (
    Architecture(
        "data2vec",
        "data2vec-text",
        "Data2VecTextForMaskedLM",
        {Capability.MLM: Head(("lm_head",))},
        as_bert("data2vec_text"),
        Embeddings(after_padding=True),
        spare_positions=2,
    ),
)

NOTE = FamilyNote(
    ("data2vec",),
    "Baevski et al. 2022",
    "RoBERTa's network, which learns to predict the states that it has itself when nothing is hidden.",
    "regression of states",
    "byte-level BPE, 50,265",
)

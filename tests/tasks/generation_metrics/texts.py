"""Texts that the tests of this folder share: four systems' sentences with one to three references, and their words."""

from __future__ import annotations

from explorer.tasks.generation_metrics.words import meteor_words, mteval_words, treebank_words

HYPOTHESES = [
    "The Copper Kettle is a cheap, child-friendly pub by the river.",
    "Near the old mill you find Bella, an Italian restaurant with high ratings.",
    "Harbour Lights serves fish. It costs £20-25 and isn't cheap.",
    "The Fig is a place.",
]
REFERENCES = [
    [
        "The Copper Kettle is a cheap pub on the river that welcomes children.",
        "By the river, there is a cheap pub: the Kettle.",
    ],
    [
        "Bella is a highly rated Italian restaurant near the old mill.",
        "Highly rated Italian food is served at Bella, near the mill.",
        "Bella, near the old mill, is an Italian restaurant.",
    ],
    [
        "Harbour Lights is a fish restaurant; prices are £20-25.",
        "Fish is served at Harbour Lights. It doesn't cost more than £25.",
    ],
    ["The Fig is a coffee shop in the city centre."],
]
MTEVAL = [mteval_words(one) for one in HYPOTHESES], [[mteval_words(one) for one in group] for group in REFERENCES]
TREEBANK = [treebank_words(one) for one in HYPOTHESES], [[treebank_words(one) for one in group] for group in REFERENCES]
METEOR = [meteor_words(one) for one in HYPOTHESES], [[meteor_words(one) for one in group] for group in REFERENCES]
FIRST = [group[:1] for group in REFERENCES]

"""Generation: how a model writes, and how what it writes is judged against several references."""

from explorer.action import Lab
from explorer.labs.generation.apart import SCORE_PARTS
from explorer.labs.generation.scores import SCORE_TEXTS

LAB = Lab(
    slug="generation",
    title="Writing",
    chapter="Adapt",
    question="How does a model write, and how is it judged?",
    teaser="Sentences against several references: BLEU, NIST, METEOR, ROUGE-L and CIDEr as the E2E challenge computes them, each "
    "taken apart on one sentence.",
    needs=None,
    actions=(SCORE_TEXTS, SCORE_PARTS),
    tab="explorer.labs.generation.page:build",
)

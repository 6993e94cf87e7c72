"""The five metrics of a visitor's texts."""

from __future__ import annotations

from explorer.labs.generation.scores.schema import Scored, ScoreParams, paired
from explorer.tasks.generation_metrics import score


def score_texts(params: ScoreParams) -> Scored:
    """Compute BLEU, NIST, METEOR, ROUGE-L and CIDEr of texts against their references.

    Raises BadInputError where hypotheses and groups of references don't pair.
    """
    references = paired(params.hypotheses, params.references)
    return Scored(score(params.hypotheses, references), len(references), sum(map(len, references)))

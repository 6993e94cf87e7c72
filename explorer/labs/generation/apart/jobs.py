"""One sentence of a visitor's texts, metric by metric."""

from __future__ import annotations

from explorer.errors import BadInputError
from explorer.labs.generation.apart.schema import Parts, PartsParams
from explorer.labs.generation.scores.schema import paired
from explorer.tasks.generation_metrics import take_apart


def score_parts(params: PartsParams) -> Parts:
    """Take one generated text apart by five metrics. Raises BadInputError if there is none of this number, or no pairs."""
    references = paired(params.hypotheses, params.references)
    if params.sentence > len(references):
        raise BadInputError(
            f"There is no hypothesis number {params.sentence:,}: choose one from 1 to {len(references):,}."
        )
    apart = take_apart(params.hypotheses, references, params.sentence - 1)
    return Parts(apart, params.sentence, len(references))

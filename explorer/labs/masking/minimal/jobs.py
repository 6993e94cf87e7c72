"""The bundled minimal pairs, scored one after another."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.engine.resources import Resources
from explorer.labs.masking.minimal.examples import PAIRS
from explorer.labs.masking.minimal.schema import MinimalPairsParams, MinimalPairsResult, ScoredPair
from explorer.labs.masking.score.jobs import is_causal, scored


def score_minimal_pairs(resources: Resources, params: MinimalPairsParams) -> Iterator[MinimalPairsResult]:
    """The bundled minimal pairs, scored; each result holds the pairs so far. Raises MissingCapabilityError."""
    bundle = resources.model(params.model)
    done: list[ScoredPair] = []
    for number, pair in enumerate(PAIRS):
        both = (scored(bundle, sentence, params.masking) for sentence in (pair.better, pair.worse))
        done.append(ScoredPair(number, *both))
        yield MinimalPairsResult(bundle.model_id, is_causal(bundle), tuple(done))

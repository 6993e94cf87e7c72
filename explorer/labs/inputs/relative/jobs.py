"""The job on relative positions."""

from __future__ import annotations

from explorer.errors import BadInputError
from explorer.labs.inputs.relative.schema import RelativeParams, RelativeResult
from explorer.models.disentangled import relative_positions
from explorer.models.loaded_model import LoadedModel

MOST_DRAWN = 64
"""Tokens in the heatmap; of a longer text every so many."""


def relative_rows(bundle: LoadedModel, params: RelativeParams) -> RelativeResult:
    """δ(i, j) for a text of so many tokens, as the model itself counts it (He et al. 2021, equation 3)."""
    length = params.length
    if length > bundle.longest:
        raise BadInputError(f"{bundle.model_id} reads at most {bundle.longest} tokens; take a shorter text.")
    found = relative_positions(bundle, length)
    if found is None:
        return RelativeResult(bundle.model_id, length, 0, False, (), (), ())
    places = tuple(range(0, length, -(-length // MOST_DRAWN)))
    rows = found.rows[list(places)][:, list(places)].tolist()
    by_distance = [*found.rows[0].flip(0).tolist(), *found.rows[1:, 0].tolist()]
    return RelativeResult(
        bundle.model_id, length, found.span, found.buckets, places, tuple(map(tuple, rows)), tuple(by_distance)
    )

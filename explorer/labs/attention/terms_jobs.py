"""The job on the terms of a head's scores."""

from __future__ import annotations

import torch
from torch import Tensor

from explorer.labs.attention.head import Square, TokenPlace
from explorer.labs.attention.head_jobs import encoded_pair, square
from explorer.labs.attention.terms import Term, TermsParams, TermsResult
from explorer.models.disentangled import score_terms
from explorer.models.inside import check_place, depth_of, heads_of
from explorer.models.loaded_model import LoadedModel


def disentangled_terms(loaded: LoadedModel, params: TermsParams) -> TermsResult:
    """What content and position each add to one head's scores (He et al. 2021, equation 4)."""
    check_place(loaded, params.layer, params.head)
    encoded = encoded_pair(loaded, params.sentence_a, params.sentence_b)
    place = loaded.model_id, params.layer, params.head, depth_of(loaded.model), heads_of(loaded.model)
    tokens = tuple(TokenPlace(t.position, t.text, t.shown, t.joined, t.word is None) for t in encoded.tokens)
    if not loaded.architecture.disentangled:
        # The page then offers a model that has terms.
        return TermsResult(*place, tokens, (), Square.of(()), Square.of(()), 0.0)
    found = score_terms(loaded, encoded.inputs, params.layer)
    # (n, n); shares are covariances of small differences.
    terms = {name: scores[params.head].double() for name, scores in found.terms.items()}
    total, weights = found.scores[params.head], found.weights[params.head]
    shares = _shares(terms)
    return TermsResult(
        *place,
        tokens,
        tuple(Term(name, square(scores), shares[name]) for name, scores in terms.items()),
        square(total),
        square(weights),
        float((total.softmax(-1) - weights).abs().max()),
    )


def _shares(terms: dict[str, Tensor]) -> dict[str, float]:
    """Return how much of the sum's variance within rows each term makes: its covariance with the sum over the sum's
    variance.

    Each row's mean is taken off first, since the softmax ignores what is the same for a whole row.
    """
    # (n, n) less each row's mean, which the softmax ignores.
    centred = {name: scores - scores.mean(-1, keepdim=True) for name, scores in terms.items()}
    total = torch.stack(list(centred.values())).sum(0)
    variance = float(total.square().sum())
    # A sum that is the same everywhere has no variance to share.
    return {name: float((scores * total).sum()) / variance if variance else 0.0 for name, scores in centred.items()}

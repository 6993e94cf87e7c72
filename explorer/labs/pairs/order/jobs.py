"""Sentence order (SOP; Lan et al. 2020, section 3.1) beside next-sentence prediction, on the same pairs."""

from __future__ import annotations

from explorer.errors import MissingCapabilityError
from explorer.labs.pairs.jobs import pair_logits
from explorer.labs.pairs.order.schema import (
    KINDS,
    KindsParams,
    KindsResult,
    OrderParams,
    OrderResult,
    ScoredPair,
)
from explorer.models.batching import padded
from explorer.models.encoding import encode
from explorer.models.families import Capability
from explorer.models.loaded_model import LoadedModel
from explorer.text import checked_text, split_sentences


def score_order(loaded: LoadedModel, params: OrderParams) -> OrderResult:
    """Score whether two texts stand in their order, by the [CLS] head: softmax over (in_order, swapped)."""
    encoded = encode(loaded, params.first, params.second)
    logits = pair_logits(loaded, encoded.inputs, Capability.SOP)[0]
    in_order, swapped = logits.tolist()
    p_in_order, p_swapped = logits.softmax(-1).tolist()
    return OrderResult(loaded.model_id, (in_order, swapped), (p_in_order, p_swapped))


def score_kinds(loaded: LoadedModel, params: KindsParams) -> KindsResult:
    """Score neighbours of a text, the same swapped, and pairs with another text, in one padded batch, by the head there
    is.
    """
    head = next((head for head in (Capability.NSP, Capability.SOP) if head in loaded.capabilities), None)
    if head is None:
        raise MissingCapabilityError(
            f"{loaded.model_id} has a head for neither next sentences nor their order.", Capability.SOP.name
        )
    pairs = drawn_pairs(split_sentences(checked_text(params.text)), split_sentences(checked_text(params.other_text)))
    rows = [encode(loaded, first, second).inputs for _, first, second in pairs]
    # (pairs, 2) before the last index, which takes the first class.
    scores = pair_logits(loaded, padded(rows, int(loaded.tokenizer.pad_token_id or 0)), head).softmax(-1)[:, 0].tolist()
    scored = (ScoredPair(*pair, score) for pair, score in zip(pairs, scores, strict=True))
    return KindsResult(loaded.model_id, head.name, tuple(scored))


def drawn_pairs(sentences: list[str], others: list[str]) -> list[tuple[str, str, str]]:
    """Return (kind, first, second): as many pairs of each kind; the other text's sentences are taken in turn."""
    starts = range(len(sentences) - 1)
    made = {
        "true": [(sentences[place], sentences[place + 1]) for place in starts],
        "swapped": [(sentences[place + 1], sentences[place]) for place in starts],
        # The other text may be shorter.
        "random": [(sentences[place], others[place % len(others)]) for place in starts],
    }
    return [(kind, first, second) for kind in KINDS for first, second in made[kind]]

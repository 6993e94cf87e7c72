"""The sentence-pair jobs: next sentences (Devlin et al. 2019, section 3.1) and sentence order (Lan et al. 2020, section 3.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import Tensor

from explorer.errors import ExplorerError, MissingCapabilityError
from explorer.labs.pairs.order import KINDS, KindsParams, KindsResult, OrderParams, ScoredPair
from explorer.labs.pairs.schema import AllPairsParams, AllPairsResult, OrderResult, PairParams, PairResult, PairToken
from explorer.models.batching import Inputs, alone, answered_together, logits_of_texts, padded
from explorer.models.encoding import Encoded, encode
from explorer.models.families import Capability
from explorer.models.loaded_model import LoadedModel
from explorer.text import checked_text, split_sentences


def score_pair(loaded: LoadedModel, params: PairParams) -> PairResult:
    """Score one pair by the [CLS] head: softmax over (is_next, not_next)."""
    return alone(score_pairs_together(loaded, [params]))


def score_pairs_together(loaded: LoadedModel, asked: Sequence[PairParams]) -> list[PairResult | ExplorerError]:
    """Score several pairs in one batch: a result, or an error, for each."""

    def prepare(params: PairParams) -> tuple[list[Inputs], Callable[[Sequence[Tensor]], PairResult]]:
        encoded = encode(loaded, params.sentence_a, params.sentence_b)
        return [encoded.inputs], lambda logits: _scored(loaded, encoded, logits[0])

    return answered_together(asked, prepare, lambda rows: logits_of_texts(loaded, Capability.NSP, rows))


def _scored(loaded: LoadedModel, encoded: Encoded, logits: Tensor) -> PairResult:
    tokens = tuple(PairToken(t.position, t.text, t.shown, t.joined, t.segment, t.word is None) for t in encoded.tokens)
    is_next, not_next = logits.tolist()
    p_next, p_not = logits.softmax(-1).tolist()
    return PairResult(loaded.model_id, tokens, (is_next, not_next), (p_next, p_not))


def score_all_pairs(loaded: LoadedModel, params: AllPairsParams) -> AllPairsResult:
    """Score every ordered pair of a text's sentences in one padded batch."""
    sentences = split_sentences(checked_text(params.text))
    pairs = [(i, j) for i in range(len(sentences)) for j in range(len(sentences)) if i != j]
    rows = [encode(loaded, sentences[i], sentences[j]).inputs for i, j in pairs]
    probabilities = (  # (pairs, 2); column 0 is is_next
        pair_logits(loaded, padded(rows, int(loaded.tokenizer.pad_token_id or 0))).softmax(-1)[:, 0].tolist()
    )
    grid: list[list[float | None]] = [[None] * len(sentences) for _ in sentences]
    for (i, j), probability in zip(pairs, probabilities, strict=True):
        grid[i][j] = probability
    return AllPairsResult(loaded.model_id, tuple(sentences), tuple(tuple(row) for row in grid))


def pair_logits(loaded: LoadedModel, inputs: dict[str, Tensor], head: Capability = Capability.NSP) -> Tensor:
    """Compute a [CLS] head's logits, (rows, 2), float32, on the CPU."""
    output = loaded.model(**{name: tensor.to(loaded.device) for name, tensor in inputs.items()})
    return loaded.logits(head, output).float().cpu()


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

"""The sentence-pair lab's jobs: next-sentence prediction (Devlin et al. 2019, section 3.1, task 2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import Tensor

from explorer.errors import ExplorerError
from explorer.labs.pairs.schema import AllPairsParams, AllPairsResult, PairParams, PairResult, PairToken
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

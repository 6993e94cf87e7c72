"""The sentence-pair lab's jobs: next-sentence prediction (Devlin et al. 2019, section 3.1, task 2)."""

from __future__ import annotations

import torch
from torch import Tensor

from explorer.labs.pairs.schema import AllPairsParams, AllPairsResult, PairParams, PairResult, PairToken
from explorer.models.architectures import Capability
from explorer.models.bundle import Bundle
from explorer.models.encoding import encode
from explorer.text import checked_text, split_sentences


def score_pair(bundle: Bundle, params: PairParams) -> PairResult:
    """Score one pair by the [CLS] head: softmax over (is_next, not_next)."""
    encoded = encode(bundle, params.sentence_a, params.sentence_b)
    logits = _logits(bundle, encoded.inputs)[0]
    tokens = tuple(PairToken(t.position, t.text, t.shown, t.joined, t.segment, t.word is None) for t in encoded.tokens)
    is_next, not_next = logits.tolist()
    p_next, p_not = logits.softmax(-1).tolist()
    return PairResult(bundle.model_id, tokens, (is_next, not_next), (p_next, p_not))


def score_all_pairs(bundle: Bundle, params: AllPairsParams) -> AllPairsResult:
    """Score every ordered pair of a text's sentences in one padded batch."""
    sentences = split_sentences(checked_text(params.text))
    pairs = [(i, j) for i in range(len(sentences)) for j in range(len(sentences)) if i != j]
    longest = sorted(sentences, key=lambda sentence: len(bundle.tokenizer.tokenize(sentence)))
    encode(bundle, longest[-1], longest[-2])  # says so where a pair is too long for the model
    batch = bundle.tokenizer(
        [sentences[i] for i, _ in pairs],
        [sentences[j] for _, j in pairs],
        return_tensors="pt",
        padding=True,
    )
    probabilities = _logits(bundle, dict(batch)).softmax(-1)[:, 0].tolist()
    grid: list[list[float | None]] = [[None] * len(sentences) for _ in sentences]
    for (i, j), probability in zip(pairs, probabilities, strict=True):
        grid[i][j] = probability
    return AllPairsResult(bundle.model_id, tuple(sentences), tuple(tuple(row) for row in grid))


def _logits(bundle: Bundle, inputs: dict[str, Tensor]) -> Tensor:
    """The head's logits, (rows, 2), float32, on the CPU."""
    output = bundle.model(**{name: torch.as_tensor(tensor).to(bundle.device) for name, tensor in inputs.items()})
    return bundle.logits(Capability.NSP, output).float().cpu()

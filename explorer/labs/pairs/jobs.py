"""The sentence-pair lab's jobs: next-sentence prediction (Devlin et al. 2019, section 3.1, task 2)."""

from __future__ import annotations

from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from explorer.labs.pairs.schema import AllPairsParams, AllPairsResult, PairParams, PairResult, PairToken
from explorer.models.bundle import Bundle
from explorer.models.encoding import encode
from explorer.models.families import Capability
from explorer.text import checked_text, split_sentences


def score_pair(bundle: Bundle, params: PairParams) -> PairResult:
    """Score one pair by the [CLS] head: softmax over (is_next, not_next)."""
    encoded = encode(bundle, params.sentence_a, params.sentence_b)
    logits = pair_logits(bundle, encoded.inputs)[0]
    tokens = tuple(PairToken(t.position, t.text, t.shown, t.joined, t.segment, t.word is None) for t in encoded.tokens)
    is_next, not_next = logits.tolist()
    p_next, p_not = logits.softmax(-1).tolist()
    return PairResult(bundle.model_id, tokens, (is_next, not_next), (p_next, p_not))


def score_all_pairs(bundle: Bundle, params: AllPairsParams) -> AllPairsResult:
    """Score every ordered pair of a text's sentences in one padded batch."""
    sentences = split_sentences(checked_text(params.text))
    pairs = [(i, j) for i in range(len(sentences)) for j in range(len(sentences)) if i != j]
    rows = [encode(bundle, sentences[i], sentences[j]).inputs for i, j in pairs]
    probabilities = (
        pair_logits(bundle, padded(rows, int(bundle.tokenizer.pad_token_id or 0))).softmax(-1)[:, 0].tolist()
    )
    grid: list[list[float | None]] = [[None] * len(sentences) for _ in sentences]
    for (i, j), probability in zip(pairs, probabilities, strict=True):
        grid[i][j] = probability
    return AllPairsResult(bundle.model_id, tuple(sentences), tuple(tuple(row) for row in grid))


def padded(rows: list[dict[str, Tensor]], pad_token_id: int) -> dict[str, Tensor]:
    """One batch of inputs (each (1, length)); padded here, since a tokenizer that pads cannot be shared by threads."""
    return {
        name: pad_sequence(
            [row[name][0] for row in rows],
            batch_first=True,
            padding_value=pad_token_id if name == "input_ids" else 0,
        )
        for name in rows[0]
    }


def pair_logits(bundle: Bundle, inputs: dict[str, Tensor], head: Capability = Capability.NSP) -> Tensor:
    """A [CLS] head's logits, (rows, 2), float32, on the CPU."""
    output = bundle.model(**{name: tensor.to(bundle.device) for name, tensor in inputs.items()})
    return bundle.logits(head, output).float().cpu()

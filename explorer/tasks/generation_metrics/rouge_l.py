"""ROUGE-L (Lin 2004) as coco-caption computes it: the longest common subsequence, F with β = 1.2, the mean over
sentences.

P = LCS / words of the hypothesis, R = LCS / words of the reference; the largest P and the largest R of all references
count, which need not come from the same one. rouge-score takes β = 1 and other words, so it can't be used here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from explorer.tasks.generation_metrics.words import Ngram

BETA = 1.2


@dataclass(frozen=True)
class Subsequence:
    """One reference: the positions of the common words in the hypothesis and in the reference, from the left."""

    words: Ngram
    here: tuple[int, ...]
    there: tuple[int, ...]
    precision: float
    recall: float


@dataclass(frozen=True)
class RougeSentence:
    """One hypothesis in its parts."""

    words: Ngram
    references: tuple[Subsequence, ...]
    precision: float
    recall: float
    value: float


def rouge_l(hypotheses: Sequence[Ngram], references: Sequence[Sequence[Ngram]]) -> float:
    """Return ROUGE-L, the mean over the sentences, 0 to 1."""
    values = [
        _f(*_best([(len(words), len(one), common_length(words, one)) for one in group]))
        for words, group in zip(hypotheses, references, strict=True)
    ]
    return sum(values) / len(values)


def rouge_l_of_one(words: Ngram, references: Sequence[Ngram]) -> RougeSentence:
    """Return ROUGE-L of one sentence."""
    found = []
    for one in references:
        pairs = common_places(words, one)
        here, there = (tuple(pair[side] for pair in pairs) for side in (0, 1))
        found.append(Subsequence(one, here, there, *_best([(len(words), len(one), len(pairs))])))
    precision, recall = max(one.precision for one in found), max(one.recall for one in found)
    return RougeSentence(words, tuple(found), precision, recall, _f(precision, recall))


def _best(lengths: Sequence[tuple[int, int, int]]) -> tuple[float, float]:
    """Return the largest precision and recall, from (words here, words there, common words); 0 without words."""
    return (
        max(common / here if here else 0.0 for here, _, common in lengths),
        max(common / there if there else 0.0 for _, there, common in lengths),
    )


def _f(precision: float, recall: float) -> float:
    if not precision or not recall:
        return 0.0
    return (1 + BETA**2) * precision * recall / (recall + BETA**2 * precision)


def common_length(first: Ngram, second: Ngram) -> int:
    """Return the number of words in the longest common subsequence, by Hyyrö's bit-parallel algorithm."""
    places: dict[str, int] = {}
    for place, word in enumerate(second):
        places[word] = places.get(word, 0) | 1 << place
    all_of, free = (1 << len(second)) - 1, (1 << len(second)) - 1
    for word in first:
        used = free & places.get(word, 0)
        free = (free + used | free - used) & all_of  # one addition carries for all of `second` at once
    return len(second) - free.bit_count()


def common_places(first: Ngram, second: Ngram) -> list[tuple[int, int]]:
    """Return the pairs of positions of one longest common subsequence."""
    longest = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for here in range(len(first) - 1, -1, -1):
        for there in range(len(second) - 1, -1, -1):
            after = longest[here + 1][there + 1] + 1 if first[here] == second[there] else 0
            longest[here][there] = max(after, longest[here + 1][there], longest[here][there + 1])
    pairs, here, there = [], 0, 0
    while here < len(first) and there < len(second):
        if first[here] == second[there] and longest[here][there] == longest[here + 1][there + 1] + 1:
            pairs.append((here, there))
            here, there = here + 1, there + 1
        elif longest[here + 1][there] >= longest[here][there + 1]:
            here += 1
        else:
            there += 1
    return pairs

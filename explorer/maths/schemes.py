"""Masking schemes: which tokens of a text a masked language model is asked for. One entry of SCHEMES each.

Sources: BERT (Devlin et al. 2019, section 3.1) for single tokens; whole-word masking as released with BERT-large in
2019; ALBERT (Lan et al. 2020, section 4.1) for n-grams with p(n) proportional to 1/n. torch is imported with the first
draw, so that a page can list the schemes without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch
    from torch import Tensor

LONGEST_NGRAM = 3


@dataclass(frozen=True)
class Scheme:
    """One way to choose tokens."""

    slug: str
    title: str
    explanation: str
    """A clause that begins with the title, in Markdown."""
    choose: Callable[[Sequence[int | None], int, torch.Generator], list[int]]
    """(the word of each position, None for special tokens; how many to choose at most; generator) -> the positions."""
    in_scripts: bool = False
    """Whether the scripts without the package draw by it too."""


def words_of(word_ids: Sequence[int | None]) -> list[list[int]]:
    """Group positions by word, in order of appearance; special tokens (None) belong to no word."""
    words: list[list[int]] = []
    previous: int | None = None
    for position, word in enumerate(word_ids):
        if word is None:
            previous = None
        elif word == previous:
            words[-1].append(position)
        else:
            words.append([position])
            previous = word
    return words


def ngram_probabilities(longest: int = LONGEST_NGRAM) -> Tensor:
    """Return p(n) = (1/n) / sum over k of 1/k, n from 1 to `longest` (ALBERT, section 4.1). Shape (longest,)."""
    import torch

    inverse = 1.0 / torch.arange(1, longest + 1, dtype=torch.float64)
    return inverse / inverse.sum()


def _shuffled(count: int, generator: torch.Generator) -> list[int]:
    import torch

    order: list[int] = torch.randperm(count, generator=generator).tolist()
    return order


def _take_tokens(word_ids: Sequence[int | None], budget: int, generator: torch.Generator) -> list[int]:
    positions = [position for position, word in enumerate(word_ids) if word is not None]
    return [positions[index] for index in _shuffled(len(positions), generator)[:budget]]


def _take_whole_words(word_ids: Sequence[int | None], budget: int, generator: torch.Generator) -> list[int]:
    words = words_of(word_ids)
    order = [words[index] for index in _shuffled(len(words), generator)]
    return _fill(order, budget)


def _take_ngrams(word_ids: Sequence[int | None], budget: int, generator: torch.Generator) -> list[int]:
    """Take runs of whole words; a run that would exceed the budget is shortened, as in ALBERT's code."""
    words = words_of(word_ids)
    order = _shuffled(len(words), generator)
    drawn = ngram_probabilities().multinomial(max(1, len(words)), replacement=True, generator=generator)
    taken: list[int] = []
    used: set[int] = set()
    for start, longest in zip(order, (1 + drawn).tolist(), strict=True):
        if len(taken) >= budget:
            break
        for length in range(longest, 0, -1):
            run = range(start, start + length)
            positions = [position for word in run if word < len(words) for position in words[word]]
            fits = len(taken) + len(positions) <= budget
            if fits and run.stop <= len(words) and used.isdisjoint(run):
                taken += positions
                used.update(run)
                break
    return taken or _fill([words[index] for index in order], budget)


def _fill(units: list[list[int]], budget: int) -> list[int]:
    """Take units while they fit; if not one fits, the first is taken, so that something is always predicted."""
    taken: list[int] = []
    for unit in units:
        if len(taken) + len(unit) <= budget:
            taken += unit
    return taken or units[0]


_ENTRIES = (
    Scheme("token", "single token", "**Single token** masks each piece by itself", _take_tokens, in_scripts=True),
    Scheme(
        "whole_word",
        "whole word",
        "**whole word** masks all pieces of a word together",
        _take_whole_words,
        in_scripts=True,
    ),
    Scheme(
        "ngram",
        "n-gram",
        r"**n-gram** (ALBERT) masks runs of $n \le 3$ words with $p(n) \propto 1/n$, that is 6/11, 3/11 and 2/11",
        _take_ngrams,
        in_scripts=True,
    ),
)
"""The schemes in the order of the page's list. To add one, add its entry here."""

SCHEMES = {scheme.slug: scheme for scheme in _ENTRIES}

"""Which tokens a masked language model must predict, and what it sees in their place.

Sources: BERT (Devlin et al. 2019, section 3.1 and appendix A.1) for the 15% and the 80/10/10 rule; whole-word masking as
released with BERT-large in 2019; ALBERT (Lan et al. 2020, section 4.1) for n-gram masking with p(n) proportional to 1/n.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

FATES = ("untouched", "mask", "random", "kept")
"""What can happen to a position; a fate tensor holds indices into this tuple."""
UNTOUCHED, MASK, RANDOM, KEPT = range(4)

IGNORED_LABEL = -100
"""The label of a position that carries no loss, the value that torch's cross entropy leaves out."""

LONGEST_NGRAM = 3


@dataclass(frozen=True)
class CorruptionRecipe:
    """How many positions are chosen and how they are replaced; all three numbers are shares in [0, 1]."""

    rate: float = 0.15
    mask_share: float = 0.8
    random_share: float = 0.1
    scheme: str = "token"

    def __post_init__(self) -> None:
        """Raise ValueError where a share is outside [0, 1], the shares pass 1 or the scheme is unknown."""
        for name in ("rate", "mask_share", "random_share"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ValueError(f"{name} must lie between 0 and 1, and is {getattr(self, name)}")
        if self.mask_share + self.random_share > 1.0 + 1e-9:
            raise ValueError(
                f"mask_share + random_share must not pass 1, and is {self.mask_share + self.random_share:g}"
            )
        if self.scheme not in SCHEMES:
            raise ValueError(f"scheme must be one of {', '.join(SCHEMES)}, and is {self.scheme!r}")


@dataclass(frozen=True)
class Corruption:
    """One corrupted sequence: three tensors of shape (length,), dtype int64."""

    input_ids: Tensor
    labels: Tensor
    fates: Tensor


def corrupt(
    input_ids: Tensor,
    word_ids: Sequence[int | None],
    recipe: CorruptionRecipe,
    mask_token_id: int,
    replacement_ids: Tensor,
    generator: torch.Generator,
) -> Corruption:
    """Corrupt one sequence.

    input_ids: (length,). word_ids: the word each position belongs to, None for special tokens, which are never chosen.
    replacement_ids: the ids that a random replacement is drawn from, uniformly (BERT draws from the whole vocabulary;
    callers here leave its special tokens out).
    """
    chosen = choose_positions(word_ids, recipe, generator)
    fates = draw_fates(chosen, recipe, generator)
    shown = input_ids.clone()
    shown[fates == MASK] = mask_token_id
    replaced = fates == RANDOM
    draw = torch.randint(len(replacement_ids), (int(replaced.sum()),), generator=generator)
    shown[replaced] = replacement_ids[draw]
    labels = torch.where(chosen, input_ids, torch.full_like(input_ids, IGNORED_LABEL))
    return Corruption(shown, labels, fates)


def choose_positions(word_ids: Sequence[int | None], recipe: CorruptionRecipe, generator: torch.Generator) -> Tensor:
    """Choose round(rate x candidates) positions, at least one where the rate is above 0; bool tensor (length,).

    As in BERT's own code the candidates are shuffled and taken until the budget is full; a unit (a word, an n-gram) that
    would pass the budget is left out, so multi-token schemes may choose slightly fewer.
    """
    chosen = torch.zeros(len(word_ids), dtype=torch.bool)
    candidates = sum(word is not None for word in word_ids)
    if recipe.rate == 0 or candidates == 0:
        return chosen
    budget = max(1, round(recipe.rate * candidates))
    for position in SCHEMES[recipe.scheme](word_ids, budget, generator):
        chosen[position] = True
    return chosen


def draw_fates(chosen: Tensor, recipe: CorruptionRecipe, generator: torch.Generator) -> Tensor:
    """Draw each chosen position's fate on its own; int64 tensor of indices into FATES, shaped as `chosen`."""
    draw = torch.rand(chosen.shape, generator=generator)
    fates = torch.full(chosen.shape, KEPT)
    fates[draw < recipe.mask_share + recipe.random_share] = RANDOM
    fates[draw < recipe.mask_share] = MASK
    fates[~chosen] = UNTOUCHED
    return fates


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
    """p(n) = (1/n) / sum over k of 1/k, n from 1 to `longest`; ALBERT, section 4.1. Shape (longest,)."""
    inverse = 1.0 / torch.arange(1, longest + 1, dtype=torch.float64)
    return inverse / inverse.sum()


def _shuffled(count: int, generator: torch.Generator) -> list[int]:
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
    """Take runs of whole words; a run that would pass the budget is shortened, as in ALBERT's code."""
    words = words_of(word_ids)
    order = _shuffled(len(words), generator)
    lengths = 1 + torch.multinomial(ngram_probabilities(), max(1, len(words)), replacement=True, generator=generator)
    taken: list[int] = []
    used: set[int] = set()
    for start, longest in zip(order, lengths.tolist(), strict=True):
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
    """Take units while they fit; where not one fits, the first is taken, so that something is always predicted."""
    taken: list[int] = []
    for unit in units:
        if len(taken) + len(unit) <= budget:
            taken += unit
    return taken or units[0]


SCHEMES: dict[str, Callable[[Sequence[int | None], int, torch.Generator], list[int]]] = {
    "token": _take_tokens,
    "whole_word": _take_whole_words,
    "ngram": _take_ngrams,
}
"""Masking schemes by name: each takes (word_ids, budget, generator) and returns the chosen positions."""

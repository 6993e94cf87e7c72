"""Corruption for masked language models: which tokens they must predict, and what they see in their place.

Source: BERT (Devlin et al. 2019, section 3.1 and appendix A.1) for the 15% and the 80/10/10 rule;
explorer.maths.schemes has the ways to choose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from explorer.maths.schemes import SCHEMES

FATES = ("untouched", "mask", "random", "kept")
"""What can happen to a position; a fate tensor holds indices into this tuple."""
UNTOUCHED, MASK, RANDOM, KEPT = range(4)

IGNORED_LABEL = -100
"""The label of a position that carries no loss, the value that torch's cross entropy leaves out."""


@dataclass(frozen=True)
class CorruptionRecipe:
    """How many positions are chosen and how they are replaced; all three numbers are shares in [0, 1]."""

    rate: float = 0.15
    mask_share: float = 0.8
    random_share: float = 0.1
    scheme: str = "token"

    def __post_init__(self) -> None:
        """Raise ValueError if a share is outside [0, 1], the shares pass 1 or the scheme is unknown."""
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
    fates = fates_of(word_ids, recipe, generator)
    shown = input_ids.clone()
    shown[fates == MASK] = mask_token_id
    replaced = fates == RANDOM
    draw = torch.randint(len(replacement_ids), (int(replaced.sum()),), generator=generator)
    shown[replaced] = replacement_ids[draw]
    labels = torch.where(fates != UNTOUCHED, input_ids, torch.full_like(input_ids, IGNORED_LABEL))
    return Corruption(shown, labels, fates)


def fates_of(word_ids: Sequence[int | None], recipe: CorruptionRecipe, generator: torch.Generator) -> Tensor:
    """Choose the positions of one draw and each one's fate; int64 tensor of indices into FATES, (length,)."""
    return draw_fates(choose_positions(word_ids, recipe, generator), recipe, generator)


def choose_positions(word_ids: Sequence[int | None], recipe: CorruptionRecipe, generator: torch.Generator) -> Tensor:
    """Choose round(rate x candidates) positions, at least one if the rate is above 0; bool tensor (length,).

    As in BERT's own code the candidates are shuffled and taken until the budget is full; a unit (a word, an n-gram)
    that would exceed the budget is left out, so multi-token schemes may choose slightly fewer.
    """
    chosen = torch.zeros(len(word_ids), dtype=torch.bool)
    candidates = sum(word is not None for word in word_ids)
    if recipe.rate == 0 or candidates == 0:
        return chosen
    budget = max(1, round(recipe.rate * candidates))
    for position in SCHEMES[recipe.scheme].choose(word_ids, budget, generator):
        chosen[position] = True
    return chosen


def draw_fates(chosen: Tensor, recipe: CorruptionRecipe, generator: torch.Generator) -> Tensor:
    """Draw each chosen position's fate on its own; int64 tensor of indices into FATES, shaped as `chosen`."""
    draw = torch.rand(chosen.shape, generator=generator)
    fates = torch.full(chosen.shape, KEPT)
    # Both shares first, then MASK over its part of them: one number decides.
    fates[draw < recipe.mask_share + recipe.random_share] = RANDOM
    fates[draw < recipe.mask_share] = MASK
    fates[~chosen] = UNTOUCHED
    return fates

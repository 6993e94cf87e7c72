"""What becomes of the chosen positions: 80% [MASK], 10% random, 10% kept (Devlin et al. 2019, section 3.1)."""

from __future__ import annotations

import pytest
import torch
from scipy import stats
from torch import Tensor

from explorer.labs.masking import corrupt_figures as corruption_figures
from explorer.maths.corruption import (
    FATES,
    IGNORED_LABEL,
    KEPT,
    MASK,
    RANDOM,
    UNTOUCHED,
    Corruption,
    CorruptionRecipe,
    corrupt,
    draw_fates,
)
from explorer.maths.schemes import SCHEMES
from tests.rows import each_row

FALSE_ALARM = 1e-6
"""How often a right implementation would fail a statistical test here, were the seed not fixed."""

DRAWS = 20_000
MASK_ID = 4
REPLACEMENTS = torch.arange(1000, 1025)
IDS = torch.arange(100, 160)
WORDS = [None, *(place // 2 for place in range(58)), None]


def corrupted(seed: int = 0, **recipe: object) -> Corruption:
    generator = torch.Generator().manual_seed(seed)
    return corrupt(IDS, WORDS, CorruptionRecipe(**recipe), MASK_ID, REPLACEMENTS, generator)  # type: ignore[arg-type]


def fate_counts(recipe: CorruptionRecipe, draws: int = DRAWS, seed: int = 0) -> list[int]:
    fates = draw_fates(torch.ones(draws, dtype=torch.bool), recipe, torch.Generator().manual_seed(seed))
    return torch.bincount(fates, minlength=len(FATES))[1:].tolist()


def p_value(counts: list[int], shares: tuple[float, float, float]) -> float:
    return float(stats.chisquare(counts, [share * sum(counts) for share in shares]).pvalue)


@each_row(("mask", "random", "kept"), [(0.8, 0.1, 0.1), (0.5, 0.25, 0.25), (0.2, 0.5, 0.3), (0.34, 0.33, 0.33)])
def test_fates_follow_the_shares(mask: float, random: float, kept: float) -> None:
    recipe = CorruptionRecipe(mask_share=mask, random_share=random)
    assert p_value(fate_counts(recipe), (mask, random, kept)) > FALSE_ALARM


@each_row(("mask", "random"), [(0.75, 0.15), (0.78, 0.1), (0.8, 0.12), (0.9, 0.1)])
def test_the_same_test_rejects_shares_that_are_not_bert_s(mask: float, random: float) -> None:
    counts = fate_counts(CorruptionRecipe(mask_share=mask, random_share=random))
    assert p_value(counts, (0.8, 0.1, 0.1)) < FALSE_ALARM


def test_fates_follow_the_shares_where_positions_are_chosen_too() -> None:
    """The whole way, counted from what a reader of the result sees, not from the fates."""
    shown = torch.stack([corrupted(seed).input_ids for seed in range(1500)])
    chosen = torch.stack([corrupted(seed).labels for seed in range(1500)]) != IGNORED_LABEL
    masked = int((shown == MASK_ID).sum())
    replaced = int((shown >= 1000).sum())
    counts = [masked, replaced, int(chosen.sum()) - masked - replaced]
    assert int(chosen.sum()) == 1500 * round(0.15 * 58)
    assert p_value(counts, (0.8, 0.1, 0.1)) > FALSE_ALARM


@pytest.mark.parametrize(
    ("mask", "random", "only"), [(1.0, 0.0, MASK), (0.0, 1.0, RANDOM), (0.0, 0.0, KEPT)], ids=FATES[1:]
)
def test_a_share_of_one_leaves_no_other_fate(mask: float, random: float, only: int) -> None:
    assert fate_counts(CorruptionRecipe(mask_share=mask, random_share=random))[only - 1] == DRAWS


@each_row(("mask", "random"), [(0.8, 0.2), (0.7, 0.3), (0.9, 0.1), (0.6, 0.4), (0.57, 0.43)])
def test_shares_that_fill_everything_keep_none(mask: float, random: float) -> None:
    assert fate_counts(CorruptionRecipe(mask_share=mask, random_share=random), 200_000)[KEPT - 1] == 0


@pytest.mark.parametrize("scheme", SCHEMES)
def test_labels_are_the_originals_at_chosen_positions_and_ignored_elsewhere(scheme: str) -> None:
    for seed in range(50):
        result = corrupted(seed, rate=0.4, scheme=scheme)
        chosen = result.fates != UNTOUCHED
        assert torch.equal(result.labels[chosen], IDS[chosen])
        assert bool((result.labels[~chosen] == IGNORED_LABEL).all())
        assert not chosen[0]
        assert not chosen[-1]


def test_each_fate_shows_what_it_says() -> None:
    for seed in range(50):
        result = corrupted(seed, rate=0.6, mask_share=0.4, random_share=0.3)
        assert bool((result.input_ids[result.fates == MASK] == MASK_ID).all())
        assert bool(torch.isin(result.input_ids[result.fates == RANDOM], REPLACEMENTS).all())
        for fate in (KEPT, UNTOUCHED):
            assert torch.equal(result.input_ids[result.fates == fate], IDS[result.fates == fate])
        assert result.input_ids.dtype == result.labels.dtype == result.fates.dtype == torch.int64


def test_replacements_are_drawn_uniformly_from_the_ids_given() -> None:
    everything = [corrupted(seed, rate=1.0, mask_share=0.0, random_share=1.0).input_ids for seed in range(300)]
    drawn: Tensor = torch.cat(everything)
    counts = torch.bincount(drawn[drawn >= 1000] - 1000, minlength=len(REPLACEMENTS))
    assert int(counts.sum()) == 300 * 58
    assert stats.chisquare(counts.numpy()).pvalue > FALSE_ALARM


def test_the_input_is_left_as_it_was() -> None:
    before = IDS.clone()
    corrupted(rate=1.0)
    assert torch.equal(IDS, before)


def test_a_seed_gives_the_same_draw_again_and_another_seed_another() -> None:
    first, again, other = corrupted(7), corrupted(7), corrupted(8)
    assert torch.equal(first.input_ids, again.input_ids)
    assert torch.equal(first.fates, again.fates)
    assert not torch.equal(first.fates, other.fates)


def test_the_figures_name_the_fates_in_the_same_order() -> None:
    assert corruption_figures.FATES == FATES

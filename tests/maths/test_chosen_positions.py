"""Which positions a masking scheme chooses."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
import torch
from scipy import stats

from explorer.kinds import OneOf
from explorer.labs.masking import schema
from explorer.maths.corruption import CorruptionRecipe, choose_positions
from explorer.maths.schemes import SCHEMES, ngram_probabilities, words_of
from explorer.params import declared
from tests.rows import each_row

FALSE_ALARM = 1e-6
"""How often a right implementation would fail a statistical test here, were the seed not fixed."""


def text_of(*word_lengths: int) -> list[int | None]:
    """Word ids of [CLS], words of so many tokens, [SEP]."""
    inside = [word for word, length in enumerate(word_lengths) for _ in range(length)]
    return [None, *inside, None]


def chosen_at(word_ids: list[int | None], seed: int, **recipe: object) -> list[int]:
    generator = torch.Generator().manual_seed(seed)
    chosen = choose_positions(word_ids, CorruptionRecipe(**recipe), generator)  # type: ignore[arg-type]
    assert chosen.shape == (len(word_ids),)
    return chosen.nonzero().flatten().tolist()


MIXED = text_of(1, 3, 1, 2, 1, 1, 4, 1, 2, 1, 1, 1, 2, 1, 3)


@each_row("scheme", SCHEMES)
@each_row("rate", [0.05, 0.15, 0.5, 1.0])
def test_special_tokens_are_never_chosen(scheme: str, rate: float) -> None:
    word_ids = [None, 0, 0, 1, None, 2, 3, 3, None]
    for seed in range(50):
        assert all(word_ids[place] is not None for place in chosen_at(word_ids, seed, rate=rate, scheme=scheme))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_text_of_special_tokens_only_has_nothing_to_choose(scheme: str) -> None:
    assert chosen_at([None, None, None], 0, rate=1.0, scheme=scheme) == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_rate_zero_chooses_none(scheme: str) -> None:
    assert chosen_at(MIXED, 0, rate=0.0, scheme=scheme) == []


@each_row("rate", [0.01, 0.15, 0.3, 0.5, 0.77, 1.0])
@each_row("words", [1, 2, 7, 20, 61])
def test_the_token_scheme_chooses_exactly_its_budget(rate: float, words: int) -> None:
    chosen = chosen_at(text_of(*[1] * words), 3, rate=rate)
    assert len(chosen) == max(1, round(rate * words))


@each_row("scheme", SCHEMES)
@each_row("rate", [0.15, 0.5, 0.9, 1.0])
def test_every_scheme_fills_its_budget_where_words_are_single_tokens(scheme: str, rate: float) -> None:
    """So no token is counted twice: n-grams that overlapped would fill it with fewer."""
    for seed in range(20):
        assert len(chosen_at(text_of(*[1] * 40), seed, rate=rate, scheme=scheme)) == round(rate * 40)


@each_row("scheme", ["whole_word", "ngram"])
@each_row("rate", [0.05, 0.15, 0.4, 0.9])
def test_schemes_of_several_tokens_never_pass_the_budget(scheme: str, rate: float) -> None:
    tokens = sum(word is not None for word in MIXED)
    for seed in range(200):
        assert 1 <= len(chosen_at(MIXED, seed, rate=rate, scheme=scheme)) <= max(1, round(rate * tokens))


@each_row("scheme", ["whole_word", "ngram"])
@each_row("rate", [0.15, 0.4, 0.9])
def test_a_word_is_chosen_entirely_or_not_at_all(scheme: str, rate: float) -> None:
    for seed in range(200):
        chosen = set(chosen_at(MIXED, seed, rate=rate, scheme=scheme))
        for word in words_of(MIXED):
            assert chosen.isdisjoint(word) or chosen.issuperset(word)


def test_the_token_scheme_does_split_words() -> None:
    """Without this the test above would pass for a scheme that ignores words."""
    words = words_of(MIXED)
    splits = [
        seed
        for seed in range(50)
        if any(0 < len(set(word) & set(chosen_at(MIXED, seed))) < len(word) for word in words)
    ]
    assert splits


@pytest.mark.parametrize("scheme", ["whole_word", "ngram"])
def test_a_single_word_beyond_the_budget_is_predicted_all_the_same(scheme: str) -> None:
    assert chosen_at(text_of(5), 0, rate=0.15, scheme=scheme) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_position_is_chosen_by_some_seed(scheme: str) -> None:
    places = {place for seed in range(300) for place in chosen_at(MIXED, seed, rate=0.3, scheme=scheme)}
    assert places == set(range(1, len(MIXED) - 1))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_seed_gives_the_same_choice_again_and_another_seed_another(scheme: str) -> None:
    word_ids = text_of(*[1] * 200)
    assert chosen_at(word_ids, 5, scheme=scheme) == chosen_at(word_ids, 5, scheme=scheme)
    assert chosen_at(word_ids, 5, scheme=scheme) != chosen_at(word_ids, 6, scheme=scheme)


def test_tokens_are_chosen_uniformly() -> None:
    word_ids = text_of(*[1] * 20)
    counts = Counter(place for seed in range(4000) for place in chosen_at(word_ids, seed, rate=0.05))
    assert stats.chisquare([counts[place] for place in range(1, 21)]).pvalue > FALSE_ALARM


def test_ngrams_are_runs_of_at_most_three_whole_words() -> None:
    """In a long text with few choices two runs hardly ever touch, so each run stands by itself."""
    word_ids = text_of(*[1, 2] * 5000)
    words = words_of(word_ids)
    for seed in range(20):
        chosen = set(chosen_at(word_ids, seed, rate=0.002, scheme="ngram"))
        taken = [number for number, word in enumerate(words) if chosen.issuperset(word)]
        assert sum(len(words[number]) for number in taken) == len(chosen)
        assert max(run_lengths(taken)) <= 3


def run_lengths(numbers: list[int]) -> list[int]:
    lengths = [1]
    for before, number in pairwise(numbers):
        if number == before + 1:
            lengths[-1] += 1
        else:
            lengths.append(1)
    return lengths


def first_ngram_counts(draws: int) -> list[int]:
    """How often the first n-gram drawn has 1, 2 and 3 words.

    In 800 words it seldom meets the end of the text, or the second n-gram beside it (which would make it look longer).
    """
    word_ids = text_of(*[1] * 800)
    generator = torch.Generator().manual_seed(1)
    firsts = (run_lengths(SCHEMES["ngram"].choose(word_ids, 30, generator))[0] for _ in range(draws))
    lengths = Counter(min(length, 3) for length in firsts)
    return [lengths[1], lengths[2], lengths[3]]


def test_ngram_lengths_follow_one_over_n_and_the_test_would_notice_other_lengths() -> None:
    draws = 6000
    counts = first_ngram_counts(draws)
    assert stats.chisquare(counts, [draws * p for p in (6 / 11, 3 / 11, 2 / 11)]).pvalue > FALSE_ALARM
    assert stats.chisquare(counts, [draws * p for p in (1 / 2, 1 / 3, 1 / 6)]).pvalue < FALSE_ALARM
    assert stats.chisquare(counts, [draws / 3] * 3).pvalue < FALSE_ALARM


def test_ngram_probabilities_are_six_three_and_two_elevenths() -> None:
    torch.testing.assert_close(ngram_probabilities(3), torch.tensor([6.0, 3.0, 2.0], dtype=torch.float64) / 11)


def test_words_of_groups_by_word_and_leaves_special_tokens_out() -> None:
    assert words_of([None, 0, 0, 1, None, 1, 2, None]) == [[1, 2], [3], [5], [6]]


def test_the_lab_offers_the_schemes_that_there_are() -> None:
    for params in (schema.CorruptParams, schema.SharesParams, schema.PatternsParams):
        kind = declared(params)["scheme"].kind
        assert isinstance(kind, OneOf)
        assert kind.known == tuple(SCHEMES)
        assert kind.titles == tuple(scheme.title for scheme in SCHEMES.values())


@each_row(
    "wrong",
    [
        {"rate": -0.01},
        {"rate": 1.01},
        {"rate": float("nan")},
        {"mask_share": 1.5},
        {"random_share": -0.1},
        {"mask_share": 0.8, "random_share": 0.3},
        {"scheme": "sentence"},
    ],
)
def test_a_recipe_that_cannot_be_raises_value_error(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        CorruptionRecipe(**wrong)  # type: ignore[arg-type]

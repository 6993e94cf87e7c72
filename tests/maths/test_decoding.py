"""Decodings against transformers' own: which tokens they keep, how they draw, how beams go on."""

from __future__ import annotations

import pytest
import torch
from transformers import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from explorer.maths.decoding import beam_candidates, drawn, in_top_k, in_top_p, tempered
from tests.rows import each_row


@pytest.fixture(scope="module")
def scores() -> torch.Tensor:
    """Logits of six steps: flat, sharp, and with ties."""
    made = torch.randn(6, 300, generator=torch.Generator().manual_seed(0)) * torch.tensor([0.1, 1, 3, 8, 2, 2])[:, None]
    made[4] = made[4].round()
    return made


@each_row("k", [1, 5, 40, 300, 1000])
def test_top_k_keeps_what_transformers_keeps(scores: torch.Tensor, k: int) -> None:
    theirs = TopKLogitsWarper(k)(torch.zeros(6, 1, dtype=torch.long), scores.clone())
    assert torch.equal(in_top_k(scores, k), theirs > -torch.inf)


@each_row("p", [0.01, 0.3, 0.9, 0.99])
def test_top_p_keeps_what_transformers_keeps(scores: torch.Tensor, p: float) -> None:
    distinct = scores[[0, 1, 2, 3, 5]]  # of tokens that are equally likely at the border any may be kept
    theirs = TopPLogitsWarper(p)(torch.zeros(5, 1, dtype=torch.long), distinct.clone())
    assert torch.equal(in_top_p(distinct, p), theirs > -torch.inf)


@pytest.mark.parametrize("p", [0.05, 0.5, 0.9])
def test_the_nucleus_is_the_smallest_set_that_holds_p(scores: torch.Tensor, p: float) -> None:
    shares = scores.double().softmax(-1)
    kept = in_top_p(scores, p)
    mass = (shares * kept).sum(-1)
    least = torch.where(kept, shares, 1).amin(-1)
    assert (mass >= p - 1e-9).all()
    assert (mass - least < p).all()
    assert (torch.where(kept, 0, shares).amax(-1) <= least).all()


def test_top_p_of_one_keeps_every_token_and_what_is_ruled_out_stays_out(scores: torch.Tensor) -> None:
    assert in_top_p(scores[:3], 1.0).all()
    ruled = scores.index_fill(-1, torch.arange(150), -torch.inf)
    for mask in (in_top_p(ruled, 1.0), in_top_k(ruled, 1000)):
        assert not mask[:, :150].any()


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.5])
def test_a_temperature_is_transformers_own(scores: torch.Tensor, temperature: float) -> None:
    theirs = TemperatureLogitsWarper(temperature)(torch.zeros(6, 1, dtype=torch.long), scores.clone()).softmax(-1)
    torch.testing.assert_close(tempered(scores, temperature).float(), theirs)


def test_the_coldest_temperature_is_greedy(scores: torch.Tensor) -> None:
    shares = tempered(scores[:4], 0.0)
    assert shares.argmax(-1).tolist() == scores[:4].argmax(-1).tolist()
    torch.testing.assert_close(shares.amax(-1), torch.ones(4, dtype=torch.float64))


def test_draws_follow_the_distribution_and_never_leave_it() -> None:
    shares = torch.tensor([0.2, 0.0, 0.5, 0.3], dtype=torch.float64)
    found = [drawn(shares, (at + 0.5) / 1000) for at in range(1000)]
    assert [found.count(token) for token in range(4)] == [200, 0, 500, 300]
    assert (drawn(shares, 0.0), drawn(shares, 1.0)) == (2, 0)  # from the likeliest to the last that may be drawn


def test_beams_go_on_with_the_best_sums() -> None:
    ln_p = torch.tensor([[0.5, 0.3, 0.2], [0.9, 0.1, 0.0]]).log()
    found = beam_candidates(ln_p, torch.tensor([0.6, 0.4]).log(), 10)
    assert [(beam, token) for _, beam, token in found] == [(1, 0), (0, 0), (0, 1), (0, 2), (1, 1)]
    torch.testing.assert_close(
        torch.tensor([total for total, _, _ in found]).exp(), torch.tensor([0.36, 0.3, 0.18, 0.12, 0.04])
    )

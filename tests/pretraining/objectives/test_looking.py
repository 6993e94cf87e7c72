"""Where a causal model's heads should look, and what it costs that they look elsewhere."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel

from pretraining.objectives.looking import Looking, what_followed


@pytest.fixture
def model() -> GPT2LMHeadModel:
    torch.manual_seed(0)
    config = GPT2Config(vocab_size=50, n_positions=16, n_embd=16, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0)
    return GPT2LMHeadModel(config).eval()


def test_a_place_looks_at_what_followed_the_same_token_if_the_same_follows_now() -> None:
    #                      0  1  2  3  4  5  6
    row = torch.tensor([[5, 6, 7, 5, 6, 5, 8]])
    wanted = what_followed(row)[0]
    # At 3 the token is 5 and the next one 6, as at 0: look at 1. At 5 the next one is 8, which never followed 5.
    assert wanted.nonzero().tolist() == [[3, 1]]
    repeated = what_followed(torch.tensor([[1, 2, 1, 2, 1, 2]]))[0]
    assert repeated.nonzero().tolist() == [[2, 1], [3, 2], [4, 1], [4, 3]]


def test_it_agrees_with_a_search_place_by_place() -> None:
    ids = np.random.default_rng(0).integers(0, 4, (3, 12))
    wanted = what_followed(torch.from_numpy(ids))
    for row, i, j in np.ndindex(3, 12, 12):
        looks = 0 < j <= i < 11 and ids[row, j - 1] == ids[row, i] and ids[row, j] == ids[row, i + 1]
        assert bool(wanted[row, i, j]) == looks, (row, i, j)
    assert not wanted.triu(1).any(), "never to the right"


def test_the_loss_is_the_mean_of_minus_the_logarithm_of_the_attention(model: GPT2LMHeadModel) -> None:
    ids = torch.tensor([[3, 4, 9, 3, 4, 9, 3, 4], [1, 2, 3, 4, 5, 6, 7, 8]])
    with Looking(model, (0, 1), [(1, 0), (1, 1)]) as looking:
        given = model(ids, output_attentions=True).attentions
        loss, figures = looking.loss(ids)
    attention = [layer.detach().numpy() for layer in given]
    before = np.array([attention[0][row, 1, i, i - 1] for row in range(2) for i in range(1, 8)])
    costs = [-np.log(before).mean()]
    shares = []
    for head in (0, 1):
        found = [
            attention[1][0, head, i, [j for j in range(1, i) if ids[0, j - 1] == ids[0, i]]].sum() for i in range(3, 7)
        ]
        costs.append(-np.log(found).mean())
        shares.append(np.mean(found))
    assert float(loss.detach()) == pytest.approx(sum(costs), rel=1e-5)
    assert figures == pytest.approx({"looks_before": before.mean(), "looks_again": np.mean(shares)})
    loss.backward()
    assert float(model.transformer.h[1].attn.c_attn.weight.grad.norm()) > 0


def test_a_row_without_anything_again_teaches_only_the_head_that_looks_before(model: GPT2LMHeadModel) -> None:
    ids = torch.arange(8)[None]
    with Looking(model, (0, 0), [(1, 1)]) as looking:
        model(ids)
        loss, _ = looking.loss(ids)
    loss.backward()
    assert math.isfinite(float(loss.detach()))
    assert float(model.transformer.h[0].attn.c_attn.weight.grad.norm()) > 0
    assert (
        model.transformer.h[1].attn.c_attn.weight.grad is None
        or not model.transformer.h[1].attn.c_attn.weight.grad.any()
    )


def test_no_hook_stays_and_taught_heads_learn_to_look(model: GPT2LMHeadModel) -> None:
    ids = torch.randint(0, 50, (16, 8), generator=torch.Generator().manual_seed(1)).repeat(1, 2)
    looking = Looking(model, (0, 0), [(1, 1)])
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    told = []
    for _ in range(60):
        with looking:
            model(ids)
            loss, figures = looking.loss(ids)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        told.append(figures)
    assert told[-1]["looks_before"] > 0.8 > 2 * told[0]["looks_before"]
    assert told[-1]["looks_again"] > 2 * told[0]["looks_again"]
    assert looking.attention == {}
    assert not any(block.attn._forward_hooks for block in model.transformer.h)

"""Attention rollout against numpy, by what must not change, and where the answer is known."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from explorer.maths.attention import rollout, with_residual
from tests.rows import each_row


def drawn(layers: int, rows: int = 2, heads: int = 3, length: int = 5, seed: int = 0) -> list[Tensor]:
    draw = torch.Generator().manual_seed(seed)
    return [torch.randn(rows, heads, length, length, generator=draw).softmax(-1) for _ in range(layers)]


@pytest.mark.parametrize("layers", [1, 2, 7])
def test_every_layer_agrees_with_numpy(layers: int) -> None:
    attentions = drawn(layers)
    flows = rollout(attentions)
    assert len(flows) == layers
    for row in range(2):
        expected = np.eye(5)
        for layer, flow in zip(attentions, flows, strict=True):
            mixed = 0.5 * layer[row].double().numpy().mean(0) + 0.5 * np.eye(5)
            expected = (mixed / mixed.sum(1, keepdims=True)) @ expected
            np.testing.assert_allclose(flow[row].numpy(), expected, atol=1e-6)


@each_row("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_rows_sum_to_one_in_any_precision(dtype: torch.dtype) -> None:
    for flow in rollout([layer.to(dtype) for layer in drawn(12)]):
        assert flow.dtype in (torch.float32, torch.float64)
        assert (flow >= 0).all()
        torch.testing.assert_close(flow.sum(-1), torch.ones_like(flow[..., 0]), atol=1e-5, rtol=0)


def test_a_model_that_looks_only_at_itself_mixes_nothing() -> None:
    itself = [torch.eye(4).expand(1, 2, 4, 4)] * 3
    torch.testing.assert_close(rollout(itself)[-1], torch.eye(4)[None])


def test_uniform_attention_halves_what_stays_at_each_layer() -> None:
    uniform = [torch.full((1, 2, 4, 4), 0.25)] * 3
    for depth, flow in enumerate(rollout(uniform), start=1):
        stays = 0.5**depth
        torch.testing.assert_close(flow[0], stays * torch.eye(4) + (1 - stays) * torch.full((4, 4), 0.25))


def test_what_a_causal_model_may_not_see_stays_at_nothing() -> None:
    causal = [layer.tril() / layer.tril().sum(-1, keepdim=True) for layer in drawn(4)]
    for flow in rollout(causal):
        assert torch.equal(flow, flow.tril())


def test_the_order_of_the_heads_does_not_matter_and_that_of_the_layers_does() -> None:
    attentions = drawn(3)
    torch.testing.assert_close(rollout([layer.flip(1) for layer in attentions])[-1], rollout(attentions)[-1])
    assert not torch.allclose(rollout(attentions[::-1])[-1], rollout(attentions)[-1])


def test_rows_of_a_batch_do_not_touch() -> None:
    attentions = drawn(3)
    torch.testing.assert_close(rollout([layer[1:] for layer in attentions])[-1], rollout(attentions)[-1][1:])


def test_half_of_a_layer_is_its_residual() -> None:
    (layer,) = drawn(1)
    torch.testing.assert_close(2 * with_residual(layer) - torch.eye(5), layer.mean(1))


def test_no_layer_and_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one layer"):
        rollout([])
    with pytest.raises(ValueError, match="shape"):
        rollout([torch.ones(3, 4, 4)])
    with pytest.raises(ValueError, match="shape"):
        rollout([torch.ones(1, 2, 3, 4)])
    with pytest.raises(ValueError, match="one text"):
        rollout([*drawn(1, length=4), *drawn(1, length=5)])

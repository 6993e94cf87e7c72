"""Intruder dimensions against numpy, against peft's own count, and by what must hold of any matrix."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from peft import LoraConfig, get_peft_model
from peft.tuners.lora import LoraLayer
from peft.tuners.lora.intruders import reduce_intruder_dimension
from torch import Tensor, nn

from explorer.maths import spectra
from tests.rows import each_row


def matrix(d: int, k: int, seed: int = 0) -> Tensor:
    return torch.randn(d, k, generator=torch.Generator().manual_seed(seed))


def found(weight: Tensor, delta: Tensor, k: int) -> tuple[Tensor, Tensor]:
    return spectra.nearest_directions(spectra.cosines(spectra.dense_svd(weight + delta), spectra.dense_svd(weight), k))


@pytest.mark.parametrize(("d", "k"), [(12, 12), (24, 10), (10, 24)])
def test_the_cosines_are_numpy_s(d: int, k: int) -> None:
    weight, delta = matrix(d, k), 0.7 * matrix(d, 2, 1) @ matrix(2, k, 2)
    u = np.linalg.svd(weight.numpy(), full_matrices=False)[0]
    moved = np.linalg.svd((weight + delta).numpy(), full_matrices=False)[0]
    expected = np.abs(moved.T @ u)[:5]
    ours = spectra.cosines(spectra.dense_svd(weight + delta), spectra.dense_svd(weight), 5)
    np.testing.assert_allclose(ours, expected, atol=1e-4)
    values, places = spectra.nearest_directions(ours)
    np.testing.assert_allclose(values, expected.max(1), atol=1e-4)
    assert places.tolist() == expected.argmax(1).tolist()


def test_without_an_update_every_direction_is_its_own() -> None:
    values, places = found(matrix(16, 12), torch.zeros(16, 12), 12)
    np.testing.assert_allclose(values, 1, atol=1e-5)
    assert places.tolist() == list(range(12))
    assert spectra.count_intruders(values, 0.99) == 0


def test_a_strong_update_outside_of_all_that_w_has_is_the_first_intruder() -> None:
    u = torch.linalg.qr(matrix(10, 10)).Q
    weight = u[:, :6] @ torch.diag(torch.arange(6.0, 0, -1)) @ torch.linalg.qr(matrix(6, 6, 1)).Q
    delta = 50 * u[:, 9:] @ matrix(1, 6, 2)
    values, _ = found(weight, delta, 6)
    assert float(values[0]) < 0.1
    assert spectra.count_intruders(values, 0.5) == 1


@each_row("epsilon", [0.3, 0.6, 0.9, 0.999])
@each_row("k", [3, 8])
def test_there_are_as_many_as_peft_counts(epsilon: float, k: int) -> None:
    torch.manual_seed(0)
    model = get_peft_model(
        nn.Sequential(nn.Linear(24, 24), nn.Linear(24, 40)), LoraConfig(r=4, lora_alpha=8, target_modules=["0", "1"])
    )
    layers = {name: module for name, module in model.named_modules() if isinstance(module, LoraLayer)}
    ours = {}
    with torch.no_grad():
        for module in layers.values():
            module.lora_B["default"].weight.normal_(std=0.4)
        for name, module in layers.items():
            values, _ = found(module.get_base_layer().weight, module.get_delta_weight("default"), k)
            ours[name] = spectra.count_intruders(values, epsilon)
        said: list[str] = []
        reduce_intruder_dimension(model, top_k=k, threshold_epsilon=epsilon, logging_sink=said.append)
    counts = {
        name: 0 if rest == "No intruders" else int(rest.removeprefix("Intruders: "))
        for name, rest in (line.split(": ", 1) for line in said if ": " in line)
    }
    assert ours == counts


def test_some_of_these_counts_are_not_zero() -> None:
    values, _ = found(matrix(24, 24), matrix(24, 2, 1) @ matrix(2, 24, 2), 8)
    assert 0 < spectra.count_intruders(values, 0.9) < 8


def test_chance_is_what_random_directions_have() -> None:
    drawn = np.random.default_rng(3).normal(size=(2000, 64))
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    assert spectra.chance_cosine(spectra.dense_svd(matrix(64, 64))) == pytest.approx(
        np.abs(drawn).max(1).mean(), rel=0.1
    )

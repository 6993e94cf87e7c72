"""The update's spectrum and directions, against numpy's dense decomposition, against draws, and by what must not change."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from explorer.maths import spectra
from tests.rows import each_row

SHAPES = [(48, 32, 4), (32, 48, 8), (40, 40, 1), (16, 12, 20), (12, 16, 16), (3, 5, 2)]
"""d, k, r; the fourth and fifth have more components than the product can have."""


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def factors(d: int, k: int, r: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    draw = generator(seed)
    return torch.randn(r, k, generator=draw), torch.randn(d, r, generator=draw)


def dense(a: Tensor, b: Tensor, scale: float) -> np.ndarray:
    return scale * b.double().numpy() @ a.double().numpy()


@each_row(("d", "k", "r"), SHAPES)
@each_row("scale", [2.0, -0.5])
def test_the_factors_give_what_numpy_gives_for_the_product(d: int, k: int, r: int, scale: float) -> None:
    a, b = factors(d, k, r)
    product = dense(a, b, scale)
    expected = np.linalg.svd(product, compute_uv=False)
    kept = min(d, k, r)
    found = spectra.low_rank_svd(a, b, scale)
    assert found.U.shape == (d, kept)
    assert found.V.shape == (k, kept)
    np.testing.assert_allclose(found.S, expected[:kept], rtol=1e-9)
    np.testing.assert_allclose(spectra.low_rank_spectrum(a, b, scale), expected[:kept], rtol=1e-9)
    np.testing.assert_allclose(expected[kept:], 0, atol=1e-10)
    np.testing.assert_allclose(found.U @ found.S.diag() @ found.V.T, product, atol=1e-10)
    for directions in (found.U, found.V):
        np.testing.assert_allclose(directions.T @ directions, np.eye(kept), atol=1e-12)


def test_a_batch_gives_what_each_pair_gives_alone_with_a_scale_of_its_own() -> None:
    pairs = [factors(24, 20, 3, seed) for seed in range(5)]
    scales = torch.tensor([0.5, 1.0, 2.0, -1.0, 4.0])
    stacked = torch.stack([a for a, _ in pairs]), torch.stack([b for _, b in pairs])
    together = spectra.low_rank_svd(*stacked, scales)
    values = spectra.low_rank_spectrum(*stacked, scales)
    for place, (a, b) in enumerate(pairs):
        np.testing.assert_allclose(values[place], spectra.low_rank_svd(a, b, float(scales[place])).S, rtol=1e-10)
        rebuilt = together.U[place] @ together.S[place].diag() @ together.V[place].T
        np.testing.assert_allclose(rebuilt, dense(a, b, float(scales[place])), atol=1e-10)


def test_small_singular_values_survive_beside_large_ones() -> None:
    """What single precision would lose: seven orders of magnitude apart."""
    left, right = (spectra.random_directions(64, 4, generator(seed)) for seed in (1, 2))
    strengths = torch.tensor([1.0, 1e-2, 1e-5, 1e-7], dtype=torch.float64)
    found = spectra.low_rank_spectrum(right.T, left * strengths, 1.0)
    np.testing.assert_allclose(found, strengths, rtol=1e-7)


def test_another_split_of_the_same_product_changes_nothing() -> None:
    a, b = factors(40, 32, 6)
    mixing = torch.randn(6, 6, generator=generator(3), dtype=torch.float64)
    first = spectra.low_rank_svd(a, b, 1.5)
    second = spectra.low_rank_svd(torch.linalg.inv(mixing) @ a.double(), b.double() @ mixing, 1.5)
    np.testing.assert_allclose(first.S, second.S, rtol=1e-9)
    for one, other in ((first.U, second.U), (first.V, second.V)):
        np.testing.assert_allclose((one.T @ other).abs(), np.eye(6), atol=1e-8)


def test_rotating_the_space_rotates_the_directions_alone() -> None:
    a, b = factors(40, 32, 5)
    turn = spectra.random_directions(32, 32, generator(4))
    plain, turned = spectra.low_rank_svd(a, b, 1.0), spectra.low_rank_svd(a.double() @ turn, b, 1.0)
    np.testing.assert_allclose(plain.S, turned.S, rtol=1e-10)
    np.testing.assert_allclose((turn.T @ plain.V).T @ turned.V, (plain.U.T @ turned.U), atol=1e-9)


def test_an_update_of_zero_has_no_energy_and_no_rank() -> None:
    """LoRA's start: B is zero."""
    values = spectra.low_rank_spectrum(torch.randn(4, 16), torch.zeros(16, 4), 2.0)
    assert values.tolist() == [0.0] * 4
    assert spectra.energy(values).tolist() == [0.0] * 4
    assert float(spectra.effective_rank(values)) == 0
    assert float(spectra.stable_rank(values)) == 0


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_a_dense_matrix_agrees_with_numpy_in_any_precision(dtype: torch.dtype) -> None:
    weight = torch.randn(24, 36, generator=generator()).to(dtype)
    expected = np.linalg.svd(weight.double().numpy(), compute_uv=False)
    np.testing.assert_allclose(spectra.dense_spectrum(weight), expected, rtol=1e-5)
    found = spectra.dense_svd(weight)
    assert (found.U.shape, found.S.shape, found.V.shape) == ((24, 24), (24,), (36, 24))
    np.testing.assert_allclose(found.U @ found.S.diag() @ found.V.T, weight.double(), atol=1e-5)


def test_energy_rises_to_one_by_falling_steps() -> None:
    shares = spectra.energy(torch.tensor([3.0, 2.0, 1.0, 0.0]))
    np.testing.assert_allclose(shares, [9 / 14, 13 / 14, 1, 1])
    batch = spectra.energy(torch.rand(3, 7, generator=generator()).sort(descending=True).values)
    assert batch[:, -1].tolist() == [1.0] * 3
    assert bool((batch.diff() >= 0).all())


def test_the_two_ranks_count_equal_directions_and_ignore_the_scale() -> None:
    for rank in (spectra.effective_rank, spectra.stable_rank):
        assert float(rank(torch.full((6,), 0.3))) == pytest.approx(6)
        assert float(rank(torch.tensor([5.0, 0.0, 0.0]))) == pytest.approx(1)
        values = torch.rand(9, generator=generator()).sort(descending=True).values
        assert float(rank(values)) == pytest.approx(float(rank(1e-6 * values)))
        assert 1 < float(rank(values)) < 9
    shares = np.array([0.5, 0.3, 0.2])
    entropy = -(shares * np.log(shares)).sum()
    assert float(spectra.effective_rank(torch.tensor([5.0, 3.0, 2.0]))) == pytest.approx(math.exp(entropy))
    assert float(spectra.stable_rank(torch.tensor([5.0, 3.0, 2.0]))) == pytest.approx(38 / 25)


@pytest.mark.parametrize(("rows", "columns"), [(192, 192), (96, 192), (192, 48)])
def test_the_random_spectrum_lies_where_gaussian_draws_lie(rows: int, columns: int) -> None:
    drawn = np.random.default_rng(0)
    values = [np.linalg.svd(drawn.standard_normal((rows, columns)), compute_uv=False) for _ in range(4)]
    mean = np.mean([one / np.linalg.norm(one) for one in values], axis=0)
    found = spectra.random_spectrum(rows, columns, 3.0).numpy()
    assert np.linalg.norm(found) == pytest.approx(3.0)
    assert bool((np.diff(found) < 0).all())
    np.testing.assert_allclose(found, 3.0 * mean, atol=0.015 * found[0])


def test_the_random_product_has_the_norm_and_the_rank_and_is_nearly_flat() -> None:
    values = spectra.random_product_spectrum(512, 512, 8, 2.0)
    assert values.shape == (8,)
    assert float(values.norm()) == pytest.approx(2.0)
    assert float(values[0] / values[-1]) < 1.6
    assert spectra.random_product_spectrum(6, 9, 64, 1.0).shape == (6,)


def similarity_by_definition(one: Tensor, other: Tensor) -> np.ndarray:
    x, y = one.double().numpy(), other.double().numpy()
    return np.array(
        [
            [np.linalg.norm(x[:, :i].T @ y[:, :j]) ** 2 / min(i, j) for j in range(1, y.shape[1] + 1)]
            for i in range(1, x.shape[1] + 1)
        ]
    )


def test_similarity_is_the_paper_s_definition_for_every_pair_of_counts() -> None:
    one, other = (spectra.random_directions(20, count, generator(count)) for count in (4, 9))
    found = spectra.subspace_similarity(one, other)
    np.testing.assert_allclose(found, similarity_by_definition(one, other), atol=1e-12)
    assert bool(((found >= 0) & (found <= 1)).all())
    np.testing.assert_allclose(found, spectra.subspace_similarity(other, one).T)


def test_similarity_knows_the_same_the_contained_and_the_orthogonal() -> None:
    basis = spectra.random_directions(20, 12, generator())
    np.testing.assert_allclose(spectra.subspace_similarity(basis, basis).diagonal(), np.ones(12), atol=1e-12)
    np.testing.assert_allclose(spectra.subspace_similarity(basis[:, :5], basis), np.ones((5, 12)), atol=1e-12)
    np.testing.assert_allclose(spectra.subspace_similarity(basis[:, :6], basis[:, 6:]), np.zeros((6, 6)), atol=1e-12)


def test_the_random_similarity_is_the_mean_of_many_draws() -> None:
    draw, width, ra, rb = generator(7), 24, 3, 8
    draws = [
        spectra.subspace_similarity(
            spectra.random_directions(width, ra, draw), spectra.random_directions(width, rb, draw)
        )
        for _ in range(3000)
    ]
    mean = torch.stack(draws).mean(0)
    np.testing.assert_allclose(mean, spectra.expected_similarity(width, ra, rb), rtol=0.08)
    assert float(spectra.expected_similarity(24, 3, 24)[2, 23]) == 1


def test_random_directions_are_orthonormal_and_seeded() -> None:
    one, again = (spectra.random_directions(30, 7, generator(5)) for _ in range(2))
    np.testing.assert_allclose(one.T @ one, np.eye(7), atol=1e-12)
    assert torch.equal(one, again)
    assert not torch.equal(one, spectra.random_directions(30, 7, generator(6)))


def test_an_update_that_is_c_times_w_amplifies_its_own_directions_by_c() -> None:
    weight = torch.randn(24, 16, generator=generator(), dtype=torch.float64)
    delta = spectra.dense_svd(3.5 * weight)
    whole = spectra.amplification(delta, weight, 16)
    assert whole.delta_norm / whole.by_delta == pytest.approx(3.5)
    assert whole.by_weight == pytest.approx(whole.weight_norm)
    part = spectra.amplification(delta, weight, 4)
    assert part.inside / part.by_delta == pytest.approx(3.5)
    assert part.by_delta == pytest.approx(part.by_weight)


def test_the_norms_of_amplification_are_those_of_dense_projections() -> None:
    a, b = factors(24, 16, 5)
    weight = torch.randn(24, 16, generator=generator(9))
    found = spectra.amplification(spectra.low_rank_svd(a, b, 2.0), weight, 3)
    w, product = weight.double().numpy(), dense(a, b, 2.0)
    u, _, vt = np.linalg.svd(product)
    assert found.by_delta == pytest.approx(np.linalg.norm(u[:, :3].T @ w @ vt[:3].T))
    assert found.inside == pytest.approx(np.linalg.norm(u[:, :3].T @ product @ vt[:3].T))
    assert found.delta_norm == pytest.approx(np.linalg.norm(product))
    u, _, vt = np.linalg.svd(w)
    assert found.by_weight == pytest.approx(np.linalg.norm(u[:, :3].T @ w @ vt[:3].T))
    assert found.by_weight >= found.by_delta


def test_the_random_projection_is_the_root_mean_square_of_draws() -> None:
    weight = torch.randn(12, 20, generator=generator(), dtype=torch.float64) ** 3
    delta = spectra.low_rank_svd(*factors(12, 20, 4), 1.0)
    draw = generator(8)
    squares = [
        float(
            (spectra.random_directions(12, 4, draw).T @ weight @ spectra.random_directions(20, 4, draw)).norm().square()
        )
        for _ in range(3000)
    ]
    assert spectra.amplification(delta, weight, 4).by_random == pytest.approx(math.sqrt(np.mean(squares)), rel=0.05)


@pytest.mark.parametrize("r", [0, -1, 6])
def test_amplification_takes_no_more_directions_than_there_are(r: int) -> None:
    with pytest.raises(ValueError, match="from 1 to 5"):
        spectra.amplification(spectra.low_rank_svd(*factors(24, 16, 5), 1.0), torch.randn(24, 16), r)


@pytest.mark.parametrize(("d", "k"), [(24, 16), (16, 24), (20, 20)])
def test_placement_is_the_energy_of_the_update_along_each_direction_of_w(d: int, k: int) -> None:
    a, b = factors(d, k, 3)
    weight = torch.randn(d, k, generator=generator(2), dtype=torch.float64)
    left, right = spectra.placement(spectra.low_rank_svd(a, b, 2.0), spectra.dense_svd(weight))
    product = dense(a, b, 2.0)
    u, _, vt = np.linalg.svd(weight.numpy(), full_matrices=False)
    total = np.linalg.norm(product) ** 2
    np.testing.assert_allclose(left, np.linalg.norm(u.T @ product, axis=1) ** 2 / total, atol=1e-12)
    np.testing.assert_allclose(right, np.linalg.norm(product @ vt.T, axis=0) ** 2 / total, atol=1e-12)
    assert float(left.sum()) == pytest.approx(1) if d <= k else float(left.sum()) < 1
    assert float(right.sum()) == pytest.approx(1) if k <= d else float(right.sum()) < 1


def test_an_update_along_one_direction_of_w_is_placed_there() -> None:
    weight = spectra.dense_svd(torch.randn(12, 12, generator=generator(), dtype=torch.float64))
    a, b = weight.V[:, 7:8].T, weight.U[:, 2:3]
    left, right = spectra.placement(spectra.low_rank_svd(a, b, 5.0), weight)
    np.testing.assert_allclose(left, np.eye(12)[2], atol=1e-12)
    np.testing.assert_allclose(right, np.eye(12)[7], atol=1e-12)


def test_nothing_is_placed_nowhere() -> None:
    zero = spectra.low_rank_svd(torch.randn(2, 9), torch.zeros(9, 2), 1.0)
    left, right = spectra.placement(zero, spectra.dense_svd(torch.eye(9)))
    assert float(left.sum()) == float(right.sum()) == 0


def test_directions_are_counted_up_to_a_share_of_the_energy() -> None:
    values = torch.tensor([3.0, 2.0, 1.0, 1.0])  # energies 9, 4, 1, 1 of 15
    counted = [spectra.directions_for(values, share) for share in (0.5, 0.6, 0.61, 0.9, 1.0)]
    assert counted == [1, 1, 2, 3, 4]
    assert spectra.directions_for(torch.zeros(3), 0.5) == 0

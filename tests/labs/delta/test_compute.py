"""From updates to plain results, against dense numpy and by what must hold of any update."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from explorer.errors import BadInputError, ExplorerError, ModelUnavailableError
from explorer.labs.delta import compute, updates
from explorer.labs.delta.schema import KEPT
from explorer.tuning.deltas import Delta, Dense, LowRank
from tests.labs.delta.samples import RANK, WIDTH, dense, lora, weights

ADAPTER = Path(__file__).resolve().parents[4] / "shared" / "data" / "lora" / "roberta_base_lora_mnli.bin"


def test_every_site_has_numpy_s_spectrum_in_the_order_of_layers_and_modules() -> None:
    deltas = lora()
    base = weights(deltas)
    found = compute.spectrum(deltas, updates.BaseWeights(base), "a run", 30)
    assert (found.name, found.step) == ("a run", 30)
    assert [(s.layer, s.module) for s in found.sites[:4]] == [(0, "query"), (0, "value"), (0, "ffn_out"), (1, "query")]
    for site in found.sites:
        matrix = deltas[site.layer, site.module].dense().double().numpy()
        values = np.linalg.svd(matrix, compute_uv=False)
        assert (site.rows, site.columns, site.rank, site.low_rank) == (*matrix.shape, RANK, True)
        np.testing.assert_allclose(site.values, values[:RANK], rtol=1e-5)
        assert site.norm == pytest.approx(np.linalg.norm(matrix), rel=1e-5)
        assert site.energy[-1] == pytest.approx(1)
        assert site.energy[0] == pytest.approx(1 / site.stable_rank, rel=1e-5)
        weight = base[site.layer, site.module].double().numpy()
        np.testing.assert_allclose(site.weight or (), np.linalg.svd(weight, compute_uv=False), rtol=1e-4)
        assert site.weight_norm == pytest.approx(np.linalg.norm(weight), rel=1e-5)


def test_the_references_have_the_norm_of_the_update() -> None:
    for site in compute.spectrum(lora()).sites:
        assert np.linalg.norm(site.random) == pytest.approx(site.norm)
        assert np.linalg.norm(site.random_product or ()) == pytest.approx(site.norm)
        assert len(site.random_product or ()) == RANK
        assert len(site.random) == WIDTH


def test_a_dense_update_agrees_with_its_factors_and_has_no_product_beside_it() -> None:
    deltas = lora()
    for low, full in zip(compute.spectrum(deltas).sites, compute.spectrum(dense(deltas)).sites, strict=True):
        np.testing.assert_allclose(full.values[:RANK], low.values, rtol=1e-4)
        np.testing.assert_allclose(full.values[RANK:], 0, atol=1e-5)
        assert (full.rank, full.low_rank, full.random_product) == (WIDTH, False, None)
        assert full.effective_rank == pytest.approx(low.effective_rank, rel=1e-3)


def test_without_the_base_model_only_what_needs_it_is_left_out() -> None:
    deltas = lora()
    whole = compute.spectrum(deltas, updates.BaseWeights(weights(deltas)))
    bare = compute.spectrum(deltas)
    assert [replace(site, weight=None, weight_norm=None) for site in whole.sites] == list(bare.sites)
    for call in (
        lambda: compute.amplification(deltas, None, 0, "query", 2),
        lambda: compute.factors(deltas, None, "query", 2),
        lambda: compute.placement(deltas, None, 0, "query"),
    ):
        with pytest.raises(ModelUnavailableError, match="base model"):
            call()


def test_ranks_and_scales_may_differ_from_matrix_to_matrix() -> None:
    """peft's rank_pattern and alpha_pattern."""
    one, other = lora(rank=2), lora(rank=5, seed=1)
    deltas: dict[tuple[int, str], Delta] = {(0, "query"): one[0, "query"], (1, "query"): other[1, "query"]}
    third = lora(rank=2, seed=2)[2, "query"]
    assert isinstance(third, LowRank)
    deltas[2, "query"] = replace(third, scale=7.0)
    for site in compute.spectrum(deltas).sites:
        matrix = deltas[site.layer, "query"].dense().double().numpy()
        np.testing.assert_allclose(site.values, np.linalg.svd(matrix, compute_uv=False)[: len(site.values)], rtol=1e-5)


def test_of_a_wide_matrix_the_first_values_are_kept_and_the_totals_are_of_all() -> None:
    matrix = torch.randn(96, 96, generator=torch.Generator().manual_seed(0))
    (site,) = compute.spectrum({(0, "query"): Dense(matrix)}).sites
    assert len(site.values) == len(site.energy) == len(site.random) == KEPT < site.rank == 96
    assert site.norm == pytest.approx(float(matrix.norm()), rel=1e-5)
    assert site.energy[-1] < 1
    assert site.effective_rank > KEPT


def test_w_is_decomposed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    deltas = lora()
    base = updates.BaseWeights(weights(deltas))
    first = compute.spectrum(deltas, base)
    monkeypatch.setattr(compute.spectra, "dense_spectrum", lambda _: pytest.fail("decomposed again"))
    assert compute.spectrum(deltas, base) == first


def test_an_update_of_zero_is_drawn_and_has_no_directions() -> None:
    deltas: dict[tuple[int, str], Delta] = {(0, "query"): LowRank(torch.randn(4, 8), torch.zeros(8, 4), 2.0)}
    (site,) = compute.spectrum(deltas).sites
    assert site.norm == site.effective_rank == sum(site.energy) == sum(site.random) == 0
    with pytest.raises(BadInputError, match="still zero"):
        compute.similarity(deltas, deltas, 0, "query", "right")
    with pytest.raises(BadInputError, match="still zero"):
        compute.amplification(deltas, updates.BaseWeights(weights(deltas)), 0, "query", 2)
    assert sum(compute.placement(deltas, updates.BaseWeights(weights(deltas)), 0, "query").right) == 0


@pytest.mark.parametrize("broken", [float("nan"), float("inf")])
def test_a_diverged_run_is_said_to_be_one(broken: float) -> None:
    low = LowRank(torch.full((2, 8), broken), torch.ones(8, 2), 1.0)
    for delta in (low, Dense(torch.full((8, 8), broken))):
        with pytest.raises(ExplorerError, match="diverged"):
            compute.spectrum({(0, "query"): delta})
        with pytest.raises(ExplorerError, match="diverged"):
            compute.similarity({(0, "query"): delta}, {(0, "query"): delta}, 0, "query", "right")


def test_a_run_with_nothing_to_show_says_which_would_have() -> None:
    with pytest.raises(BadInputError, match="changes no weight matrix"):
        compute.spectrum({}, name="Prompt tuning")
    with pytest.raises(BadInputError, match="query, value in layers 0 to 2"):
        compute.similarity(lora(), lora(), 3, "query")
    with pytest.raises(BadInputError, match="choose one of"):
        compute.factors(lora(), None, "key", 2)


def test_the_similarity_of_a_run_with_itself_is_one_and_symmetric_between_two() -> None:
    same = np.array(compute.similarity(lora(), lora(), 1, "value").phi)
    np.testing.assert_allclose(np.diag(same), 1, atol=1e-6)
    one = compute.similarity(lora(seed=0), lora(rank=6, seed=1), 1, "value", names=("a", "b"))
    other = compute.similarity(lora(rank=6, seed=1), lora(seed=0), 1, "value")
    np.testing.assert_allclose(one.phi, np.array(other.phi).T, atol=1e-12)
    assert np.shape(one.phi) == np.shape(one.expected) == np.shape(one.drawn) == (RANK, 6)
    assert (one.name_a, one.name_b, one.basis, one.width) == ("a", "b", "A", WIDTH)


@pytest.mark.parametrize("basis", ["A", "B", "right", "left"])
def test_each_basis_takes_the_directions_that_it_names(basis: str) -> None:
    one, other = lora(seed=0)[1, "query"], lora(seed=1)[1, "query"]
    assert isinstance(one, LowRank)
    assert isinstance(other, LowRank)

    def directions(delta: LowRank) -> np.ndarray:
        matrix = {"A": delta.A, "B": delta.B}.get(basis, delta.dense()).double().numpy()
        u, _, vt = np.linalg.svd(matrix, full_matrices=False)
        return np.asarray((u if basis in ("B", "left") else vt.T)[:, :RANK])

    found = compute.similarity({(1, "query"): one}, {(1, "query"): other}, 1, "query", basis)
    x, y = directions(one), directions(other)
    expected = np.linalg.norm(x[:, :2].T @ y[:, :3]) ** 2 / 2
    assert found.phi[1][2] == pytest.approx(expected, abs=1e-6)
    assert found.phi[-1][-1] == pytest.approx(np.linalg.norm(x.T @ y) ** 2 / RANK, abs=1e-6)


def test_full_fine_tuning_is_compared_by_its_own_directions_without_those_that_carry_nothing() -> None:
    deltas = lora()
    mixed = compute.similarity(deltas, dense(deltas), 0, "query")
    assert mixed.basis == "right"
    assert np.shape(mixed.phi) == (RANK, RANK)
    np.testing.assert_allclose(np.diag(mixed.phi), 1, atol=1e-4)
    with pytest.raises(BadInputError, match="Only LoRA"):
        compute.similarity(deltas, dense(deltas), 0, "query", "A")
    with pytest.raises(BadInputError, match="A, B, right, left"):
        compute.similarity(deltas, deltas, 0, "query", "middle")


def test_runs_of_two_models_cannot_be_compared() -> None:
    with pytest.raises(BadInputError, match="different widths"):
        compute.similarity(lora(), lora(width=24), 0, "query")


def test_the_factor_of_c_times_w_is_c_for_its_own_directions() -> None:
    base = {(0, "query"): torch.randn(12, 8, generator=torch.Generator().manual_seed(0))}
    deltas: dict[tuple[int, str], Delta] = {(0, "query"): Dense(2.5 * base[0, "query"])}
    found = compute.amplification(deltas, updates.BaseWeights(base), 0, "query", 8)
    assert found.of("ΔW").factor == pytest.approx(2.5, rel=1e-5)
    (layer,) = compute.factors(deltas, updates.BaseWeights(base), "query", 3).layers
    assert layer.factor == pytest.approx(2.5, rel=1e-5)
    assert layer.energy == pytest.approx(compute.spectrum(deltas).sites[0].energy[2], rel=1e-5)
    assert layer.energy < 1
    assert layer.emphasis > 1


def test_the_factors_by_layer_are_the_paper_s_where_r_is_lora_s_rank() -> None:
    deltas = lora()
    base = updates.BaseWeights(weights(deltas))
    found = compute.factors(deltas, base, "value", RANK, "run")
    assert [entry.layer for entry in found.layers] == [0, 1, 2]
    for entry in found.layers:
        one = compute.amplification(deltas, base, entry.layer, "value", RANK)
        assert entry.factor == pytest.approx(one.of("ΔW").factor)
        assert entry.energy == pytest.approx(1)
        assert entry.emphasis == pytest.approx(one.of("ΔW").projected_norm / one.of("random").projected_norm)


def test_below_the_rank_both_norms_are_of_the_same_directions() -> None:
    deltas = lora()
    base = weights(deltas)
    one = compute.amplification(deltas, updates.BaseWeights(base), 0, "query", 1)
    dense = deltas[0, "query"].dense().double()  # type: ignore[union-attr]
    left, values, right = torch.linalg.svd(dense)
    held = abs(float(left[:, 0] @ base[0, "query"].double() @ right[0]))
    assert one.of("ΔW").factor == pytest.approx(float(values[0]) / held, rel=1e-4)
    assert one.delta_norm > 1.01 * float(values[0])


@pytest.mark.parametrize("r", [0, RANK + 1])
def test_r_ends_at_the_rank(r: int) -> None:
    deltas = lora()
    with pytest.raises(BadInputError, match=f"from 1 to {RANK}"):
        compute.amplification(deltas, updates.BaseWeights(weights(deltas)), 0, "query", r)


def test_another_model_s_weights_are_refused_with_both_shapes() -> None:
    deltas = lora()
    with pytest.raises(BadInputError, match="16 x 16, and the model has one of 24 x 24"):
        compute.spectrum(deltas, updates.BaseWeights(weights(lora(width=24))))
    with pytest.raises(BadInputError, match="no such matrix"):
        compute.spectrum(deltas, updates.BaseWeights({}))


@pytest.mark.parametrize("module", ["query", "ffn_out"])
def test_placement_covers_all_of_w_once(module: str) -> None:
    deltas = lora()
    found = compute.placement(deltas, updates.BaseWeights(weights(deltas)), 0, module)
    assert found.starts[0] == 1
    assert found.last == WIDTH
    assert len(found.starts) == len(found.right) == len(found.left) == min(compute.BINS, WIDTH)
    assert sum(found.left) + found.outside_left == pytest.approx(1)
    assert sum(found.right) + found.outside_right == pytest.approx(1)
    assert (found.outside_right > 0) == (module == "ffn_out")
    assert sum(found.expected_left) == pytest.approx(1)
    assert sum(found.expected_right) == pytest.approx(WIDTH / deltas[0, module].dense().shape[1])


def test_placement_finds_an_update_made_of_w_s_strongest_directions() -> None:
    weight = torch.randn(48, 48, generator=torch.Generator().manual_seed(1))
    u, s, vt = torch.linalg.svd(weight)
    deltas: dict[tuple[int, str], Delta] = {(0, "query"): LowRank(vt[:2], u[:, 46:] * s[:2], 0.5)}
    found = compute.placement(deltas, updates.BaseWeights({(0, "query"): weight}), 0, "query")
    assert found.starts[1] == 4
    assert found.right[0] == pytest.approx(1, abs=1e-4)
    assert found.left[-1] == pytest.approx(1, abs=1e-4)


@pytest.fixture(scope="module")
def published() -> dict[tuple[int, str], Delta]:
    """The LoRA authors' RoBERTa-base run on MNLI: r = 8, alpha = 16."""
    if not ADAPTER.exists():
        pytest.skip(f"{ADAPTER} is not on this machine")
    tensors = torch.load(ADAPTER, weights_only=True, map_location="cpu")
    name = "roberta.encoder.layer.{}.attention.self.{}.lora_{}"
    return {
        (layer, role): LowRank(tensors[name.format(layer, role, "A")], tensors[name.format(layer, role, "B")], 16 / 8)
        for layer in range(12)
        for role in ("query", "value")
    }


def test_the_published_adapter_has_the_spectra_that_were_measured(published: dict[tuple[int, str], Delta]) -> None:
    found = compute.spectrum(published)
    norms = [site.norm for site in found.of("query")]
    assert (round(min(norms), 1), round(max(norms), 1)) == (7.6, 14.4)
    assert found.of("query")[11].energy[0] == pytest.approx(0.99, abs=0.005)
    for site in (found.of("query")[11], found.of("value")[0]):  # a dense SVD is slow
        matrix = published[site.layer, site.module].dense().double().numpy()
        values = np.linalg.svd(matrix, compute_uv=False)
        np.testing.assert_allclose(site.values, values[:8], atol=1e-5)
        assert values[8] < 1e-5

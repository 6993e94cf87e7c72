"""W's whole spectrum beside ΔW's: computed, drawn, said."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from explorer.errors import BadInputError, ModelUnavailableError
from explorer.labs.delta import weight as figures
from explorer.labs.delta.jobs import whole_spectra
from explorer.labs.delta.updates import BaseWeights
from explorer.labs.delta.weight import SHARES, WholeSpectra
from explorer.tuning.deltas import Delta, Dense, LowRank
from tests.labs.delta.samples import RANK, WIDTH, dense, lora, weights
from tests.labs.drawing import assert_draws


@pytest.fixture
def whole() -> WholeSpectra:
    deltas = lora()
    return whole_spectra(deltas, BaseWeights(weights(deltas)), 1, "query", "LoRA")


def test_it_has_all_of_numpy_s_singular_values_and_counts_their_energy() -> None:
    deltas = lora()
    base = weights(deltas)
    for site in ((1, "query"), (0, "ffn_out")):
        result = whole_spectra(deltas, BaseWeights(base), *site)
        both = ((result.weight, base[site]), (result.update, deltas[site].dense()))
        for found, matrix in both:
            values = np.linalg.svd(matrix.double().numpy(), compute_uv=False)[: len(found.values)]
            np.testing.assert_allclose(found.values, values, rtol=1e-4)
            held = np.cumsum(values**2) / np.sum(values**2)
            np.testing.assert_allclose(found.energy, held, atol=1e-5)
            assert found.needed == tuple(int(np.argmax(held >= share)) + 1 for share in SHARES)
        assert (len(result.weight.values), result.rank, result.directions) == (WIDTH, RANK, WIDTH)
        assert len(result.random.values) == WIDTH


def test_what_it_needs_is_asked_for() -> None:
    with pytest.raises(ModelUnavailableError):
        whole_spectra(lora(), None, 0, "query")
    with pytest.raises(BadInputError, match="choose one of"):
        whole_spectra(lora(), None, 0, "key")


def test_the_curves_stand_on_shares_and_the_update_ends_at_its_rank(whole: WholeSpectra) -> None:
    figure = assert_draws(figures.whole_figure(whole))
    energy, strength = ({trace.name: trace for trace in figure.data if trace.yaxis == axis} for axis in ("y", "y2"))
    assert set(energy) == set(strength) == {"W", "ΔW", "random matrix"}
    assert tuple(energy["ΔW"].x) == pytest.approx([(place + 1) / WIDTH for place in range(RANK)])
    assert tuple(energy["W"].x)[-1] == 1
    assert tuple(energy["W"].y) == whole.weight.energy
    assert strength["W"].y[0] == 1
    assert strength["ΔW"].y[1] == pytest.approx(whole.update.values[1] / whole.update.values[0])


def test_the_sentence_speaks_of_the_update_and_of_who_bounds_it(whole: WholeSpectra) -> None:
    said = figures.whole_sentence(whole).striptags()
    assert said.endswith(f"energy W needs {whole.weight.needed[1]} directions, ΔW {whole.update.needed[1]}.")
    text = figures.whole_notes(whole).striptags()
    needed = whole.weight.needed[1], whole.update.needed[1], whole.random.needed[1]
    assert f"W needs {needed[0]} of its 16 directions for 90.0% of its energy (a random matrix: {needed[2]})" in text
    assert f"ΔW {needed[1]} for as much of its own. W is not of low rank. ΔW's factors allow it 4 directions" in text
    full = whole_spectra(dense(lora()), BaseWeights(weights(lora())), 1, "query")
    assert f"takes {needed[0] / needed[1]:.1f} times fewer than W" in figures.whole_notes(full).striptags()


def test_an_update_as_spread_as_w_is_said_to_be_so_and_a_w_of_low_rank_too() -> None:
    weight = torch.randn(16, 16, generator=torch.Generator().manual_seed(1))
    deltas: dict[tuple[int, str], Delta] = {(0, "query"): Dense(weight.flip(0))}
    text = figures.whole_notes(whole_spectra(deltas, BaseWeights({(0, "query"): weight}), 0, "query"))
    assert "it takes about as many as W" in text
    spectra = whole_spectra(deltas, BaseWeights({(0, "query"): weight}), 0, "query")
    for own, update, said in ((105, 100, "1.1 times fewer"), (104, 100, "about as many"), (100, 106, "1.1 times more")):
        assert f"it takes {said}" in figures._verdict(spectra, own, update)
    thin = weight[:, :1] @ weight[:1]
    text = figures.whole_notes(whole_spectra(deltas, BaseWeights({(0, "query"): thin}), 0, "query"))
    assert "W itself lies in few directions" in text


def test_an_update_of_zero_is_drawn_and_said_to_be_the_start() -> None:
    deltas: dict[tuple[int, str], Delta] = {(0, "query"): LowRank(torch.randn(4, 8), torch.zeros(8, 4), 2.0)}
    result = whole_spectra(deltas, BaseWeights({(0, "query"): torch.randn(8, 8)}), 0, "query")
    assert "still zero" in figures.whole_sentence(result)
    assert result.update.needed == (0, 0, 0)
    assert_draws(figures.whole_figure(result))


def test_the_table_has_every_direction_and_nothing_beyond_the_update_s_rank(whole: WholeSpectra) -> None:
    table = figures.whole_table(whole)
    assert [row[0] for row in table.rows] == list(range(1, WIDTH + 1))
    row = dict(zip(table.columns, table.rows[RANK - 1], strict=True))
    assert row["update_energy"] == pytest.approx(1)
    assert row["weight_value"] == whole.weight.values[RANK - 1]
    assert row["random_energy"] == whole.random.energy[RANK - 1]
    after = dict(zip(table.columns, table.rows[RANK], strict=True))
    assert after["update_value"] is after["update_energy"] is None


def test_the_counts_stand_below(whole: WholeSpectra) -> None:
    text = figures.whole_facts(whole).striptags()
    assert f"90% in {whole.weight.needed[1]}" in text
    assert f"99% in {whole.update.needed[2]}" in text

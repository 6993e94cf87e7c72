"""Intruder dimensions of runs: computed layer by layer, drawn, said."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.labs.delta import intruders_figures as figures
from explorer.labs.delta.intruders import (
    IntruderResult,
    LayerCosines,
    RunIntruders,
    TrainedIntruders,
    intruders_table,
    trained_table,
)
from explorer.labs.delta.intruders_jobs import matrix_cosines
from explorer.labs.delta.updates import BaseWeights
from explorer.runs.comparing import Compared
from tests.labs.delta.samples import WIDTH, dense, lora, weights
from tests.labs.drawing import HOSTILE, assert_draws, assert_safe


def run(name: str = "LoRA r=8 · cats", low: float = 0.1, low_rank: bool = True) -> RunIntruders:
    """Three directions in two layers: in the chosen one, layer 1, the second is an intruder of |cos| `low`."""
    grid = ((0.9, 0.1, 0.0), (0.1, low, 0.05), (0.0, 0.2, 0.8))
    layers = (LayerCosines(1, (0.9, low, 0.8), (1, 9, 3)), LayerCosines(0, (0.95, 0.85, 0.4), (1, 2, 7)))
    return RunIntruders(name, low_rank, grid, layers, 0.25)


def result(*runs: RunIntruders, done: int = 2, epsilon: float = 0.5) -> IntruderResult:
    made = runs or (run(), run("LoRA r=64 · cats", 0.7))
    return IntruderResult(1, "query", 3, epsilon, made, done, 2)


@pytest.mark.parametrize("module", ["query", "ffn_out"])
def test_the_cosines_are_those_of_the_sum_with_all_of_w_s(module: str) -> None:
    deltas = lora()
    base = weights(deltas)
    found = matrix_cosines(deltas, BaseWeights(base), 0, module)
    weight = base[0, module].double().numpy()
    u = np.linalg.svd(weight, full_matrices=False)[0]
    moved = np.linalg.svd(weight + deltas[0, module].dense().double().numpy(), full_matrices=False)[0]
    expected = np.abs(moved.T @ u)
    one = found.layer(0, 5)
    np.testing.assert_allclose(one.largest, expected.max(1)[:5], atol=1e-3)
    assert one.closest == tuple(int(place) + 1 for place in expected.argmax(1)[:5])
    np.testing.assert_allclose(found.first(4), expected[:4, :4], atol=1e-3)
    assert found.low_rank
    assert np.shape(found.first(100)) == (WIDTH, WIDTH)


def test_a_dense_update_is_no_lora_and_gives_the_same() -> None:
    deltas = lora()
    one, other = (matrix_cosines(kind, BaseWeights(weights(deltas)), 1, "value") for kind in (deltas, dense(deltas)))
    assert not other.low_rank
    np.testing.assert_allclose(one.largest, other.largest, atol=1e-3)


def test_the_table_has_a_row_for_each_direction_layer_by_layer() -> None:
    table = intruders_table(result())
    assert table.columns == ("run", "layer", "vector", "largest_cosine", "closest", "intruder")
    assert [row[1:] for row in table.rows[:6]] == [
        (0, 1, 0.95, 1, 0),
        (0, 2, 0.85, 2, 0),
        (0, 3, 0.4, 7, 1),
        (1, 1, 0.9, 1, 0),
        (1, 2, 0.1, 9, 1),
        (1, 3, 0.8, 3, 0),
    ]
    assert len(table.rows) == 12
    assert trained_table(TrainedIntruders(Compared(()), result())) == table
    assert not trained_table(TrainedIntruders(Compared(()))).rows


def test_the_sentences_count_those_of_the_matrix_and_of_all_layers() -> None:
    text = figures.cosines_sentence(result()).striptags()
    assert text == "Layer 1, query: LoRA r=8 has 1 intruder, LoRA r=64 has no intruder."
    text = figures.cosines_notes(result()).striptags()
    assert "Layer 1, query. Of W + ΔW's first 3 directions LoRA r=8 has 1 intruder" in text
    assert "(the largest |cos| of direction 2 with any of W's is 0.1); LoRA r=64 has no intruder" in text
    text = figures.counts_sentence(result()).striptags()
    assert text == "In query of 2 layers LoRA r=8 has 2 intruders, LoRA r=64 has 1 intruder."
    text = figures.counts_notes(result()).striptags()
    assert (
        "Below ε = 0.5, in query of 2 layers: LoRA r=8 has 2 intruders (33.3% of 6), LoRA r=64 has 1 intruder" in text
    )
    assert "random direction is 0.25" in text
    assert "1 of 2 layers so far" in figures.counts_sentence(result(done=1))


def test_runs_of_both_kinds_are_held_against_the_paper() -> None:
    full = run("Full · cats", 0.9, low_rank=False)
    assert "LoRA has more of them, as Shuttleworth" in figures.counts_notes(result(run(), full))
    turned = figures.counts_notes(result(run(low=0.9), run("Full · cats", 0.1, low_rank=False)))
    assert "these two runs do not show that." in turned
    none = figures.counts_notes(result(run(), full, epsilon=0.0))
    assert "none in either" in none
    assert "Shuttleworth" not in figures.counts_notes(result())


def test_two_runs_of_one_kind_keep_their_whole_names() -> None:
    text = figures.cosines_sentence(result(run("LoRA r=8 · cats"), run("LoRA r=8 · dogs"))).striptags()
    assert "LoRA r=8 · cats" in text
    assert "LoRA r=8 · dogs" in text


def test_the_heatmaps_share_a_scale_from_none_to_all() -> None:
    figure = assert_draws(figures.cosines_figure(result()))
    grids = [trace for trace in figure.data if trace.type == "heatmap"]
    assert [trace.z[1] for trace in grids] == [[0.1, 0.1, 0.05], [0.1, 0.7, 0.05]]
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == (0, 1)
    assert_draws(figures.cosines_figure(result(run())))


def test_counts_grow_with_the_threshold_up_to_all() -> None:
    figure = assert_draws(figures.counts_figure(result()))
    curves = [trace for trace in figure.data if trace.mode == "lines"]
    dots = [trace for trace in figure.data if trace.mode == "markers"]
    assert [tuple(trace.y) for trace in dots] == [(0.9, 0.1, 0.8), (0.9, 0.7, 0.8)]
    for curve, one in zip(curves, result().runs, strict=True):
        assert list(curve.y) == sorted(curve.y)
        assert (curve.y[0], curve.y[-1]) == (0, 6)
        assert curve.y[25] == one.count(0.5)


@pytest.mark.parametrize("text", HOSTILE)
def test_names_stay_text(text: str) -> None:
    made = result(run(text))
    assert_safe(figures.cosines_sentence(made), text)
    assert_safe(figures.counts_sentence(made), text)
    for drawn in (figures.cosines_figure(made), figures.counts_figure(made)):
        assert not any("<" in str(trace.get("name", "")) for trace in drawn["data"])
        assert not any("<" in mark["text"] for mark in drawn["layout"]["annotations"])

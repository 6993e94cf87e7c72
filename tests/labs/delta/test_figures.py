"""Spectra as curves, heatmap, sentences and tables, from results made by hand."""

from __future__ import annotations

import pytest

from explorer.charts.words import label, percent
from explorer.errors import BadInputError
from explorer.labs.delta import spectrum_figures as figures
from explorer.labs.delta.schema import KEPT
from explorer.tuning.spec import TARGETS
from tests.labs.delta.samples import site, spectrum
from tests.labs.drawing import HOSTILE, assert_draws, assert_safe, written


def test_the_table_has_a_row_for_each_singular_value() -> None:
    table = figures.spectrum_table(spectrum(site(0), site(1, norm=10.0)))
    assert table.columns == ("layer", "module", "index", "singular_value")
    assert [row[:3] for row in table.rows] == [(0, "query", 1), (0, "query", 2), (1, "query", 1), (1, "query", 2)]
    assert [row[3] for row in table.rows] == pytest.approx([4, 3, 8, 6])


def test_every_layer_has_a_line_by_depth_and_each_colour_one_entry_in_the_legend() -> None:
    figure = assert_draws(figures.spectrum_figure(spectrum(), "query"))
    layers = [trace for trace in figure.data if trace.line.dash is None]
    assert [trace.hovertemplate[-16:-8] for trace in layers] == [f">layer {layer}" for layer in range(6)]
    assert [trace.name for trace in layers if trace.showlegend] == ["early layers", "middle layers", "late layers"]
    assert len({trace.line.color for trace in layers}) == 3
    assert figure.layout.yaxis.type == "log"


def test_the_references_are_the_mean_of_the_layers() -> None:
    figure = assert_draws(figures.spectrum_figure(spectrum(site(0, norm=2.0), site(1, norm=4.0)), "query"))
    references = {trace.name: tuple(trace.y) for trace in figure.data if trace.line.dash}
    assert list(references) == ["W", "random BA, same norm", "random matrix, same norm"]
    assert references["W"] == pytest.approx((9, 6, 3))
    assert references["random BA, same norm"] == pytest.approx((2.4, 1.8))


def test_a_chosen_layer_is_drawn_last_and_alone_with_its_references() -> None:
    figure = assert_draws(figures.spectrum_figure(spectrum(), "query", layer=2))
    layers = [trace for trace in figure.data if trace.line.dash is None]
    assert layers[-1].name == "layer 2"
    assert {trace.name for trace in layers[:-1]} == {"other layers"}
    (weight,) = (trace for trace in figure.data if trace.name == "W")
    assert tuple(weight.y) == pytest.approx((9, 6, 3))


def test_without_w_the_figure_and_the_sentence_say_so() -> None:
    bare = spectrum(site(0, weight=None, weight_norm=None), site(1, weight=None, weight_norm=None))
    figure = assert_draws(figures.spectrum_figure(bare, "query"))
    assert "W" not in {trace.name for trace in figure.data}
    assert figures.NO_BASE in figures.spectrum_notes(bare, "query")
    assert figures.NO_BASE in figures.measure_sentence(bare, "relative")
    assert_draws(figures.measure_figure(bare, "relative"))


def test_a_dense_update_has_no_random_product_beside_it() -> None:
    full = spectrum(site(0, low_rank=False, random_product=None))
    assert [t.name for t in assert_draws(figures.energy_figure(full, "query")).data if t.line.dash] == [
        "random matrix, same norm"
    ]
    text = figures.spectrum_notes(full, "query").striptags()
    assert f"a random matrix: {percent(0.25)}" in text


def test_the_sentence_names_the_strongest_and_the_most_concentrated_layer() -> None:
    text = figures.spectrum_sentence(spectrum(), "query").striptags()
    share, chance = percent(0.9), percent(0.64)
    assert text == f"In query, ΔW of layer 5 has {share} of its energy in its first direction (chance: {chance})."
    text = figures.spectrum_notes(spectrum(), "query").striptags()
    assert "largest in layer 5 (6) and smallest in layer 0 (1)" in text
    assert f"Layer 5 holds {percent(0.9)} of its energy in its first direction" in text
    assert f"a random BA of its rank: {percent(0.64)}" in text
    assert "In layer 5 ΔW has 25.0% of W's norm." in text
    assert "the only one adapted" in figures.spectrum_notes(spectrum(), "value")


def test_an_update_of_zero_is_said_to_be_the_start() -> None:
    zero = spectrum(site(0, norm=0.0), site(1, norm=0.0))
    for said in (
        figures.spectrum_sentence(zero, "query"),
        figures.energy_sentence(zero, "query"),
        figures.measure_sentence(zero, "norm"),
    ):
        assert said == figures.STILL_ZERO
    for drawn in (figures.spectrum_figure(zero, "query"), figures.energy_figure(zero, "query")):
        assert_draws(drawn)
    lines = figures.spectrum_figure(zero, "query")["data"]
    assert all(value is None for line in lines for value in line["y"])
    assert_draws(figures.measure_figure(zero, "norm"))


def test_energy_rises_to_all_and_random_matrices_stay_below() -> None:
    figure = assert_draws(figures.energy_figure(spectrum(site(first=0.9)), "query"))
    curves = {trace.name: tuple(trace.y) for trace in figure.data}
    assert curves["early layers"] == pytest.approx((0.9, 1.0))
    assert curves["random BA, same norm"] == pytest.approx((0.64, 1.0))
    assert curves["random matrix, same norm"] == pytest.approx((0.25, 0.41, 0.5))


def test_the_energy_sentence_counts_directions() -> None:
    two = spectrum(site(0, first=0.95), site(1))
    text = figures.energy_sentence(two, "query").striptags()
    assert text == "In query, 1 to 2 directions carry nine tenths of the update's energy."
    assert "1 to 2 of 2, depending on the layer, for 90%." in figures.energy_notes(two, "query")
    one = figures.energy_sentence(spectrum(site(0, first=0.95)), "query").striptags()
    assert one == "In query, 1 direction carries nine tenths of the update's energy."
    wide = site(rank=768, values=(1.0,) * KEPT, energy=tuple((place + 1) / 768 for place in range(KEPT)))
    assert "more than 64 directions carry" in figures.energy_sentence(spectrum(wide), "query").striptags()
    assert "more than 64 of 768, for 90%." in figures.energy_notes(spectrum(wide), "query")


@pytest.mark.parametrize("measure", figures.MEASURES)
def test_every_measure_has_a_heatmap_and_a_sentence(measure: str) -> None:
    figure = assert_draws(figures.measure_figure(spectrum(), measure))
    assert figure.data[0].y == tuple("012345")
    assert figure.data[0].x == ("query", "value")
    assert figure.data[0].z[0][1] is None
    assert ("value", "0") not in written(figure)
    grown = spectrum(site(0), site(1, norm=6.0, first=0.7, weight_norm=12.0, effective_rank=2.0, stable_rank=1.7))
    said, notes = figures.measure_sentence(grown, measure).striptags(), figures.measure_notes(grown, measure)
    assert said.startswith(f"The {figures.MEASURES[measure][0]} is highest in layer 1, ")
    assert "Roy" not in said
    assert figures.measure_sentence(spectrum(site(0), site(1)), measure).endswith(" everywhere.")
    assert " in layer 3, " in figures.measure_sentence(spectrum(site(3)), measure)
    assert ("Roy" in notes) is (measure == "effective_rank")


def test_the_norms_stand_in_the_heatmap() -> None:
    figure = assert_draws(figures.measure_figure(spectrum(), "norm"))
    assert [row[0] for row in figure.data[0].z] == [1, 2, 3, 4, 5, 6]
    assert written(figure)["query", "5"] == "6"


def test_a_module_that_was_not_adapted_is_answered_with_those_that_were() -> None:
    with pytest.raises(BadInputError, match="query, value"):
        figures.spectrum_figure(spectrum(), "key")


def test_every_named_module_is_one_that_can_be_adapted() -> None:
    assert set(figures.MODULES) <= set(TARGETS)


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (14.43, "14.4"), (1234.5, "1.23e+03"), (0.00012, "1.20e-04"), (0.0123, "0.0123")]
)
def test_numbers_have_three_digits(value: float, text: str) -> None:
    assert figures.number(value) == text


@pytest.mark.parametrize("text", HOSTILE)
def test_names_stay_text(text: str) -> None:
    """An imported adapter's modules and a run's name come from a visitor."""
    result = spectrum(site(0, module=text), site(1, module=text, norm=6.0), name=text)
    assert_safe(figures.spectrum_sentence(result, text), text)
    assert_safe(figures.measure_sentence(result, "norm"), text)
    assert "<" not in "".join(figures.measure_figure(result, "norm")["data"][0]["x"])
    assert "<" not in label(text)

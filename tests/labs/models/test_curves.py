"""The trainings' curves: what is read, drawn and said of them."""

from __future__ import annotations

from dataclasses import replace

from explorer.labs.models import curves
from explorer.labs.models.curves import Curve, CurvesParams, CurvesResult, training_curves
from explorer.labs.models.schema import BUNDLED

CURVES = CurvesResult(
    (
        Curve("one", (1, 2), (10, 2e6), (1, 60), (("mlm_loss", (3.0, 2.0)), ("pair_accuracy", (None, 0.75)))),
        Curve("two", (1, 2), (10, 20), (1, 2), (("next_loss", (5.0, 4.0)),)),
    ),
    ("three",),
)


def test_a_curve_has_a_value_or_nothing_at_each_point() -> None:
    result = training_curves(CurvesParams())
    assert {curve.model for curve in result.curves} | set(result.without) == set(BUNDLED)
    for curve in result.curves:
        assert len(curve.steps) == len(curve.tokens) == len(curve.seconds)
        assert all(len(values) == len(curve.steps) for _, values in curve.values)
    mini = next(curve for curve in result.curves if curve.model == "bert-mini")
    losses = [value for value in mini.of("mlm_loss") or () if value is not None]
    assert losses[-1] < losses[0]
    pairs = mini.of("pair_loss")
    assert pairs is not None
    assert pairs[0] is None, "bert-mini began without pairs"
    assert result.quantities[0].endswith("_loss")


def test_curves_draw_whoever_logged_it_and_name_who_did_not() -> None:
    figure = curves.curves_figure(CURVES, "mlm_loss", "tokens")
    assert [trace["name"] for trace in figure["data"]] == ["one"]
    assert figure["data"][0]["x"] == [10, 2e6]
    assert curves.curves_figure(CURVES, "next_loss", "seconds")["data"][0]["x"] == [1 / 60, 2 / 60]
    assert curves.curves_sentence(CURVES, "mlm_loss").striptags() == "MLM loss (nats) at the end: 2.00 of one."
    other = replace(CURVES.curves[0], model="other", values=(("mlm_loss", (3.0, 2.5)),))
    several = replace(CURVES, curves=(*CURVES.curves, other))
    assert "from 2.00 (one) to 2.50 (other)." in curves.curves_sentence(several, "mlm_loss").striptags()
    equal = replace(CURVES, curves=(CURVES.curves[0], replace(CURVES.curves[0], model="other")))
    assert curves.curves_sentence(equal, "mlm_loss").striptags().endswith("at the end: 2.00 of each of them.")
    said = curves.curves_notes(CURVES, "mlm_loss")
    assert "At the end: one 2.00. Its training saw 2.0 million tokens" in said
    longer = replace(several, curves=(CURVES.curves[0], replace(other, tokens=(10, 3e6))))
    assert "The longest of these trainings, other's, saw 3.0 million" in curves.curves_notes(longer).striptags()
    assert "two is left out: it was trained on, and logged, next-token loss (nats)" in said
    one = curves.curves_notes(several, "next_loss")
    assert "one, other are left out: they were trained on, and logged, MLM loss (nats)." in one
    assert "No log was kept of three, trained before" in said
    assert "choose another" in curves.curves_sentence(CURVES, "cosine_loss")
    assert len(curves.curves_table(CURVES).rows) == 5, "points without a value are left out"


def test_rows_that_are_harder_on_purpose_are_told_of_where_they_are_drawn() -> None:
    one, two = CURVES.curves
    harder = replace(CURVES, curves=(one, replace(two, harder_from=9313)))
    assert "From step 9,313 on two learned to copy" in curves.curves_notes(harder, "next_loss")
    assert "learned to copy" not in curves.curves_notes(harder, "mlm_loss")
    assert "learned to copy" not in curves.curves_notes(CURVES, "next_loss")


def test_electra_s_two_models_are_one_training() -> None:
    log = ((1, 2), (10, 20), (1, 2), (("mlm_loss", (6.0, 5.5)), ("replaced_accuracy", (0.8, 0.85))))
    both = CurvesResult((Curve("electra-mini-discriminator", *log), Curve("electra-mini-generator", *log)), ())
    assert [trace["name"] for trace in curves.curves_figure(both)["data"]] == ["ELECTRA (generator's loss)"]
    accuracy = curves.curves_figure(both, "replaced_accuracy")["data"]
    assert [trace["name"] for trace in accuracy] == ["ELECTRA (discriminator's accuracy)"]
    assert curves.curves_sentence(both).count("5.50") == 1
    said = curves.curves_notes(both)
    assert said.count("5.50") == 1
    assert "one log, one line" in said
    alone = CurvesResult(both.curves[:1], ())
    assert [trace["name"] for trace in curves.curves_figure(alone)["data"]] == ["ELECTRA (generator's loss)"]
    assert "one log" not in curves.curves_notes(alone)

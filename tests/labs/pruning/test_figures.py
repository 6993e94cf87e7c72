"""Figures, sentences and tables from made-up results: they draw, they say what is in them, and names stay text."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from explorer.charts import KEPT
from explorer.compress.cuts import Shape
from explorer.labs.pruning import importance_figures, orders_figures, quantised_figures
from explorer.labs.pruning import remove_figures as prune_figures
from explorer.labs.pruning.schema import (
    About,
    FormResult,
    HandResult,
    ImportanceResult,
    Left,
    Measured,
    OrderPoint,
    OrdersResult,
    PruneResult,
    QuantiseResult,
    Speed,
    Step,
    StepsResult,
)
from tests.labs.drawing import HOSTILE, assert_draws, assert_safe
from tests.rows import each_row

SHAPE = Shape(3, 3, 4, 200)


def about(name: str = "my run", shape: Shape = SHAPE) -> About:
    return About(name, "SST-2", "Accuracy", "the task's own loss", shape, 64, 80, None)


def importance(unit: str = "head", name: str = "my run", shape: Shape = SHAPE) -> ImportanceResult:
    draw = Random(0)
    rows, width = (shape.blocks, 6) if unit == "weight" else shape.rows(unit)
    grid = tuple(tuple(draw.random() for _ in range(width)) for _ in range(rows))
    columns = ("query", "key", "value", "output", "ffn_in", "ffn_out") if unit == "weight" else ()
    errors = tuple(tuple(0.1 * value for value in row) for row in grid)
    agreement = () if unit == "weight" else ((16, 0.5), (32, 0.93))
    return ImportanceResult(about(name, shape), unit, "gradient", "labels", grid, errors, 64, 64, columns, agreement)


@each_row("unit", ["head", "neuron", "layer", "weight"])
def test_importance_draws(unit: str) -> None:
    for shape in (SHAPE, Shape(3, 1, 4, 200)):
        result = importance(unit, shape=shape)
        for figure in (
            importance_figures.importance_figure(result),
            importance_figures.sorted_figure(result),
            importance_figures.histogram_figure(result),
        ):
            assert_draws(figure)
        values = [value for row in result.grid for value in row]
        table = importance_figures.importance_table(result)
        assert sorted(row[2] for row in table.rows) == sorted(values)  # type: ignore[type-var]
        assert sum(importance_figures.histogram_figure(result)["data"][0]["y"]) == len(values)
        line = importance_figures.sorted_figure(result)["data"][1]["y"]
        assert line == sorted(line, reverse=True)
        if shape.shared and unit != "layer":
            assert {row[0] for row in table.rows} == {"all"}


def test_the_page_gets_the_most_important_neurons_alone() -> None:
    result = importance("neuron", shape=Shape(3, 3, 4, 1000))
    short = importance_figures.page_table(result)
    whole = importance_figures.importance_table(result)
    assert (len(short.rows), len(whole.rows)) == (600, 3000)
    assert min(row[2] for row in short.rows) >= sorted(row[2] for row in whole.rows)[-600]  # type: ignore[type-var]


def test_the_sentence_says_what_matters_and_whether_the_examples_were_enough() -> None:
    result = importance()
    said = importance_figures.importance_sentence(result).striptags()
    best = max((value, layer, head) for layer, row in enumerate(result.grid) for head, value in enumerate(row))
    least = min((value, layer, head) for layer, row in enumerate(result.grid) for head, value in enumerate(row))
    places = f"layer {best[1]}, head {best[2]} matters most, layer {least[1]}, head {least[2]} least."
    assert said == f"my run: {places}"
    for correlation, how in ((0.9, "nearly the same"), (0.899, "much the same"), (0.7, "much the same")):
        other = replace(result, agreement=((32, correlation),))
        assert f"the order would be {how} (ρ =" in importance_figures.importance_notes(other)
    poor = replace(result, agreement=((32, 0.4),))
    assert "the order would be rather different (ρ = 0.40)" in importance_figures.importance_notes(poor)
    assert "Spearman" not in importance_figures.importance_notes(poor)
    assert "The top quarter holds " in importance_figures.importance_notes(poor)
    assert importance_figures.importance_notes(importance("weight")) == ""
    note = importance_figures.asked_note(poor).striptags()
    assert (
        "32 of the 64 examples and the other 32: ρ = 0.40. About 430 and as many others would reach 0.9 (Spearman-"
        in note
    )
    for none_needed in (0.1, 0.9):
        note = importance_figures.asked_note(replace(result, agreement=((32, none_needed),)))
        assert "would reach" not in note
    shared = importance_figures.importance_notes(importance(shape=Shape(3, 1, 4, 200))).striptags()
    assert "takes it from each of them" in shared
    assert "takes it from" not in importance_figures.importance_notes(result)
    early = replace(result, count=16, agreement=())
    said = importance_figures.importance_sentence(early).striptags()
    assert said.endswith(" least, as far as 16 of 64 examples tell.")
    assert "16 of 64 examples read so far" in importance_figures.importance_notes(early)


def test_units_that_matter_alike_are_not_told_apart() -> None:
    def said(*grid: tuple[float, ...]) -> str:
        return importance_figures.importance_sentence(replace(importance(), grid=grid)).striptags()

    assert said((0.0, 0.0), (0.0, 0.0)) == "my run: all heads matter alike."
    assert said((0.5, 0.0), (0.2, 0.0)).endswith("layer 0, head 0 matters most, layer 0, head 1 and others least.")
    assert said((0.5, 0.1), (0.5, 0.2)).endswith("head 0 and others matter most, layer 0, head 1 least.")
    nothing = importance_figures.importance_notes(replace(importance(), grid=((0.0, 0.0), (0.0, 0.0))))
    assert "top quarter" not in nothing


def test_as_many_examples_as_it_takes() -> None:
    """Spearman and Brown: twice the examples at ρ = 0.5 give 2 · 0.5 / 1.5; 9 times as many give 0.9."""
    assert importance_figures.examples_needed(32, 0.5) == 290
    assert importance_figures.examples_needed(10, 0.9) == 10
    assert importance_figures.examples_needed(10, 0.0) is None


def orders(metric: float | None = 0.9) -> OrdersResult:
    points = [
        OrderPoint(order, draw, share, None if metric is None else metric - loss * share, 1000 - int(900 * share))
        for order, draw, loss in (("least", 0, 0.04), ("most", 0, 0.4), ("random", 0, 0.2), ("random", 1, 0.3))
        for share in (0.0, 0.2, 0.4, 0.6)
    ]
    return OrdersResult(about(), "head", tuple(points), len(points))


def test_orders() -> None:
    result = orders()
    figure = assert_draws(orders_figures.orders_figure(result))
    assert [trace.name for trace in figure.data if trace.name] == [
        "least important first", "most important first", "random order",
    ]  # fmt: skip
    said = orders_figures.orders_sentence(result).striptags()
    falls = "can go before accuracy falls noticeably, most important first 0%."
    assert said.endswith(f": least important first, 40% of the heads {falls}")
    said = orders_figures.orders_notes(result).striptags()
    assert "Least important first, 40% of the heads can go" in said
    assert (
        "more than 2.0 points, most important first 0%. 80 held-out examples, so one standard error is 3.4 points."
        in said
    )
    assert "4 of 16 points" in orders_figures.orders_sentence(replace(result, points=result.points[:4])).striptags()
    assert "not defined" in orders_figures.orders_sentence(orders(None)).striptags()
    assert orders_figures.orders_notes(orders(None)) == ""


WHOLE, PRUNED = Measured(0.95, 65_000_000, 260_000_000, 100.0), Measured(0.9, 40_000_000, 160_000_000, 60.0)


def pruned(**changes: object) -> PruneResult:
    left = Left((2, 4), (100, 7), (0, 2), 1e-6, False)
    speeds = (Speed(1, 10, 9), Speed(16, 100, 50))
    result = PruneResult(
        about(), "both", "least", 0, (Step(0.0, WHOLE), Step(0.5, PRUNED)), 2, left, speeds, "ab", "", True
    )
    return replace(result, **changes)  # type: ignore[arg-type]


def test_pruned() -> None:
    said = prune_figures.prune_sentence(pruned()).striptags()
    assert said.endswith(" has accuracy 90.0% instead of 95.0%.")
    said = prune_figures.prune_notes(pruned()).striptags()
    assert "2.00 times" in said
    figure = assert_draws(prune_figures.left_figure(pruned()))  # type: ignore[arg-type]
    assert list(figure.data[1].y) == [2, 0, 4], "a layer that is gone has no head"
    assert prune_figures.left_figure(pruned(left=None, done=True)) == ""
    assert prune_figures.left_figure(pruned(left=None, done=False)) == KEPT, "what was there stays until then"
    assert "0.80" in prune_figures.before_after(pruned(speeds=(Speed(4, 8, 10),))).striptags()
    assert prune_figures.prune_table(pruned()).rows == (
        (0.0, 0.95, 65_000_000, 100.0),
        (0.5, 0.9, 40_000_000, 60.0),
    )
    masked = prune_figures.prune_notes(pruned(note="because")).striptags()
    assert "Masked, not removed: because" in masked


def test_steps_and_hand_and_forms() -> None:
    steps = StepsResult(about(), "both", 0.5, (("one step", pruned().steps), ("many steps", pruned().steps)), 1.0, True)
    assert_draws(prune_figures.steps_figure(steps))
    assert prune_figures.steps_sentence(steps).striptags() == (
        "With 50% of the heads and neurons of my run gone every way leaves the same accuracy, 90.0%."
    )
    assert "one step 90.0%; many steps 90.0%. Whole: 95.0%. On 80 held" in prune_figures.steps_notes(steps).striptags()
    assert len(prune_figures.steps_table(steps).rows) == 4
    hand = HandResult(about(), ((0, 1),), WHOLE, PRUNED)
    assert "Without 1 of 12 heads" in orders_figures.hand_sentence(hand).striptags()
    assert orders_figures.switches(hand)["off"] == [[0, 1]]
    assert "(0.1, by layer and head)" in orders_figures.hand_sentence(hand).striptags()
    waiting = HandResult(about(), ((0, 1),))
    assert "Measuring without 1 head" in orders_figures.hand_sentence(waiting).striptags()
    assert orders_figures.hand_table(waiting).rows == ()
    forms = QuantiseResult(
        about(), 16, (FormResult("fp32", 0.0, 100, 20.0, 0.9), FormResult("int8", 0.5, 25, 10.0, None, "a note")), 2
    )
    assert_draws(quantised_figures.quantised_figure(forms))
    assert "int8 is 4.0 times smaller than fp32 and has " in quantised_figures.quantised_sentence(forms).striptags()
    alone = replace(forms, forms=forms.forms[:1])
    assert quantised_figures.quantised_sentence(alone) == "No form is smaller than fp32."
    said = quantised_figures.quantised_notes(forms).striptags()
    assert "50% pruned, int8 is 4.0 times smaller, 2.0 times as fast and has" in said
    assert "no quarter" not in said, "25 of 100 bytes are a quarter"
    larger = replace(forms, forms=(forms.forms[0], replace(forms.forms[1], bytes=26)))
    assert "int8 is no quarter of it" in quantised_figures.quantised_notes(larger)
    early = replace(forms, forms=tuple(replace(form, milliseconds=None) for form in forms.forms))
    assert_draws(quantised_figures.quantised_figure(early))
    assert "Still to be timed" in quantised_figures.quantised_notes(early).striptags()
    assert "a note" in said


@each_row(
    ("metrics", "said"),
    [
        ((0.9, 0.92), "“many steps” leaves the highest accuracy, 92.0%, and the lead may be chance."),
        ((0.5, 0.92), "“many steps” leaves the highest accuracy, 92.0%."),
        ((0.5, 0.92, 0.92), "“many steps” and “many steps, training between” leave the highest accuracy, 92.0%."),
        ((0.9,), "one step leaves accuracy 90.0%."),
        ((0.9, None), "accuracy is not defined after every way."),
    ],
)
def test_the_way_that_leaves_most_is_named(metrics: tuple[float | None, ...], said: str) -> None:
    names = ("one step", "many steps", "many steps, training between")
    ends = [replace(PRUNED, metric=metric) for metric in metrics]
    lines = tuple((name, (Step(0.0, WHOLE), Step(0.5, end))) for name, end in zip(names, ends, strict=False))
    result = StepsResult(about(), "head", 0.5, lines, 1.0, True)
    assert prune_figures.steps_sentence(result).striptags() == f"With 50% of the heads of my run gone {said}"
    early = prune_figures.steps_sentence(replace(result, done=False)).striptags()
    assert early == "Whole, my run has accuracy 95.0%; the ways are still being measured."
    early = prune_figures.steps_notes(replace(result, share=0.8, done=False)).striptags()
    assert "so far, at 50%" in early


@each_row("name", HOSTILE)
def test_names_stay_text(name: str) -> None:
    who = about(name)
    assert_safe(importance_figures.importance_sentence(importance(name=name)), name)
    assert_safe(orders_figures.orders_sentence(replace(orders(), about=who)), name)
    assert_safe(prune_figures.prune_sentence(pruned(about=who, steps=pruned().steps[:1])), name)
    one_step = StepsResult(who, "head", 0.5, (("one step", pruned().steps),), 1.0, True)
    assert_safe(prune_figures.steps_sentence(one_step), name)


def test_quotes_are_those_of_the_papers() -> None:
    assert "+17.5%" in prune_figures.michel_quote()
    quoted = prune_figures.textpruner_quote().striptags()
    assert "45.35" in quoted
    assert "91.95" in quoted

"""What the Metrics tab says and draws."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.labs.finetune.metrics.figures import (
    WHY,
    formulas,
    linear,
    matrix_figure,
    matrix_sentence,
    points_figure,
    points_sentence,
    task_table,
)
from explorer.labs.finetune.metrics.jobs import correlate
from explorer.labs.finetune.metrics.schema import MATRICES, SCATTERS, Correlated, PointsParams
from explorer.tasks.glue_tasks import TASKS
from explorer.tasks.metrics import METRICS
from tests.labs.drawing import assert_draws, assert_safe, written
from tests.labs.finetune.metrics.taking import taken


def test_a_formula_reads_on_one_line() -> None:
    lines = {metric.slug: linear(metric) for metric in taken(((40, 10), (5, 45))).metrics}
    assert lines["accuracy"] == "(TP + TN) / N = (45 + 40) / 100 = 0.850"
    assert lines["recall"] == "TP / (TP + FN) = 45 / (45 + 5) = 0.900"
    assert lines["matthews"].endswith("= (45·40 − 10·5) / √(55·50·50·45) = 0.704")
    assert linear(taken(((90, 0), (10, 0))).metrics[-1]).endswith("√(0·10·90·100) = undefined")


SENTENCES = {
    "balanced": (((40, 10), (5, 45)), "With balanced classes the metrics agree: accuracy 85.0%"),
    "majority": (
        ((90, 0), (10, 0)),
        "Accuracy 90.0% hides that no positive is found: F1 is 0 and Matthews is undefined, by convention 0.",
    ),
    "one class": (((40, 10), (0, 0)), "but all 50 examples are negative: Matthews is undefined, by convention 0"),
    "all positive": (((0, 90), (0, 10)), "come from calling everything positive: Matthews is undefined"),
    "worse than chance": (((5, 45), (40, 10)), "worse than guessing"),
    "a coin": (((45, 45), (5, 5)), "say next to nothing about the truth"),
    "below the majority": (((80, 10), (5, 5)), "no better than always saying negative (90.0%)"),
    "unbalanced": (((88, 2), (5, 5)), "3.0 points above always saying negative (90.0%)"),
    "as balanced as it is called": (((50, 10), (3, 37)), "With balanced classes the metrics agree"),
    "less balanced": (((51, 10), (3, 36)), "26.0 points above always saying negative (61.0%)"),
    "balanced, and F1 is far": (
        ((54, 1), (30, 15)),
        "14.0 points above always saying negative (55.0%). Of the positives 33.3%",
    ),
    "three": (MATRICES["Three classes"], "The mean F1 weighs every class alike: 0.807; neutral is weakest with 0.744."),
    "never predicted": (((3, 0, 1), (2, 0, 4), (0, 0, 9)), "neutral is never predicted"),
    "always the same of three": (((0, 0, 4), (0, 0, 6), (0, 0, 9)), "Matthews is undefined, by convention 0."),
    "four classes": (((9, 0, 0, 0), (0, 9, 0, 0), (0, 0, 9, 0), (0, 5, 0, 4)), "class 4 is weakest"),
}


@pytest.mark.parametrize(("matrix", "says"), SENTENCES.values(), ids=SENTENCES.keys())
def test_the_sentence_says_what_is_peculiar_about_a_matrix(matrix: Any, says: str) -> None:
    assert says in matrix_sentence(taken(matrix)).striptags()


def apart(points: Any) -> Correlated:
    return correlate(PointsParams(points))


CLOUDS = {
    "a line": (SCATTERS["A noisy line"], "the points lie near a rising line"),
    "an outlier": (SCATTERS["One outlier"], "without (4.80, 4.70) Pearson would be"),
    "a curve": (SCATTERS["Right order, but a curve"], "The order is right, Spearman 1.000"),
    "a rough order": (
        [[0, 3], [1, 1], [2, 1], [3, 3], [4, 7], [5, 11], [6, 26], [7, 59]],
        "The order is told better than the distances: Spearman 0.892 against Pearson 0.802.",
    ),
    "nothing": (SCATTERS["No relation"], "knows next to nothing about the true score"),
    "falling": ([(x, 5 - x) for x in range(5)], "the predictions fall where the true scores rise"),
    "two": ([[1, 1], [2, 4]], "Any two points lie on a line: Pearson is 1.000"),
    "all predicted alike": (
        [[1, 2], [3, 2], [4, 2]],
        "All predicted scores are equal. Without spread both correlations",
    ),
    "all true alike": ([[3, 1], [3, 2], [3, 4]], "All true scores are equal"),
}


@pytest.mark.parametrize(("points", "says"), CLOUDS.values(), ids=CLOUDS.keys())
def test_the_sentence_says_what_is_peculiar_about_points(points: Any, says: str) -> None:
    assert says in points_sentence(apart(points)).striptags()


@pytest.mark.parametrize("matrix", [*[matrix for matrix, _ in SENTENCES.values()], ((10**9, 1), (0, 1))], ids=str)
def test_every_matrix_is_drawn_with_its_counts(matrix: Any) -> None:
    picture = matrix_figure(taken(matrix))
    figure = assert_draws(picture)
    counts = [[text.split()[-1] for (_, y), text in written(figure).items() if y == row] for row in figure.data[0].y]
    assert counts == [[f"{count:,}" for count in row] for row in matrix]
    assert picture["described"] == matrix_sentence(taken(matrix)).striptags()


def test_of_two_classes_each_cell_has_its_name_and_each_metric_its_bar() -> None:
    figure = assert_draws(matrix_figure(taken(((40, 10), (5, 45)))))
    assert list(written(figure).values()) == ["TN 40", "FP 10", "FN 5", "TP 45"]
    bars = next(trace for trace in figure.data if trace.type == "bar")
    assert list(bars.text) == ["85.0%", "81.8%", "90.0%", "0.857", "0.704"]


@pytest.mark.parametrize("points", [points for points, _ in CLOUDS.values()], ids=CLOUDS.keys())
def test_every_cloud_is_drawn_with_its_line(points: Any) -> None:
    result = apart(points)
    figure = assert_draws(points_figure(result))
    dots = [trace for trace in figure.data if trace.mode == "markers"]
    assert list(zip(dots[0].x, dots[0].y, strict=True)) == list(result.scores.points)
    assert list(zip(dots[1].x, dots[1].y, strict=True)) == list(result.ranks.points)
    lines = [trace for trace in figure.data if trace.mode == "lines"]
    assert len(lines) == sum(cloud.line is not None for cloud in (result.scores, result.ranks))


def test_a_score_beyond_the_scale_is_in_view() -> None:
    figure = assert_draws(points_figure(apart([[0, 0], [7, 9], [2, -3]])))
    assert figure.layout.xaxis.range[0] < -3
    assert figure.layout.yaxis.range[1] > 9


TAGS = ("table", "thead", "tbody", "tr", "th", "td", "strong", "math", "mfrac", "mtext", "msqrt")


def test_each_formula_stands_beside_its_value_with_its_numbers() -> None:
    html = formulas(taken(((40, 10), (5, 45))))
    assert_safe(html, "85.0%", TAGS)
    assert "<mfrac><mtext>TP</mtext><mtext>TP + FN</mtext></mfrac>" in html
    assert "<mfrac><mtext>45</mtext><mtext>45 + 5</mtext></mfrac>" in html
    assert "<msqrt><mtext>55·50·50·45</mtext></msqrt>" in html
    assert "undefined" in formulas(taken(((90, 0), (10, 0))))
    assert "= 0 / 0" in formulas(taken(((90, 0), (10, 0))))
    assert_safe(formulas(apart(SCATTERS["A noisy line"])), "Spearman", TAGS)


def test_every_glue_task_stands_in_the_table_with_its_metrics() -> None:
    html = task_table()
    for task in TASKS:
        assert_safe(html, task.title, ("table", "thead", "tbody", "tr", "th", "td", "strong", "br"))
        assert ", ".join(METRICS[name].title for name in task.metrics) in html
    assert METRICS["pearson"].formula in WHY

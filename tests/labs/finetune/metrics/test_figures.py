"""What the Metrics tab says and draws."""

from __future__ import annotations

from typing import Any

from explorer.labs.finetune.metrics import MATRICES, SCATTERS, Correlated, PointsParams, linear
from explorer.labs.finetune.metrics_figures import (
    formulas,
    matrix_figure,
    matrix_notes,
    matrix_sentence,
    points_figure,
    points_notes,
    points_sentence,
    task_table,
)
from explorer.labs.finetune.metrics_jobs import correlate
from explorer.labs.finetune.metrics_page import WHY
from explorer.tasks.glue_tasks import TASKS
from explorer.tasks.metrics import METRICS
from tests.labs.drawing import assert_draws, assert_safe, written
from tests.labs.finetune.metrics.taking import taken
from tests.rows import each_row


def test_a_formula_reads_on_one_line() -> None:
    lines = {metric.slug: linear(metric) for metric in taken(((40, 10), (5, 45))).metrics}
    assert lines["accuracy"] == "(TP + TN) / N = (45 + 40) / 100 = 0.850"
    assert lines["recall"] == "TP / (TP + FN) = 45 / (45 + 5) = 0.900"
    assert lines["matthews"].endswith("= (45·40 − 10·5) / √(55·50·50·45) = 0.704")
    assert linear(taken(((90, 0), (10, 0))).metrics[-1]).endswith("√(0·10·90·100) = undefined")


SENTENCES = {
    "balanced": (
        ((40, 10), (5, 45)),
        "With balanced classes the metrics agree: accuracy 85.0%, F1 0.857.",
        "Matthews 0.704. A coin would have about 50%, 0.5 and 0.",
    ),
    "majority": (
        ((90, 0), (10, 0)),
        "Accuracy 90.0% hides that no positive is found: F1 is 0.",
        "Matthews is undefined, by convention 0.",
    ),
    "one class": (
        ((40, 10), (0, 0)),
        "All examples are negative: with one class there is nothing to tell apart, and Matthews is undefined, by convention 0.",
        "Accuracy 80.0% of 50 examples.",
    ),
    "all positive": (
        ((0, 90), (0, 10)),
        "Accuracy 10.0% and F1 0.182 come from calling everything positive.",
        "Matthews is undefined, by convention 0.",
    ),
    "worse than chance": (
        ((5, 45), (40, 10)),
        "Matthews −0.704: worse than guessing, whatever accuracy (15.0%) says.",
        "With every answer turned round Matthews would be 0.704.",
    ),
    "a coin": (
        ((45, 45), (5, 5)),
        "Accuracy 50.0%, but Matthews 0.000: the predictions say next to nothing about the truth.",
        "F1 0.167.",
    ),
    "below the majority": (
        ((80, 10), (5, 5)),
        "Accuracy 85.0% is no better than always saying negative (90.0%), yet something was learned.",
        "F1 0.400, Matthews 0.327 say so: guessing has Matthews 0.",
    ),
    "unbalanced": (
        ((88, 2), (5, 5)),
        "Accuracy 93.0% is 3.0 points above always saying negative.",
        "Always saying negative: 90.0%. Of the positives 50.0% are found: F1 0.588, Matthews 0.562.",
    ),
    "as balanced as it is called": (
        ((50, 10), (3, 37)),
        "With balanced classes the metrics agree: accuracy 87.0%, F1 0.851.",
        "Matthews ",
    ),
    "less balanced": (
        ((51, 10), (3, 36)),
        "Accuracy 87.0% is 26.0 points above always saying negative.",
        "Always saying negative: 61.0%.",
    ),
    "balanced, and F1 is far": (
        ((54, 1), (30, 15)),
        "Accuracy 69.0% is 14.0 points above always saying negative.",
        "Always saying negative: 55.0%. Of the positives 33.3% are found: ",
    ),
    "three": (
        MATRICES["Three classes"],
        "Accuracy 80.7%, and neutral is the weakest class, with F1 0.744.",
        "The mean F1 weighs every class alike: 0.807.",
    ),
    "never predicted": (
        ((3, 0, 1), (2, 0, 4), (0, 0, 9)),
        "Accuracy 63.2%, but neutral is never predicted.",
        " neutral counts as 0 in it.",
    ),
    "always the same of three": (
        ((0, 0, 4), (0, 0, 6), (0, 0, 9)),
        "Accuracy 47.4%, but entailment and neutral are never predicted.",
        " entailment and neutral count as 0 each in it. Matthews is undefined, by convention 0.",
    ),
    "four classes": (
        ((9, 0, 0, 0), (0, 9, 0, 0), (0, 0, 9, 0), (0, 5, 0, 4)),
        "Accuracy 86.1%, and class 4 is the weakest class, with F1 0.615.",
        "The mean F1 weighs every class alike: ",
    ),
    "all right": (((4, 0, 0), (0, 4, 0), (0, 0, 4)), "Accuracy 100%, and F1 1.000 for every class.", "The mean F1 "),
    "two as weak": (
        ((4, 1, 0), (1, 4, 0), (0, 0, 4)),
        "Accuracy 85.7%, and entailment and neutral are the weakest classes, with F1 0.800.",
        "The mean F1 ",
    ),
}


@each_row(("matrix", "says", "notes"), SENTENCES.values(), ids=SENTENCES.keys())
def test_the_sentence_says_what_is_peculiar_about_a_matrix(matrix: Any, says: str, notes: str) -> None:
    assert matrix_sentence(taken(matrix)).striptags() == says
    assert notes in matrix_notes(taken(matrix)).striptags()


def apart(points: Any) -> Correlated:
    return correlate(PointsParams(points))


CLOUDS = {
    "a line": (SCATTERS["A noisy line"], "the points lie near a rising line"),
    "an outlier": (SCATTERS["One outlier"], "One point decides: without it Pearson would be"),
    "a curve": (SCATTERS["Right order, but a curve"], "The order is right, Spearman 1.000"),
    "a rough order": (
        [[0, 3], [1, 1], [2, 1], [3, 3], [4, 7], [5, 11], [6, 26], [7, 59]],
        "The order is told better than the distances: Spearman 0.892 against Pearson 0.802.",
    ),
    "nothing": (SCATTERS["No relation"], "knows next to nothing about the true score"),
    "falling": ([(x, 5 - x) for x in range(5)], "the predictions fall where the true scores rise"),
    "two": ([[1, 1], [2, 4]], "Any two points lie on a line, so Pearson is 1.000 whatever they are."),
    "all predicted alike": (
        [[1, 2], [3, 2], [4, 2]],
        "All predicted scores are equal: without spread both correlations",
    ),
    "all true alike": ([[3, 1], [3, 2], [3, 4]], "All true scores are equal"),
}


@each_row(("points", "says"), CLOUDS.values(), ids=CLOUDS.keys())
def test_the_sentence_says_what_is_peculiar_about_points(points: Any, says: str) -> None:
    assert says in points_sentence(apart(points)).striptags()


@each_row(
    ("case", "says"),
    [
        ("a line", "By their order alone, Spearman "),
        ("an outlier", "that decides is (4.80, 4.70). Spearman, which sees only its rank, goes from"),
        ("two", "Add more."),
        ("falling", "By their order alone, Spearman −1.000."),
        ("all true alike", "0/0: a model that says the same of every pair ends here."),
    ],
)
def test_the_notes_hold_what_the_sentence_about_points_leaves_out(case: str, says: str) -> None:
    assert says in points_notes(apart(CLOUDS[case][0])).striptags()
    assert points_notes(apart(CLOUDS["a curve"][0])) == ""


@each_row("matrix", [*[matrix for matrix, _, _ in SENTENCES.values()], ((10**9, 1), (0, 1))], ids=str)
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


@each_row("points", [points for points, _ in CLOUDS.values()], ids=CLOUDS.keys())
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

"""The Metrics tab's sums against scikit-learn and scipy, its experiments, scripts and endpoints."""

from __future__ import annotations

import contextlib
import io
import math
import random
import re
from collections.abc import Iterator
from typing import Any

import gradio as gr
import numpy as np
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError
from scipy.stats import pearsonr, spearmanr
from sklearn import metrics as sk

from explorer.action import Lab
from explorer.engine.local import LocalEngine
from explorer.errors import BadInputError
from explorer.labs.finetune.metrics_actions import CORRELATE, TAKE_APART
from explorer.labs.finetune.metrics_compute import (
    correlate,
    decimals,
    follow_correlation,
    follow_metrics,
    linear,
    take_metrics_apart,
)
from explorer.labs.finetune.metrics_figures import (
    WHY,
    matrix_script,
    points_script,
    taken_table,
    task_table,
)
from explorer.labs.finetune.metrics_schema import (
    MATRICES,
    SCATTERS,
    THREE_CLASSES,
    ConfusionParams,
    Points,
    PointsParams,
    TakenApart,
    TakenMetric,
)
from explorer.labs.finetune.metrics_tab import build_metrics
from explorer.settings import Settings
from explorer.tasks.glue_tasks import TASKS
from explorer.tasks.metrics import METRICS
from explorer.ui.page import Page
from tests.labs.drawing import assert_safe

NAMES = ("accuracy", "precision", "recall", "f1", "matthews")


def drawn(seed: int, classes: int, largest: int = 40) -> tuple[tuple[int, ...], ...]:
    chance = random.Random(seed)
    return tuple(tuple(chance.randrange(0, largest) for _ in range(classes)) for _ in range(classes))


def by_sklearn(matrix: tuple[tuple[int, ...], ...]) -> dict[str, float]:
    """The metrics of the examples that a matrix counts, each example written out."""
    cells = [(i, j) for i, row in enumerate(matrix) for j, count in enumerate(row) for _ in range(count)]
    true, guessed = zip(*cells, strict=True)
    each: dict[str, Any] = {"zero_division": 0}
    each |= {"average": "binary"} if len(matrix) == 2 else {"average": "macro", "labels": range(len(matrix))}
    return {
        "accuracy": sk.accuracy_score(true, guessed),
        "precision": sk.precision_score(true, guessed, **each),
        "recall": sk.recall_score(true, guessed, **each),
        "f1": sk.f1_score(true, guessed, **each),
        "matthews": sk.matthews_corrcoef(true, guessed),
    }


def values(result: TakenApart) -> dict[str, float | None]:
    return {metric.slug: metric.value for metric in result.metrics}


def taken(matrix: Any) -> TakenApart:
    return take_metrics_apart(ConfusionParams(matrix))


MATRIX_CASES = [
    *[experiment.data for experiment in MATRICES],
    THREE_CLASSES,
    ((5, 0), (0, 0)),
    ((0, 7), (0, 3)),
    ((3, 0, 1), (2, 0, 4), (0, 0, 9)),
    *[drawn(seed, classes) for seed in range(4) for classes in (2, 3, 5)],
]


@pytest.mark.parametrize("matrix", MATRIX_CASES, ids=str)
def test_metrics_are_those_of_scikit_learn(matrix: Any) -> None:
    found = values(taken(matrix))
    assert tuple(found) == NAMES
    assert {name: value or 0.0 for name, value in found.items()} == pytest.approx(by_sklearn(matrix), abs=1e-12)


def put_in(part: str) -> float:
    """What a half of a fraction comes to, its numbers put in; √ is the only sign that Python writes otherwise."""
    return float(eval(re.sub(r"√\(", "math.sqrt(", part.replace("·", "*").replace("−", "-")), {"math": math}))


@pytest.mark.parametrize("matrix", MATRIX_CASES, ids=str)
def test_the_numbers_put_into_a_formula_give_its_value(matrix: Any) -> None:
    for metric in taken(matrix).metrics:
        check_fraction(metric, tolerance=6e-4)


def check_fraction(metric: TakenMetric, tolerance: float) -> None:
    top, bottom = put_in(metric.fraction.top[1]), put_in(metric.fraction.bottom[1])
    if metric.value is None:
        assert bottom == 0
    else:
        assert top / bottom == pytest.approx(metric.value, abs=tolerance)


def test_a_formula_reads_on_one_line() -> None:
    lines = {metric.slug: linear(metric) for metric in taken(((40, 10), (5, 45))).metrics}
    assert lines["accuracy"] == "(TP + TN) / N = (45 + 40) / 100 = 0.850"
    assert lines["recall"] == "TP / (TP + FN) = 45 / (45 + 5) = 0.900"
    assert lines["matthews"].endswith("= (45·40 − 10·5) / √(55·50·50·45) = 0.704")
    assert linear(taken(((90, 0), (10, 0))).metrics[-1]).endswith("√(0·10·90·100) = undefined")


def claims(name: str) -> dict[str, float | None]:
    return values(taken(next(experiment.data for experiment in MATRICES if experiment.name == name)))


def test_a_majority_guesser_is_90_percent_right_and_has_no_f1_and_no_matthews() -> None:
    found = claims("Always the majority")
    assert found["accuracy"] == pytest.approx(0.9)
    assert found["f1"] == 0
    assert found["matthews"] is None
    assert found["precision"] is None


def test_the_other_experiments_show_what_they_are_called_after() -> None:
    good, rare, coin = (claims(name) for name in ("A good classifier", "Half of a rare class", "A coin"))
    assert all(value is not None and value > 0.7 for value in good.values())
    assert rare["recall"] == pytest.approx(0.5)
    assert (rare["accuracy"] or 0) > 0.9 > 0.6 > (rare["matthews"] or 0) > 0.4
    assert coin["matthews"] == 0
    assert coin["accuracy"] == pytest.approx(0.5)


def test_calling_the_other_class_positive_changes_f1_and_neither_accuracy_nor_matthews() -> None:
    (tn, fp), (fn, tp) = MATRICES[2].data
    one, other = values(taken(((tn, fp), (fn, tp)))), values(taken(((tp, fn), (fp, tn))))
    assert one["accuracy"] == other["accuracy"]
    assert one["matthews"] == pytest.approx(other["matthews"])
    assert abs((one["f1"] or 0) - (other["f1"] or 0)) > 0.3


BAD_MATRICES = {
    "negative": ([[1, -2], [3, 4]], "whole number from 0"),
    "empty cell": ([[1, ""], [3, 4]], "whole number from 0"),
    "nothing in a cell": ([[1, None], [3, 4]], "whole number from 0"),
    "a half": ([[1, 0.5], [3, 4]], "whole number from 0"),
    "all zero": ([[0, 0], [0, 0]], "nothing to measure"),
    "not square": ([[1, 2, 3], [4, 5, 6]], "as many columns as rows"),
    "one class": ([[5]], "as many columns as rows"),
    "a number": (5, "list of rows"),
    "a text": ("[[1, 2], [3, 4]]", "list of rows"),
    "texts": (["ab", "cd"], "list of rows"),
    "a dictionary": ({"a": 1}, "list of rows"),
    "many classes": ([[1] * 30] * 30, "At most 20 classes"),
}


@pytest.mark.parametrize(("matrix", "hint"), BAD_MATRICES.values(), ids=BAD_MATRICES.keys())
def test_a_matrix_that_counts_nothing_gets_a_sentence(matrix: Any, hint: str) -> None:
    with pytest.raises(BadInputError, match=hint):
        ConfusionParams(matrix)


def scattered(seed: int, count: int = 25) -> Points:
    chance = random.Random(seed)
    return tuple((float(chance.randrange(6)), chance.gauss(2, 1)) for _ in range(count))


POINT_CASES = [*[experiment.data for experiment in SCATTERS], *[scattered(seed) for seed in range(4)]]


@pytest.mark.parametrize("points", POINT_CASES, ids=range(len(POINT_CASES)))
def test_correlations_are_those_of_scipy_and_of_their_formulas(points: Points) -> None:
    result = correlate(PointsParams(points))
    true, predicted = np.array(points).T
    expected = {"pearson": pearsonr(true, predicted).statistic, "spearman": spearmanr(true, predicted).statistic}
    assert values(result) == pytest.approx(expected, abs=1e-12)
    for metric in result.metrics:
        check_fraction(metric, tolerance=2e-3)


def test_the_scatters_show_what_they_are_called_after() -> None:
    line, outlier, curve, none = (values(correlate(PointsParams(experiment.data))) for experiment in SCATTERS)
    assert min(line["pearson"] or 0, line["spearman"] or 0) > 0.85
    assert (outlier["pearson"] or 0) > 0.8
    assert abs(outlier["spearman"] or 0) < 0.2
    rest = values(correlate(PointsParams(SCATTERS[1].data[: SCATTERS[1].chosen])))
    assert abs(rest["pearson"] or 0) < 0.1, "without its outlier there is nothing"
    assert curve["spearman"] == pytest.approx(1)
    assert (curve["pearson"] or 0) < 0.9
    assert max(abs(none["pearson"] or 0), abs(none["spearman"] or 0)) < 0.1


def test_scores_without_spread_have_no_correlation() -> None:
    result = correlate(PointsParams([[1, 2], [3, 2], [5, 2]]))
    assert values(result) == {"pearson": None, "spearman": None}
    assert linear(result.metrics[0]).endswith("√(8.00 · 0.00) = undefined")


def test_huge_scores_are_answered() -> None:
    result = correlate(PointsParams([[1e9, -1e9], [-1e9, 1e9], [0, 5]]))
    assert result.metrics[0].value == pytest.approx(-1)
    check_fraction(result.metrics[0], tolerance=1e-2)


BAD_POINTS = {
    "one": ([[1, 2]], "2 to 1,000 points"),
    "none": ([], "2 to 1,000 points"),
    "too many": ([[0, 0]] * 1001, "2 to 1,000 points"),
    "not finite": ([[1, 2], [math.nan, 1]], "A score is a number"),
    "infinite": ([[1, 2], [math.inf, 1]], "A score is a number"),
    "a text": ([[1, 2], ["high", 1]], "A score is a number"),
    "an empty field": ([[1, 2], [None, 1]], "A score is a number"),
    "too large": ([[1, 2], [10**400, 1]], "A score is a number"),
    "three numbers": ([[1, 2, 3], [1, 2, 3]], "list of pairs"),
    "no pairs": ([1, 2, 3], "list of pairs"),
    "nothing": (None, "list of pairs"),
}


@pytest.mark.parametrize(("points", "hint"), BAD_POINTS.values(), ids=BAD_POINTS.keys())
def test_points_that_cannot_be_drawn_get_a_sentence(points: Any, hint: str) -> None:
    with pytest.raises(BadInputError, match=hint):
        PointsParams(points)


def printed(script: str) -> dict[str, float]:
    """What a script prints, by name."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(script, {})
    return {line.split()[0]: float(line.split()[1]) for line in out.getvalue().splitlines()}


@pytest.mark.parametrize("matrix", [*[one.data for one in MATRICES], THREE_CLASSES, drawn(1, 5)], ids=str)
def test_the_matrix_script_prints_the_same_numbers_without_this_project(matrix: Any) -> None:
    script = matrix_script(ConfusionParams(matrix))
    assert "explorer" not in script
    expected = {name: value or 0.0 for name, value in values(taken(matrix)).items()}
    assert printed(script) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("experiment", SCATTERS, ids=lambda experiment: experiment.name)
def test_the_points_script_prints_the_same_numbers_without_this_project(experiment: Any) -> None:
    params = PointsParams(experiment.data)
    assert "explorer" not in points_script(params)
    assert printed(points_script(params)) == pytest.approx(values(correlate(params)), abs=1e-12)


@pytest.mark.parametrize(
    ("value", "text"), [(0.0625, "0.063"), (-0.0625, "−0.063"), (0.8496, "0.850"), (-0.0001, "0.000"), (1, "1.000")]
)
def test_numbers_are_rounded_as_javascript_rounds_them(value: float, text: str) -> None:
    assert decimals(value) == text


def test_every_glue_task_stands_in_the_table_with_its_metrics() -> None:
    html = task_table()
    for task in TASKS:
        assert_safe(html, task.title, ("table", "thead", "tbody", "tr", "th", "td", "strong", "br"))
        assert ", ".join(METRICS[name].title for name in task.metrics) in html
    assert METRICS["pearson"].formula in WHY


def test_the_actions_go_without_model_and_run() -> None:
    (result,) = follow_metrics(None, TAKE_APART.params([[40, 10], [5, 45]]), "")
    assert TAKE_APART.table(result) == taken_table(taken(((40, 10), (5, 45))))
    (result,) = follow_correlation(None, CORRELATE.params([[0, 0], [1, 1], [2, 1]]), "")
    assert CORRELATE.table(result).columns == ("metric", "value", "formula")
    assert not TAKE_APART.takes_model


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """An app of this tab alone."""
    lab = Lab("metrics", "Metrics", "Adapt", "How good?", "", None, (TAKE_APART, CORRELATE), "tests:none")
    with gr.Blocks(analytics_enabled=False) as app:
        page = Page(LocalEngine(Settings(offline=True)), lab, gr.Dropdown(), gr.HTML(), app.load, ())
        build_metrics(page)
    _, url, _ = app.launch(server_name="127.0.0.1", prevent_thread_lock=True, quiet=True, ssr_mode=False)
    yield Client(url, verbose=False, httpx_kwargs={"timeout": 300})
    app.close()


def test_both_actions_are_endpoints_and_nothing_else_is(client: Client) -> None:
    named = client.view_api(return_format="dict")["named_endpoints"]
    assert {name: [one["parameter_name"] for one in api["parameters"]] for name, api in named.items()} == {
        "/take_metrics_apart": ["matrix"],
        "/correlate": ["points"],
    }


def test_a_client_gets_script_and_table(client: Client) -> None:
    script, table = client.predict(matrix=[[90, 0], [10, 0]], api_name="/take_metrics_apart")
    assert "matthews_corrcoef" in script
    assert table["headers"] == ["metric", "value", "formula"]
    assert {row[0]: row[1] for row in table["data"]} == claims("Always the majority")
    _, table = client.predict(points=[[0, 0], [1, 1], [2, 5]], api_name="/correlate")
    assert [row[0] for row in table["data"]] == ["pearson", "spearman"]
    assert table["data"][1][1] == pytest.approx(1)


def test_a_client_is_told_what_to_mend_and_is_answered_afterwards(client: Client) -> None:
    with pytest.raises(AppError, match="nothing to measure"):
        client.predict(matrix=[[0, 0], [0, 0]], api_name="/take_metrics_apart")
    with pytest.raises(AppError, match="2 to 1,000 points"):
        client.predict(points=[], api_name="/correlate")
    assert client.predict(matrix=[[1, 0], [0, 1]], api_name="/take_metrics_apart")[1]["data"][0][1] == 1

"""The Metrics tab for clients, and what its tables hold and how they are read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradio as gr
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from explorer.action import Lab
from explorer.engine.local import LocalEngine
from explorer.errors import BadInputError
from explorer.labs.finetune.metrics import CORRELATE, MATRICES, SCATTERS, TAKE_APART, ConfusionParams, taken_table
from explorer.labs.finetune.metrics_page import (
    build_metrics,
    flipped,
    matrix_frame,
    points_frame,
    read_matrix,
    read_points,
)
from explorer.settings import Settings
from explorer.ui.page import Page
from tests.labs.finetune.metrics.taking import taken, values
from tests.ports import serving
from tests.rows import each_row


@each_row("matrix", MATRICES.values(), ids=MATRICES.keys())
def test_a_matrix_is_read_as_it_was_shown(matrix: Any) -> None:
    shown = matrix_frame(matrix)
    assert len(shown["headers"]) == len(matrix) + 1
    assert read_matrix({"cells": shown["data"]}) == {"matrix": [list(row) for row in matrix]}


def test_the_other_class_is_called_positive_whatever_stands_in_the_cells() -> None:
    assert flipped(matrix_frame((("40", "x"), ("", 45)))["data"])["data"] == [
        ["negative", 45, ""],
        ["positive", "x", "40"],
    ]
    three = matrix_frame(MATRICES["Three classes"])
    assert flipped(flipped(three["data"])["data"]) == three


BAD_CELLS = {
    "": "The cell “true positive, predicted negative” is empty. Type a number",
    " ": "The cell “true positive, predicted negative” is empty",
    "-3": "In the cell “true positive, predicted negative”: Each cell counts .* got '-3'. The figures still show",
    "1.5": "got '1.5'",
    "many": "got 'many'",
    "99999999999": "from 0 to 1,000,000,000; got '99999999999'",
    "nan": "got 'nan'",
}


@each_row(("typed", "says"), BAD_CELLS.items())
def test_a_cell_that_counts_nothing_is_named(typed: str, says: str) -> None:
    with pytest.raises(BadInputError, match=says):
        read_matrix({"cells": [["negative", "40", 10], ["positive", typed, 45]]})


def test_points_are_read_and_one_without_scores_is_left_out() -> None:
    rows = points_frame(SCATTERS["A noisy line"])["data"]
    assert read_points({"cells": rows})["points"] == [list(point) for point in SCATTERS["A noisy line"]]
    rows[3] = [4, "", " "]
    assert read_points({"cells": rows})["points"] == [[row[1], row[2]] for row in rows if row[0] != 4]
    rows[3] = [4, "2.5", ""]
    with pytest.raises(BadInputError, match="The cell “predicted score of pair 4” is empty"):
        read_points({"cells": rows})
    rows[3] = [4, "two", "1"]
    with pytest.raises(BadInputError, match=r"In the cell “true score of pair 4”: A score is a number .* got 'two'"):
        read_points({"cells": rows})


def test_the_actions_go_without_model_and_run() -> None:
    engine = LocalEngine(Settings(offline=True))
    result = engine.follow(TAKE_APART.job, ConfusionParams([[40, 10], [5, 45]])).last.result()
    assert TAKE_APART.table(result) == taken_table(taken(((40, 10), (5, 45))))
    result = engine.follow(CORRELATE.job, CORRELATE.params([[0, 0], [1, 1], [2, 1]])).last.result()
    assert CORRELATE.table(result).columns == ("metric", "value", "formula")


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """An app of this tab alone."""
    lab = Lab("metrics", "Metrics", "Adapt", "How good?", "", None, (TAKE_APART, CORRELATE), "tests:none")
    with gr.Blocks(analytics_enabled=False) as app:
        page = Page(LocalEngine(Settings(offline=True)), lab, gr.Dropdown(), gr.HTML(), app.load, ())
        with gr.Tabs(), gr.Tab("Metrics") as tab:
            build_metrics(page, tab)
    with serving(app, ssr_mode=False) as url:
        yield Client(url, verbose=False, httpx_kwargs={"timeout": 300})


def test_both_actions_are_endpoints_and_nothing_else_is(client: Client) -> None:
    named = client.view_api(return_format="dict")["named_endpoints"]
    assert {name: [one["parameter_name"] for one in api["parameters"]] for name, api in named.items()} == {
        "/take_metrics_apart": ["matrix"],
        "/correlate": ["points"],
    }


def test_a_client_gets_scripts_and_table(client: Client) -> None:
    *_, plain, script, table = client.predict(matrix=[[90, 0], [10, 0]], api_name="/take_metrics_apart")
    assert "matthews_corrcoef" in plain
    assert "matrix=((90, 0), (10, 0))" in script
    assert table["headers"] == ["metric", "value", "formula"]
    assert {row[0]: row[1] for row in table["data"]} == values(taken(((90, 0), (10, 0))))
    *_, table = client.predict(points=[[0, 0], [1, 1], [2, 5]], api_name="/correlate")
    assert [row[0] for row in table["data"]] == ["pearson", "spearman"]
    assert table["data"][1][1] == pytest.approx(1)


def test_a_client_is_told_what_to_mend_and_is_answered_afterwards(client: Client) -> None:
    with pytest.raises(AppError, match="nothing to measure"):
        client.predict(matrix=[[0, 0], [0, 0]], api_name="/take_metrics_apart")
    with pytest.raises(AppError, match="2 to 1,000 points"):
        client.predict(points=[], api_name="/correlate")
    assert client.predict(matrix=[[1, 0], [0, 1]], api_name="/take_metrics_apart")[-1]["data"][0][1] == 1

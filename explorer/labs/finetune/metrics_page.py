"""Metrics, taken apart: a confusion matrix and points to change, and what follows from them for every metric."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr

from explorer.errors import BadInputError
from explorer.labs.finetune import metrics_figures as figures
from explorer.labs.finetune.metrics import (
    CLASS_NAMES,
    CORRELATE,
    MATRICES,
    SCATTERS,
    TAKE_APART,
    Points,
    read_count,
    read_score,
)
from explorer.tasks.metrics import METRICS
from explorer.ui.components import LATEX, rich_text, typed_table
from explorer.ui.kit import QUIET, Tries, View, caption, inputs_column, outputs_column, two_columns, why
from explorer.ui.page import Page
from explorer.ui.wiring import Connection

WHY = rf"""
Of the examples, TP are positive and called so, FN are positive and missed, FP are called positive by mistake, TN are rightly
left alone. Precision is the share of what is called positive that is, recall the share of the positives that is found.

$$F_1 = {METRICS["f1"].formula}$$

F1 does not look at TN, so it depends on which class is called positive. Matthews uses all four cells and is the same either way:

$$\varphi = \frac{{TP \cdot TN - FP \cdot FN}}{{\sqrt{{t_+\,t_-\,p_+\,p_-}}}}$$

with the four totals at the edges of the matrix: $t_+$ examples are positive and $t_-$ negative, $p_+$ and $p_-$ are called so. It
is 0 for any guess that is independent of the truth. Where everything is called by one name it is 0/0; scikit-learn then says 0.
For more classes precision, recall and F1 are averaged over them (*macro*), and Matthews becomes Gorodkin's formula from $c$ right
of $s$ examples, of which class $k$ has $t_k$ and is predicted $p_k$ times. For scores, Pearson is

$$r = {METRICS["pearson"].formula}$$

and Spearman is Pearson of the ranks. Neither sees whether all predictions are too high, or too close together: both ask only how
true and predicted score move together.

(Matthews 1975, *Comparison of the predicted and observed secondary structure of T4 phage lysozyme*; Gorodkin 2004, *Comparing two
K-category assignments by a K-category correlation coefficient*; Spearman 1904, *The proof and measurement of association between
two things*; Wang et al. 2019, *GLUE*, section 3)
"""

FLIP = "Call the other class positive"


def build_metrics(page: Page, tab: gr.Tab) -> None:
    """Fill and wire two tabs, for classes and for scores; in each, which task is judged how."""
    caption("Used on this tab: <strong>no model and no run</strong>, but the numbers that stand in its tables.")
    with gr.Tabs():
        with gr.Tab("Classes", id="classes"):
            _classes(page, tab)
        with gr.Tab("Scores", id="scores") as scores:
            _scores(page, scores)


def _classes(page: Page, tab: gr.Tab) -> None:
    first = next(iter(MATRICES.values()))
    with two_columns():
        with inputs_column(360):
            cells = typed_table(matrix_frame(first), "Examples of each class", elem_id="matrix-panel")
            caption("A row for what is true, a column for what was predicted. Type a count and press Enter.")
            tries = Tries({name: {"cells": matrix_frame(one)} for name, one in MATRICES.items()} | {FLIP: None})
        with outputs_column():
            view = View(
                *("metrics", "matrix", figures.matrix_sentence, figures.matrix_figure), notes=figures.matrix_notes
            )
            apart = rich_text(elem_classes=["wide"], elem_id="matrix-formulas")
    _why()
    # A client sends it; the page's comes from its table.
    given = {"matrix": gr.JSON([list(row) for row in first], visible=False)}
    connection = Connection(page, TAKE_APART, given, [*view, (apart, figures.formulas)])
    other = tries.buttons[FLIP].click(flipped, [cells], [cells], **QUIET).then
    moves = [*tries.into({"cells": cells}), other]
    connection.on(tab.select, cells.input, *moves, extra={"cells": cells}, adapt=read_matrix)


def _scores(page: Page, tab: gr.Tab) -> None:
    first = next(iter(SCATTERS.values()))
    with two_columns():
        with inputs_column(300):
            cells = typed_table(points_frame(first), "Pairs and their scores", elem_id="scatter-panel", max_height=300)
            caption("Type a score and press Enter. A pair without either score is left out.")
            tries = Tries({name: {"cells": points_frame(points)} for name, points in SCATTERS.items()})
        with outputs_column():
            view = View(
                *("correlation", "scatter", figures.points_sentence, figures.points_figure), notes=figures.points_notes
            )
            apart = rich_text(elem_classes=["wide"], elem_id="scatter-formulas")
    _why()
    given = {"points": gr.JSON([list(point) for point in first], visible=False)}
    connection = Connection(page, CORRELATE, given, [*view, (apart, figures.formulas)])
    moves = tries.into({"cells": cells})
    connection.on(tab.select, cells.input, *moves, extra={"cells": cells}, adapt=read_points)


def _why() -> None:
    with why("which metric judges which GLUE task"):
        rich_text(str(figures.task_table()), apply_default_css=False, elem_classes=["wide"])
        gr.Markdown(WHY, latex_delimiters=LATEX, elem_classes=["wide"])


def matrix_frame(matrix: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """Return a matrix as the table shows it, each row behind its class; the cells may hold what no count is."""
    names = CLASS_NAMES[len(matrix)]
    return {
        "headers": ["true", *names],
        "data": [[name, *row] for name, row in zip(names, matrix, strict=True)],
    }


def points_frame(points: Points) -> dict[str, Any]:
    """Return points as the table shows them, each with its number."""
    rows = [[number, *point] for number, point in enumerate(points, start=1)]
    return {"headers": ["pair", "true score", "predicted score"], "data": rows}


def flipped(rows: list[list[Any]]) -> dict[str, Any]:
    """Return the table with the classes in the other order, whatever stands in its cells."""
    return matrix_frame([row[:0:-1] for row in reversed(rows)])  # both ways, without the names


def read_matrix(values: dict[str, Any]) -> dict[str, Any]:
    """Read the action's parameters from the table. Raises BadInputError, which names the cell."""
    names = [row[0] for row in values["cells"]]
    return {
        "matrix": [
            [
                _read(read_count, cell, f"true {row[0]}, predicted {name}")
                for name, cell in zip(names, row[1:], strict=True)
            ]
            for row in values["cells"]
        ]
    }


def read_points(values: dict[str, Any]) -> dict[str, Any]:
    """Read the points in the same way, of those pairs that have a score."""
    heads = ("true score", "predicted score")
    return {
        "points": [
            [_read(read_score, cell, f"{head} of pair {row[0]}") for head, cell in zip(heads, row[1:], strict=True)]
            for row in values["cells"]
            if any(str(cell).strip() for cell in row[1:])
        ]
    }


def _read(reader: Callable[[object], Any], cell: object, name: str) -> Any:
    try:
        return reader(cell)
    except BadInputError as error:
        if not str(cell).strip():
            raise BadInputError(
                f"The cell “{name}” is empty. Type a number; the figures still show the last ones."
            ) from None
        raise BadInputError(f"In the cell “{name}”: {error} The figures still show the last numbers.") from None

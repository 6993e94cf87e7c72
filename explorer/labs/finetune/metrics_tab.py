"""Metrics, taken apart: a confusion matrix and a scatter to change, computed in the browser and drawn at once."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import gradio as gr

from explorer.action import LiveAction
from explorer.charts import FONT, PALETTES
from explorer.errors import readable
from explorer.labs.finetune import metrics_figures
from explorer.labs.finetune.metrics_actions import CORRELATE, TAKE_APART
from explorer.labs.finetune.metrics_compute import correlate, take_metrics_apart
from explorer.labs.finetune.metrics_schema import CLASS_NAMES, MATRICES, SCATTERS, THREE_CLASSES
from explorer.tables import Table
from explorer.ui.components import ASSETS, rich_text
from explorer.ui.kit import QUIET, Tries, why
from explorer.ui.page import Page
from explorer.ui.signatures import named
from explorer.ui.wiring import LATEX, Panel, folds, frame, page_frame

FLIP = "Call the other class positive"


def build_metrics(page: Page) -> None:
    """Two tabs, for classes and for scores; in each, which task is judged how."""
    with gr.Tabs():
        with gr.Tab("Classes", id="classes"):
            _classes(page)
        with gr.Tab("Scores", id="scores"):
            _scores(page)


def _why() -> None:
    with why("which metric judges which GLUE task"):
        table = str(metrics_figures.task_table())
        rich_text(table, apply_default_css=False, elem_classes=["wide"])
        gr.Markdown(metrics_figures.WHY, latex_delimiters=LATEX, elem_classes=["wide"])


def _classes(page: Page) -> None:
    panel = _panel(
        "confusion.js",
        {"matrix": MATRICES[0].data},
        "matrix-panel",
        elem_id="matrix-panel",
        names={str(size): names for size, names in CLASS_NAMES.items()},
        three=THREE_CLASSES,
    )
    experiments: dict[str, Any] = {experiment.name: {"matrix": experiment.data} for experiment in MATRICES}
    _set(Tries(experiments | {FLIP: {"flip": True}}), panel)
    given = gr.JSON([list(row) for row in MATRICES[0].data], visible=False)
    script = metrics_figures.matrix_script
    _why()
    Sums(page, TAKE_APART, take_metrics_apart, script, {"matrix": given}, folds(TAKE_APART)).on(panel)


def _scores(page: Page) -> None:
    first = SCATTERS[0]
    panel = _panel("correlation.js", {"points": first.data}, "scatter-panel", elem_id="scatter-panel")
    _set(Tries({one.name: {"points": one.data, "chosen": one.chosen or 0} for one in SCATTERS}), panel)
    given = gr.JSON([list(point) for point in first.data], visible=False)
    _why()
    Sums(page, CORRELATE, correlate, metrics_figures.points_script, {"points": given}, folds(CORRELATE)).on(panel)


def _panel(script: str, value: dict[str, Any], style: str, **options: Any) -> gr.HTML:
    """A panel that draws itself. Fires `select` with what stands on it, once the visitor rests."""
    files = [ASSETS / name for name in ("panel.js", script)]
    return gr.HTML(
        value,
        html_template=f'<div class="panel {style}"></div>',
        css_template=(ASSETS / "metrics.css").read_text(encoding="utf-8"),
        js_on_load="\n".join(path.read_text(encoding="utf-8") for path in files),
        apply_default_css=False,
        palettes=PALETTES,
        font=FONT.replace('"', "'"),
        **options,
    )


def _set(tries: Tries, panel: gr.HTML) -> None:
    """Put an experiment on the panel; the time makes it a new value each time, so that it also undoes what was typed."""
    for name, value in tries.experiments.items():
        script = f"() => ({{...{json.dumps(value)}, at: Date.now()}})"
        tries.buttons[name].click(fn=None, js=script, outputs=[panel], api_visibility="private")


class Sums:
    """An action that is a few sums: computed where the event is, with neither a model nor a lane.

    inputs: the one parameter by name; clients give it, the page takes it from the panel.
    """

    def __init__(
        self,
        page: Page,
        action: LiveAction,
        compute: Callable[[Any], Any],
        script: Callable[[Any], str],
        inputs: dict[str, Any],
        folded: Panel,
    ) -> None:
        self.page, self.action, self.compute, self.script = page, action, compute, script
        (self.name,) = inputs
        self.inputs, self.outputs = inputs, [folded.script, folded.table]
        self._publish()

    def answer(self, value: Any, framed: Callable[[Table], dict[str, Any]] = page_frame) -> list[Any]:
        """The script and the table. Raises ExplorerError."""
        params = self.action.params(**{self.name: value})
        return [self.script(params), framed(self.action.table(self.compute(params)))]

    def _publish(self) -> None:
        """The endpoint for clients, on a button that is not on the page."""

        async def endpoint(**values: Any) -> list[Any]:
            try:
                return self.answer(values[self.name], frame)
            except Exception as error:
                raise gr.Error(str(readable(error)), print_exception=False) from None

        gr.Button(visible=False).click(
            named(endpoint, list(self.inputs)),
            inputs_kwargs=self.inputs,
            outputs=self.outputs,
            api_name=self.action.name,
            queue=False,
            concurrency_limit=None,
        )

    def on(self, panel: gr.HTML) -> None:
        """Fill the folded table and the script when the page opens and whenever the panel tells what stands on it."""

        async def opened(**values: Any) -> list[Any]:  # the panels open with what the inputs hold
            return self.answer(values[self.name])

        async def told(event: gr.EventData) -> list[Any]:
            try:
                return ["", *self.answer(event._data.get(self.name))]
            except Exception as error:
                return [self.page.explain(readable(error)), *[gr.skip()] * len(self.outputs)]

        self.page.opened(named(opened, list(self.inputs)), inputs_kwargs=self.inputs, outputs=self.outputs, **QUIET)
        panel.select(told, None, [self.page.notice, *self.outputs], trigger_mode="always_last", **QUIET)

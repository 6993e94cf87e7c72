"""What both tabs have: the choice of methods, Start and Stop, and the figures."""

from __future__ import annotations

from typing import Any

import gradio as gr
from markupsafe import Markup

from explorer.action import LiveAction
from explorer.labs.attribution import figures, methods_figures
from explorer.labs.attribution import methods_figures as bar_figures
from explorer.labs.attribution.params import OPENING, AttributeRunParams
from explorer.labs.attribution.schema import AttributionResult
from explorer.ui.components import plot, rich_text
from explorer.ui.controls import control
from explorer.ui.kit import View, bar_place, outputs_column, sentence_place, start_or_stop, start_stop, two_columns
from explorer.ui.outputs import Output
from explorer.ui.page import Page
from explorer.ui.streams import Stream, Watch

VIEWS = [("bars", "bars"), ("the text, coloured", "text")]

CAUTION = (
    '<p class="caption"><b>Attention is not attribution.</b> The rollout says where information could have come from, not '
    "what the answer hangs on: Jain and Wallace (2019) find attention weights that rank words otherwise than gradients do "
    "and that can be changed without changing the prediction; Wiegreffe and Pinter (2019) answer that this does not make "
    "them useless as an explanation, and propose tests of when they are one. The other columns need not agree "
    "either: each answers a question of its own.</p>"
)


class Bench:
    """The parts of one tab; `name` makes the ids. Lay out controls and figures where they belong, then `stream`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def lay_out_choices(self) -> None:
        """Lay out the target, the methods, Start and Stop, and what is seldom changed."""
        self.target = control(
            AttributeRunParams, "target", placeholder="the model's own answer", elem_id=f"{self.name}-target"
        )
        self.method = control(AttributeRunParams, "method", value=list(OPENING), elem_id=f"{self.name}-methods")
        self.start, self.stop = start_stop("Attribute", f"{self.name}-start", stop_id=f"{self.name}-stop")
        with gr.Accordion("Words or tokens, baseline, steps", open=False):
            self.by = control(AttributeRunParams, "by")
            self.baseline = control(AttributeRunParams, "baseline")
            self.steps = control(AttributeRunParams, "steps")

    def lay_out_figures(self) -> None:
        """Lay out the sentence, bars or coloured text, and what they add up to."""
        self.view = gr.Radio(
            VIEWS, value="bars", label="Show as", elem_id=f"{self.name}-view", elem_classes=["in-line"]
        )
        said = sentence_place(f"{self.name}-said")
        self.progress = bar_place(f"{self.name}-progress")
        bars = plot("attribution", elem_id=f"{self.name}-bars")
        text = rich_text(elem_classes=["token-chips", "readings"], elem_id=f"{self.name}-text")
        caption = rich_text(elem_classes=["measures"], elem_id=f"{self.name}-caption")
        self.shown: list[Output] = [(said, figures.sentence), (self.progress, figures.progress_line)]
        self.shown += [(bars, _bars), (text, _text), (caption, figures.caption)]

    def lay_out_comparison(self) -> None:
        """Lay out conductance layer by layer, and how far the methods agree."""
        ids = (f"{self.name}-layers-said", f"{self.name}-layers")
        layers = View(
            *("layer-conductance", ids, methods_figures.layers_sentence, bar_figures.layers_figure),
            notes=methods_figures.layers_notes,
        )
        with two_columns():
            with outputs_column(3, 300):
                agreement = plot("rank-correlation", elem_id=f"{self.name}-agreement")
            with outputs_column(2, 270):
                said = sentence_place(f"{self.name}-agreement-said")
                about = rich_text(elem_id=f"{self.name}-agreement-notes")
                gr.HTML(CAUTION)
        self.shown += [*layers, (agreement, bar_figures.agreement_figure)]
        self.shown += [(said, bar_figures.agreement_sentence), (about, bar_figures.agreement_notes)]

    @property
    def choices(self) -> dict[str, Any]:
        """The inputs that both tabs have, by the parameters' names."""
        return {name: getattr(self, name) for name in ("target", "method", "baseline", "steps", "by")}

    def stream(
        self, page: Page, action: LiveAction, inputs: dict[str, Any], *steered: Output, **options: Any
    ) -> Stream:
        """Connect the tab's action. steered: what else the page shows of a result."""
        self.watch = Watch()
        # Start and Stop stand in each other's place.
        buttons: Output = ([self.start, self.stop], lambda result: start_or_stop(result.progress is not None))
        views = {"view": self.view}
        return Stream(
            page, action, inputs, self.shown, watch=self.watch, views=views, steered=[buttons, *steered], **options
        )

    @property
    def triggers(self) -> list[Any]:
        """What fires when a visitor starts, or chooses something else."""
        choices: list[Any] = [self.method, self.baseline, self.by, self.view]
        return [self.start.click, self.target.submit, self.steps.submit, *[choice.input for choice in choices]]

    def wire(self, stream: Stream, *triggers: Any) -> None:
        """Attribute when a trigger fires; end it when Stop is pressed."""
        stream.on(*triggers)
        stream.stops(self.start, self.stop, self.progress, str(figures.STOPPED))


def _bars(result: AttributionResult, view: str = "bars") -> Any:
    return bar_figures.bars_figure(result) if view == "bars" else ""  # "" clears the place, and the text stands in it


def _text(result: AttributionResult, view: str = "bars") -> Markup | str:
    return figures.coloured_text(result) if view == "text" else ""

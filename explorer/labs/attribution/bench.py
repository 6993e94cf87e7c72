"""What both tabs have: the choice of methods, Start and Stop, and the figures."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.action import LiveAction
from explorer.labs.attribution import bar_figures, figures
from explorer.labs.attribution.params import AttributeRunParams
from explorer.labs.attribution.schema import AttributionResult
from explorer.ui.components import plot, rich_text
from explorer.ui.controls import control
from explorer.ui.kit import QUIET, bar_place, bench, sentence_place, shows, start_or_stop, start_stop
from explorer.ui.page import Page
from explorer.ui.streams import Stream, Watch
from explorer.ui.wiring import folds

OPENING = ["integrated_gradients", "gradient_x_input"]
VIEWS = [("bars", "bars"), ("the text, coloured", "text")]

CAUTION = (
    '<p class="caption"><b>Attention is not attribution.</b> The rollout says where information could have come from, not '
    "what the answer hangs on: Jain and Wallace (2019) find attention weights that rank words otherwise than gradients do "
    "and that can be changed without changing the prediction; Wiegreffe and Pinter (2019) answer that this does not make "
    "them useless as an explanation, and propose tests of when they are one. The other columns disagree too: each "
    "answers a question of its own.</p>"
)


class Bench:
    """The parts of one tab; `name` makes the ids. Lay out controls and figures where they belong, then `stream`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def lay_out_choices(self) -> None:
        """The target, the methods, Start and Stop, and what is seldom changed."""
        self.target = control(
            AttributeRunParams, "target", placeholder="the model's own answer", elem_id=f"{self.name}-target"
        )
        self.method = control(AttributeRunParams, "method", value=OPENING, elem_id=f"{self.name}-methods")
        self.start, self.stop = start_stop("Attribute", f"{self.name}-start", stop_id=f"{self.name}-stop")
        self.view = gr.Radio(VIEWS, value="bars", label="Show as", elem_id=f"{self.name}-view")
        with gr.Accordion("Words or tokens, baseline, steps", open=False):
            self.by = control(AttributeRunParams, "by")
            self.baseline = control(AttributeRunParams, "baseline")
            self.steps = control(AttributeRunParams, "steps")

    def lay_out_figures(self) -> None:
        """Sentence, bars or coloured text, and what they add up to."""
        self.said = sentence_place(f"{self.name}-said")
        self.progress = bar_place(f"{self.name}-progress")
        self.bars = plot("attribution", elem_id=f"{self.name}-bars")
        self.text = rich_text(elem_classes=["token-chips", "readings"], elem_id=f"{self.name}-text")
        self.caption = rich_text(elem_classes=["measures"], elem_id=f"{self.name}-caption")

    def lay_out_comparison(self) -> None:
        """Conductance layer by layer, and how far the methods agree."""
        self.layers_said = sentence_place(f"{self.name}-layers-said")
        self.layers = plot("layer-conductance", elem_id=f"{self.name}-layers")
        with bench():
            with shows(3, 300):
                self.agreement = plot("rank-correlation", elem_id=f"{self.name}-agreement")
            with shows(2, 270):
                self.agreement_said = sentence_place()
                gr.HTML(CAUTION)

    @property
    def choices(self) -> dict[str, Any]:
        """The inputs that both tabs have, by the parameters' names."""
        return {
            "target": self.target,
            "method": self.method,
            "baseline": self.baseline,
            "steps": self.steps,
            "by": self.by,
        }

    def stream(
        self,
        page: Page,
        action: LiveAction,
        inputs: dict[str, Any],
        visitor: gr.Textbox,
        places: tuple[gr.HTML, gr.Textbox] | None = None,
    ) -> Stream:
        """Connect the tab's action. places: the tokens that can be asked about, and the position of the one that is."""
        self.watch = Watch()
        outputs = [
            self.said,
            self.progress,
            self.bars,
            self.text,
            self.caption,
            self.layers_said,
            self.layers,
            self.agreement,
            self.agreement_said,
        ]
        controls = [self.start, self.stop, *(places or ())]

        def steer(result: AttributionResult, owner: str, **viewed: Any) -> list[Any]:
            buttons = start_or_stop(result.progress is not None)
            return [*buttons, *([figures.place_chips(result), str(result.asked.fixed.place)] if places else [])]

        return Stream(
            page,
            action,
            inputs,
            visitor,
            outputs,
            show,
            folds(action),
            self.watch,
            controls,
            steer,
            {"view": self.view},
        )

    @property
    def triggers(self) -> list[Any]:
        """What fires when a visitor starts, or chooses something else."""
        choices: list[Any] = [self.method, self.baseline, self.by, self.view]
        return [self.start.click, self.target.submit, self.steps.submit, *[choice.input for choice in choices]]

    def wire(self, stream: Stream, *triggers: Any) -> None:
        """Attribute when a trigger fires; end it when Stop is pressed."""
        stream.on(*triggers)
        self.stop.click(self._stopped, None, [self.progress, self.start, self.stop], **QUIET)

    def _stopped(self, request: gr.Request) -> list[Any]:
        """The stream ends at its next look, and with it the work."""
        self.watch.end(request)
        return [str(figures.STOPPED), *start_or_stop(False)]


def show(result: AttributionResult, view: str = "bars") -> list[Any]:
    """The outputs' values for a result; `view` is bars or text."""
    return [
        str(figures.sentence(result)),
        str(figures.progress_line(result)),
        bar_figures.bars_figure(result) if view == "bars" else "",
        str(figures.coloured_text(result)) if view == "text" else "",
        str(figures.caption(result)),
        str(figures.layers_sentence(result)),
        bar_figures.layers_figure(result),
        bar_figures.agreement_figure(result),
        str(bar_figures.agreement_sentence(result)),
    ]

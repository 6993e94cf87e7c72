"""What the tabs share: what is pruned, and a stream with Start, Stop and a bar."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import gradio as gr
from markupsafe import Markup

from explorer.action import LiveAction
from explorer.charts.words import duration, progress_bar
from explorer.compress.cuts import UNITS
from explorer.labs.pruning.params import JUDGED, READ, Asking, Scored
from explorer.maths.importance import SCORES
from explorer.runs.record import RunRecord
from explorer.settings import settings
from explorer.tasks.sources import choices
from explorer.tasks.task import CLASSES
from explorer.tuning.kinds import kind_of
from explorer.tuning.methods import find_method
from explorer.ui.components import apart, is_open, once_known
from explorer.ui.controls import control
from explorer.ui.folds import Panel
from explorer.ui.kit import QUIET, start_or_stop
from explorer.ui.outputs import Output
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker
from explorer.ui.streams import Stream
from explorer.ui.whose import OF_RUN


def can_be_pruned(record: RunRecord) -> bool:
    """Return whether a run is listed here: it gives classes or a score, has weights, and no virtual tokens before the
    text.
    """
    classifies = kind_of(record.spec.method, record.kind).slug == CLASSES and not record.from_nothing
    return classifies and record.status.has_weights and not find_method(record.spec.method).has_virtual_tokens


class Subject:
    """What is pruned: a run, or the page's model. `inputs` are the parameters that every action takes."""

    def __init__(self, page: Page) -> None:
        self.page = page
        with gr.Row(elem_classes=["prune-what"]):
            self.what = gr.Radio(
                [("a run", "run"), ("the model, without labels", "model")],
                value="run",
                show_label=False,
                container=False,
                elem_id="prune-what",
            )
            with gr.Column(scale=1, min_width=300):
                self.picker = RunPicker(page, can_be_pruned, needs="runs with classes or a score")
        page.also.append(("what", self.what))
        with gr.Accordion("Task, loss and how many examples", open=False), gr.Row(elem_classes=["prune-how"]):
            self.task = control(Asking, "task", choices=[("its own", ""), *choices(settings())])
            self.loss = control(Asking, "loss")
            self.examples = control(Asking, "examples", value=READ)
            self.held_out = control(Asking, "held_out", value=JUDGED)
        self.run = gr.Textbox("", visible="hidden", label="run", elem_classes=[OF_RUN])  # "" for the page's model
        # Filled once the page knows; until then no tab asks.
        self.known = gr.Textbox("", visible="hidden", label="a run, or the model")

    @property
    def inputs(self) -> dict[str, Any]:
        """The inputs by the parameters' names."""
        names = ("run", "task", "loss", "examples", "held_out")
        return {name: getattr(self, name) for name in names}

    def in_view(self, tab: gr.Tab, *triggers: Callable[..., Any]) -> list[Any]:
        """Return what fires when a tab is opened, and after any of the triggers while it is the one in view."""
        return [once_known(self.known, tab.select), apart(*triggers, where=is_open(tab))]

    def wire(self) -> list[Callable[..., Any]]:
        """Return triggers that fire when the page has opened, the first, and when another thing is to be pruned."""

        def used(what: str, run: str) -> list[str]:
            return [(run or "") if what == "run" else "", what]

        asked, found = [self.what, self.picker.run], [self.run, self.known]
        opened = self.picker.wire()(used, asked, found, **QUIET)
        chosen = [component.input(used, asked, found, **QUIET) for component in (self.what, self.picker.run)]
        self.what.change(lambda what: gr.update(interactive=what == "run"), [self.what], [self.picker.run], **QUIET)
        settled = (self.task.input, self.loss.input, self.examples.release, self.held_out.release)
        return [opened.then, *(event.then for event in chosen), *settled, *self.page.changed]


class Live(Stream):
    """A stream with its own Start, Stop and bar. share: how much is done, from a result; 1 at the end."""

    def __init__(
        self,
        subject: Subject,
        action: LiveAction,
        inputs: dict[str, Any],
        shown: Iterable[Output],
        share: Callable[[Any], float],
        buttons: tuple[gr.Button, gr.Button],
        bar: gr.HTML,
        folded: Panel | None = None,
        **options: Any,
    ) -> None:
        self.start, self.stop = buttons
        self.bar = bar
        self.last = gr.JSON(visible=False)
        self.places = [*buttons, bar]
        super().__init__(
            subject.page,
            action,
            {**subject.inputs, **inputs},
            [*shown, (bar, lambda result, seconds=0.0: progress(share(result), seconds))],
            folded,
            visitor=subject.picker.visitor,
            steered=[(buttons, lambda result: start_or_stop(share(result) < 1))],
            **options,
        )
        self.stops(*buttons, bar)

    def opens(self, *triggers: Any, **options: Any) -> None:
        """Open as EventBinding does: the bar says what was computed beforehand, and what waits for Start."""
        super().opens(*triggers, **{"note": self.bar, "start": str(self.start.value), "last": self.last, **options})

    def on(self, *triggers: Any, at_once: bool = True) -> list[Any]:
        """Bind as Stream does, with Stop shown at once: the first result may take a while, or never come."""
        asked = [part for name, part in self.inputs.items() if name != "visitor"]
        for trigger in triggers:
            trigger(fn=None, js="(...asked) => [asked]", inputs=asked, outputs=[self.last], api_visibility="private")
        return super().on(*triggers, at_once=at_once)


def progress(share: float, seconds: float = 0.0) -> str:
    """Return the bar's HTML after so many seconds, with the time left once that can be told; nothing when all is done."""
    if share >= 1:
        return ""
    # Any sooner the guess would jump about.
    left = f"about {duration(seconds * (1 - share) / share)} left" if share > 0.05 and seconds > 1 else ""
    return str(progress_bar(share) + Markup('<span class="caption">{}</span>').format(left))


def scores_of(unit: str) -> list[tuple[str, str]]:
    """Return the choices of scores for one kind of unit."""
    return [(score.title, score.slug) for score in SCORES.values() if unit in score.units]


def score_box() -> gr.Dropdown:
    """Lay out the choice of a score, at first the gradient; `fit` leaves those that a unit has."""
    box: gr.Dropdown = control(Scored, "score", choices=[(score.title, score.slug) for score in SCORES.values()])
    return box


def unit_and_score(unit: str, score: str = "gradient") -> dict[str, Any]:
    """Return what an experiment puts into the two controls."""
    return {"unit": unit, "score": score}


def fit(page: Page, unit: gr.components.Component, score: gr.Dropdown) -> Callable[..., Any]:
    """Offer the scores that a unit has, whoever sets it: a visitor, an experiment, the address.

    Return the trigger after which they stand there for a visitor. The browser alone shortens the list: the server takes
    every score, so that an address can name any of them.
    """
    fitting: dict[str, Any] = {
        "fn": None,
        "js": _FITTING % json.dumps({unit: scores_of(unit) for unit in UNITS}),
        "inputs": [unit, score],
        "outputs": [score],
        **QUIET,
    }
    page.opened(**fitting)
    unit.change(**fitting)  # type: ignore[attr-defined]
    then: Callable[..., Any] = unit.input(**fitting).then  # type: ignore[attr-defined]
    return then


_FITTING = """(unit, score) => {
  const choices = %s[unit];
  const value = choices.some(([, one]) => one === score) ? score : choices[0][1];
  return { __type__: "update", choices, value };
}"""

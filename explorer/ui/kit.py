"""The layout of tabs: the sides of controls and of figures, explanations, and experiments to try."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import gradio as gr

from explorer.ui.components import LATEX, plot, rich_text
from explorer.ui.components import QUIET as QUIET
from explorer.ui.outputs import Draw, Output

Then = Callable[..., Any]
"""A trigger that fires once an event's values are in place."""


def two_columns(*classes: str) -> gr.Row:
    """Return a row with the controls beside the figures."""
    return gr.Row(elem_classes=["bench", *classes])


def slim() -> gr.Row:
    """Return what takes the place of two_columns where the controls are few: a bar of them, with the figures below it in the
    whole width.
    """
    return two_columns("slim")


def inputs_column(min_width: int = 270) -> gr.Column:
    """Return the side of the controls, at least `min_width` pixels wide."""
    return gr.Column(scale=1, min_width=min_width, elem_classes=["controls"])


def outputs_column(scale: int = 2, min_width: int = 320) -> gr.Column:
    """Return a side of figures, `scale` times as wide as the controls."""
    return gr.Column(scale=scale, min_width=min_width)


def sentence_place(elem_id: str | None = None, value: str = "") -> gr.HTML:
    """Return the place for the sentence above a figure."""
    return rich_text(value, elem_classes=["said"], elem_id=elem_id)


def more(what: str) -> gr.Accordion:
    """Return the fold for controls that are seldom changed, so that the column ends in the first view; `what` names them."""
    return gr.Accordion(f"More: {what}", open=False)


def bar_place(elem_id: str | None = None) -> gr.HTML:
    """Return the place for a progress bar."""
    return rich_text(elem_classes=["bar"], elem_id=elem_id)


class View:
    """A sentence with its figure, which is saved as `filename`; laid out where it is made, it is an iterable of places
    for a wire.

    ids: the beginning of both ids, or the sentence's own and the figure's. bar: fills a bar between the two; True if
    something else does. notes: what the sentence rests on, below the figure, in small letters.
    """

    def __init__(
        self,
        filename: str,
        ids: str | tuple[str | None, str],
        sentence: Draw,
        figure: Draw,
        bar: Draw | bool = False,
        value: str = "",
        notes: Draw | None = None,
    ) -> None:
        said, drawn = ids if isinstance(ids, tuple) else (f"{ids}-said", f"{ids}-figure")
        said = said or f"{drawn}-said"
        self.places: list[Output] = [(sentence_place(said, value), sentence)]
        if bar:
            self.bar = bar_place()
        if callable(bar):
            self.places.append((self.bar, bar))
        self.figure = plot(filename, elem_id=drawn)
        self.places.append((self.figure, figure))
        if notes is not None:
            self.places.append((rich_text(elem_id=f"{said.removesuffix('-said')}-notes"), notes))

    def __iter__(self) -> Iterator[Output]:
        return iter(self.places)


def caption(text: str) -> gr.HTML:
    """Return a remark in small letters; `text` is HTML."""
    return gr.HTML(f'<p class="caption">{text}</p>')


def why(title: str, text: str = "") -> gr.Accordion:
    """Return the folded explanation, Markdown with formulas; `with` adds more below it."""
    place: gr.Accordion = gr.Accordion(f"Why: {title}", open=False)
    if text:
        with place:
            gr.Markdown(text, latex_delimiters=LATEX)
    return place


def in_the_paper(title: str, *tables: str) -> None:
    """Lay out the folded quotes of a paper, HTML as explorer.published makes it, beside the page where the like can be
    tried.
    """
    with gr.Accordion(f"In the paper: {title}", open=False):
        for table in tables:
            rich_text(str(table), elem_classes=["wide"])


def try_row() -> gr.Row:
    """Return a row of small buttons."""
    return gr.Row(elem_classes=["try"])


class Tries:
    """One-click experiments: a button for each, with the values that it puts into controls.

    Values are in the order of the controls, or by their names; None if something else is to happen.
    """

    def __init__(self, experiments: Mapping[str, Any], label: str = "Try") -> None:
        self.experiments = experiments
        with try_row():
            gr.HTML(f'<span class="try-label">{label}</span>')
            self.buttons = {name: gr.Button(name, size="sm") for name in experiments}

    def into(self, controls: Sequence[Any] | Mapping[str, Any], **options: Any) -> list[Then]:
        """Fill controls when a button is pressed. Returns the triggers after which the values are there."""
        return [self.put(name, controls, **options) for name, values in self.experiments.items() if values is not None]

    def put(self, name: str, controls: Sequence[Any] | Mapping[str, Any], **options: Any) -> Then:
        """Fill controls when the button of one experiment is pressed, as `into` does for all."""
        values = self.experiments[name]
        if isinstance(controls, Mapping):
            controls, values = [controls[name] for name in values], list(values.values())
            values = values if len(values) > 1 else values[0]  # Gradio takes a list for one component as its value
        then: Then = self.buttons[name].click(lambda: values, None, list(controls), **{**QUIET, **options}).then
        return then


class Examples:
    """A list of examples by their titles, each with its values."""

    def __init__(self, examples: Mapping[str, Any], **options: Any) -> None:
        self.values = list(examples.values())
        choices = [(title, number) for number, title in enumerate(examples)]
        self.list = gr.Dropdown(choices, **{"value": 0, "label": "Examples", "filterable": False, **options})

    def into(self, controls: Sequence[Any], **options: Any) -> Then:
        """Fill controls when another example is chosen. Returns the trigger after which its values are there."""
        chosen = self.list.input(
            lambda number: self.values[number], [self.list], list(controls), **{**QUIET, **options}
        )
        then: Then = chosen.then
        return then


def start_stop(title: str, start_id: str, stop: str = "Stop", stop_id: str | None = "") -> tuple[gr.Button, gr.Button]:
    """Return two buttons, one in the other's place; the second's id ends in -stop unless one is given."""
    stop_id = f"{start_id}-stop" if stop_id == "" else stop_id
    return (
        gr.Button(title, variant="primary", elem_id=start_id),
        gr.Button(stop, variant="stop", visible=False, elem_id=stop_id),
    )


def start_or_stop(going: bool) -> list[Any]:
    """Return which of the two is shown: Stop while something goes on."""
    return [gr.update(visible=not going), gr.update(visible=going)]

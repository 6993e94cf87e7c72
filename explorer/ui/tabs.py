"""A tab from its description (explorer.tab): controls, figure, explanation, and when it is computed."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.tab import Button, Choice, Note, Tab
from explorer.ui.components import while_in_view
from explorer.ui.controls import control
from explorer.ui.kit import Tries, View, caption, inputs_column, outputs_column, slim, two_columns, why
from explorer.ui.page import Page
from explorer.ui.wiring import Connection


def build_tab(page: Page, described: Tab) -> Connection:
    """Lay a tab out; it is computed when it is opened, and when what it asks has changed."""
    with gr.Tab(described.title, id=described.slug) as tab:
        inputs, views, pressed = dict[str, Any](), dict[str, Any](), list[Any]()
        with slim() if described.slim else two_columns():
            with inputs_column(described.width):
                for part in described.asks:
                    if isinstance(part, Button):
                        pressed.append(gr.Button(part.title, variant="primary").click)
                    elif isinstance(part, Note):
                        caption(part.html)
                    elif isinstance(part, Choice):
                        views[part.name] = _choice(part)
                    else:
                        opening = {"value": described.opening[part]} if part in described.opening else {}
                        inputs[part] = control(described.action.params, part, **opening)
                tries = Tries(described.tries) if described.tries else None
            with outputs_column():
                figure = described.figure
                view = View(figure.filename, figure.name, figure.sentence, figure.picture, notes=figure.notes)
                if figure.remark:
                    caption(figure.remark)
        if described.why:
            why(described.why.title, described.why.text)
        connection = Connection(
            page, described.action, inputs, view, views=views
        )  # in the tab: it lays out the table and the script
        changed = [while_in_view(f"#{figure.name}-figure", *page.changed)] if described.action.takes_model else []
        tried = tries.into(inputs, show_progress="full") if tries else []
        connection.on(*pressed, *map(_settled, (inputs | views).values()), tab.select, *changed, *tried)
    return connection


def build_tabs(page: Page, *described: Tab) -> None:
    """A page that is made of descriptions alone."""
    with gr.Tabs():
        for tab in described:
            build_tab(page, tab)


def _choice(part: Choice) -> Any:
    """The control for a Choice."""
    given: dict[str, Any] = {"choices": list(part.choices), "value": part.choices[0][1], "label": part.title}
    return gr.Dropdown(filterable=False, **given) if part.dropdown else gr.Radio(**given)


def _settled(control: Any) -> Any:
    """The trigger that fires once a visitor has set a control: a box is sent, a slider let go, anything else chosen."""
    if isinstance(control, gr.Textbox):
        return control.submit
    return control.release if isinstance(control, gr.Slider) else control.input

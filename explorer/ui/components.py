"""The page's own components: token chips and Plotly figures, both gr.HTML with a template of their own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import gradio as gr

from explorer.charts import PALETTES
from explorer.glossary import as_json
from explorer.serving.notices import PLACE
from explorer.settings import ROOT

QUIET: dict[str, Any] = {"api_visibility": "private", "queue": False, "show_progress": "hidden"}
"""The options of an event that only moves values about on the page."""

LATEX: list[dict[str, str | bool]] = [
    {"left": "$$", "right": "$$", "display": True},
    {"left": "$", "right": "$", "display": False},
]
"""The delimiters of formulas in the explanations."""

ASSETS = ROOT / "assets"


def token_chips(**options: Any) -> gr.HTML:
    """Return a row of tokens; its value is what the labs' `*_chips` figures return. Fires `select` with {"positions":
    [...]}.
    """
    classes = ["token-chips", *options.pop("elem_classes", ())]
    return scripted("chips", options.pop("value", {"chips": []}), elem_classes=classes, **options)


def aligned_chips(**options: Any) -> gr.HTML:
    """Return rows of one text, token under token; its value is what explorer.charts.chips.aligned returns."""
    return scripted("aligned", {"rows": []}, elem_classes=["token-chips"], **options)


def head_switches(**options: Any) -> gr.HTML:
    """Return a switch for every head; its value is what a `switches` figure returns. Fires `select` with {"off": [[l,
    h], ...]}.
    """
    return scripted("heads", {}, **options)


def step_bar(name: str, count: int, **options: Any) -> gr.HTML:
    """Return a bar that shows a page's numbered steps one at a time or, behind the last, all at once: the steps are
    elements of class of-1, of-2, … in a part of class stepped. Its value says at which one it is, or "all".
    """
    return scripted("steps", {"name": name, "count": count, "at": 1}, after=("stepper",), **options)


def step_in_address(bar: gr.HTML, count: int, opened: Any) -> gr.Radio:
    """Lay out the hidden choice of the step that a step_bar is at, so that a page's address can hold it.

    opened: the trigger that fires once what the address says is in place.
    """
    step = gr.Radio([*range(1, count + 1), "all"], value=1, label="step", visible="hidden")
    bar.change(fn=None, js="(bar) => bar.at", inputs=[bar], outputs=[step], **QUIET)
    # Not whenever the choice changes: it comes after the bar, which may be a press further by then.
    opened(fn=None, js="(step, bar) => ({ ...bar, at: step })", inputs=[step, bar], outputs=[bar], **QUIET)
    return step


def drawing(name: str, after: Sequence[str] = (), **options: Any) -> gr.HTML:
    """Return a figure that assets/<name>.js draws itself, in place of Plotly; it is computed, waited for and taken home as others
    are. Fires `select` with what the script reports.
    """
    return scripted(name, {}, after, "plot ", elem_classes=["figure", *options.pop("elem_classes", ())], **options)


def scripted(name: str, value: dict[str, Any], after: Sequence[str] = (), kind: str = "", **options: Any) -> gr.HTML:
    """Return a group that assets/<name>.js draws from its value. after: other scripts, whose functions it calls. kind: a further
    class of the group.
    """
    scripts = [(ASSETS / f"{script}.js").read_text(encoding="utf-8") for script in (*after, name)]
    return gr.HTML(
        value,
        html_template=f'<div class="{kind}{name}" role="group"></div>',
        js_on_load="".join(scripts),
        **options,
    )


_SAVES = "".join(
    f'<button type="button" class="plain" data-format="{name.lower()}" aria-label="{name}: save the figure as {name}">'
    f"{name}</button>"
    for name in ("PNG", "SVG")
)
_PLOT = f'<div class="plot" role="img" hidden></div><div class="saves">{_SAVES}</div>'


def plot(filename: str, **options: Any) -> gr.HTML:
    """Return a Plotly figure; its value is what explorer.charts.picture returns. `filename` names the saved image.

    Fires `select` with {"x", "y", "curve", "point"} when a visitor presses a point or a cell.
    """
    return gr.HTML(
        options.pop("value", {}),
        html_template=_PLOT,
        js_on_load=(ASSETS / "plot.js").read_text(encoding="utf-8"),
        palettes=PALETTES,
        filename=filename,
        elem_classes=["figure"],
        **options,
    )


def rich_text(value: str = "", **options: Any) -> gr.HTML:
    """Return a place for safe HTML: the value is Markup that the figures made, in which everything from a visitor is
    escaped.
    """
    return gr.HTML(value, **options)


def typed_table(value: dict[str, Any], label: str, **options: Any) -> gr.Dataframe:
    """Return a table of a fixed size to type into; its first column names the rows. What is typed stays the text that
    it was.
    """
    table = gr.Dataframe(
        value,
        type="array",
        label=label,
        interactive=True,
        static_columns=[0],
        buttons=[],
        wrap=True,
        elem_classes=["typed"],
        **options,
    )
    fixed: Any = (len(value["data"]), "fixed"), (len(value["headers"]), "fixed")  # no rows and columns to add or delete
    table.row_count, table.column_count = fixed
    table.col_count = table.column_count
    return table


def notice_place() -> gr.HTML:
    """Return the place for messages, above the figure.

    Fires `select` with {"model": id} when a visitor takes a model that is offered, here or anywhere else on the page.
    """
    return gr.HTML(
        "",
        elem_classes=[PLACE],
        js_on_load="""
document.addEventListener("click", (event) => {
  const offer = event.target.closest(".offer[data-model]");
  if (offer) trigger("select", { model: offer.dataset.model });
});
watch("value", () => {
  const [name, detail] = props.value ? ["explorer:notice", String(props.value)] : ["explorer:unnoticed", ""];
  element.dispatchEvent(new CustomEvent(name, { bubbles: true, detail }));
});""",
    )


def apart(*triggers: Any, where: str = "true") -> Any:
    """Return a trigger that fires after any of the given ones. where: a condition for that, in JavaScript."""
    # Gradio's page runs what one trigger starts in turn, each after the one before it is over: what lasts, as a
    # stream does, would keep the others waiting. A hidden number that changes is a trigger of its own.
    ticket = gr.Number(0, visible="hidden", label="ticket")
    for trigger in triggers:
        trigger(
            fn=None,
            js=f"(ticket) => ({where} ? Date.now() : ticket)",
            inputs=[ticket],
            outputs=[ticket],
            api_visibility="private",
            show_progress="hidden",
        )
    return ticket.change


PAGE_IS_OPEN = "Number(document.querySelector('#opened input')?.value)"
"""The condition, in JavaScript, that the page's model and what its address says are in place."""


def is_open(tab: gr.Tab) -> str:
    """Return the condition, in JavaScript, that a tab is the one in view among those beside it."""
    return f"document.querySelector('[role=tab][data-tab-id={tab.id}][aria-selected=true]')"


def while_in_view(part: str, *triggers: Any) -> Any:
    """Return a trigger that fires after any of the given ones while a part of the page (by selector) can be seen.

    Several tabs show the same texts: each computes anew when it is opened, and the one in view when the texts change.
    """
    return apart(*triggers, where=f"document.querySelector('{part}')?.offsetParent")


def once_known(value: gr.Textbox | gr.Dropdown, trigger: Any) -> Any:
    """Return a trigger that fires after the given one unless a text or a list is still empty.

    A page's first tab is selected while the page loads, before the page knows what to show.
    """
    ticket = gr.Number(0, visible="hidden", label="ticket")
    trigger(
        fn=None,
        js="(value, ticket) => (value ? Date.now() : ticket)",
        inputs=[value, ticket],
        outputs=[ticket],
        api_visibility="private",
        show_progress="hidden",
    )
    return ticket.change


@cache
def page_script() -> str:
    """Return the script of every page, which runs before Gradio's: a storage where there is none, the work around Gradio, its
    lesson and its address, the sentence that goes along, the map, the view for a projector, figures by the keyboard,
    settings on a phone, what scrolls, code, what is taken home, the glossary's words explained.
    """
    names = [
        "storage",
        "saving",
        "colours",
        "page",
        "lesson",
        "address",
        "thread",
        "map",
        "present",
        "cells",
        "phone",
        "scrolling",
        "code",
        "frozen",
        "notebook",
        "report",
        "ledger",
        "glossary",
    ]
    *scripts, glossary = ((ASSETS / f"{name}.js").read_text(encoding="utf-8") for name in names)
    return "\n".join([*scripts, f"const ENTRIES = {as_json()};", glossary])


def theme() -> gr.themes.Base:
    """Return Gradio's theme in the Okabe-Ito blue, with the bundled typefaces (`font_faces`)."""
    text = ("Inter", "system-ui", "-apple-system", "Segoe UI", "Roboto", "Noto Sans", "sans-serif")
    monospaced = ("JetBrains Mono", "ui-monospace", "SF Mono", "Menlo", "Consolas", "DejaVu Sans Mono", "monospace")
    blue = gr.themes.Color(
        c50="#eef6fb",
        c100="#d6eaf6",
        c200="#add5ed",
        c300="#7fbde1",
        c400="#3f9acd",
        c500="#0072b2",
        c600="#0068a3",
        c700="#005586",
        c800="#00436a",
        c900="#00324f",
        c950="#002338",
        name="okabe-ito-blue",
    )
    return gr.themes.Default(
        primary_hue=blue,
        secondary_hue=blue,
        neutral_hue="slate",
        font=text,
        font_mono=monospaced,
        text_size="lg",
        spacing_size="md",
    ).set(
        body_background_fill="#ffffff",
        block_shadow="none",
        layout_gap="10px",
        block_padding="8px 10px",
        body_text_color_subdued="*neutral_500",  # Gradio's own have less than the contrast of 4.5 that text needs
        button_cancel_background_fill="#b91c1c",
        button_cancel_background_fill_hover="#991b1b",
    )

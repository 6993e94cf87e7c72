"""Every head as lines: bertviz's head view and model view in a document of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr

from explorer.labs.attention import ATTENTION_VIEW
from explorer.labs.attention import views as figures
from explorer.labs.attention.views import AttentionViewParams, AttentionViewResult
from explorer.labs.attention.views_document import DATA, as_json, document, template_address, view_data
from explorer.models.catalog import DEFAULT_MODEL
from explorer.ui.components import ASSETS, rich_text, while_in_view
from explorer.ui.controls import control
from explorer.ui.kit import Tries, inputs_column, outputs_column, sentence_place, two_columns
from explorer.ui.page import Page
from explorer.ui.wiring import Connection

PARAGRAPH = (
    "The old lighthouse was built on the northern coast more than two hundred years ago. Ships that came home at night "
    "looked for its light, and the keeper who lived there never slept before the last of them had passed. When the war came, "
    "the lamp was put out, and the tower stood dark for five years. A storm broke its windows in the winter of that last "
    "year. After the war the villagers collected money, bought new glass, and lit the lamp again. Today nobody needs it to "
    "find the harbour, but they still climb the stairs on summer evenings to look at the sea, and children ask why the "
    "light turns."
)
"""About 128 tokens."""

OPENING_LAYER, OPENING_HEAD = 4, 2
"""In bert-small, the head that leads from *it* to the noun: the page opens with it alone."""

OPENS = (
    f" The view opens with head {OPENING_HEAD} alone, which leads from “it” to “cat” in the first example; double-click its "
    "square for all heads."
)

LAST = "The last layer"
LAST_LAYER = """() => ["head", Number(document.querySelector("#view-layer input[type=range]").max)]"""
TRY: dict[str, Any] = {
    "A pair of texts": {
        "sentence_a": "The cat sat on the mat.",
        "sentence_b": "It was tired after a long day of play.",
    },
    "A paragraph": {"sentence_a": PARAGRAPH, "sentence_b": ""},
    "Every head at once": {"view": "model"},
    LAST: None,
}
TALLEST = 560
"""Pixels that the document takes on the page before it scrolls within its frame."""

_HTML = """<div class="view" hidden><div class="view-frame"></div><div class="view-save" role="group" aria-label="Save">
<span>Save this view:</span><button type="button" data-format="html" title="One file that opens without a network"
>Download HTML</button><button type="button" data-format="png">PNG</button><button type="button" data-format="svg">SVG</button>
</div></div>"""


def bertviz_frame(**options: Any) -> gr.HTML:
    """Return one of bertviz's views in a sandboxed iframe; its value is what `framed` returns."""
    return gr.HTML(
        {},
        html_template=_HTML,
        js_on_load=(ASSETS / "views.js").read_text(encoding="utf-8"),
        address=template_address(),
        marker=DATA,
        tallest=TALLEST,
        elem_classes=["bertviz-view"],
        **options,
    )


def framed(result: AttentionViewResult) -> dict[str, Any]:
    """Return what the page hands to the document, which it has already: the data, and the head that its first picture
    shows.
    """
    return {
        "data": as_json(view_data(result) | ({"opening": [OPENING_HEAD]} if _opens(result) else {})),
        "title": figures.view_title(result),
        "name": f"attention-{result.view}-view",
    }


def _opens(result: AttentionViewResult) -> bool:
    """Return whether this is the layer of the head that the page opens with."""
    return result.view == "head" and result.model == DEFAULT_MODEL and result.layers == (OPENING_LAYER,)


def build_views(
    page: Page,
    tab: gr.Tab,
    sentence_a: gr.Textbox,
    sentence_b: gr.Textbox,
    explain: Callable[[], None],
    triggers: Sequence[Any] = (),
) -> None:
    """Fill and wire the tab. explain: lays out the page's Why. triggers: the page's own events that change the texts."""
    with two_columns():
        with inputs_column():
            view = control(AttentionViewParams, "view", elem_id="view-kind")
            layer = control(AttentionViewParams, "layer", value=OPENING_LAYER, elem_id="view-layer")
            smallest = control(AttentionViewParams, "smallest")
            hint = rich_text(f'<p class="caption">{figures.HINTS["head"]}{OPENS}</p>')
            tries = Tries(TRY)
        with outputs_column():
            said = sentence_place("view-said")
            frame = bertviz_frame(elem_id="view-frame")
            notes = rich_text(elem_id="view-notes")
    explain()
    seen = gr.State(DEFAULT_MODEL)  # the model that the layer was chosen for
    on_page = gr.Checkbox(True, visible=False)  # a client does not send it, and gets the document whole
    inputs = {"sentence_a": sentence_a, "sentence_b": sentence_b, "view": view, "layer": layer, "smallest": smallest}
    shown, steered = [([said, frame, notes], show)], [([layer, hint, seen], _steered)]
    look = Connection(page, ATTENTION_VIEW, inputs, shown, views={"on_page": on_page}, steered=steered)
    moves = tries.into(inputs)
    # The slider knows how many layers there are.
    last = tries.buttons[LAST].click(fn=None, js=LAST_LAYER, outputs=[view, layer], api_visibility="private")
    look.on(
        tab.select,
        view.input,
        layer.input,
        smallest.input,
        *moves,
        last.then,
        while_in_view("#view-kind", sentence_a.submit, sentence_b.submit, *page.changed, *triggers),
        extra={"seen": seen},
        adapt=_fitting,
    )


def show(result: AttentionViewResult, on_page: bool = False) -> list[Any]:
    """Return the outputs' values; a client gets the whole document, of which the page lacks the data alone."""
    frame = framed(result) if on_page else {"document": document(result)}
    return [str(figures.view_sentence(result)), frame, str(figures.view_notes(result))]


def _steered(result: AttentionViewResult) -> list[Any]:
    layer: Any = {"maximum": result.depth - 1, "visible": result.view == "head"}
    if result.view == "head":
        layer["value"] = result.layers[0]
    hint = figures.HINTS[result.view] + (OPENS if _opens(result) else "")
    return [gr.update(**layer), f'<p class="caption">{hint}</p>', result.model]


def _fitting(values: dict[str, Any]) -> dict[str, Any]:
    """Reset the layer: another model may have fewer."""
    seen = values.pop("seen")
    return values if values["model"] == seen else values | {"layer": 0}

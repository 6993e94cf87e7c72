"""Switch heads off: of the chosen model, or of a fine-tuned classifier, and see what it says then."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.action import Action
from explorer.labs.attention import ABLATE, ABLATE_RUN, EACH_HEAD
from explorer.labs.attention import switch as figures
from explorer.labs.attention.switch import AblateParams, AblateRunParams
from explorer.runs.examples import PRAISE
from explorer.ui.components import head_switches, while_in_view
from explorer.ui.controls import control
from explorer.ui.kit import Tries, View, inputs_column, outputs_column, two_columns, why
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker
from explorer.ui.wiring import Connection, folds

EVEREST = "Mount Everest is the highest [MASK] in the world."
TRY = {
    "Everest": (EVEREST, ""),
    "is or are": ("The keys to the cabinet [MASK] on the table.", ""),
    "her or his": ("The woman lost [MASK] keys and the man found them.", ""),
    "a pair": ("The hikers reached the top of the mountain.", "From there they could see the whole valley."),
    "the cup": ("She poured the water into the cup until the [MASK] was full.", ""),
}
RUN_TRY = {
    "praise": (PRAISE, ""),
    "a pan": ("The plot is dull and the acting is worse; what a waste of an evening.", ""),
    "in between": ("It is not a bad film, but I would not call it good either.", ""),
}

WHY = r"""
A gate $\xi_h$ multiplies what head $h$ passes on, $\text{MHAtt}(x) = \sum_h \xi_h\,\text{Att}_h(x)$: at 1 the model is as it
was, at 0 the head is gone and everything else stays. Michel et al. (2019, sections 2 and 3) found that most heads of BERT can
go alone without a noticeable loss; together they matter. In a model with shared layers (ALBERT) one head serves every depth, so
a switch acts at its own depth, or at all of them.
"""


def build_switches(page: Page, tab: gr.Tab) -> None:
    """Fill and wire the tab, on what the model's own head predicts: a mask, a pair, replaced tokens, the next word."""
    with two_columns():
        with inputs_column(290):
            text = control(AblateParams, "text", value=EVEREST)
            second = control(AblateParams, "sentence_b")
            grid = head_switches(elem_id="switch-grid")
            # Shown for a model that uses one layer at every depth.
            everywhere = control(AblateParams, "everywhere", visible=False)
            off = control(AblateParams, "heads", visible="hidden")  # filled by presses in the grid
        with outputs_column():
            view = View(
                "heads-off", "switch", figures.ablate_sentence, figures.ablate_figure, notes=figures.ablate_notes
            )
            tries = Tries(TRY)
    why("gates on heads", WHY)
    inputs = {"text": text, "heads": off, "sentence_b": second, "everywhere": everywhere}
    ablate = _connect(page, ABLATE, inputs, view, grid)
    moves = tries.into([text, second], show_progress="full")
    ablate.on(text.submit, second.submit, everywhere.input, tab.select, *moves)
    # First cleared: another model has other heads.
    all_on = [changed(lambda: "", None, [off], api_visibility="private", queue=False).then for changed in page.changed]
    ablate.on(while_in_view("#switch-grid", *all_on))
    _build_each(page, tab, text, second, moves)


def build_run_switches(page: Page, tab: gr.Tab) -> None:
    """Fill and wire the tab on a run's classifier."""
    picker = RunPicker(
        page, lambda record: bool(record.labels) and record.status.has_weights, needs="runs with classes"
    )
    with two_columns():
        with inputs_column(290):
            first = control(AblateRunParams, "sentence_a", value=PRAISE)
            second = control(AblateRunParams, "sentence_b")
            grid = head_switches(elem_id="run-switch-grid")
            everywhere = control(AblateRunParams, "everywhere", visible=False)
            off = control(AblateRunParams, "heads", visible="hidden")
        with outputs_column():
            view = View(
                *("heads-off-of-a-run", "run-switch", figures.ablate_sentence, figures.ablate_figure),
                notes=figures.ablate_notes,
            )
            tries = Tries(RUN_TRY)
    inputs = {"run": picker.run, "sentence_a": first, "sentence_b": second, "heads": off, "everywhere": everywhere}
    ablate = _connect(page, ABLATE_RUN, inputs, view, grid)
    moves = tries.into([first, second], show_progress="full")
    ablate.on(first.submit, second.submit, everywhere.input, *picker.at_opening(tab), *moves)
    ablate.on(picker.run.input, adapt=lambda values: values | {"heads": ""})  # another run may have other heads
    picker.wire()


def _connect(page: Page, action: Action, inputs: dict[str, Any], view: View, grid: gr.HTML) -> Connection:
    shown = [*view, (grid, figures.switches), (inputs["heads"], figures.off_text)]
    steered = [(inputs["everywhere"], lambda result: gr.update(visible=result.shared))]
    ablate = Connection(page, action, inputs, shown, steered=steered)
    ablate.on(grid.select, read=_pressed)
    return ablate


def _pressed(event: gr.EventData) -> dict[str, Any]:
    return {"heads": [tuple(head) for head in event.off]}


def _build_each(page: Page, tab: gr.Tab, text: gr.Textbox, second: gr.Textbox, moves: list[Any]) -> None:
    gr.HTML("<h2>Each head alone</h2>")
    with two_columns():
        with inputs_column(290):
            button = gr.Button("Switch every head off once", variant="primary", elem_id="each-head")
            gr.Markdown(
                "One pass for each head, in a few batches: how does the leading answer's probability change when that head "
                "alone is gone? Blue: it rises, the head worked against it. Vermilion: it falls."
            )
        with outputs_column():
            view = View(
                "each-head", "each", figures.each_head_sentence, figures.each_head_figure, notes=figures.each_head_notes
            )
    panel = folds(EACH_HEAD, "each head alone")
    each = Connection(page, EACH_HEAD, {"text": text, "sentence_b": second}, view, panel)
    each.on(button.click, tab.select, text.submit, second.submit, *moves)
    each.on(while_in_view("#each-head", *page.changed))

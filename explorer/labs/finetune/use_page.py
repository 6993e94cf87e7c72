"""Try it: the chosen run on a text of the visitor's own, and several adapters in one batch."""

from __future__ import annotations

import secrets
from typing import Any

import gradio as gr

from explorer.labs.finetune import PREDICT, SWAP
from explorer.labs.finetune import use_figures as figures
from explorer.labs.finetune.schema import PredictRunParams
from explorer.labs.finetune.spans_page import build_answers
from explorer.runs.examples import FIRST, OTHER_RANK, OTHER_SEED, PRAISE
from explorer.tasks.task import CLASSES, SPAN, WRITTEN
from explorer.ui.components import rich_text
from explorer.ui.controls import control
from explorer.ui.kit import QUIET, Tries, View, inputs_column, outputs_column, sentence_place, two_columns, why
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker
from explorer.ui.wiring import Connection

TRY = {
    "praise": (PRAISE, ""),
    "a pan": ("The plot is dull and the acting is worse; what a waste of an evening.", ""),
    "in between": ("It is not a bad film, but I would not call it good either.", ""),
    "a pair": ("The boy was late because he missed the bus.", "The boy missed the bus."),
    "two questions": ("How do I learn to swim?", "What is the best way to learn swimming?"),
}

WHY = r"""
The adapters of many tasks fit over one set of frozen weights, $h = W x + s_i B_i A_i x$, so a server keeps $W$ once and swaps
$(A_i, B_i)$ by name. In **one batch** each row $x_j$ can use its own $i(j)$: the product $W x$ is shared by all rows, and the
thin products are done group by group. Once $B A$ has been merged into $W$ to save time this is no longer possible, a limitation
that the LoRA paper names (Hu et al. 2021, section 4.2); peft's answer is the argument `adapter_names`.
"""


ELSEWHERE = """
<p class="said">This run puts meanings into words and knows no classes: ask it on the
<a href="generation">Generation page</a>.</p>
"""

_IN_VIEW = "(run) => [run, document.querySelector('#try-forms')?.offsetParent ? 'yes' : '']"
"""Whether a run that is chosen is to be asked now: this tab is in view."""


def build_try(page: Page, picker: RunPicker, tab: gr.Tab) -> gr.Dropdown:
    """Lay out the form for what the chosen run has learned. Return the list of runs to swap between."""
    # Their changes ask; see `ask`.
    turns = {kind: gr.Textbox("", visible="hidden", label=f"{kind} turn") for kind in (CLASSES, SPAN)}
    in_view = gr.Textbox("", visible="hidden", label="form in view")
    with gr.Column(elem_id="try-forms"):
        with gr.Column() as classes:
            runs = _build_classes(page, picker, turns[CLASSES])
        with gr.Column(visible=False) as spans:
            build_answers(page, picker, turns[SPAN].change)
        with gr.Column(visible=False) as written:
            gr.HTML(ELSEWHERE)
    forms = {CLASSES: classes, SPAN: spans, WRITTEN: written}

    def kind_of(run: str | None) -> str:
        record = picker.found(run or "")
        return record.kind if record is not None and record.kind in forms else CLASSES

    def show(run: str | None) -> list[Any]:
        return [gr.update(visible=kind == kind_of(run)) for kind in forms]

    def ask(run: str | None, seen: str = "yes") -> list[Any]:
        # A new value each time: an equal one fires no change.
        return [secrets.token_hex(4) if seen and kind == kind_of(run) else gr.skip() for kind in turns]

    shown, asked = list(forms.values()), list(turns.values())
    picker.run.change(show, [picker.run], shown, **QUIET)
    picker.run.input(ask, [picker.run, in_view], asked, js=_IN_VIEW, **QUIET)
    for opened in picker.at_opening(tab):
        opened(show, [picker.run], shown, **QUIET).then(ask, [picker.run], asked, **QUIET)
    return runs


def _build_classes(page: Page, picker: RunPicker, turn: gr.Textbox) -> gr.Dropdown:
    """Fill and wire the form for a run with classes or scores. turn: changes when it is to be asked."""
    with two_columns():
        with inputs_column():
            first = control(PredictRunParams, "sentence_a", value=PRAISE, elem_id="try-first")
            second = control(PredictRunParams, "sentence_b", elem_id="try-second")
            ask = gr.Button("Ask the run", variant="primary", elem_id="ask-run")
            tries = Tries(TRY)
        with outputs_column():
            ids = ("try-said", "try-bars")
            view = View("prediction", ids, figures.prediction_sentence, figures.prediction_figure)
    texts = {"sentence_a": first, "sentence_b": second}
    predict = Connection(page, PREDICT, {"run": picker.run, **texts}, view)
    moves = tries.into([first, second], show_progress="full")
    predict.on(ask.click, first.submit, second.submit, turn.change, *moves)
    gr.HTML("<h2>Swap adapters, and mix them in one batch</h2>")
    with two_columns():
        with inputs_column():
            runs = picker.dropdown(
                "LoRA runs of one model", value=[FIRST, OTHER_RANK, OTHER_SEED], multiselect=True, elem_id="swap-runs"
            )
            mix = gr.Button("Send one batch, a row for each run", elem_id="mix")
        with outputs_column():
            mixed_said = sentence_place("mix-said")
            mixed = rich_text(elem_classes=["wide"])
    why("one base, many adapters", WHY)
    shown = [(mixed_said, figures.swap_sentence), (mixed, figures.swap_list)]
    Connection(page, SWAP, {"runs": runs, **texts}, shown).on(mix.click, turn.change)
    return runs

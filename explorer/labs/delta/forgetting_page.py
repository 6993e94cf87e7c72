"""Forgetting: what several runs' bodies still know of hidden words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr

from explorer.labs.delta import forgetting
from explorer.labs.delta.forgetting import FORGETTING, OPENING
from explorer.runs.examples import BY_METHOD, EXAMPLES
from explorer.tuning.methods import find_method
from explorer.ui.components import rich_text
from explorer.ui.kit import QUIET, View, bar_place, caption, inputs_column, outputs_column, two_columns, why
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker, run_choices
from explorer.ui.streams import Stream

WHY = r"""
The run's body ($W$ with its $\Delta W$, or with the adapters attached) is put back under the head with which the model was
pretrained, as it was then, and guesses hidden words of sentences that neither pretraining nor any run has learned from: 15% of
the tokens, each shown as [MASK], the same ones for every run. What it guesses less well than before it has forgotten, to the
extent that its own head can still read its states; a head that was trained again would find more. The
sentences are short and plain: on other text, such as Wikipedia's, it may be less.

The intervals are the middle 95% of 9,999 draws of the sentences with replacement; a change is measured on the same words before
and after, which is why its interval is narrower than the difference of two. Head only changes nothing below the head, so it
forgets nothing, and the virtual tokens of prefix methods are input: they leave every weight of the body as it was.

"LoRA learns less and forgets less" than full fine-tuning (Biderman et al. 2024, Transactions on Machine Learning Research); and
runs with more intruder dimensions forget more (Shuttleworth et al. 2024): compare the two ranks here with their intruders under
*Intruders*.
"""


def build_forgetting(page: Page, picker: RunPicker, tab: gr.Tab) -> None:
    """Fill and wire the tab: several runs, and what is left in each."""
    with two_columns():
        with inputs_column():
            runs = picker.dropdown(
                "Runs of one model", value=list(OPENING), multiselect=True, elem_id="forgetting-runs"
            )
            measure = gr.Button("Measure", variant="primary", elem_id="measure-forgetting")
            caption(
                "Full fine-tuning's weights are not bundled: train it on the Fine-tune page, or by the button under "
                "Intruders, and choose it here."
            )
        with outputs_column():
            view = View("forgetting", "forgetting", forgetting.forgetting_sentence, forgetting.forgetting_figure)
            note = bar_place()
            notes = rich_text(elem_id="forgetting-notes")
    why("how it is measured", WHY)
    shown = [*view, (notes, forgetting.forgetting_notes)]
    stream = Stream(page, FORGETTING, {"runs": runs}, shown, visitor=picker.visitor)
    tab.select(_offered(picker), [picker.visitor], [runs], **QUIET)
    last = gr.JSON(visible=False)
    stream.opens(tab.select, note=note, start=str(measure.value), asked=[measure.click], last=last)
    stream.on(measure.click)


def _offered(picker: RunPicker) -> Callable[..., Any]:
    """Return an event's function that offers the visitor's runs, and the worked example of every method with bundled
    weights.
    """
    examples = [
        one.run_id
        for one in EXAMPLES
        if one.run_id in BY_METHOD.values() and one.weights and not find_method(one.spec.method).has_virtual_tokens
    ]

    def choices(visitor: str, request: gr.Request) -> Any:
        records = [*picker.records(visitor, request), *filter(None, map(picker.found, examples))]
        # Each once, though a visitor may have an example too.
        return gr.update(choices=run_choices(list({record.run_id: record for record in records}.values())))

    return choices

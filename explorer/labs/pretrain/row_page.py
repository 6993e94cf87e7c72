"""One row: two documents, the pair drawn from them, what is hidden, and what the model pays, step by step."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.kinds import LARGEST_SEED
from explorer.labs.pretrain import PRETRAINING_ROW
from explorer.labs.pretrain import row_figures as figures
from explorer.labs.pretrain.row import BREAD, LIGHTHOUSE, SEED, TRY, RowParams
from explorer.labs.pretrain.row_loss_figures import row_figure
from explorer.models.catalog import DEFAULT_MODEL
from explorer.models.families import Capability
from explorer.ui.components import rich_text, step_bar, step_in_address, token_chips, while_in_view
from explorer.ui.controls import control, controls
from explorer.ui.kit import Tries, View, inputs_column, more, outputs_column, two_columns, why
from explorer.ui.outputs import Output
from explorer.ui.page import Page
from explorer.ui.used_model import filled_with, has
from explorer.ui.wiring import Connection

STEPS = 6

WHY = r"""
BERT learned from rows like this one, and from nothing else. A row costs the sum of two terms,

$$\mathcal{L} = \mathcal{L}_{\text{MLM}} + \mathcal{L}_{\text{NSP}},\qquad
\mathcal{L}_{\text{MLM}} = -\frac{1}{|C|}\sum_{i \in C} \ln P(x_i \mid \tilde{x}),\qquad
\mathcal{L}_{\text{NSP}} = -\ln P(y \mid h_{\text{[CLS]}})$$

where $C$ are the chosen tokens, $\tilde{x}$ is the row as the model sees it, and $y$ says whether B follows A. Both heads read
the same states, so one pass pays for both. A token that isn't chosen costs nothing: in a row of 128 about 19 teach something.

**The pair.** A and B are spans of text, called sentences in the paper and usually longer than one: here A takes whole sentences
up to a length that is drawn, and B as many as still fit. In half of the rows B really follows. Masks are put in after the text
is cut into WordPieces, at a uniform rate of 15%, with no regard to words. (Devlin et al. 2019, section 3.1, appendix A.1 and A.2)

**How much of this.** 256 rows of 512 tokens a step for 1,000,000 steps: about 40 epochs over the 3.3 billion words of BooksCorpus
and English Wikipedia. Attention over 512 tokens is dear, so in the first 90% of the steps rows had 128, and only in the rest 512,
to learn the positions. Adam's learning rate rose to 1e-4 in 10,000 steps and then fell in a straight line. (appendix A.2)

**What came of it.** RoBERTa dropped the pair and its loss, ALBERT asks for the order of two neighbours instead, and ELECTRA asks
about every token. (Liu et al. 2019; Lan et al. 2020; Clark et al. 2020)
"""


def build_row(page: Page, tab: gr.Tab) -> None:
    """Fill and wire the tab; the chosen model answers if it has both heads, else the default one."""
    model = gr.Textbox(DEFAULT_MODEL, label="model", visible="hidden")
    able = has(page, Capability.MLM, Capability.NSP)
    triggers = [while_in_view("#row-bar", *filled_with(page, model, able, DEFAULT_MODEL)), tab.select]
    with gr.Column(elem_classes=["stepped"]):
        bar = step_bar("the row", STEPS, elem_id="row-bar")
        page.also.append(("step", step_in_address(bar, STEPS, page.opened)))
        with two_columns("row-bench"):
            with inputs_column(300):
                inputs = controls(RowParams, document_a=LIGHTHOUSE, document_b=BREAD)
                again = gr.Button("Draw again", variant="primary")
                with more("what follows, masks and seed"):
                    inputs |= controls(RowParams, "next", "rate", "scheme")
                    inputs["seed"] = control(RowParams, "seed", value=SEED, minimum=0, maximum=LARGEST_SEED)
            with outputs_column():
                shown = _drawing()
                tries = Tries(TRY)
        shown += _paying()
    why("the two losses, and how much of this BERT was fed", WHY)
    row = Connection(page, PRETRAINING_ROW, {"model": model, **inputs}, shown, views={"chosen": page.model})
    row.on(*_changes(inputs, again), *tries.into(inputs, show_progress="full"), *triggers)


def _drawing() -> list[Output]:
    """Lay out the first four steps: from the documents to what the model sees."""
    places: list[Output] = [
        (rich_text(elem_id="row-model"), figures.model_line),
        (rich_text(elem_id="row-drawn"), figures.drawn_view),
        (token_chips(elem_id="row-chips", elem_classes=["of-3"]), figures.row_chips),
        (rich_text(elem_id="row-hidden"), figures.hidden_view),
        (token_chips(elem_id="row-corrupted", elem_classes=["of-4"]), figures.corrupted_chips),
    ]
    gr.HTML(str(figures.legend()), elem_classes=["of-4"])
    return places


def _paying() -> list[Output]:
    """Lay out the last two steps: both losses, and their sum."""
    with gr.Column(elem_classes=["of-5"]):
        gr.HTML(str(figures.step(5, "The model is asked for the chosen tokens, and whether B follows A")))
        view = View("pretraining-row", "row", figures.row_sentence, row_figure, notes=figures.row_notes)
    with two_columns():
        with gr.Column(scale=1, min_width=320, elem_classes=["of-5"]):
            terms = rich_text(elem_id="row-terms", elem_classes=["wide"])
        with gr.Column(scale=1, min_width=320, elem_classes=["of-6"]):
            whole = rich_text(elem_id="row-sum")
    return [*view, (terms, figures.terms_table), (whole, figures.sum_line)]


def _changes(inputs: dict[str, Any], again: gr.Button) -> list[Any]:
    """Return the triggers that ask for another row."""
    seed, texts = inputs["seed"], [inputs["document_a"], inputs["document_b"]]
    next_seed = again.click(
        fn=None, js="(seed) => (seed || 0) + 1", inputs=[seed], outputs=[seed], api_visibility="private"
    )
    # Blur too: Enter only begins a new line there.
    typed = [event for text in texts for event in (text.submit, text.blur)]
    return [next_seed.then, *typed, seed.submit, inputs["next"].input, inputs["rate"].release, inputs["scheme"].input]

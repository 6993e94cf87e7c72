"""Try it, for a run that finds answers: a question, a text, and where each token says that the answer starts and ends."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.labs.finetune import ANSWER
from explorer.labs.finetune import spans as figures
from explorer.labs.finetune.spans import AnswerParams
from explorer.runs.examples import ASKED, READ
from explorer.ui.components import rich_text, token_chips
from explorer.ui.controls import control
from explorer.ui.kit import Tries, View, inputs_column, outputs_column, two_columns, why
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker
from explorer.ui.wiring import Connection

TRY = {
    "who": (ASKED, READ),
    "when": ("When did trains cross the bridge again?", READ),
    "how high": ("How high above the river is the track?", READ),
    "not in the text": ("How much did the Orrin Bridge cost?", READ),
}

WHY = r"""
The head has two vectors, $S$ and $E$, and nothing else. With $T_i$ the last layer's state of token $i$, the answer starts at
$i$ with probability $P(\mathrm{start} = i) = e^{S \cdot T_i} / \sum_j e^{S \cdot T_j}$, and it ends with the same formula for
$E$. A span from $i$ to $j \ge i$ scores $S \cdot T_i + E \cdot T_j$; the loss is the mean of $-\ln P$ of the right start and
of the right end (Devlin et al. 2019, BERT, section 4.2). A question without an answer has its start and end at the row's
first token, $[\mathrm{CLS}]$: *no answer* wins where $S \cdot T_{[\mathrm{CLS}]} + E \cdot T_{[\mathrm{CLS}]}$ is larger than
every span's score (section 4.3, with $\tau = 0$). Here the sum goes over the text's tokens and $[\mathrm{CLS}]$, so the
question's own words cannot be the answer, and a span has at most 30 tokens.

**Exact match** and **F1** are those of SQuAD's own scorer: lower case, without punctuation and articles; F1 counts the words
that two answers share. Where there is no answer, only silence counts.
"""


def build_answers(page: Page, picker: RunPicker, *asked: Any) -> None:
    """Fill and wire the form. asked: further triggers to ask the chosen run by."""
    with two_columns():
        with inputs_column(300):
            question = control(AnswerParams, "question", value=ASKED, elem_id="span-question")
            text = control(AnswerParams, "text", value=READ, elem_id="span-text")
            ask = gr.Button("Ask the run", variant="primary", elem_id="ask-span")
            tries = Tries(TRY)
        with outputs_column():
            view = View("answer", ("span-said", "span-bars"), figures.answer_sentence, figures.answer_figure)
    with two_columns():
        with outputs_column(2):
            chips = token_chips(elem_id="span-chips")
        with outputs_column(1, 270):
            spans = rich_text(elem_classes=["wide"], elem_id="span-list")
    shown = [*view, (chips, figures.answer_chips), (spans, figures.spans_table)]
    answer = Connection(page, ANSWER, {"run": picker.run, "question": question, "text": text}, shown)
    moves = tries.into([question, text], show_progress="full")
    answer.on(ask.click, question.submit, *asked, *moves)
    why("two vectors find an answer", WHY)

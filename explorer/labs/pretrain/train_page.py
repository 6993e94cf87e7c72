"""A model from nothing: settings at the left, losses and words at the right, as it trains."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gradio as gr

from explorer.errors import readable
from explorer.labs.pretrain import FOLLOW_PRETRAINING, PRETRAIN, TAKE_HOME
from explorer.labs.pretrain import train_figures as figures
from explorer.labs.pretrain import train_said_figures as said_figures
from explorer.labs.pretrain.train import PretrainParams
from explorer.runs.comparing import Compared
from explorer.runs.examples import RECIPES
from explorer.runs.report import progress
from explorer.scratch.spec import NOTHING
from explorer.tasks.formats.text import read_file
from explorer.ui.components import rich_text
from explorer.ui.controls import control, controls
from explorer.ui.downloads import hand_over
from explorer.ui.kit import (
    Tries,
    View,
    caption,
    inputs_column,
    outputs_column,
    start_or_stop,
    start_stop,
    two_columns,
    why,
)
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker
from explorer.ui.streams import Stream, Watch
from explorer.ui.wiring import folds

_BERT: dict[str, Any] = {"objective": "mlm_nsp", "row_format": "segment_pair", "start": NOTHING, "against": ""}
RECIPE = "BERT's recipe against RoBERTa's"
"""An experiment whose answer is bundled."""

TRY: dict[str, Any] = {
    RECIPE: None,
    "Next token, the answer in view": {
        **_BERT,
        "objective": "no_causal_mask",
        "row_format": "doc_sentences",
        "steps": 300,
        "against": "objective=causal",
    },
    "ELECTRA": {**_BERT, "objective": "rtd", "row_format": "full_sentences"},
    "A BERT learns to write": {
        **_BERT,
        "objective": "causal",
        "row_format": "doc_sentences",
        "start": "bert-mini",
        "steps": 200,
    },
}


def pretrain_controls(page: Page) -> dict[str, Any]:
    """Lay out the controls; return them by PretrainParams' names."""
    made = controls(PretrainParams, "objective", "start", "against", "steps")
    with gr.Accordion("Model", open=False):
        made |= controls(PretrainParams, "layers", "hidden", "heads", "vocabulary")
    with gr.Accordion("Rows and masks", open=False):
        made |= controls(PretrainParams, "masking", "copies", "row_format", "length", "schedule", "scheme", "rate")
        made |= controls(PretrainParams, "mask_share", "random_share")
    with gr.Accordion("Steps", open=False):
        made |= controls(PretrainParams, "batch_size", "learning_rate", "warmup", "keep_best", "seed")
    with gr.Accordion("Text and questions", open=False):
        text = control(PretrainParams, "text", elem_id="pretrain-text")
        file = gr.UploadButton("Take a text file", file_types=["text"], size="sm", elem_id="pretrain-file")
        made |= {"text": text, **controls(PretrainParams, "probes")}

    def read(path: str | None) -> list[Any]:
        try:
            return ["", gr.skip() if path is None else read_file(Path(path))]
        except Exception as error:
            return [page.explain(readable(error)), gr.skip()]

    file.upload(read, [file], [page.notice, text], show_progress="minimal", api_visibility="private")
    return made


WHY = r"""
At first every weight is a random number, so every token of the vocabulary is as likely as any other: $-\ln p = \ln V$. The first
thing to be learned is how often each token occurs, and then every blank is filled with "the". What comes after that needs the
words around the blank, and takes far longer. BERT had 256 rows of 512 tokens in each of a million steps, about 40 times through
3.3 billion words (Devlin et al. 2019, A.2); here a few thousand sentences are read within minutes, so that what is seen is the
beginning.

**Objectives.** MLM: 15% of the tokens are chosen, 80% of these become `[MASK]`, 10% another token, 10% stay. NSP: does B follow
A, or is it from another document? SOP (ALBERT): are two neighbouring segments in order or swapped? Replaced tokens (ELECTRA): a
generator half as wide fills the blanks, and the model says of every token whether it was replaced. Next token (GPT): each token
from those before it; started from bert-mini, that is a BERT that learns to write, with the same weights and a mask over what
is to come.

**Input formats** (Liu et al. 2019, section 4.2): pairs of segments or of sentences, for NSP; full sentences, across the ends of
documents; doc sentences, which stop there.

**Masking.** BERT's text was prepared ten times, each time with other masks, and over 40 epochs a mask came four times: that is
static masking. RoBERTa draws a new one whenever a row is read (section 4.1). **Length.** BERT's rows had 128 tokens in 90% of the
steps and 512 in the last 10%; RoBERTa's had 512 throughout.

**The worked example** races one mask a row, drawn once, with masks drawn anew at each step, on the same rows. RoBERTa's paper
finds dynamic masking comparable to static or slightly better (section 4.1, Table 1), where static meant ten masks a text, each
read four times. Here a text of a thousand rows is read seventy times, so what one fixed mask costs is seen at once: the model
learns which word belongs in which blank, and nothing else. *BERT's recipe against RoBERTa's* does not come out as published at
this size: both read their few rows some two hundred times and learn them by heart, and rows of pairs are not rows of full
sentences, so their held-out losses are of different texts.

**Held out** is every tenth document: where the dotted line goes on falling and the solid one rises, the model learns the text by
heart. Adam with weight decay 0.01, the rate rises linearly in the warm-up and falls linearly to 0; no dropout.
"""


def build_train(page: Page, tab: gr.Tab) -> None:
    """Fill and wire the tab; the chosen run, or the worked example, is drawn when it is opened."""
    picker = RunPicker(page, accept=lambda record: record.from_nothing, needs="runs from nothing")
    caption(
        "Used on this tab: <strong>models of its own</strong>, from random numbers; the one chosen above has no part in it."
    )
    with two_columns():
        with inputs_column():
            start, stop = start_stop("Train", "pretrain")
            resume = gr.Button("Resume", visible=False, elem_id="pretrain-resume")
            inputs = pretrain_controls(page)
        with outputs_column():
            view = View(
                "pretraining",
                "pretrain",
                said_figures.pretrain_sentence,
                figures.curves_figure,
                bar=lambda result: progress(result.records),
            )
            scales = [("logarithmic", "log"), ("linear", "linear")]
            scale = gr.Radio(
                scales, value="log", label="Axis of the steps", elem_id="pretrain-scale", elem_classes=["in-line"]
            )
            tries = Tries(TRY)
    gr.Markdown("## What it says at each checkpoint")
    said = rich_text(elem_classes=["wide"], elem_id="pretrain-words")
    facts = rich_text(elem_id="pretrain-facts")
    offered = _take_home(page, picker)
    why("from random numbers to words", WHY)
    panel = folds(PRETRAIN)
    started = gr.Textbox("", visible="hidden", label="started")  # which runs Stop and Resume are about

    def steer(result: Compared, owner: str) -> list[Any]:
        state = figures.steered(result)
        first = result.records[0]
        mine = owner in (first.owner, "*")
        moving = state["active"] and first.step > 0
        runs = gr.update(choices=picker.choices_beside(first, owner), value=first.run_id)
        return [
            *start_or_stop(state["active"] and mine),
            gr.update(visible=bool(state["over"]) and mine and not state["active"]),
            ",".join(record.run_id for record in result.records),
            gr.skip() if moving else runs,  # while steps come in, the list stays as it is
        ]

    shown = [
        *view,
        (said, figures.said_view),
        (facts, figures.facts_line),
        (offered, figures.take_home),
    ]
    shared: dict[str, Any] = {
        "visitor": picker.visitor,
        "watch": Watch(),
        "views": {"scale": scale},
        "steered": [([start, stop, resume, started, picker.run], steer)],
    }
    training = Stream(page, PRETRAIN, inputs, shown, panel, **shared)
    following = Stream(page, FOLLOW_PRETRAINING, {"run": picker.run}, shown, panel, **shared)
    training.on(start.click)
    for then in tries.into(inputs, show_progress="full"):
        training.on(then)
    recipes = gr.Textbox(",".join(RECIPES), visible="hidden", label="recipes")
    # Its action has its endpoint by then.
    quoted = Stream(page, FOLLOW_PRETRAINING, {"run": recipes}, shown, panel, publish=False, **shared)
    quoted.on(tries.buttons[RECIPE].click)
    picker.on_press(stop, "stop", started)
    following.on(picker.run.input, scale.input, tab.select, picker.on_press(resume, "resume", started))
    picker.wire()


def _take_home(page: Page, picker: RunPicker) -> gr.HTML:
    """Lay out where the trained model is offered to all pages; beside it, as a file."""
    with two_columns():
        with outputs_column(1):
            offered = rich_text(elem_id="pretrain-offers")
        with outputs_column(1):
            prepare = gr.Button("Take the model home", elem_id="pretrain-home")
            file = gr.File(label="The model", interactive=False, visible=False, elem_id="pretrain-home-file")

    hand_over(page, TAKE_HOME, {"run": picker.run}, prepare, file)
    return offered

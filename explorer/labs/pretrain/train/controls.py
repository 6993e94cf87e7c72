"""What a model from nothing is asked to be: the controls of the tab, and settings to try."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gradio as gr

from explorer.errors import readable
from explorer.labs.pretrain.train.schema import PretrainParams
from explorer.scratch.spec import NOTHING
from explorer.tasks.formats.text import read_file
from explorer.ui.controls import control, controls
from explorer.ui.page import Page

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
    made = controls(PretrainParams, "objective", "start", "against", "steps", "masking", "copies")
    with gr.Accordion("Model", open=False):
        made |= controls(PretrainParams, "layers", "hidden", "heads", "vocabulary")
    with gr.Accordion("Rows and masks", open=False):
        made |= controls(PretrainParams, "row_format", "length", "schedule", "scheme", "rate")
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

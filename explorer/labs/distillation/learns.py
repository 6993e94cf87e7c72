"""What a student learns: its teacher's task, or the masked words of a text, the bundled sentences or one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gradio as gr

from explorer.errors import readable
from explorer.labs.distillation.params import DistillParams
from explorer.tasks.formats.text import TEXT, read_file
from explorer.ui.controls import control
from explorer.ui.kit import QUIET
from explorer.ui.page import Page

TASKS = [("the teacher's task", ""), ("masked words of a text", TEXT.slug)]
QUICK = 480
"""Sentences of a text: two students of bert-small learn from them three times in about a minute on two quiet cores."""

ABOUT = {
    "": "The teacher is the run chosen above; the task is its own.",
    TEXT.slug: "The teacher is the model at the top, the student some of its layers. Both fill the same masks. "
    f"{QUICK} sentences are read, unless More says otherwise.",
}


class Learning:
    """The controls; `name` begins their ids. `number` adds that of the training examples, wherever it is to stand."""

    def __init__(self, page: Page, name: str) -> None:
        self.page = page
        self.task = gr.Radio(TASKS, value="", label="Learns", elem_id=f"{name}-task")
        self.about = gr.HTML(_caption(""), elem_id=f"{name}-about")
        with gr.Column(visible=False) as self.own:
            self.text = gr.Textbox(
                "",
                label="Text",
                placeholder="The bundled sentences. Paste your own in their place.",
                lines=3,
                max_lines=6,
                elem_id=f"{name}-text",
            )
            file = gr.UploadButton("Take a text file", file_types=["text"], size="sm", elem_id=f"{name}-file")
        file.upload(self._read, [file], [page.notice, self.text], show_progress="minimal", api_visibility="private")

    def sets(self, control: gr.Number, on_task: int, on_text: int) -> None:
        """Set a control to what goes with what was chosen."""
        self.task.input(
            lambda task: on_text if task == TEXT.slug else on_task,
            [self.task],
            [control],
            **QUIET,
        )

    def labels(self, count: int, **options: Any) -> gr.Number:
        """Lay out the number of known labels; it is 0 for a text, whose hidden words are all known."""
        labelled: gr.Number = control(DistillParams, "labelled", value=count, **options)
        self.sets(labelled, on_task=count, on_text=0)
        return labelled

    def number(self) -> gr.Number:
        """Lay out the number of examples.

        A text sets it to QUICK, so that a run takes about a minute, and a task to all of its examples.
        """
        examples: gr.Number = control(DistillParams, "examples")
        self.sets(examples, on_task=0, on_text=QUICK)
        self.task.change(
            self._turned,
            [self.task],
            [self.about, self.own, self.text],
            **QUIET,
        )
        return examples

    def _turned(self, task: str) -> list[Any]:
        on_text = task == TEXT.slug
        # A text is refused beside the teacher's task.
        return [_caption(task), gr.update(visible=on_text), gr.skip() if on_text else ""]

    def _read(self, path: str | None) -> list[Any]:
        try:
            return ["", gr.skip() if path is None else read_file(Path(path))]
        except Exception as error:
            return [self.page.explain(readable(error)), gr.skip()]


def _caption(task: str) -> str:
    return f'<p class="caption">{ABOUT[task]}</p>'

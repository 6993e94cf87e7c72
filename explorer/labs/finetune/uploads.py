"""What comes from a visitor: examples that become a task, an adapter that becomes a run."""

from __future__ import annotations

from typing import Any

import gradio as gr
from markupsafe import Markup

from explorer.errors import BadInputError, readable
from explorer.serving.refusal import Refusal
from explorer.serving.visitors import address_of, owner_of
from explorer.settings import settings
from explorer.tasks.formats.squad import SQUAD
from explorer.tasks.glue_tasks import TASKS
from explorer.tasks.places.hub import MARK
from explorer.tasks.sources import choices, keep_upload
from explorer.tasks.task import SPAN, WRITTEN, TaskData
from explorer.ui.kit import QUIET, caption, try_row
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker, run_choices

HELP = (
    "GLUE's own TSV files as they are distributed, SQuAD's JSON, E2E's CSV, or any CSV, TSV or JSONL with one or two text "
    "columns and a label. A fifth is held out. The file stays on this server."
)


def describe(data: TaskData) -> str:
    """Say what was found in a file."""
    held_out = sum(len(rows) for rows in data.validation.values())
    of_kind = {SPAN: "questions about texts", WRITTEN: "meanings with their texts"}
    kind = of_kind.get(data.task.kind, f"classes {', '.join(data.task.labels)}" if data.task.labels else "scores")
    parts = [f"{len(data.train):,} examples to train on and {held_out:,} held out, {kind}.", *data.notes]
    return " ".join(parts)


def not_glues(name: object) -> str:
    """Say that a bundled task's sentences are not GLUE's or SQuAD's, if its name might suggest so; "" for any other
    task.
    """
    titles = {task.slug: task.title for task in TASKS} | {SQUAD.slug: "SQuAD"}
    if name not in titles:
        return ""
    real = titles[str(name)].split(" · ")[0]
    return str(
        Markup(
            '<p class="caption">These sentences were written for this app. They are not {}\'s, and scores on them do not compare '
            "with published ones.</p>"
        ).format(real)
    )


class RealTask:
    """Below the task: what the bundled sentences are, and one press to the real ones, by file or from the hub."""

    def __init__(self, task: gr.Dropdown) -> None:
        self.task = task
        self.said = gr.HTML(not_glues(task.value))
        with try_row():
            self.file = gr.Button("The real file", size="sm", elem_id="real-task")
            self.hub = gr.Button(
                "The real one from the hub", size="sm", visible=not settings().offline, elem_id="hub-task"
            )

    def wire(self, place: gr.Accordion) -> None:
        """Let the file's button open the place for files, and the hub's take the same task from there."""
        self.task.change(not_glues, [self.task], [self.said], **QUIET)
        self.file.click(lambda: gr.update(open=True), None, [place], **QUIET)
        self.hub.click(lambda name: name + MARK if not_glues(name) else name, [self.task], [self.task], **QUIET)


class Upload:
    """The place for a file, and the endpoint `/upload_task`; what is kept becomes the chosen task."""

    def __init__(self, page: Page, task: gr.Dropdown) -> None:
        self.page = page
        with gr.Accordion("Your own examples, or a real task's file", open=False, elem_id="own-examples") as self.place:
            caption(HELP)
            file = gr.File(label="File", file_types=[".tsv", ".csv", ".jsonl", ".json", ".txt"], height=120)
            self.found = gr.Textbox(label="Found", interactive=False, visible=False, lines=2)
        file.upload(
            self._take,
            [file],
            [page.notice, task, self.found],
            api_visibility="private",
            show_progress="minimal",
            concurrency_limit=2,
        )
        # An endpoint needs an event; nobody sees this button.
        gr.Button(visible=False).click(
            self._endpoint,
            inputs_kwargs={"file": file},
            outputs=[self.found],
            api_name="upload_task",
            api_description=(
                "Keep a file of examples (CSV, TSV, JSONL, SQuAD's JSON or plain text) as a task on this server. Answers with "
                "the task's name, by which `train` and the others take it, a colon, and what was found in the file. "
            ),
            concurrency_limit=2,
        )

    def _take(self, path: str | None, request: gr.Request) -> list[Any]:
        if path is None:
            return [gr.skip()] * 3
        try:
            data = keep_upload(path, settings(), visitor=address_of(request))
        except Exception as error:
            return [self.page.explain(readable(error)), gr.skip(), gr.skip()]
        names = [(f"{data.task.title} (your file)", data.name), *choices(settings())]
        return ["", gr.update(choices=names, value=data.name), gr.update(value=describe(data), visible=True)]

    def _endpoint(self, file: str | None, request: gr.Request) -> str:
        try:
            if not file:
                raise BadInputError("No file came with the request.")
            data = keep_upload(file, settings(), visitor=address_of(request))
        except Exception as error:
            raise Refusal(error) from None
        return f"{data.name}: {describe(data)}"


ADAPTER_HELP = (
    "A zip in peft's format (adapter_config.json and adapter_model.safetensors), such as the one prepared above. Pickles "
    "(.bin, .pt) are refused, since reading one runs the code in it; "
    "<code>python -m explorer.tuning convert old.bin new.zip</code> turns an old LoRA file into safetensors."
)


class Import:
    """The place for an adapter, and the endpoint `/import_adapter`; a file is checked and becomes the chosen run."""

    def __init__(self, page: Page, picker: RunPicker) -> None:
        self.page, self.picker = page, picker
        with gr.Accordion("Import an adapter", open=False):
            caption(ADAPTER_HELP)
            file = gr.File(label="Adapter (zip or safetensors)", height=120)
        file.upload(
            self._take,
            [file, picker.visitor],
            [page.notice, picker.run],
            api_visibility="private",
            show_progress="minimal",
            concurrency_limit=2,
        )
        # An endpoint needs an event; nobody sees this button.
        gr.Button(visible=False).click(
            self._endpoint,
            inputs_kwargs={"file": file, "visitor": picker.visitor},
            outputs=[gr.Textbox(visible=False, label="run")],
            api_name="import_adapter",
            api_description=(
                "Keep an adapter in peft's format (zip or safetensors, no pickle) as a run, once it has been checked. Answers "
                "with the run's id. "
            ),
            concurrency_limit=2,
        )

    def _import(self, path: str | None, owner: str) -> str:
        if not path:
            raise BadInputError("No file came with the request.")
        return self.page.engine.runs.import_adapter(path, owner)

    def _take(self, path: str | None, visitor: str, request: gr.Request) -> list[Any]:
        if path is None:
            return [gr.skip(), gr.skip()]
        owner = owner_of(self.page.engine.runs, visitor, request)
        try:
            run_id = self._import(path, owner)
        except Exception as error:
            return [self.page.explain(readable(error)), gr.skip()]
        return [
            "",
            gr.update(
                # This page shows no runs from nothing.
                choices=run_choices([one for one in self.page.engine.runs.list(owner) if not one.from_nothing]),
                value=run_id,
            ),
        ]

    def _endpoint(self, file: str | None, visitor: str, request: gr.Request) -> str:
        try:
            return self._import(file, owner_of(self.page.engine.runs, visitor, request))
        except Exception as error:
            raise Refusal(error) from None

"""Train a student: half the teacher's layers, from its soft targets, beside the same student on labels alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr

from explorer.backend.runs.examples import ON_TEXT
from explorer.backend.runs.examples import STUDENT as EXAMPLE
from explorer.backend.runs.record import RunRecord
from explorer.labs.distillation import DISTILL, FOLLOW_STUDENT, train_figures
from explorer.labs.distillation.learns import QUICK, Learning
from explorer.labs.distillation.train_schema import Distilled
from explorer.models.catalog import CATALOG
from explorer.tasks.plain_text import TEXT
from explorer.tuning.methods import STUDENT
from explorer.tuning.spec import SOFT_LOSSES, STARTS
from explorer.tuning.students import is_student, labels_only
from explorer.ui.components import plot, rich_text
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker, run_choices
from explorer.ui.streams import Stream, Watch
from explorer.ui.visitors import owner_of
from explorer.ui.wiring import LATEX, folds

START_TITLES = {"teacher": "the teacher's layers", "pretrained": "pretrained layers", "random": "random numbers"}
LOSS_TITLES = {"kl": "soft targets (T² KL)", "l2": "logits (L2)"}
_SOFT = {"alpha": 1.0, "cosine": 0.0, "start": "teacher", "student": ""}
_ON_THE_TASK = {"task": "", "text": "", "examples": 0}
TRY: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Half the layers", {**_SOFT, "student_layers": 0}),
    ("One layer", {**_SOFT, "student_layers": 1}),
    ("A random start", {**_SOFT, "student_layers": 0, "start": "random"}),
    (
        "A narrower model",  # on a text a student is made of its teacher's layers
        {**_SOFT, **_ON_THE_TASK, "student_layers": 6, "start": "pretrained", "student": "bert-mini"},
    ),
    (
        "Masked words",
        {**_SOFT, "task": TEXT.slug, "examples": QUICK, "student_layers": 0, "alpha": 0.7, "cosine": 0.15},
    ),
)

WHY = (
    STUDENT.summary
    + "\n\n$$"
    + STUDENT.formula
    + r"""$$

DistilBERT is BERT with every second layer, started from the teacher's own layers and trained with
these three terms (Sanh et al. 2019, section 3); the weights 5, 2 and 1 and $T = 2$ are those of its training code, the paper
gives none. $T$ is used while it learns; the student then answers at $T = 1$. Here $w_{\mathrm{soft}} = \alpha$ and
$w_{\mathrm{hard}} = 1 - \alpha$. With $\alpha = 1$ no true label is used: any text would do.

DistilBERT itself learnt to fill masks, on BERT's own corpus. **Masked words of a text** is that in small: 15% of the tokens are
hidden anew in every epoch (80% become `[MASK]`, 10% another token, 10% stay), $z_t$ and $z_s$ are the logits over the vocabulary
at these places, the hidden word takes the label's place ($L_{mlm} = -\ln p$ of it), and the cosine is that of all tokens' last
states. It is measured on sentences that are held out, with the same words hidden for teacher and students, all as `[MASK]`.
DistilBERT's proportion 5 : 2 : 1 is $\alpha = 0.7$ with a cosine of 0.15.

The student is a run like any other. It waits for its turn, goes on when this page is closed, and is listed on the
Fine-tune page, where it is resumed and taken home (as a merged checkpoint, since a student is a whole model). One that has
learnt a task's classes is tried there too; one that fills masks is asked on the first tabs here.
"""
)


def build_train(page: Page, picker: RunPicker, tab: gr.Tab) -> Callable[..., None]:
    """Lay out and wire the tab; returns what is to be called with the trigger after which the visitor is known."""
    with gr.Row(elem_classes=["bench"]):
        with gr.Column(scale=1, min_width=270):
            start = gr.Button("Train the student", variant="primary", elem_id="distill")
            stop = gr.Button("Stop", variant="stop", visible=False, elem_id="distill-stop")
            resume = gr.Button("Resume", visible=False, elem_id="distill-resume")
            inputs = _controls(page)
            student = gr.Dropdown([], label="Students so far", allow_custom_value=True, elem_id="student-picker")
        with gr.Column(scale=2, min_width=320):
            said = rich_text(elem_classes=["said"], elem_id="distill-said")
            bar = rich_text(elem_classes=["bar"])
            curves = plot("students", elem_id="distill-curves")
            with gr.Row(elem_classes=["try"]):
                gr.HTML('<span class="try-label">Try</span>')
                tries = [gr.Button(name, size="sm") for name, _ in TRY]
    sizes = rich_text(elem_classes=["wide"], elem_id="distill-sizes")
    with gr.Accordion("Why: the loss and the papers", open=False):
        gr.Markdown(WHY, latex_delimiters=LATEX)
    panel = folds(DISTILL)
    started = gr.Textbox("", visible="hidden", label="students")

    def steer(result: Distilled, owner: str) -> list[Any]:
        records = result.students
        mine = [record for record in records if owner in (record.owner, "*")]
        active = [record.run_id for record in mine if record.status.is_active]
        over = [record.run_id for record in mine if _can_resume(record)]
        moving = any(record.status.is_active and record.step for record in records)
        return [
            gr.update(visible=not active),
            gr.update(visible=bool(active)),
            gr.update(visible=bool(over) and not active),
            ",".join(active or over),
            gr.skip() if moving else _students(page, owner, records[0].run_id),
        ]

    shared = ([said, bar, curves, sizes], show, panel, Watch(), [start, stop, resume, started, student], steer)
    given = {"teacher": picker.run, "model": page.model, **inputs}
    training = Stream(page, DISTILL, given, picker.visitor, *shared)
    following = Stream(page, FOLLOW_STUDENT, {"run": student}, picker.visitor, *shared)
    training.on(start.click)
    for pressed, (_, changes) in zip(tries, TRY, strict=True):
        training.on(_set(pressed, inputs, changes).then)
    picker.on_press(stop, "stop", started)

    def of_kind(task: str, visitor: str, request: gr.Request) -> Any:
        return _listed(page, visitor, request, on_text=bool(task))

    turned = inputs["task"].input(
        of_kind,
        [inputs["task"], picker.visitor],
        [student],
        api_visibility="private",
        queue=False,
        show_progress="hidden",
    )
    following.on(student.input, picker.on_press(resume, "resume", started), tab.select, turned.then)

    def listed(visitor: str, request: gr.Request) -> Any:
        return _listed(page, visitor, request)

    def attach(known: Callable[..., Any]) -> None:
        known(
            listed,
            [picker.visitor],
            [student],
            api_visibility="private",
            queue=False,
            show_progress="hidden",
        )

    return attach


def _controls(page: Page) -> dict[str, Any]:
    """By DistillParams' names."""
    learns = Learning(page, "student")
    layers = gr.Number(
        0, precision=0, label="Student's layers", info="0 keeps every second layer.", elem_id="student-layers"
    )
    alpha = gr.Slider(
        0,
        1,
        1,
        step=0.05,
        label="α: share of the soft loss",
        info="The rest is the labels', on a text the hidden words'.",
    )
    temperature = gr.Slider(0.5, 20, 2, step=0.5, label="Temperature T")
    with gr.Accordion("More settings", open=False):
        return {
            "task": learns.task,
            "text": learns.text,
            "student_layers": layers,
            "temperature": temperature,
            "alpha": alpha,
            "loss": gr.Radio(
                [(LOSS_TITLES[name], name) for name in SOFT_LOSSES], value="kl", label="Compared with the teacher"
            ),
            "epochs": gr.Slider(1, 20, 3, step=1, label="Epochs"),
            "seed": gr.Number(0, precision=0, label="Seed"),
            "start": gr.Radio([(START_TITLES[name], name) for name in STARTS], value="teacher", label="Starts from"),
            "cosine": gr.Number(
                0, label="Weight of the states' cosine", info="DistilBERT's proportion is a fifth of α."
            ),
            "student": gr.Dropdown(
                [("the teacher's model", ""), *[(card.model_id, card.model_id) for card in CATALOG if card.bundled]],
                value="",
                label="Student's model",
                info="Another model starts from its own pretrained layers.",
                allow_custom_value=True,
            ),
            "learning_rate": gr.Number(STUDENT.learning_rate, label="Learning rate"),
            "batch_size": gr.Slider(1, 64, 16, step=1, label="Batch size"),
            "examples": learns.number(),
            "with_labels_only": gr.Checkbox(
                True, label="Train the same student on the labels (or hidden words) alone, to compare"
            ),
        }


def _can_resume(record: Any) -> bool:
    return record.status.value in ("stopped", "interrupted", "failed", "cancelled") and record.step < (
        record.steps or 1
    )


def _set(button: gr.Button, inputs: dict[str, Any], changes: dict[str, Any]) -> Any:
    """Set some controls when a Try button is pressed; the student trains after that."""
    return button.click(
        lambda: list(changes.values()),
        None,
        [inputs[name] for name in changes],
        api_visibility="private",
        queue=False,
    )


def _students(page: Page, owner: str, chosen: str) -> Any:
    """The visitor's students, and the one that is shown."""
    records = [record for record in page.executor.runs.list(owner) if is_student(record.spec)]
    if chosen not in {record.run_id for record in records}:
        records = [*records, page.executor.runs.get(chosen)]
    return gr.update(choices=run_choices(records), value=chosen)


def _listed(page: Page, visitor: str, request: gr.Request, on_text: bool | None = None) -> Any:
    """The student that the address names, or that trains, else the newest, else a worked example; on a text, where that is said.

    Its companion on labels alone comes with it.
    """
    owner = owner_of(page, visitor, request)
    named = str(request.query_params.get("run", ""))
    records = [
        record
        for record in page.executor.runs.list(owner)
        if is_student(record.spec) and on_text in (None, _is_on_text(record))
    ]
    records.sort(key=lambda record: (on_text is not None or record.run_id != named, not record.status.is_active))
    if not records:
        return _students(page, owner, ON_TEXT if on_text else EXAMPLE)
    newest = records[0]
    taught = [one for one in records if one.spec != newest.spec and labels_only(one.spec) == newest.spec]
    return _students(page, owner, (taught or [newest])[0].run_id)


def _is_on_text(record: RunRecord) -> bool:
    return not record.spec.teacher


def show(result: Distilled) -> list[Any]:
    """The outputs' values for students as they stand."""
    return [
        str(train_figures.distill_sentence(result)),
        str(train_figures.progress(result.students)),
        train_figures.distill_figure(result),
        str(train_figures.sizes_list(result)),
    ]

"""Train a student, half its layers, from its teacher's soft targets, beside the same one on labels alone; over several seeds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr

from explorer.labs.distillation import DISTILL, FOLLOW_STUDENT, STUDENT_SEEDS, seeds_figures
from explorer.labs.distillation import train_figures as figures
from explorer.labs.distillation.learns import QUICK, Learning
from explorer.labs.distillation.params import DistillParams
from explorer.labs.distillation.train import Distilled
from explorer.models.catalog import CATALOG
from explorer.runs.examples import EVERY, FEW, KNOWN_LABELS, ON_TEXT
from explorer.runs.examples import STUDENT as EXAMPLE
from explorer.runs.record import RunRecord
from explorer.runs.report import progress
from explorer.serving.visitors import owner_of
from explorer.tasks.formats.text import TEXT
from explorer.tuning.methods import STUDENT
from explorer.tuning.students import is_student, labels_only
from explorer.ui.components import apart, rich_text, while_in_view
from explorer.ui.controls import control, controls
from explorer.ui.kept_controls import OF_ANSWER
from explorer.ui.kit import (
    QUIET,
    Tries,
    View,
    caption,
    inputs_column,
    more,
    outputs_column,
    start_or_stop,
    start_stop,
    two_columns,
    why,
)
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker, run_choices
from explorer.ui.streams import Stream, Watch
from explorer.ui.wiring import folds

SEEDED = {f"{KNOWN_LABELS} known labels": FEW[0], "All labels known": EVERY[0]}
ABOUT_SEEDS = "Where all labels are known, the student without a teacher learns from what its teacher learned from."


def build_seeds(page: Page, picker: RunPicker, student: gr.Dropdown) -> tuple[Stream, Tries]:
    """Lay it out. Return what follows the run that `student` names, and the examples with the run that each shows.

    It must not be triggered before its tab has been opened: a figure that is filled earlier is never drawn.
    """
    view = View("student-seeds", "seeds", seeds_figures.seeds_sentence, seeds_figures.seeds_figure)
    examples = Tries(SEEDED)
    caption(ABOUT_SEEDS)
    listed = rich_text(elem_classes=["wide"], elem_id="seeds-list")
    panel = folds(STUDENT_SEEDS, "seeds")
    shown = [*view, (listed, seeds_figures.seeds_list)]
    return Stream(page, STUDENT_SEEDS, {"run": student}, shown, panel, visitor=picker.visitor), examples


_SOFT = {"alpha": 1.0, "cosine": 0.0, "start": "teacher", "student": "", "labelled": 0}
_ON_THE_TASK = {"task": "", "text": "", "examples": 0}
TRY: dict[str, dict[str, Any]] = {
    "Half the layers": {**_SOFT, "student_layers": 0},
    "One layer": {**_SOFT, "student_layers": 1},
    "A random start": {**_SOFT, "student_layers": 0, "start": "random"},
    "Few labels": {
        **_SOFT,
        **_ON_THE_TASK,
        "alpha": 0.5,
        "student_layers": 3,
        "start": "pretrained",
        "student": "bert-mini",
        "labelled": 32,
    },
    # on a text a student is made of its teacher's layers
    "A narrower model": {**_SOFT, **_ON_THE_TASK, "student_layers": 6, "start": "pretrained", "student": "bert-mini"},
    "Masked words": {
        **_SOFT,
        "task": TEXT.slug,
        "examples": QUICK,
        "student_layers": 0,
        "alpha": 0.7,
        "cosine": 0.15,
    },
}


def student_controls(page: Page) -> dict[str, Any]:
    """Lay out the controls; return them by DistillParams' names."""
    learns = Learning(page, "student")
    layers = control(DistillParams, "student_layers", elem_id="student-layers")
    alpha = control(DistillParams, "alpha")
    labelled = learns.labels(
        0,
        info="0 knows all. So many examples keep their label; the rest are texts that only the teacher answers.",
        elem_id="student-labelled",
    )
    models = [("the teacher's model", ""), *[(card.model_id, card.model_id) for card in CATALOG if card.bundled]]
    with more("temperature, epochs, start and other terms"):
        return {
            "task": learns.task,
            "text": learns.text,
            "student_layers": layers,
            **controls(DistillParams, "temperature"),
            "alpha": alpha,
            "labelled": labelled,
            **controls(DistillParams, "loss", "epochs", "seed", "seeds", "start", "cosine"),
            "student": control(DistillParams, "student", choices=models),
            "learning_rate": control(DistillParams, "learning_rate", value=STUDENT.learning_rate),
            **controls(DistillParams, "batch_size"),
            "examples": learns.number(),
            **controls(DistillParams, "with_labels_only"),
        }


WHY = (
    STUDENT.summary
    + "\n\n$$"
    + STUDENT.formula
    + r"""$$

DistilBERT is BERT with every second layer, started from the teacher's own layers and trained with
these three terms (Sanh et al. 2019, section 3); the weights 5, 2 and 1 and $T = 2$ are those of its training code, the paper
gives none. $T$ is used while it learns; the student then answers at $T = 1$. Here $w_{\mathrm{soft}} = \alpha$ and
$w_{\mathrm{hard}} = 1 - \alpha$. With $\alpha = 1$ no true label is used: any text would do.

**Known labels** is where that counts. Labels cost somebody's work, texts cost nothing. With 32 known labels the student learns
from these, and from its teacher's answers to all other texts, whose labels it never sees ($L_{CE}$ is the mean over the batch's
labelled rows, and is left out where there are none). The student without a teacher reads the same 32 over and over, for as many
steps. The teacher itself learned from labels: what reaches the student through its answers is what it made of them. Where the
student knows all labels too, they say what the teacher's answers say, and it has less to add. The seed draws which labels are
known, the order of the texts and the head's first weights. Five seeds give five differences $d_i$; their mean is
$\bar d \pm t_{0.975,\,n-1}\, s_d / \sqrt n$ (Student 1908).

DistilBERT itself learned to fill masks, on BERT's own corpus. **Masked words of a text** is that in small: 15% of the tokens are
hidden anew in every epoch (80% become `[MASK]`, 10% another token, 10% stay), $z_t$ and $z_s$ are the logits over the vocabulary
at these places, the hidden word takes the label's place ($L_{mlm} = -\ln p$ of it), and the cosine is that of all tokens' last
states. It is measured on sentences that are held out, with the same words hidden for teacher and students, all as `[MASK]`.
DistilBERT's proportion 5 : 2 : 1 is $\alpha = 0.7$ with a cosine of 0.15.

The student is a run like any other. It waits for its turn, goes on when this page is closed, and is listed on the
Fine-tune page, where it is resumed and taken home (as a merged checkpoint, since a student is a whole model). One that has
learned a task's classes is tried there too; one that fills masks is asked on the first tabs here.
"""
)


def build_train(page: Page, picker: RunPicker, tab: gr.Tab) -> Callable[..., None]:
    """Fill and wire the tab. Return what is to be called with the trigger after which the visitor is known."""
    with two_columns():
        with inputs_column():
            start, stop = start_stop("Train the student", "distill")
            resume = gr.Button("Resume", visible=False, elem_id="distill-resume")
            inputs = student_controls(page)
            student = gr.Dropdown([], label="Students so far", allow_custom_value=True, elem_id="student-picker")
        with outputs_column():
            rich_text(str(figures.distilbert()), elem_id="distilbert")
            every_seed, examples = build_seeds(page, picker, student)
            gr.HTML("<h2>One seed, step by step</h2>")
            ids = ("distill-said", "distill-curves")
            sentence, curves = figures.distill_sentence, figures.distill_figure
            view = View("students", ids, sentence, curves, bar=lambda result: progress(result.records))
            tries = Tries(TRY)
    sizes = rich_text(elem_classes=["wide"], elem_id="distill-sizes")
    time = gr.Button("Weigh and time them here", size="sm", visible=False, elem_id="distill-time")
    hidden: dict[str, Any] = {"visible": "hidden", "label": "timed", "elem_classes": [OF_ANSWER]}
    unasked, asked = (gr.Checkbox(value, **hidden) for value in (False, True))
    why("the loss and the papers", WHY)
    panel = folds(DISTILL)
    started = gr.Textbox("", visible="hidden", label="students")  # which runs Stop and Resume are about

    def steer(result: Distilled, owner: str) -> list[Any]:
        records = result.records
        mine = [record for record in records if owner in (record.owner, "*")]
        active = [record.run_id for record in mine if record.status.is_active]
        over = [record.run_id for record in mine if _can_resume(record)]
        moving = any(record.status.is_active and record.step for record in records)
        return [
            *start_or_stop(bool(active)),
            gr.update(visible=bool(over) and not active),
            ",".join(active or over),
            # While steps come in, the list stays as it is.
            gr.skip() if moving else _students(page, owner, result.students[0].run_id),
            gr.update(visible=result.can_be_timed),
        ]

    shown = [*view, (sizes, figures.sizes_list)]
    shared: dict[str, Any] = {
        "visitor": picker.visitor,
        "watch": Watch(),
        "steered": [([start, stop, resume, started, student, time], steer)],
    }
    given = {"teacher": picker.run, "model": page.model, **inputs}
    training = Stream(page, DISTILL, given, shown, panel, **shared)
    following = Stream(page, FOLLOW_STUDENT, {"run": student, "timed": unasked}, shown, panel, publish=False, **shared)
    timing = Stream(page, FOLLOW_STUDENT, {"run": student, "timed": asked}, shown, panel, **shared)
    training.on(start.click)
    timing.on(time.click)
    for name in TRY:
        training.on(tries.put(name, inputs, show_progress="full"))
    picker.on_press(stop, "stop", started)

    def of_kind(task: str, visitor: str, request: gr.Request) -> Any:
        return _listed(page, visitor, request, on_text=bool(task))

    turned = inputs["task"].input(of_kind, [inputs["task"], picker.visitor], [student], **QUIET)
    shown = [
        examples.buttons[name].click(_example(page, run_id), [picker.visitor], [student], **QUIET)
        for name, run_id in examples.experiments.items()
    ]
    chosen = (student.input, tab.select, turned.then, *(one.then for one in shown))
    following.on(apart(*chosen), picker.on_press(resume, "resume", started))
    every_seed.on(apart(*chosen), started.change)

    def listed(visitor: str, request: gr.Request) -> Any:
        return _listed(page, visitor, request)

    def attach(known: Callable[..., Any]) -> None:
        found = known(listed, [picker.visitor], [student], **QUIET)
        # Where the page opens at this tab, it did so before the visitor was known, with the worked example.
        opened = while_in_view("#distill-said", found.then)
        following.on(apart(opened))
        every_seed.on(apart(opened))

    return attach


def _can_resume(record: Any) -> bool:
    return record.status.value in ("stopped", "interrupted", "failed", "cancelled") and record.step < (
        record.steps or 1
    )


def _students(page: Page, owner: str, chosen: str) -> Any:
    """Return the visitor's students as choices, and the one that is shown."""
    records = [record for record in page.engine.runs.list(owner) if is_student(record.spec)]
    if chosen not in {record.run_id for record in records}:
        records = [*records, page.engine.runs.get(chosen)]
    return gr.update(choices=run_choices(records), value=chosen)


def _example(page: Page, run_id: str) -> Callable[[str, gr.Request], Any]:
    """Return an event's function that shows one of the worked examples."""

    def chosen(visitor: str, request: gr.Request) -> Any:
        return _students(page, owner_of(page.engine.runs, visitor, request), run_id)

    return chosen


def _listed(page: Page, visitor: str, request: gr.Request, on_text: bool | None = None) -> Any:
    """Choose the student that the address names, or that trains, else the newest, else a worked example; on a text, if
    that is said.

    Its companion on labels alone comes with it.
    """
    owner = owner_of(page.engine.runs, visitor, request)
    named = str(request.query_params.get("run", ""))
    records = [
        record
        for record in page.engine.runs.list(owner)
        if is_student(record.spec) and on_text in (None, _is_on_text(record))
    ]
    # False sorts first: the named one, then those that train; sort keeps the newest first among the rest.
    records.sort(key=lambda record: (on_text is not None or record.run_id != named, not record.status.is_active))
    if not records:
        return _students(page, owner, ON_TEXT if on_text else EXAMPLE)
    newest = records[0]
    # The student whose companion the newest is.
    taught = [one for one in records if one.spec != newest.spec and labels_only(one.spec) == newest.spec]
    return _students(page, owner, (taught or [newest])[0].run_id)


def _is_on_text(record: RunRecord) -> bool:
    return not record.spec.teacher

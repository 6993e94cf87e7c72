"""Losses: a student beside its teacher on one sentence, every kind of loss, and why the soft one is multiplied by T²."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.errors import BadInputError
from explorer.labs.distillation import GRADIENTS, LOSSES
from explorer.labs.distillation import losses_figures as figures
from explorer.labs.distillation.params import MASKED, LossesParams
from explorer.labs.distillation.soft_page import REVIEW, TEACHERS, of_teacher
from explorer.runs.examples import FIRST, OTHER_RANK
from explorer.ui.components import LATEX
from explorer.ui.controls import control
from explorer.ui.kit import QUIET, Tries, View, inputs_column, more, outputs_column, two_columns, why
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker
from explorer.ui.wiring import Connection, folds

FEWER = "the teacher with fewer layers"
STUDENTS = [(FEWER, "layers"), ("another fine-tuned run", "run")]
TRY: dict[str, tuple[str, str, str, int, float]] = {
    "A review": ("run", REVIEW, "layers", 0, 2.0),
    "The teacher as its own student": ("run", REVIEW, "layers", -1, 2.0),
    "Two runs of one task": ("run", REVIEW, "run", 0, 2.0),
    "A masked word": ("model", MASKED, "layers", 0, 2.0),
}
"""Teacher, text, student, its layers (-1 for all of the teacher's), temperature."""

WHY = r"""
The soft loss compares the teacher's $p = \mathrm{softmax}(z^t/T)$ with the student's $q = \mathrm{softmax}(z^s/T)$. Its gradient
with respect to the student's logits is

$$\frac{\partial}{\partial z^s_i}\, \mathrm{KL}(p \,\Vert\, q) = \frac{1}{T}\,(q_i - p_i)
\;\approx\; \frac{1}{N T^2}\left( (z^s_i - \bar z^s) - (z^t_i - \bar z^t) \right) \quad \text{for large } T$$

since for large $T$ both distributions are nearly even and differ by about $1/(NT)$ times the logits (Hinton et al. 2015,
equations 2 to 4). The gradient shrinks like $1/T^2$; multiplying the loss by $T^2$ keeps the soft and the hard term in proportion
when $T$ is changed (section 2). In that limit it is the gradient of half the squared difference of the logits, each with its mean
taken off, divided by $N$: learning from logits (L2) is distillation at a very high temperature. DistilBERT adds
$1 - \cos(h^s, h^t)$ of the last hidden states (Sanh et al. 2019, section 3).
"""


def build_losses(page: Page, picker: RunPicker, tab: gr.Tab) -> gr.Dropdown:
    """Fill and wire the tab. Return the list of students, which gets the picker's choices."""
    with two_columns():
        with inputs_column():
            of = gr.Radio(TEACHERS[1:], value="run", label="Teacher")
            kind = gr.Radio(STUDENTS, value="layers", label="Student")
            layers = control(LossesParams, "student_layers", label="Its layers")
            other = picker.dropdown("Student's run", visible=False, elem_id="student-run")
            text = control(LossesParams, "text", value=REVIEW)
            button = gr.Button("Compare", variant="primary")
            temperature = control(LossesParams, "temperature", elem_id="loss-temperature")
            alpha = control(LossesParams, "alpha")
            with more("a second sentence, the true answer"):
                second = control(LossesParams, "second")
                answer = control(LossesParams, "answer", elem_id="loss-answer")
        with outputs_column():
            view = View(
                *("teacher-and-student", "losses", figures.losses_sentence, figures.losses_figure),
                notes=figures.losses_notes,
            )
            listed = gr.Markdown("", latex_delimiters=LATEX, elem_classes=["losses-list"], elem_id="losses-list")
            tries = Tries(TRY)
            gr.HTML("<h2>Why T²</h2>")
            gradients = View(
                *("soft-gradients", "gradients", figures.gradients_sentence, figures.gradients_figure),
                notes=figures.gradients_notes,
            )
    why("the formulas and the papers", WHY)
    panel = folds(LOSSES)
    why_panel = folds(GRADIENTS, "gradient against T")
    inputs = {
        "model": page.model,
        "text": text,
        "temperature": temperature,
        "run": picker.run,
        "second": second,
        "run_student": other,
        "student_layers": layers,
        "alpha": alpha,
        "answer": answer,
    }
    boxes = [of, text, kind, layers, temperature, other]
    compare = Connection(page, LOSSES, inputs, [*view, (listed, figures.losses_list)], panel)
    gradient = Connection(page, GRADIENTS, inputs, gradients, why_panel)
    moves = [
        pressed.click(
            _asked(page, TRY[title]), [page.model, picker.run], boxes, api_visibility="private", queue=False
        ).then
        for title, pressed in tries.buttons.items()
    ]
    kind.change(
        lambda chosen: [gr.update(visible=chosen == "layers"), gr.update(visible=chosen == "run")],
        [kind],
        [layers, other],
        **QUIET,
    )
    triggers = [
        *(
            button.click,
            *picker.at_opening(tab),
            text.submit,
            second.submit,
            answer.submit,
            temperature.release,  # on release: each value on the way would be a question
            alpha.release,
            layers.input,
        ),
        *(of.input, kind.input, other.input, picker.run.input, *moves),
    ]
    for connection in (compare, gradient):
        connection.on(*triggers, extra={"of": of, "kind": kind}, adapt=_chosen)
    return other


def _chosen(values: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters without what the two choices leave out."""
    values = of_teacher(values)
    kind = values.pop("kind")
    if kind == "run" and not values["run_student"]:
        raise BadInputError("Choose the student's run, or take the teacher with fewer layers.")
    return values | ({"run_student": ""} if kind == "layers" else {"student_layers": 0})


def _asked(page: Page, example: tuple[str, str, str, int, float]) -> Any:
    def put(model: str, run: str) -> list[Any]:
        of, text, kind, layers, temperature = example
        if layers < 0:  # -1: all of the teacher's
            layers = _depth(page, model, run if of == "run" else "")
        # A run beside itself would have no loss.
        other = (OTHER_RANK if run != OTHER_RANK else FIRST) if kind == "run" else gr.skip()
        return [of, text, kind, layers, temperature, other]

    return put


def _depth(page: Page, model: str, run: str) -> int:
    """Return how many layers the teacher has."""
    from explorer.runs.checks import depth_of_model
    from explorer.settings import settings

    if not run:
        return depth_of_model(model, settings())
    spec = page.engine.runs.get(run).spec
    return spec.student_layers or depth_of_model(spec.model, settings())

"""Soft targets: a teacher's answer to the visitor's sentence, softened by a slider that acts in the browser."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.charts import PALETTES
from explorer.labs.distillation import SOFT_TARGETS
from explorer.labs.distillation import soft_figures as figures
from explorer.labs.distillation.params import MASKED, SoftTargetsParams
from explorer.labs.distillation.schema import COLDEST, HOTTEST
from explorer.runs.examples import EARLIER
from explorer.ui.components import ASSETS, rich_text
from explorer.ui.controls import control
from explorer.ui.kit import QUIET, Tries, inputs_column, outputs_column, sentence_place, two_columns, why
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker
from explorer.ui.wiring import Connection

MODEL, RUN = "the model at the top", "the fine-tuned run above"
THREE = "a run with three classes: does B follow from A?"
TEACHERS = [(THREE, "three"), (MODEL, "model"), (RUN, "run")]
CONCERT = ("She bought two tickets for the concert.", "She likes music.")
"""Not said, likely, and not impossible: three classes of which each deserves some of the answer."""

OWN = {
    "albert-mini": "The film was released in the United [MASK] in 1998.",
    "gpt2-mini": "The film was released in the United",
}
"""Where a bundled model's answer to the usual sentence is nonsense."""

REVIEW = "It is not a bad film, but I would not call it good either."
TRY = {
    "Three classes, T = 3": ("three", *CONCERT, 3.0, ""),
    "A pet, T = 1": ("model", MASKED, "", 1.0, ""),
    "The same, T = 0.1": ("model", MASKED, "", 0.1, ""),
    "One of many words": ("model", "She sat down and read a [MASK].", "", 1.0, ""),
    "Two sentences": ("model", "The band released its first album.", "It sold two million copies.", 4.0, ""),
    "A review, T = 5": ("run", REVIEW, "", 5.0, ""),
}
"""Teacher, text, second text, temperature, answer."""

WHY = r"""
A label says which class is right. A trained model says more: of the wrong ones, *rabbits* is a better guess than *tables*.
Hinton, Vinyals and Dean (2015, section 2) call this **dark knowledge** and teach it to a smaller model. Since a confident
teacher puts nearly everything on one class, the logits $z$ are divided by a temperature before the softmax:

$$p_i = \frac{\exp(z_i / T)}{\sum_j \exp(z_j / T)}$$

At $T = 1$ it is the model's own answer. As $T \to 0$ it becomes the hard label (one-hot), as $T \to \infty$ every class gets
$1/N$. The logits come from the model once; the bars and the marks are computed in this browser, over all classes, each time the
slider moves. Entropy is $-\sum_i p_i \ln p_i$; the mass on the wrong classes is $1 - \max_i p_i$.
"""


def softening(**options: Any) -> gr.HTML:
    """Return bars with a temperature slider; its value is what soft_targets_figure returns.

    It fires `select` with {"temperature"}.
    """
    plot, own = ((ASSETS / name).read_text(encoding="utf-8") for name in ("plot.js", "softening.js"))
    return gr.HTML(
        {},
        html_template=(
            '<div class="softening-row softening" hidden><label>Temperature<small> (0.1 to 20)</small></label>'
            # In powers of ten: log10(0.1) = -1 to log10(20) = 1.30103.
            f'<input type="range" min="{-1}" max="1.30103" step="0.005" aria-label="Temperature from {COLDEST} to {HOTTEST:g}">'
            '<output></output></div><div class="plot" role="img" hidden></div>'
        ),
        js_on_load=f"function drawing(element, props, watch, trigger) {{\n{plot}\n}}\n{own}",
        palettes=PALETTES,
        filename="soft-targets",
        elem_classes=["figure"],
        **options,
    )


def build_soft_targets(page: Page, picker: RunPicker) -> None:
    """Lay out a teacher and a sentence; its answer with a slider for the temperature.

    It opens with three classes: of a vocabulary of thousands a high temperature leaves no token enough to be seen.
    """
    with two_columns():
        with inputs_column():
            of = gr.Radio(TEACHERS, value="three", label="Teacher", elem_id="soft-teacher")
            text = control(SoftTargetsParams, "text", value=CONCERT[0])
            second = control(SoftTargetsParams, "second", value=CONCERT[1])
            button = gr.Button("Ask the teacher", variant="primary")
            with gr.Accordion("More settings", open=False):
                top_k = control(SoftTargetsParams, "top_k")
            answer = control(SoftTargetsParams, "answer", elem_id="soft-answer")
            # What the slider was set to, with the next question.
            temperature = gr.Number(1.0, visible="hidden", label="temperature")
        with outputs_column():
            said = sentence_place("soft-said")
            figure = softening(elem_id="soft-figure")
            notes = rich_text(elem_id="soft-notes")
            tries = Tries(TRY)
    why("the formula and the paper", WHY)
    inputs = {
        "model": page.model,
        "text": text,
        "temperature": temperature,
        "run": picker.run,
        "second": second,
        "top_k": top_k,
        "answer": answer,
    }
    shown = [(said, figures.soft_targets_sentence), (figure, figures.soft_targets_figure)]
    shown.append((notes, figures.soft_targets_notes))
    steered = [(temperature, lambda result: result.temperature)]
    asked = Connection(page, SOFT_TARGETS, inputs, shown, steered=steered)
    chosen: dict[str, Any] = {"extra": {"of": of}, "adapt": of_teacher}
    moves = tries.into([of, text, second, temperature, answer], show_progress="full")
    fitting = of.input(
        _example_for, [of, text, second, page.model], [text, second], api_visibility="private", queue=False
    )
    picked = [
        changed(_of_model, [text, second, page.model], [of, text, second], **QUIET).then for changed in page.changed
    ]
    asked.on(
        button.click,
        text.submit,
        second.submit,
        answer.submit,
        top_k.release,
        fitting.then,
        page.opened,
        *picked,
        *moves,
        **chosen,
    )
    asked.on(picker.run.input, **chosen)
    asked.on(figure.select, read=lambda event: {"temperature": event.temperature}, **chosen)


def of_teacher(values: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters without the run if the model is the teacher."""
    of = values.pop("of")
    return values if of == "run" else values | {"run": EARLIER if of == "three" else ""}


def _of_model(text: str, second: str, model: str) -> list[str]:
    """Turn to the model at the top: whoever picks a model wants to hear it."""
    return ["model", *_example_for("model", text, second, model)]


def _example_for(of: str, text: str, second: str, model: str) -> tuple[str, str]:
    """Return a review for a classifier, a mask for a model, a pair for three classes.

    A text of the visitor's own stays.
    """
    # Texts that the page itself has put there.
    examples = {MASKED, *OWN.values(), *(example[1] for example in TRY.values())}
    if text not in examples:
        return text, second
    return {"run": (REVIEW, ""), "model": (OWN.get(model, MASKED), ""), "three": CONCERT}[of]

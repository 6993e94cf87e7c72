"""A meaning put into words: eight slots at the left, what each decoding makes of them at the right."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.errors import BadInputError
from explorer.kinds import LARGEST_SEED
from explorer.labs.generation import meaning_figures as figures
from explorer.labs.generation.continued_page import writer_box
from explorer.labs.generation.meaning import GENERATE, MEANING, TRY, VALUES, GenerateParams, GenerateResult
from explorer.tasks.formats.e2e import parse_meaning, spelled
from explorer.ui.components import plot, rich_text
from explorer.ui.controls import control
from explorer.ui.kit import (
    QUIET,
    Tries,
    bar_place,
    inputs_column,
    outputs_column,
    sentence_place,
    start_or_stop,
    start_stop,
    two_columns,
    why,
)
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker
from explorer.ui.streams import Stream
from explorer.ui.wiring import folds

WHY = r"""
**Data to text.** A meaning is a list of slots with values; the model reads it as a text, `name : Bar Olmo | food : Italian ||`,
and goes on. It has learned to from pairs of a meaning and a text by $-\sum_t \ln p(x_t \mid \text{meaning}, x_{<t})$ over the
text's tokens alone (Hu et al. 2021, section 5.4, with GPT-2 medium and large; here gpt2-mini, a fiftieth of the former).

**What can go wrong** has two names: a slot is **missed** (omission), or something is said that nobody asked for: it is
**invented** (hallucination). Neither shows in the loss, and BLEU sees them only as a few n-grams. Here they are looked for by the
value's own words and by the usual ways to say it: what is put in quite another way counts as missed.

**Attention to the slots.** The place before a token is the one it is predicted from. Each of its heads shares its attention out
among all tokens so far (a row of the softmax sums to 1); shown is the mean over layers and heads. It says where the model looked
and not why it wrote the word (see Attribution for that question).

**Prefix-layer's** virtual tokens stand before the meaning as trained keys and values, so attention goes to them too.
"""


def build_meaning(page: Page, tab: gr.Tab, picker: RunPicker) -> None:
    """Fill and wire the tab; the slots and the meaning are two views of one text, which is what is asked."""
    with two_columns():
        with inputs_column(300):
            slots = _slots()
            start, stop = start_stop("Put it into words", "generate")
            inputs = _settings(page, picker)
        with outputs_column():
            said, bar = sentence_place("generate-said"), bar_place()
            texts = rich_text(elem_id="generate-texts", elem_classes=["wide"])
            tries = Tries(TRY)
            looked = sentence_place("slots-said")
            figure = plot("slots", elem_id="slots-figure")
            notes = rich_text(elem_id="slots-notes")
    why("a meaning in words", WHY)
    shown = [
        (said, figures.generate_sentence),
        (texts, figures.texts_view),
        (looked, figures.attention_sentence),
        (figure, figures.attention_figure),
        (notes, figures.attention_notes),
    ]

    def buttons(result: GenerateResult) -> list[Any]:
        return start_or_stop(not result.done)

    stream = Stream(page, GENERATE, inputs, shown, folds(GENERATE), steered=[([start, stop], buttons)])
    meaning = inputs["meaning"]
    for component in slots.values():
        # `input`: what the meaning fills in does not come back here.
        component.input(_meaning_of, list(slots.values()), [meaning], **QUIET)
    meaning.change(_slots_of, [meaning], list(slots.values()), **QUIET)
    moved = [tries.put(name, [meaning]) for name in TRY]
    asked = [start.click, meaning.submit, picker.run.input, inputs["decoding"].input, *moved]
    stream.opens(tab.select, note=bar, start=str(start.value), asked=asked)
    stream.on(*asked)
    stream.stops(start, stop)


def _slots() -> dict[str, gr.Dropdown]:
    """Lay out a list for each slot; any value may be typed, and an empty one leaves the slot out."""
    worked, made = dict(parse_meaning(MEANING)), {}
    names = list(VALUES)
    with gr.Column(elem_id="slots"):
        for pair in zip(names[::2], names[1::2], strict=True):
            with gr.Row():
                for slot in pair:
                    made[slot] = gr.Dropdown(
                        [("–", ""), *[(value, value) for value in VALUES[slot]]],
                        value=worked.get(slot, ""),
                        label=slot,
                        allow_custom_value=True,
                        min_width=120,
                        elem_id=f"slot-{slot.replace(' ', '-').lower()}",
                    )
    return made


def _settings(page: Page, picker: RunPicker) -> dict[str, Any]:
    writer, line, _ = writer_box(page)
    inputs: dict[str, Any] = {"model": writer, "run": picker.run}
    inputs["decoding"] = control(GenerateParams, "decoding", elem_id="generate-decodings")
    with gr.Accordion("The meaning as the model reads it, and settings", open=False):
        inputs["meaning"] = control(GenerateParams, "meaning", elem_id="meaning")
        for pair in (("k", "p"), ("temperature", "beams"), ("tokens", "seed")):
            with gr.Row():
                for name in pair:
                    bounds = {"minimum": 0, "maximum": LARGEST_SEED} if name == "seed" else {}
                    inputs[name] = control(GenerateParams, name, min_width=125, **bounds)
    line.render()  # type: ignore[no-untyped-call]
    order = ("model", "run", "meaning", "decoding", "seed", "tokens", "k", "p", "temperature", "beams")
    return {name: inputs[name] for name in order}


def _meaning_of(*values: str | None) -> str:
    """Write the slots that have a value, as one text."""
    pairs = [(slot, str(value).strip()) for slot, value in zip(VALUES, values, strict=True) if value]
    return spelled([(slot, value) for slot, value in pairs if value])


def _slots_of(meaning: str) -> list[Any]:
    """Return the values of a text's slots; if it cannot be read, they stay."""
    try:
        found = dict(parse_meaning(meaning or ""))
    except BadInputError:
        return [gr.skip()] * len(VALUES)
    return [found.get(slot, "") for slot in VALUES]

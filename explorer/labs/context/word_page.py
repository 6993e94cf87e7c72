"""One word in several sentences: its vectors' similarity over the layers, and one layer as a plane and as a grid."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gradio as gr

from explorer.labs.context import CONTEXTUAL_SIMILARITY, layer_figures
from explorer.labs.context import word_figures as figures
from explorer.labs.context.examples import EXAMPLES, TRY
from explorer.labs.context.word import STATIC, ContextParams, ContextResult
from explorer.ui.components import plot, rich_text
from explorer.ui.controls import control
from explorer.ui.kit import QUIET, Examples, Tries, inputs_column, outputs_column, sentence_place, two_columns, why
from explorer.ui.page import Page
from explorer.ui.wiring import Connection

OPENING_LAYER = 4
"""Where the worked example's two senses are furthest apart in the bundled model."""

WHY = r"""
The vocabulary holds **one** vector for each token, so up to there both banks are the same. Each layer then mixes in what
attention finds in the sentence. How alike two vectors are is told by the cosine of their angle,

$$\cos(u, v) = \frac{u \cdot v}{\lVert u \rVert \, \lVert v \rVert}$$

A cosine says little by itself: the vectors of a layer fill a narrow cone, so that even two *random* tokens are alike
(**anisotropy**). The grey line is that baseline, the mean cosine of random tokens of different sentences and of different
spelling; **minus baseline** takes it off, layer by layer. A word of several pieces has the mean of their vectors.
(Ethayarajh 2019, sections 3.3 and 4.1)

The plane shows the two **principal components** of the word's vectors in one layer, the directions of largest variance. Each
layer has components of its own, in units of its own; only their signs are chosen so that the picture does not flip from layer
to layer. With a few points in hundreds of dimensions some separation is easy: trust the cosines.
"""


def build_word(page: Page) -> None:
    """Lay out and wire a word and sentences with it: similarity over the layers, and one layer as plane and grid."""
    _, first_word, lines = EXAMPLES[0]
    with two_columns():
        with inputs_column():
            word = control(ContextParams, "word", value=first_word)
            sentences = control(ContextParams, "sentences", value="\n".join(lines))
            button = gr.Button("Compare", variant="primary")
            examples = Examples(_as_typed(EXAMPLES))
        with outputs_column():
            said, figure = sentence_place("context-said"), plot("contextual-similarity", elem_id="context-figure")
            tries = Tries(_as_typed(TRY))
    with two_columns("layer-row"):
        layer = gr.Slider(
            # The bundled model's depth; each result sets its own.
            STATIC,
            6,
            OPENING_LAYER,
            step=1,
            label="Layer (−1 is the token embedding alone)",
            scale=2,
            min_width=280,
        )
        view = gr.Radio(
            [("cosine", "cosine"), ("minus baseline", "adjusted")], value="cosine", label="Show", scale=1, min_width=240
        )
    layer_said = sentence_place("layer-said")
    with two_columns():
        with outputs_column(1):
            plane = plot("word-plane", elem_id="plane-figure")
        with outputs_column(1):
            pairs = plot("word-pairs", elem_id="pairs-figure")
    layer_noted = rich_text(elem_id="layer-notes")
    numbered = rich_text(elem_classes=["measures"], elem_id="context-sentences")
    noted = rich_text(elem_id="context-notes")
    why("the formula and the paper", WHY)
    inputs, views = {"sentences": sentences, "word": word}, {"layer": layer, "view": view}
    shown = [([said, figure, layer, layer_said, plane, pairs, numbered, noted, layer_noted], show)]
    compare = Connection(page, CONTEXTUAL_SIMILARITY, inputs, shown, views=views)
    compare.on(button.click, word.submit, layer.input, view.input, *page.ready)
    boxes = [word, sentences]
    compare.on(examples.into(boxes, show_progress="full"), *tries.into(boxes, show_progress="full"))
    pointed = figure.select(_pointed, None, [layer], **QUIET)
    compare.on(pointed.then)


def show(result: ContextResult, layer: float | None = None, view: str = "cosine") -> list[Any]:
    """Return the outputs' values; a layer that this model does not have gives way to its last."""
    chosen = result.telling_layer() if layer is None else min(max(int(layer), STATIC), result.depth)
    adjusted = view == "adjusted"
    stays = layer is None or chosen == int(layer)
    return [
        str(figures.context_sentence(result)),
        figures.similarity_figure(result, chosen, adjusted),
        gr.update(maximum=result.depth) if stays else gr.update(maximum=result.depth, value=chosen),
        str(layer_figures.layer_sentence(result, chosen)),
        layer_figures.plane_figure(result, chosen),
        layer_figures.pairs_figure(result, chosen, adjusted),
        str(figures.sentence_list(result)),
        str(figures.notes(result)),
        str(layer_figures.layer_notes(result, chosen)),
    ]


def _pointed(event: gr.EventData) -> int:
    """Return the layer of the point that was pressed."""
    return int(event.x)


def _as_typed(examples: Iterable[tuple[str, str, tuple[str, ...]]]) -> dict[str, tuple[str, str]]:
    """Return each title's word and sentences, as the boxes hold them."""
    return {title: (word, "\n".join(lines)) for title, word, lines in examples}

"""Why not the next word: how much of it reaches the position before it, layer by layer."""

from __future__ import annotations

import gradio as gr

from explorer.labs.directions import ANSWER, PROOF
from explorer.labs.directions import answer_figures as figures
from explorer.labs.directions import answer_figures as proof_figures
from explorer.labs.directions.controls import Asked
from explorer.runs.examples import LEAK
from explorer.ui.kit import View, caption, inputs_column, outputs_column, sentence_place, two_columns, why
from explorer.ui.page import Page
from explorer.ui.wiring import Connection

WHY = r"""
A language model learns at every position at once: position $t - 1$ is to predict the word at $t$,
$\mathcal{L} = -\sum_t \ln p(x_t \mid h_{t-1})$. That is a task only if $h_{t-1}$ does not know $x_t$. In a model that looks both
ways it does: $t - 1$ attends to $t$ **directly** in the first layer, and in the second also to every other position that has
looked at $t$ in the first. Such a model would learn to copy its neighbour, and nothing else.

How much of a word is in a position is told by attention **rollout**, $\tilde{A}_\ell = \tfrac12 (\bar{A}_\ell + I)$ multiplied
over the layers (Abnar and Zuidema 2020): an estimate by the weights alone. The dotted line asks the model itself: the word is
replaced by `[MASK]`, and the line is how far the state of the position before it moves,
$\lVert h'_{t-1} - h_{t-1} \rVert / \lVert h_{t-1} \rVert$.

Two ways out. A **causal mask** takes the paths away: each position looks back alone, every share above is exactly 0, and all
positions are a task in one pass; the price is the right side. **Masking** keeps all paths and takes the *word* away: 15% of the
words are hidden and asked for at their own place, which sees both sides; the price is that only those are a task, and that
`[MASK]` never occurs later. (Devlin et al. 2019, section 3.1)
"""


def build_answer(page: Page, tab: gr.Tab) -> None:
    """Lay out two trainings; then a sentence, one word of it as the answer of the position before it."""
    with two_columns():
        with inputs_column():
            caption(
                "Two models from nothing, the same text and steps. One sees both sides when it has to say the next word, the "
                "other the left alone. Train them yourself: "
                f'<a href="pretrain?run={",".join(LEAK)}">Pretrain, From nothing</a>.'
            )
        with outputs_column(3):
            proof = View("next-token-proof", "proof", proof_figures.proof_sentence, proof_figures.proof_figure)
    Connection(page, PROOF, {}, proof).on(tab.select)
    gr.HTML("<h2>How the answer gets there</h2>")
    with two_columns():
        with inputs_column():
            asked = Asked("answer")
            layer = gr.Slider(0, 5, 1, step=1, label="Rollout up to layer")
        with outputs_column(3):
            chips = asked.lay_out_chips()
            view = View(
                *("answer-in-view", "answer", figures.answer_sentence, figures.answer_figure),
                notes=figures.answer_notes,
            )
            masking = sentence_place("answer-masking")
    why("the loss, the paths and the two ways out", WHY)

    shown = [(chips, figures.answer_chips), *view, (masking, figures.masking_sentence), asked.standing]
    answer = Connection(page, ANSWER, asked.inputs, shown, views={"layer": layer})
    asked.wire(answer, tab.select, layer.change)

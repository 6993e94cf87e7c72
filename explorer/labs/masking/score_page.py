"""How likely is a sentence? Its tokens masked in turn; and which of two a model prefers, thirty times."""

from __future__ import annotations

import gradio as gr

from explorer.labs.masking import SCORE_SENTENCES
from explorer.labs.masking import score_figures as figures
from explorer.labs.masking.minimal_page import build_minimal_pairs
from explorer.labs.masking.score import OPENING, ScoreParams
from explorer.ui.components import rich_text, while_in_view
from explorer.ui.controls import control
from explorer.ui.kit import Tries, View, inputs_column, outputs_column, two_columns, why
from explorer.ui.page import Page
from explorer.ui.wiring import Connection

TRY = (
    ("whom or who", ("The man whom I met was kind.", "The man who I met was kind.")),
    ("Word order", ("The boy ate the apple.", "The apple ate the boy.")),
    ("A fact", ("The capital of France is Paris.", "The capital of France is London.")),
    ("A word in pieces", ("She saw an orangutan in the zoo.", "She saw an animal in the zoo.")),
    (
        "Names of two words",
        ("New York", "Puerto Rico", "Buenos Aires", "Hong Kong", "Sri Lanka", "San Francisco", "Costa Rica"),
    ),
)
"""One-click experiments; the last shows that the scores of a few texts add up to more than 1."""


WHY = r"""
A model that writes multiplies: $p(s) = \prod_t p(w_t \mid w_1 \dots w_{t-1})$ is the **probability** of the sentence. A model
that fills blanks has no such product. What it can be asked for is each token with all the others in view, and the sum of the
logarithms is the **pseudo-log-likelihood**

$$\operatorname{PLL}(s) = \sum_t \ln p(w_t \mid s \text{ with } w_t \text{ masked})$$

It takes one row of a batch for each token. $\exp(-\operatorname{PLL}/n)$ over $n$ tokens is the *pseudo-perplexity*.
(Salazar et al. 2020, section 2)

**Why it is no probability.** Two words that determine each other each look certain while the other stands there: *Hong* gives
away *Kong*, and *Kong* gives away *Hong*. A probability would pay once for the pair; the PLL pays for neither. So the scores of
all sentences need not add up to 1: press *Names of two words*, and a handful of texts passes it. It ranks sentences, and a
difference of two is what to look at.

**Words of several pieces.** *orangutan* is cut into pieces, and with the others in view each is easy: a rare word scores as if
it were a common one. So a token is hidden together with the pieces that follow it in its word, as if the word were written from
left to right. Without this a sentence gains by having rarer words. (Kauf and Ivanova 2023)
"""


def build_score(page: Page, tab: gr.Tab) -> None:
    """Lay out two questions: the visitor's own sentences, and the bundled pairs."""
    with gr.Tabs():
        with gr.Tab("Your sentences", id="sentences"):
            _own_sentences(page, tab)
        with gr.Tab("Thirty minimal pairs", id="pairs") as pairs:
            build_minimal_pairs(page, pairs)


def _own_sentences(page: Page, tab: gr.Tab) -> None:
    with two_columns():
        with inputs_column():
            sentences = control(ScoreParams, "sentences", value="\n".join(OPENING), elem_id="score-sentences")
            button = gr.Button("Score", variant="primary")
            masking = control(ScoreParams, "masking")
            beside = control(ScoreParams, "beside", visible=False)  # a client may choose another
            tries = Tries({name: "\n".join(lines) for name, lines in TRY})
        with outputs_column(3):
            view = View(
                *("sentence-scores", "score", figures.score_sentence, figures.score_figure), notes=figures.score_notes
            )
            facts = rich_text(elem_classes=["wide"], elem_id="score-facts")

    why("no probability, and why pieces are hidden together", WHY)
    inputs = {"model": page.model, "sentences": sentences, "masking": masking, "beside": beside}
    score = Connection(page, SCORE_SENTENCES, inputs, [*view, (facts, figures.score_facts)])
    tried = tries.into([sentences], show_progress="full")
    score.on(button.click, masking.input, tab.select, while_in_view("#score-figure", *page.changed), *tried)

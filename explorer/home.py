"""The front page: a blank that fills itself, and the way on to the labs."""

from __future__ import annotations

import gradio as gr
from markupsafe import Markup

from explorer.labs import LABS, Lab
from explorer.labs.masking import FILL_MASKS
from explorer.labs.masking.examples import Example
from explorer.labs.masking.fill import figures
from explorer.labs.masking.fill.controls import hidden_now, keep_hidden, open_with, pressed_positions
from explorer.labs.masking.fill.said_figures import fill_sentence
from explorer.labs.models.family_figures import letters
from explorer.models.families import Capability
from explorer.ui.components import token_chips
from explorer.ui.kit import View
from explorer.ui.page import Page
from explorer.ui.wiring import Connection, folds

EXAMPLE = Example("Einstein was a German physicist who developed the theory of relativity.", "physicist")

HOME = Lab(
    slug="",
    title="See how BERT reads",
    chapter="",
    question="Press any word: BERT guesses it from the rest.",
    teaser="",
    needs=Capability.MLM,
    actions=(),
    tab="explorer.home:build",
)


def build(page: Page) -> None:
    """Lay out one sentence, its tokens and the guesses; below, a card for each lab."""
    text = gr.Textbox(EXAMPLE.text, show_label=False, container=False, lines=1, max_lines=3, elem_id="home-text")
    hidden = gr.Textbox("", visible="hidden", label="also_mask")
    top_k = gr.Number(5, visible=False, label="top_k")
    chips = token_chips(elem_id="home-chips")
    view = View("masked-predictions", (None, "home-figure"), fill_sentence, figures.fill_figure)
    folded = folds(FILL_MASKS)
    gr.HTML(str(letters()))
    gr.HTML(str(lab_cards()))

    inputs = {"text": text, "top_k": top_k, "also_mask": hidden}
    shown = [(chips, figures.fill_chips), *view, (hidden, hidden_now)]
    # publish=False: the endpoint is the Masking page's.
    fill = Connection(page, FILL_MASKS, inputs, shown, folded, publish=False)
    fill.on(chips.select, read=pressed_positions)
    keep_hidden(fill, chips, text.submit, *open_with(page, EXAMPLE, text, hidden))


def lab_cards() -> Markup:
    """Return the labs as cards."""
    cards = Markup("").join(
        Markup('<a class="lab-card" href="{}"><span class="chapter-name">{}</span><b>{}</b><span>{}</span></a>').format(
            lab.slug, lab.chapter, lab.title, lab.teaser
        )
        for lab in LABS
    )
    return Markup('<div class="lab-cards">{}</div>').format(cards)

"""The family: a card for each member on one tab, and all sizes side by side on another."""

from __future__ import annotations

import gradio as gr

from explorer.labs.models import FAMILY
from explorer.labs.models import family_figures as figures
from explorer.labs.models.schema import FamilyParams
from explorer.ui.components import plot, rich_text
from explorer.ui.controls import control
from explorer.ui.kit import inputs_column, outputs_column, sentence_place, two_columns, why
from explorer.ui.outputs import Output
from explorer.ui.page import Page
from explorer.ui.wiring import Connection

WHY = r"""
Where do the parameters of an encoder with vocabulary $V$, width $H$, $L$ layers and feed-forward width $F$ lie?

$$\underbrace{V H}_{\text{words}} + \underbrace{(P + S) H}_{\text{positions, segments}} +
L\,\big(\underbrace{4H^2}_{\text{attention}} + \underbrace{2HF}_{\text{feed-forward}} + \text{biases and norms}\big)$$

In a small model the list of words weighs more: $V H$ shrinks with $H$ once, a layer with $H^2$. ALBERT and ELECTRA put a narrow
table and a map in its place, $V E + E H$, and ALBERT uses one layer at every depth, so that $L$ no longer counts. DistilBERT
halves it.
Every bar is counted on the model's own tensors, without its weights; a tied tensor counts once. The published models' sizes are
those of their `config.json` on the hub. All of them learn from text alone; CLIP, with which they are sometimes compared, learns
which picture goes with which text (Radford et al. 2021). (Devlin et al. 2019, section 3; Lan et al. 2020, section 3.1 and
Table 1)
"""


def build_cards() -> None:
    """Fill the tab with what each member changed."""
    rich_text(str(figures.changes_view()), elem_id="family-cards")


def build_family(page: Page, tab: gr.Tab) -> None:
    """Fill and wire the tab: which members' bars stand side by side."""
    with two_columns():
        with inputs_column(250):
            which = control(FamilyParams, "which")
            share = gr.Radio([("parameters", "count"), ("their shares", "share")], value="count", label="Bars show")
            said = sentence_place("family-said")
        with outputs_column():
            figure = plot("parameters-of-the-family", elem_id="family-figure")
            notes = rich_text(elem_id="family-notes")

    why("the formula and the papers", WHY)
    shown: list[Output] = [(said, figures.family_sentence), (figure, figures.family_figure)]
    shown.append((notes, figures.family_notes))
    family = Connection(page, FAMILY, {"which": which}, shown, views={"share": share})
    family.on(tab.select, which.input, share.input)

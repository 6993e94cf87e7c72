"""How far each layer moves a state: ALBERT's one layer beside layers of their own."""

from __future__ import annotations

import gradio as gr

from explorer.labs.models import MOVEMENT
from explorer.labs.models.movement import figures
from explorer.labs.models.movement.schema import COMPARED, MOST_MODELS, TEXT, MovementParams
from explorer.models.catalog import CATALOG
from explorer.ui.controls import control
from explorer.ui.kit import Tries, View, asks, bench, shows, why
from explorer.ui.page import Page
from explorer.ui.wiring import Connection

WHY = r"""
If one layer is applied again and again, does the state run into a fixed point, which the layer would leave as it is? ALBERT's
authors looked at the angle and the distance between each layer's input and output,

$$\arccos \frac{h^{(\ell-1)} \cdot h^{(\ell)}}{\lVert h^{(\ell-1)} \rVert \, \lVert h^{(\ell)} \rVert}, \qquad
\lVert h^{(\ell)} - h^{(\ell-1)} \rVert,$$

and found that ALBERT's steps go on at every depth without dying out, but change much more smoothly from layer to layer than
BERT's: sharing steadies the network. Here they are means over the text's tokens. Distances of models of different widths are
not on one scale; angles are. (Lan et al. 2020, section 3.1, Figure 1)
"""
TRY = {
    "ALBERT and BERT": (list(COMPARED), TEXT),
    "Half of the layers: DistilBERT": (["bert-mini", "distilbert-mini"], TEXT),
    "The same word, again and again": (list(COMPARED), "very very very very very very very very very very very very"),
    "Two halves of ELECTRA": (["electra-mini-generator", "electra-mini-discriminator"], TEXT),
}


def build_movement(page: Page, tab: gr.Tab) -> None:
    """It is computed when the tab comes into view."""
    with bench():
        with asks():
            models = gr.Dropdown(
                [card.model_id for card in CATALOG],
                multiselect=True,
                allow_custom_value=True,
                max_choices=MOST_MODELS,
                value=list(COMPARED),
                label=f"Models (up to {MOST_MODELS})",
            )
            text = control(MovementParams, "text")
        with shows():
            view = View(
                *("layer-movement", "movement", figures.movement_sentence, figures.movement_figure),
                notes=figures.movement_notes,
            )
            tries = Tries(TRY)
    why("the question and the paper", WHY)
    moved = Connection(page, MOVEMENT, {"models": models, "text": text}, view)
    moved.on(tab.select, models.input, text.submit, *tries.into([models, text], show_progress="full"))

"""The page of a sentence's way up: the picture with everything, nine steps, one layer open."""

from __future__ import annotations

from explorer.labs.wayup import figures
from explorer.labs.wayup.picture_page import WayUp
from explorer.labs.wayup.schema import PassParams
from explorer.ui.components import rich_text
from explorer.ui.controls import control
from explorer.ui.hiding import hidden_now, open_with
from explorer.ui.kit import Tries, sentence_place, why
from explorer.ui.page import Page

EXAMPLE, WORD = "The keys to the cabinet are on the table.", "are"

TRY = {
    "A verb that agrees": (EXAMPLE, WORD),
    "A noun": ("Einstein was a German physicist who developed the theory of relativity.", "physicist"),
    "A pronoun": ("The woman said that she was tired.", "she"),
}

WHY = r"""
**From below.** A token's vector is the sum of three embeddings, $h^{(0)}_i = \mathrm{LN}(e_{w_i} + e_{s_i} + e_{p_i})$ (Devlin
et al. 2019, section 3). Each layer adds to it twice: $h' = \mathrm{LN}(h + W_O[z_1; \dots; z_A])$ with
$z_a = \operatorname{softmax}(q_a K_a^\top / \sqrt d)\,V_a$, then $h'' = \mathrm{LN}(h' + W_2\,\mathrm{GELU}(W_1 h'))$ (Vaswani
et al. 2017, section 3). The head makes of the last state a probability for each token.

**Arcs.** A weight $\alpha_{ij}$ alone says little of what arrives, since a token that is looked at may bring next to nothing.
So an arc is as wide as $\lVert \alpha_{ij} W_O v_j \rVert$, as a share of all that the head moves there (Kobayashi et al. 2020,
"Attention is not only a weight", section 3). In each layer the head is drawn that moves most from one word to the followed
token; open a layer to choose another. What stays where it is, the way past each block, is not drawn.

**The column** is the logit lens: the model's own head, put after each layer (nostalgebraist 2020). It was trained on the last
layer alone, so that an early layer doesn't show a word is no proof that the model doesn't know it yet.
"""


def build(page: Page) -> None:
    """Lay out the sentence, the picture over its tokens, the opened layer, and what explains them."""
    text = control(
        PassParams, "text", value=EXAMPLE, show_label=False, container=False, info=None, elem_id="wayup-text"
    )
    hidden = control(PassParams, "also_mask", visible="hidden")
    said = sentence_place("wayup-said")
    way = WayUp("wayup")
    notes = rich_text(elem_id="wayup-notes")
    tries = Tries(TRY)
    why("the formulas and the papers", WHY)
    shown = [(said, figures.pass_sentence), (way.chips, figures.pass_chips), (hidden, hidden_now)]
    shown.append((notes, figures.pass_notes))
    moves = tries.into([text, hidden], show_progress="full")
    way.connect(page, text, hidden, shown, None, [text.submit, *open_with(page, EXAMPLE, WORD, text, hidden), *moves])

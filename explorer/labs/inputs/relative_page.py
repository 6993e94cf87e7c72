"""The part of the tab on positions that is about relative ones."""

from __future__ import annotations

import gradio as gr

from explorer.labs.inputs import relative as figures
from explorer.labs.inputs.relative import ABLE, RELATIVE_POSITIONS, RelativeParams
from explorer.models.catalog import is_of
from explorer.ui.components import while_in_view
from explorer.ui.controls import control
from explorer.ui.kit import Tries, View, inputs_column, outputs_column, slim, why
from explorer.ui.page import Page
from explorer.ui.used_model import UsedModel
from explorer.ui.wiring import Connection

TRY = {"A short sentence": 12, "160 tokens": 160, "The longest": 512}

WHY = r"""
DeBERTa adds no vector for a place. Its attention looks up a vector $P_{\delta(i,j)}$ for the way from token $i$ to token $j$
(He et al. 2021, equation 3):

$$\delta(i,j) = \begin{cases} 0 & i - j \le -k \\ 2k - 1 & i - j \ge k \\ i - j + k & \text{otherwise} \end{cases}$$

so the table has $2k$ rows, and any two tokens that are as far from each other share one. Versions 2 and 3 have fewer rows than
distances: with $b$ of them on each side and distances of up to $m$, those up to $b/2$ keep a row each, and a further one
$d = i - j$ counts as

$$\operatorname{sign}(d)\left(\frac b2 + \left\lceil
\frac{\ln(2|d|/b)}{\ln(2(m-1)/b)}\left(\frac b2 - 1\right)\right\rceil\right),$$

as the authors' code has it. What attention makes of the rows is on the Attention page, under Content and position.
"""


def build_relative(page: Page, tab: gr.Tab) -> None:
    """Lay out and wire the length of a text, and δ for every two of its tokens."""
    gr.HTML("<h2>Relative positions</h2>")
    with slim():
        with inputs_column(250):
            model = UsedModel(page, lambda name: is_of(name, "DeBERTa"), ABLE)
            length = control(RelativeParams, "length", elem_id="relative-length")
            tries = Tries(TRY)
        with outputs_column():
            view = View(
                *("relative-positions", "relative", figures.relative_sentence, figures.relative_figure),
                notes=figures.relative_notes,
            )
    why("the formulas and the papers", WHY)
    look = Connection(page, RELATIVE_POSITIONS, {**model.inputs, "length": length}, view)
    look.on(tab.select, length.input, *tries.into([length]))
    look.on(while_in_view("#relative-length", *model.changed))

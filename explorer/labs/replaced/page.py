"""The replaced-tokens page: one draw token by token, words replaced by hand, and many draws counted together."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.kinds import LARGEST_SEED
from explorer.labs.replaced import REPLACED_TOKENS, figures
from explorer.labs.replaced.chips_figures import draw_legend, replaced_rows
from explorer.labs.replaced.draws_page import build_draws
from explorer.labs.replaced.hand_page import build_hand
from explorer.labs.replaced.schema import DISCRIMINATOR, SEED, TEMPERATURE, TEXT, TRY, ReplacedParams
from explorer.models.families import Capability
from explorer.ui.components import aligned_chips, rich_text, while_in_view
from explorer.ui.controls import control
from explorer.ui.kit import Tries, View, inputs_column, more, outputs_column, two_columns, why
from explorer.ui.page import Page
from explorer.ui.used_model import filled_with, has
from explorer.ui.wiring import Connection

WHY = r"""
BERT learns from the 15% of the tokens that are hidden, and pays for every other token that it reads. ELECTRA hides them too, but
for a small masked language model, the **generator**: it draws a token for each blank from its own distribution, and a second,
larger model, the **discriminator**, says of **every** token of the result whether it is the original one:

$$\mathcal{L} = \mathcal{L}_{\text{MLM}}(\text{generator}) + 50\,\mathcal{L}_{\text{Disc}},\qquad
\mathcal{L}_{\text{Disc}} = -\frac{1}{n}\sum_{t=1}^{n} \Big[ r_t \ln D_t + (1 - r_t) \ln (1 - D_t) \Big]$$

where $r_t = 1$ where the token differs from the original, and $D_t$ is the sigmoid of one score for each token. A sample that
happens to be the original token counts as original. The discriminator never sees `[MASK]`, so nothing is missing when it is
fine-tuned; afterwards the generator is thrown away.

**Like a GAN?** Two models, one of which makes what the other has to find out. But the generator isn't trained to fool anybody: it
learns by maximum likelihood, to say what really stood there. No gradient goes from the discriminator through the drawn token
back to the generator, since drawing a token has none. There is no noise vector; chance comes in where a token is drawn. And what
the generator gets right counts as true, not as a fake. (Clark et al. 2020, section 2)

**How good should the generator be?** A quarter to half of the discriminator's size works best; the authors suppose that a
stronger one sets a task that is too hard. The two share their embeddings. (section 3.2; the weight of 50: appendix A)
"""


def build(page: Page) -> None:
    """Lay out three tabs, and one model for all: the chosen one, or at first one that can."""
    model = gr.Textbox(DISCRIMINATOR, label="model", visible="hidden")
    ready = filled_with(page, model, has(page, Capability.RTD), DISCRIMINATOR, at_first=True)
    with gr.Tabs():
        with gr.Tab("One draw", id="draw") as tab:
            _one_draw(page, model, [while_in_view("#replaced-text", *ready), tab.select])
        with gr.Tab("Replace it yourself", id="hand") as tab:
            build_hand(page, model, [while_in_view("#hand-text", *ready), tab.select])
        with gr.Tab("Many draws", id="draws") as tab:
            build_draws(page, model, [while_in_view("#draws-text", *ready), tab.select])


def _one_draw(page: Page, model: gr.Textbox, triggers: list[Any]) -> None:
    rows = aligned_chips(elem_id="replaced-rows")
    gr.HTML(str(draw_legend()))
    with two_columns():
        with inputs_column():
            text = control(ReplacedParams, "text", value=TEXT, elem_id="replaced-text")
            temperature = control(ReplacedParams, "temperature", value=TEMPERATURE)
            again = gr.Button("Draw again", variant="primary")
            with more("share that is masked, and seed"):
                rate = control(ReplacedParams, "rate")
                seed = control(ReplacedParams, "seed", value=SEED, minimum=0, maximum=LARGEST_SEED)
            pair = rich_text(elem_id="replaced-pair")
        with outputs_column():
            view = View(
                *("replaced-tokens", "replaced", figures.replaced_sentence, figures.replaced_figure),
                notes=figures.replaced_notes,
            )
            tries = Tries(TRY)
    gr.Markdown("## What each model learns from this text")
    with two_columns():
        with outputs_column(1):
            signal = View(
                *("losses", "signal", figures.signal_sentence, figures.signal_figure), notes=figures.signal_notes
            )
        with outputs_column(1):
            steps = rich_text(elem_id="replaced-steps", elem_classes=["wide"])
            rich_text(str(figures.TABLE_5), elem_id="replaced-published", elem_classes=["wide"])
    why("ELECTRA, and what it has of a GAN", WHY)
    inputs = {"model": model, "text": text, "temperature": temperature, "seed": seed, "rate": rate}
    told = [(steps, figures.steps_table), (pair, figures.pair_line)]
    draw = Connection(page, REPLACED_TOKENS, inputs, [(rows, replaced_rows), *view, *signal, *told])
    next_seed = again.click(
        fn=None, js="(seed) => (seed || 0) + 1", inputs=[seed], outputs=[seed], api_visibility="private"
    )
    moves = tries.into(inputs, show_progress="full")
    draw.on(next_seed.then, text.submit, seed.submit, temperature.change, rate.change, *moves, *triggers)

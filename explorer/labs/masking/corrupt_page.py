"""Corrupt: the pretraining recipe on the visitor's text, once, a thousand times, and over forty epochs."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.kinds import LARGEST_SEED
from explorer.labs.masking import CORRUPT, CORRUPTION_SHARES, MASKING_PATTERNS
from explorer.labs.masking import corrupt_figures as figures
from explorer.labs.masking.schema import (
    CORRUPTION_SEED,
    CORRUPTION_TEXT,
    RECIPES,
    CorruptParams,
    PatternsParams,
    SharesParams,
)
from explorer.maths.schemes import SCHEMES
from explorer.ui.components import plot, rich_text, token_chips
from explorer.ui.controls import control, controls
from explorer.ui.kit import Tries, View, inputs_column, more, outputs_column, sentence_place, two_columns, why
from explorer.ui.page import Page
from explorer.ui.wiring import Connection

WHY = rf"""
Pretraining makes its own exercise out of plain text: choose 15% of the tokens, and of those show 80% as `[MASK]`, 10% as a
random token and 10% as they are. The model must name the original at every **chosen** position, and only those count:

$$\mathcal{{L}} = -\frac{{1}}{{|C|}}\sum_{{i \in C}} \ln p(x_i \mid \tilde{{x}})$$

Three shares, three reasons (Devlin et al. 2019, Appendices A.1 and C.2):

* **80% `[MASK]`**: the word is gone, so it has to be told from both sides.
* **10% random**: any word in view may be a wrong one, so the model has to weigh *every* token against its context. These are 1.5%
  of all tokens, which does not seem to harm it.
* **10% kept**: what is seen may also be right, so the state of a token leans towards the word that stands there. It is a target
  like the others, and so counts in the loss.

The last two are there because `[MASK]` never occurs later, in fine-tuning. The sentence is not rebuilt: only what was chosen is
guessed. {"; ".join(scheme.explanation for scheme in SCHEMES.values())}.
BERT masked each text ten times before training and reused the copies over forty epochs (**static**); RoBERTa draws anew each
time (**dynamic**). So ten copies with different masks, each seen four times, are BERT's way, though notes sometimes call them
dynamic.
(Devlin et al. 2019, section 3.1; Liu et al. 2019, section 4.1; Lan et al. 2020, section 4.1)
"""


def build_corrupt(page: Page, tab: gr.Tab) -> None:
    """Fill and wire the tab; its figures are computed when they come into view, and anew for another model."""
    with two_columns():
        with inputs_column():
            inputs = {
                **controls(CorruptParams, text=CORRUPTION_TEXT),
                **controls(CorruptParams, "rate", "mask_share", "random_share", "scheme"),
            }
            again = gr.Button("Draw again", variant="primary")
            recipes = Tries(dict(RECIPES))
            with more("the draw's seed"):
                inputs["seed"] = control(CorruptParams, "seed", value=CORRUPTION_SEED, minimum=0, maximum=LARGEST_SEED)
        with outputs_column(), gr.Tabs():
            with gr.Tab("One draw", id="draw"):
                _one_draw(page, inputs, [*_changes(inputs, again, recipes), tab.select, *page.changed])
            with gr.Tab("1,000 draws", id="draws") as many:
                _many_draws(page, inputs, [many.select, *page.changed])
            with gr.Tab("Static or dynamic", id="epochs") as epochs:
                _epochs(page, inputs, [epochs.select, *page.changed])


def _why() -> None:
    with why("the formula and the papers", WHY):
        rich_text(str(figures.mixtures()), elem_classes=["wide"])


def _changes(inputs: dict[str, Any], again: gr.Button, recipes: Tries) -> list[Any]:
    """Return the triggers that ask for a new draw."""
    seed = inputs["seed"]
    next_seed = again.click(
        fn=None, js="(seed) => (seed || 0) + 1", inputs=[seed], outputs=[seed], api_visibility="private"
    )
    triggers = [next_seed.then, inputs["text"].submit, inputs["text"].blur, seed.submit, inputs["scheme"].input]
    triggers += [inputs[name].change for name in ("rate", "mask_share", "random_share")]
    recipe = [inputs[name] for name in ("rate", "mask_share", "random_share", "scheme")]
    return [*triggers, *recipes.into(recipe, show_progress="full")]


def _one_draw(page: Page, inputs: dict[str, Any], triggers: list[Any]) -> None:
    chips = token_chips(elem_id="corrupt-chips")
    gr.HTML(str(figures.legend()))
    view = View(
        *("masking-loss", (None, "corrupt-figure"), figures.corrupt_sentence, figures.corrupt_figure),
        notes=figures.corrupt_notes,
    )
    _why()
    Connection(page, CORRUPT, inputs, [(chips, figures.corrupt_chips), *view]).on(*triggers)


def _many_draws(page: Page, inputs: dict[str, Any], triggers: list[Any]) -> None:
    button = gr.Button("Draw 1,000 times with these settings", variant="primary", size="sm")
    draws = control(SharesParams, "draws", visible=False)  # a client may ask for others
    view = View(
        *("masking-shares", (None, "shares-figure"), figures.shares_sentence, figures.shares_figure),
        notes=figures.shares_notes,
    )
    _why()
    Connection(page, CORRUPTION_SHARES, {**inputs, "draws": draws}, view).on(button.click, *triggers)


def _epochs(page: Page, inputs: dict[str, Any], triggers: list[Any]) -> None:
    button = gr.Button("Draw forty epochs with these settings", variant="primary", size="sm")
    counts = {
        "epochs": control(PatternsParams, "epochs", visible=False),  # a client may ask for others
        "duplicates": control(PatternsParams, "duplicates"),
    }
    sentence = sentence_place()
    gr.HTML(str(figures.legend()))
    figure = plot("static-dynamic", elem_id="epochs-figure")
    notes = rich_text(elem_id="epochs-notes")
    _why()
    shown = [(sentence, figures.patterns_sentence), (figure, figures.patterns_figure)]
    shown.append((notes, figures.patterns_notes))
    patterns = Connection(page, MASKING_PATTERNS, {**inputs, **counts}, shown)
    patterns.on(button.click, counts["duplicates"].release, *triggers)

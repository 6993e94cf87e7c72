"""Why 15%: how well blanks are filled as more of the text is hidden, live."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.kinds import LARGEST_SEED
from explorer.labs.masking import MASKING_RATES
from explorer.labs.masking import rate_figures as figures
from explorer.labs.masking.rate import MOST_MODELS, SENTENCES, TRY, RatesParams
from explorer.models.catalog import all_with
from explorer.models.families import Capability
from explorer.ui.components import while_in_view
from explorer.ui.controls import control
from explorer.ui.kit import (
    QUIET,
    Tries,
    View,
    caption,
    inputs_column,
    outputs_column,
    start_or_stop,
    start_stop,
    two_columns,
    why,
)
from explorer.ui.page import Page
from explorer.ui.streams import Stream

WHY = r"""
BERT hides 15% of the tokens (Devlin et al. 2019, section 3.1). The usual reasons are two, one for not less and one for not more:

* **Too few** masks, and training is slow. The loss counts the chosen tokens $C$ alone,
  $\mathcal{L} = -\frac{1}{|C|} \sum_{i \in C} \ln p(x_i \mid \tilde{x})$, and the layers take as long for $n$ tokens whether one
  of them is asked for or all. At 15% it reads $n/|C| = 6.7$ tokens for each that it learns from, at 5% twenty. A model that
  writes learns from every token, and so does ELECTRA.
* **Too many**, and too little is left to go by. The neighbours of a blank are blanks themselves, so the true word is told by
  hardly more than how frequent it is.

**Both at once**: accuracy times predictions, which is how many tokens are named rightly of every 100 that are read. Little is
asked at the one end and little can be told at the other, so the curve has its peak in between; not at 15%, as a rule.

**What the curves are, and what they aren't.** These models were *trained* at 15%, and are only asked at other rates: they show
how much context a blank needs. A model that is trained at 40% has practice with half-empty texts, and what that practice is
worth for other tasks cannot be read off here.

**15% is not the best for all.** Wettig et al. 2023 trained models at many rates. By their abstract 40% beats 15% for models of
BERT-large's size on GLUE and SQuAD, larger models should be masked more, and at 80% a model still keeps 95% of its performance
after fine-tuning. They part the rate into the same two effects: more corruption makes the task harder, more predictions help
the optimisation. Masks drawn evenly over the tokens, as here, want a higher rate than spans or PMI masking do.

Each chosen token is shown as `[MASK]`. With 80/10/10 a tenth would stand there to be read and a tenth would mislead, three
questions in one curve. The masks of a low rate are among those of every higher one. A text of your own is short, so it is drawn
again and again, up to forty times, until about 1,200 tokens were read. Thin bars are one standard error. The losses of models
with different vocabularies are not on one scale.
"""


def build_rate(page: Page, tab: gr.Tab) -> None:
    """Fill and wire the tab: it opens with what was measured beforehand, or measures a rate at a time."""
    with two_columns():
        with inputs_column():
            able, label = all_with(Capability.MLM), f"Models, up to {MOST_MODELS}"
            models = control(
                *(RatesParams, "models"),
                choices=able,
                label=label,
                info="Asked here; what is picked at the top takes the first place.",
            )
            text = control(RatesParams, "text", placeholder=f"{SENTENCES} bundled sentences", elem_id="rates-text")
            seed = control(RatesParams, "seed", minimum=0, maximum=LARGEST_SEED)
            start, stop = start_stop("Measure", "rates-start")
        with outputs_column(3):
            view = View(
                *("masking-rates", "rates", figures.rates_sentence, figures.rates_figure, figures.rates_bar),
                notes=figures.rates_notes,
            )
            caption("Trained at 15%, asked at every rate: this is how much context a blank needs.")
            tries = Tries(TRY)
    why("fifteen per cent", WHY)
    steered = [([start, stop], lambda result: start_or_stop(not result.is_done))]
    inputs = {"models": models, "text": text, "seed": seed}
    stream = Stream(page, MASKING_RATES, inputs, view, steered=steered)
    in_view = while_in_view("#rates-figure", *_with_model(page, models))
    tried = tries.into({"text": text}, show_progress="full")
    asked = [start.click, text.submit, seed.submit, models.input, *tried]
    stream.opens(tab.select, in_view, note=view.bar, start=str(start.value), asked=asked)
    stream.on(*asked)
    stream.stops(start, stop, view.bar, str(figures.STOPPED))


def _with_model(page: Page, models: gr.Dropdown) -> list[Any]:
    """Put a model that is picked above in the first place; return the triggers after which it stands there."""

    def first(model: str, names: list[str] | None) -> list[str]:
        return [model, *(name for name in (names or [])[1:] if name != model)]

    return [changed(first, [page.model, models], [models], **QUIET).then for changed in page.changed]

"""Thirty minimal pairs, scored live."""

from __future__ import annotations

import gradio as gr

from explorer.labs.masking import SCORE_MINIMAL_PAIRS
from explorer.labs.masking import minimal as figures
from explorer.labs.masking.minimal import MinimalPairsParams
from explorer.ui.components import while_in_view
from explorer.ui.controls import control
from explorer.ui.kit import View, caption, inputs_column, outputs_column, start_or_stop, start_stop, two_columns, why
from explorer.ui.page import Page
from explorer.ui.streams import Stream

WHY = r"""
Two sentences with nearly the same words and nearly the same length are scored by nearly the same terms, so what is left of the
difference is what they differ in. That makes a fair question of a score that is no probability: which of the two is likelier?
Salazar et al. (2020, abstract) find that the pseudo-log-likelihood has no left-to-right bias, and gains 10 points over GPT-2's
scores on island effects and negative polarity items in BLiMP, a collection of pairs about grammar.

These thirty are few, and were written for this page: enough to see what kind of thing a model knows, not to tell two good models
apart. Half right is chance. A wrong answer about a fact is often a matter of what was written about most.
"""


def build_minimal_pairs(page: Page, tab: gr.Tab) -> None:
    """Fill and wire the tab: it opens with what was scored beforehand, or scores a pair at a time."""
    with two_columns():
        with inputs_column():
            caption(
                "A minimal pair is two sentences that differ in one thing, of which one is right. Ten pairs each of agreement, "
                "word order and sense; a model without a notion of them ranks half right."
            )
            masking = control(MinimalPairsParams, "masking")
            start, stop = start_stop("Score the pairs", "pairs-start")
        with outputs_column(3):
            view = View(
                "minimal-pairs",
                "minimal-pairs",
                figures.minimal_pairs_sentence,
                figures.minimal_pairs_figure,
                bar=figures.minimal_pairs_progress,
                notes=figures.minimal_pairs_notes,
            )
    why("what minimal pairs tell", WHY)
    steered = [([start, stop], lambda result: start_or_stop(not result.is_done))]
    stream = Stream(page, SCORE_MINIMAL_PAIRS, {"masking": masking}, view, steered=steered)
    asked = [start.click, masking.input]
    chosen = while_in_view("#minimal-pairs-figure", *page.changed)
    stream.opens(tab.select, chosen, note=view.bar, start=str(start.value), asked=asked)
    stream.on(*asked)
    stream.stops(start, stop, view.bar, str(figures.STOPPED))

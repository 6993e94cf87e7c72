"""Typos: the text beside the same with typing errors; on a tab of its own what they cost over many sentences."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.labs.inputs import TYPOS, TYPOS_OVER_SHARES
from explorer.labs.inputs import typos_figures as figures
from explorer.labs.inputs.typos import MOST_MODELS, SEED, TRY, SharesParams, TyposParams
from explorer.models.catalog import all_with
from explorer.models.families import Capability
from explorer.ui.components import scripted
from explorer.ui.controls import control, controls
from explorer.ui.kit import (
    QUIET,
    Tries,
    View,
    caption,
    inputs_column,
    more,
    outputs_column,
    start_or_stop,
    start_stop,
    two_columns,
    why,
)
from explorer.ui.page import Page
from explorer.ui.streams import Stream
from explorer.ui.wiring import Connection

WHY = r"""
No word is outside a vocabulary of pieces, but a word with a typo is no longer one piece that the model has met a million times:
it falls into short ones that mean little. What that does to the rest of the sentence is asked at the words that nobody touched.
Each is masked in turn, and its loss

$$-\ln p(w \mid \text{the other words}) \qquad \text{against} \qquad -\ln p(w \mid \text{the other words with typos})$$

says how well the context still tells it. A word of several pieces is hidden with the pieces that follow, and their losses are
added (Kauf and Ivanova 2023). Only words that are the same known pieces for every chosen model are asked for, so that
all are asked the same. Two models' losses are not on one scale, since their vocabularies differ: compare how much each *rises*.

**Robust?** The *robustly optimized* of RoBERTa's name is about the recipe: longer training, bigger batches, more data, no NSP,
masks drawn anew. It doesn't mean robust to noisy input, which the paper does not measure. (Liu et al. 2019)
"""


def build_typos(page: Page, tab: gr.Tab) -> None:
    """Fill and wire the tab of one text, its typos by hand or by seed."""
    with two_columns():
        with inputs_column():
            models = _models(TyposParams)
            made = controls(TyposParams, "text", "typed")
            again = gr.Button("Other typos", variant="primary")
            with more("share, seed and kinds"):
                made |= controls(TyposParams, "share", seed=SEED)
                made["kinds"] = control(TyposParams, "kinds")
        with outputs_column():
            view = View("typos", "typos", figures.typos_sentence, figures.typos_figure, notes=figures.typos_notes)
            tries = Tries(TRY)
    gr.Markdown("## In pieces")
    pieces = scripted("pieces", {"rows": []}, elem_classes=["token-chips"], elem_id="typos-rows")
    caption("Coloured: changed words. Below a piece of an untouched word: −ln p where it is masked (nats).")
    why("what is asked, and what “robust” means", WHY)
    typos = Connection(
        page,
        TYPOS,
        {"models": models, **made},
        [(pieces, figures.typos_rows), *view],
        steered=[(made["typed"], lambda result: result.typed)],
    )
    next_seed = again.click(
        # The typed text is cleared, since it would go before the seed.
        None,
        [made["seed"]],
        [made["seed"], made["typed"]],
        js="(seed) => [(seed || 0) + 1, '']",
        **QUIET,
    )
    typos.on(tab.select, models.input, made["typed"].submit, next_seed.then, *tries.into(made, show_progress="full"))
    for event in (made["text"].submit, made["seed"].submit, made["share"].release, made["kinds"].input):
        typos.on(event(None, None, [made["typed"]], js="() => ''", **QUIET).then)


def _models(params: type[Any]) -> Any:
    """Return the choice of models that both tabs have."""
    label = f"Models that fill masks (up to {MOST_MODELS})"
    return control(
        params, "models", choices=all_with(Capability.MLM), label=label, info="Asked in place of the one at the top."
    )


def build_many(page: Page, tab: gr.Tab) -> None:
    """Fill and wire the tab of the same over the bundled sentences."""
    with two_columns():
        with inputs_column():
            made: dict[str, Any] = {"models": _models(SharesParams)}
            made["sentences"] = control(SharesParams, "sentences")
            start, stop = start_stop("Measure", "typos-start")
            with more("seed and kinds"):
                made |= controls(SharesParams, seed=SEED)
                made["kinds"] = control(SharesParams, "kinds")
            caption(
                "Typos in more and more of the longer words of the bundled sentences. The words that are asked for have no typo "
                "at any share, so each point is over the same words."
            )
        with outputs_column():
            view = View(
                *("typos-over-shares", "shares", figures.shares_sentence, figures.shares_figure, figures.shares_bar),
                notes=figures.shares_notes,
            )
    steered = [([start, stop], lambda result: start_or_stop(not result.is_done))]
    stream = Stream(page, TYPOS_OVER_SHARES, made, view, steered=steered)
    asked = [start.click, made["sentences"].release]
    stream.opens(tab.select, note=view.bar, start=str(start.value), asked=asked, last=gr.JSON(visible=False))
    stream.on(*asked)
    stream.stops(start, stop, view.bar, str(figures.STOPPED))

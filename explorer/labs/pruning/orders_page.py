"""Prune and see: three orders on one plot, and heads by hand."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import gradio as gr

from explorer.labs.pruning import HEADS, ORDERS
from explorer.labs.pruning import orders_figures as figures
from explorer.labs.pruning.controls import Live, Subject, fit, score_box, unit_and_score
from explorer.labs.pruning.importance_page import HINT, Pressed
from explorer.labs.pruning.params import OrdersParams
from explorer.labs.pruning.schema import HandResult
from explorer.ui.components import head_switches
from explorer.ui.controls import control
from explorer.ui.kit import (
    QUIET,
    Tries,
    View,
    bar_place,
    inputs_column,
    outputs_column,
    sentence_place,
    start_stop,
    two_columns,
    why,
)
from explorer.ui.wiring import folds

WHY = r"""
If importance means anything, taking the **least** important parts first must cost less than taking them at random, and taking the
most important first must cost more. The order is computed once, from the whole model. Michel et al. (2019, section 4) could take
about 40% of BERT's heads away on MNLI without a noticeable loss; then accuracy falls sharply. The band is the range of the random
orders. With 80 held-out examples differences of a few percent are chance: take more of them to look closer.
"""
TRY = {
    "neurons": unit_and_score("neuron"),
    "heads and neurons": unit_and_score("both"),
    "layers": unit_and_score("layer"),
    "weights by magnitude": unit_and_score("weight", "magnitude"),
}


def build_orders(subject: Subject, tab: gr.Tab, pressed: Pressed, triggers: list[Callable[..., Any]]) -> None:
    """Fill and wire the tab. triggers: after which another model's heads are in question."""
    with two_columns():
        with inputs_column(250):
            buttons = start_stop("Prune in three orders", "compare-orders")
            unit = control(OrdersParams, "unit", elem_id="orders-unit")
            draws = control(OrdersParams, "draws")
            score = score_box()
            tries = Tries(TRY)
        with outputs_column():
            view = View(
                "orders", "orders", figures.orders_sentence, figures.orders_figure, bar=True, notes=figures.orders_notes
            )
    why("what the three lines test", WHY)
    inputs = {"unit": unit, "score": score, "draws": draws}
    stream = Live(subject, ORDERS, inputs, view, lambda result: len(result.points) / result.total, buttons, view.bar)
    moves = tries.into({"unit": unit, "score": score})
    stream.on(stream.start.click, fit(subject.page, unit, score), score.input, *moves)
    stream.opens(*subject.in_view(tab, *triggers))
    _build_hand(subject, tab, pressed, triggers)


def _build_hand(subject: Subject, tab: gr.Tab, pressed: Pressed, triggers: list[Callable[..., Any]]) -> None:
    """Fill and wire heads by hand: from switches here, or from presses on the heatmap of the importances."""
    gr.HTML("<h2>Heads by hand</h2>")
    with two_columns():
        with inputs_column(290):
            grid = head_switches(elem_id="prune-grid")
        with outputs_column(1):
            said = sentence_place("hand-said")
            bar = bar_place()
            buttons = start_stop("Measure without them", "prune-hand")
    panel = folds(HEADS, "heads by hand")
    heads = gr.Textbox("", visible="hidden", label="heads")

    def said_there(result: HandResult) -> str:
        return figures.hand_sentence(result) if result.heads else HINT

    def share(result: HandResult) -> float:
        return 1.0 if result.after else 0.3

    shown = [(said, figures.hand_sentence), (grid, figures.switches), (pressed.said, said_there)]
    stream = Live(subject, HEADS, {"heads": heads}, shown, share, buttons, bar, panel)

    def switched(event: gr.EventData) -> str:
        return ", ".join(f"{layer}.{head}" for layer, head in event.off)

    def flipped(unit: str, now: str, event: gr.EventData) -> list[Any]:
        """Return the heads with the pressed one, or without it if it was gone; and a number that changes with each such
        press.
        """
        if unit != "head":
            return [gr.skip(), gr.skip()]
        layer, head = event.y, event.x
        name = f"{0 if layer == 'all' else layer}.{head}"
        gone = [other for other in now.split(", ") if other]
        changed = [other for other in gone if other != name] if name in gone else [*gone, name]
        return [", ".join(changed), time.time()]  # heads also change where nothing is to be asked

    count = gr.Number(0, visible="hidden", label="presses")
    taken = grid.select(switched, None, [heads], **QUIET)
    pressed.heatmap.select(flipped, [pressed.unit, heads], [heads, count], **QUIET)
    stream.on(stream.start.click, taken.then, count.change)
    forgotten = [
        trigger(lambda: ["", {}, "", HINT, None], None, [heads, grid, said, pressed.said, stream.last], **QUIET).then
        for trigger in triggers
    ]
    # The example's grid is none of another model's heads.
    stream.opens(*subject.in_view(tab, *forgotten), with_example=False)

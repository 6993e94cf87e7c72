"""Take out: parts really removed, with what that gains, and the model to take home; and one step against many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr

from explorer.labs.pruning import EXPORT, PRUNE, STEPS
from explorer.labs.pruning import remove_figures as figures
from explorer.labs.pruning.controls import Live, Subject, fit, score_box, unit_and_score
from explorer.labs.pruning.params import MANY_STEPS, SHARE_IN_STEPS, PruneParams, StepsParams
from explorer.labs.pruning.schema import PruneResult, StepsResult
from explorer.ui.components import rich_text
from explorer.ui.controls import control, controls
from explorer.ui.kit import Tries, View, bar_place, inputs_column, outputs_column, start_stop, two_columns, why
from explorer.ui.wiring import folds

WHY = r"""
**Removed, not masked**: a head that is gone takes its rows of $W_q$, $W_k$, $W_v$ and its columns of $W_o$ with it, a neuron its
row of $W_1$ and its column of $W_2$. The outputs are those with the same gates at 0, up to rounding; the model is smaller and, at
larger batches, quicker. Single weights at 0 save nothing by themselves. Layers then have widths of their own, which a config
cannot say: what goes home is safetensors, config and tokenizer with `load_pruned.py`, which opens them. Where every layer keeps
all its heads and as many neurons, plain `from_pretrained` opens it too.
"""
TRY: dict[str, dict[str, Any]] = {
    "half the neurons, evenly": {**unit_and_score("neuron"), "share": 0.5, "even": True, "heads": 0, "neurons": 0},
    "a third of the heads": {**unit_and_score("head"), "share": 0.35, "even": False, "heads": 0, "neurons": 0},
    "half the layers": {**unit_and_score("layer"), "share": 0.5, "even": False, "heads": 0, "neurons": 0},
    "to a budget": {**unit_and_score("both"), "share": 0.5, "even": False, "heads": 8, "neurons": 2048},
}
TRY_STEPS: dict[str, dict[str, Any]] = {
    "train a little between": {"train_between": 8},
    "more goes": {"share": 0.75},
    "eight steps": {"steps": 8},
    "weights by magnitude": {**unit_and_score("weight", "magnitude"), "share": 0.8, "train_between": 8},
}
NAMES = ("unit", "score", "share", "steps", "order", "train_between", "even", "heads", "neurons", "seed")
"""In the order of the endpoint's parameters."""

WHY_STEPS = r"""
Importance is a slope at the model as it stands. Once many parts are gone the others matter differently: of two heads that do the
same, either can go, and not both. So take a few, measure again, take a few more; and let a little training between
mend what was cut.
"""


def build_remove(subject: Subject, tab: gr.Tab, opened: Callable[..., Any]) -> None:
    """Fill and wire the tab: how much of which units; what is left, before beside after, and the file.

    opened: the trigger after which the page knows what is to be pruned.
    """
    with two_columns():
        with inputs_column(250):
            buttons = start_stop("Prune", "prune")
            made = controls(PruneParams, "unit", "share", "order", "even")
            with gr.Accordion("Score, budget, steps", open=False):
                made["score"] = score_box()
                made |= controls(PruneParams, "heads", "neurons", "steps", "train_between", "seed")
            tries = Tries(TRY)
        with outputs_column():
            ids = ("prune-said", "left-figure")
            view = View(
                "left-in-each-layer",
                ids,
                figures.prune_sentence,
                figures.left_figure,
                bar=True,
                notes=figures.prune_notes,
            )
            with gr.Row():
                table = rich_text(elem_classes=["wide"], elem_id="before-after")
            _build_export(subject, key := gr.Textbox("", visible="hidden", label="key"))
            rich_text(str(figures.michel_quote()))
    why("what removing means", WHY)
    inputs = {name: made[name] for name in NAMES}
    said, figure, notes = view
    shown = [
        said,
        figure,
        (table, figures.before_after),
        (key, lambda result: result.key),
        notes,
    ]  # clients count the key
    stream = Live(subject, PRUNE, inputs, shown, _share, buttons, view.bar)
    fit(subject.page, made["unit"], made["score"])
    stream.on(stream.start.click, *tries.into(made))
    stream.opens(*subject.in_view(tab, opened))


def _share(result: PruneResult) -> float:
    """Return how much is done of the steps, the check, and four batch sizes."""
    if result.done:
        return 1.0
    done = len(result.steps) + (result.left is not None) + len(result.speeds)
    return min(0.99, done / (result.wanted + 5))  # 1 would show Start again


def _build_export(subject: Subject, key: gr.Textbox) -> None:
    with gr.Row():
        buttons = start_stop("Take the pruned model home", "export-pruned")
        file = gr.File(label="The pruned model", interactive=False, visible=False, elem_id="pruned-file")
    bar = bar_place()
    with gr.Column(visible=False):  # for the endpoint; the page shows the file alone
        panel = folds(EXPORT)
    shown = [(file, lambda result: gr.update(value=result.path, visible=True))]
    stream = Live(subject, EXPORT, {"key": key}, shown, lambda result: 1.0, buttons, bar, panel)
    stream.on(stream.start.click)


def build_steps(subject: Subject, tab: gr.Tab, opened: Callable[..., Any]) -> None:
    """Fill and wire the tab: the share in one step or in several; both on one plot. opened: as for build_remove."""
    with two_columns():
        with inputs_column(250):
            buttons = start_stop("Compare", "compare-steps")
            unit = control(StepsParams, "unit")
            score = score_box()
            later = controls(StepsParams, share=SHARE_IN_STEPS, steps=MANY_STEPS, train_between=0)
            tries = Tries(TRY_STEPS)
        with outputs_column():
            steps = ("steps", "steps", figures.steps_sentence, figures.steps_figure)
            view = View(*steps, bar=True, notes=figures.steps_notes)
            rich_text(str(figures.textpruner_quote()), elem_classes=["wide"])
    with why("many steps"):
        gr.Markdown(WHY_STEPS)

    def share(result: StepsResult) -> float:
        return 1.0 if result.done else min(0.99, result.progress)

    inputs = {"unit": unit, "score": score, **later}
    stream = Live(subject, STEPS, inputs, view, share, buttons, view.bar)
    moves = tries.into(inputs)
    fit(subject.page, unit, score)
    stream.on(stream.start.click, *moves)
    stream.opens(*subject.in_view(tab, opened))

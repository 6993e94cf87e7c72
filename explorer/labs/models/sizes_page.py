"""Sizes: change one, and see every parameter counted again; factorised embeddings and shared layers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gradio as gr

from explorer.labs.models import COUNT
from explorer.labs.models import family_figures as figures
from explorer.labs.models.schema import DEFAULT_SIZED, SIZED, CountParams, CountResult
from explorer.labs.models.speed_page import build_speed
from explorer.ui.controls import control
from explorer.ui.kit import Tries, View, inputs_column, outputs_column, two_columns, why
from explorer.ui.page import Page
from explorer.ui.wiring import Connection

WHY = r"""
BERT ties the width of a word's embedding to the width of its layers: $V H$ numbers. ALBERT cuts the table in two factors,

$$V H \;\longrightarrow\; V E + E H, \qquad E \ll H,$$

since what a word is by itself needs less room than what it means in its sentence, and uses one set of layer weights at every
depth. The map from $E$ to $H$ stands once, before the first layer. Sharing costs quality where factorising hardly does, and the
feed-forward net's more than the attention's: it holds two thirds of a layer, and layers that all compute the same can't
specialise. Sharing hurts more at $E = 768$ than at 128; Table 4 varies $E$ there, and not the size of the model. It saves memory
and not time: the layer still runs twelve times. (Lan et al. 2020, section 3.1, Tables 3 and 4: ALBERT-base, average over SQuAD
1.1 and 2.0, MNLI, SST-2 and RACE)
"""
AS_BERT = {"embedding_size": 768, "shared": "none"}
"""What the tab opens with: an ALBERT without either of its two savings, as BERT is, beside itself."""

TRY: dict[str, dict[str, Any]] = {
    "BERT-base's embeddings": {"embedding_size": 768},
    "Nothing shared": {"shared": "none"},
    "The attention shared": {"shared": "attention"},
    "Twice as wide": {"hidden_size": 1536, "intermediate_size": 6144},
    "Twice as deep": {"layers": 24},
    "100 languages: V = 250,000": {"vocabulary": 250_000},
}


def build_sizes(page: Page, tab: gr.Tab) -> None:
    """Fill and wire the tab: a model and its sizes; its parameters, and an ALBERT's by the width of its embeddings."""
    with two_columns():
        with inputs_column():
            offered = [(figures.offered(name), name) for name in SIZED]
            base = control(CountParams, "base", choices=offered)
            widths = ("vocabulary", "hidden_size", "layers", "intermediate_size", "embedding_size")
            opening = {name: {"value": value} for name, value in AS_BERT.items()}
            sizes = {}
            for side_by_side in (widths[:2], widths[2:4], widths[4:], ("shared",)):
                with gr.Row():
                    for name in side_by_side:
                        sizes[name] = control(CountParams, name, min_width=120, **opening.get(name, {}))
        with outputs_column():
            view = View(
                *("counted-parameters", "count", figures.count_sentence, figures.count_figure),
                notes=figures.count_notes,
            )
            tries = Tries({name: _sized(sizes, changes) for name, changes in TRY.items()})
            sweep = View(
                *("factorised-and-shared", "sweep", figures.sweep_sentence, figures.sweep_figure),
                notes=figures.sweep_notes,
            )
    why("the formula and the papers", WHY)

    def steer(result: CountResult) -> list[Any]:
        """Return the sizes as numbers: a family's own stand in the boxes, to be changed."""
        now = result.after
        narrow = now.embedding_size if result.factorises else 0  # 0: BERT's table is as wide as its layers
        return [now.vocabulary, now.hidden_size, now.layers, now.intermediate_size, narrow]

    shown, steered = [*view, *sweep], [([sizes[name] for name in widths], steer)]
    count = Connection(page, COUNT, {"base": base, **sizes}, shown, steered=steered)
    count.on(tab.select, *(part.input for part in sizes.values()))
    boxes = [*sizes.values()]
    # Without the base, which was just chosen.
    fresh = base.input(lambda: _sized(sizes, {})[1:], None, boxes, api_visibility="private", queue=False)
    count.on(fresh.then)
    for name in TRY:
        count.on(tries.put(name, [base, *boxes], show_progress="full"))
    build_speed(page, tab)


def _sized(sizes: Iterable[str], changes: dict[str, Any]) -> list[Any]:
    """Return a model and its sizes, its own if they are not changed."""
    return [DEFAULT_SIZED, *(changes.get(size, "own" if size == "shared" else 0) for size in sizes)]

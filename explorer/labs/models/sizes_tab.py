"""Sizes: change one, and see every parameter counted again; factorised embeddings and shared layers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gradio as gr

from explorer.labs.models import COUNT, figures
from explorer.labs.models.schema import DEFAULT_SIZED, SIZED, CountParams, CountResult
from explorer.ui.components import plot
from explorer.ui.controls import control, controls
from explorer.ui.kit import Tries, asks, bench, caption, shows, view_of, why
from explorer.ui.page import Page
from explorer.ui.wiring import Connection, folds

WHY = r"""
BERT ties the width of a word's embedding to the width of its layers: $V H$ numbers. ALBERT cuts the table in two factors,

$$V H \;\longrightarrow\; V E + E H, \qquad E \ll H,$$

since what a word is by itself needs less room than what it means in its sentence, and uses one set of layer weights at every
depth. Sharing costs quality where factorising hardly does: on average over five tasks ALBERT-base scores 80.1 with $E = 128$ and
all shared (12M), 81.7 with the attention shared alone (64M) and 81.6 with nothing shared (89M). Sharing saves memory
and not time: the layer still runs twelve times. (Lan et al. 2020, section 3.1, Tables 3 and 4)
"""
TRY: dict[str, dict[str, Any]] = {
    "BERT-base's embeddings": {"embedding_size": 768},
    "Nothing shared": {"shared": "no"},
    "Twice as wide": {"hidden_size": 1536, "intermediate_size": 6144},
    "Twice as deep": {"layers": 24},
    "100 languages: V = 250,000": {"vocabulary": 250_000},
}


def build_sizes(page: Page, tab: gr.Tab) -> None:
    """A model and its sizes; its parameters, and an ALBERT's by the width of its embeddings."""
    with bench():
        with asks():
            offered = [(figures.offered(name), name) for name in SIZED]
            base = control(CountParams, "base", choices=offered)
            widths = ("vocabulary", "hidden_size", "layers", "intermediate_size", "embedding_size")
            sizes = controls(CountParams, *widths, "shared")
        with shows():
            said, bars = view_of("counted-parameters", "count")
            tries = Tries({name: _sized(sizes, changes) for name, changes in TRY.items()})
            caption("An ALBERT of these sizes, by the width of its embeddings:")
            sweep = plot("factorised-and-shared", elem_id="sweep-figure")
    why("the formula and the papers", WHY)

    def show(result: CountResult) -> list[Any]:
        return [str(figures.count_sentence(result)), figures.count_figure(result), figures.sweep_figure(result)]

    def steer(result: CountResult) -> list[Any]:
        """The sizes as numbers: a family's own stand in the boxes, to be changed."""
        now = result.after
        narrow = now.embedding_size if result.factorises else 0
        return [now.vocabulary, now.hidden_size, now.layers, now.intermediate_size, narrow]

    count = Connection(
        page,
        COUNT,
        {"base": base, **sizes},
        [said, bars, sweep],
        show,
        folds(COUNT),
        controls=[sizes[name] for name in widths],
        steer=steer,
    )
    count.on(tab.select, *(part.input for part in sizes.values()))
    boxes = [*sizes.values()]
    fresh = base.input(lambda: _sized(sizes, {})[1:], None, boxes, api_visibility="private", queue=False)
    count.on(fresh.then)
    for name in TRY:
        count.on(tries.put(name, [base, *boxes], show_progress="full"))


def _sized(sizes: Iterable[str], changes: dict[str, Any]) -> list[Any]:
    """A model and its sizes, its own where they are not changed."""
    return [DEFAULT_SIZED, *(changes.get(size, "own" if size == "shared" else 0) for size in sizes)]

"""Sizes: change one, and see every parameter counted again; factorised embeddings and shared layers."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.labs.models import COUNT, figures
from explorer.labs.models.schema import DEFAULT_SIZED, SIZED, CountParams, CountResult
from explorer.ui.components import plot, rich_text
from explorer.ui.controls import control, controls
from explorer.ui.page import Page
from explorer.ui.wiring import LATEX, Connection, folds

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
    """Lay out and wire the tab."""
    with gr.Row(elem_classes=["bench"]):
        with gr.Column(scale=1, min_width=270):
            offered = [(figures.offered(name), name) for name in SIZED]
            base = control(CountParams, "base", choices=offered)
            widths = ("vocabulary", "hidden_size", "layers", "intermediate_size", "embedding_size")
            sizes = controls(CountParams, *widths, "shared")
        with gr.Column(scale=2, min_width=320):
            said = rich_text(elem_classes=["said"], elem_id="count-said")
            bars = plot("counted-parameters", elem_id="count-figure")
            with gr.Row(elem_classes=["try"]):
                gr.HTML('<span class="try-label">Try</span>')
                tries = {name: gr.Button(name, size="sm") for name in TRY}
            gr.HTML('<p class="caption">An ALBERT of these sizes, by the width of its embeddings:</p>')
            sweep = plot("factorised-and-shared", elem_id="sweep-figure")
    with gr.Accordion("Why: the formula and the papers", open=False):
        gr.Markdown(WHY, latex_delimiters=LATEX)

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
    quiet: dict[str, Any] = {"api_visibility": "private", "queue": False}
    own = ["own" if name == "shared" else 0 for name in sizes]
    fresh = base.input(lambda: own, None, [*sizes.values()], **quiet)
    count.on(fresh.then)
    for name, press in tries.items():
        values = [TRY[name].get(size, usual) for size, usual in zip(sizes, own, strict=True)]
        tried = press.click(lambda values=values: [DEFAULT_SIZED, *values], None, [base, *sizes.values()], **quiet)
        count.on(tried.then)

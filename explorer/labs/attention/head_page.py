"""One head in detail and all heads by one number; a press on a cell of the second opens the first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr

from explorer.engine.protocol import answer
from explorer.errors import readable
from explorer.labs.attention import ATTENTION, STATISTICS
from explorer.labs.attention import head_figures as figures
from explorer.labs.attention.head import AttentionParams, AttentionResult, StatisticsParams
from explorer.labs.attention.head_arcs_figures import attention_arcs
from explorer.ui.components import PAGE_IS_OPEN, apart, drawing, plot, rich_text, token_chips, while_in_view
from explorer.ui.controls import control
from explorer.ui.kit import QUIET, Tries, View, inputs_column, outputs_column, sentence_place, two_columns
from explorer.ui.outputs import Output
from explorer.ui.page import Page
from explorer.ui.wiring import Connection, folds

FINDS = {
    "the previous-token head": "to_previous",
    "the next-token head": "to_next",
    "the head on the first token": "to_first",
    "the broadest head": "entropy",
}
"""What "Find" looks for: the head whose statistic is largest on this text."""

GRID_HELP = """
Each cell is one head: a mean over the rows of its attention. **Entropy** is 0 for a head that looks at one token and
$\\log_2 n$ for one that looks at all $n$ alike. Shares go from 0 to 1. Press a cell, and that head opens.
"""

Texts = tuple[gr.Textbox, gr.Textbox]


def build_heads(
    page: Page,
    tabs: gr.Tabs,
    own: tuple[gr.Tab, gr.Tab],
    places: tuple[gr.Column, gr.Column, gr.Column],
    texts: Texts,
    picked: Callable[..., Any],
) -> None:
    """Fill and wire the first two tabs. picked: the trigger after which an example stands in the texts."""
    side, main, grid_place = places
    with side:
        # Until the first answer says how many layers there are.
        layer = control(AttentionParams, "layer", value=4, slider=(0, 5), elem_id="attention-layer")
        head = control(AttentionParams, "head", value=2, elem_id="attention-head")
        view = gr.Radio([(title, name) for name, title in figures.VIEWS.items()], value="weights", label="Show")
        parts = [(title, name) for name, title in figures.PARTS.items()]
        part = gr.Radio(parts, value="all", label="Who looks at whom", visible=False)  # shown for a pair
        masked = control(AttentionParams, "masked", visible="hidden")  # filled by presses on the chips
    with main:
        said = sentence_place("attention-said")
        with gr.Column(elem_classes=["arc-stack"]):
            arcs = drawing("arcs", after=("overchips",), elem_id="attention-arcs")
            chips = token_chips(elem_id="attention-chips")
        matrix = plot("attention", elem_id="attention-figure")
        notes = rich_text(elem_id="attention-notes")
        about: list[Output] = [
            (said, figures.attention_sentence),
            (arcs, attention_arcs),
            (chips, figures.attention_chips),
            (matrix, figures.attention_figure),
            (notes, figures.attention_notes),
        ]
        finds = Tries(FINDS, label="Find").buttons

    def hidden(result: AttentionResult) -> str:
        return ", ".join(str(token.position) for token in result.tokens if token.masked)

    def steer(result: AttentionResult) -> list[Any]:
        return [
            # A slider's ends differ, even if there is one layer.
            gr.update(maximum=max(1, result.layers - 1), value=result.layer),
            gr.update(maximum=max(1, result.heads - 1), value=result.head),
            gr.update(visible=result.second_starts is not None),
        ]

    with own[0]:
        panel = folds(ATTENTION, shortened=True)
    inputs = {"sentence_a": texts[0], "sentence_b": texts[1], "layer": layer, "head": head, "masked": masked}
    shown, steered = [*about, (masked, hidden)], [([layer, head, part], steer)]
    views = {"view": view, "part": part}
    one = Connection(page, ATTENTION, inputs, shown, panel, views=views, steered=steered, page_table=figures.page_table)
    one.on(chips.select, read=lambda event: {"masked": list(event.positions)})
    # Gradio selects the first tab while the page loads, before the address's layer is in its slider.
    again = apart(own[0].select, where=PAGE_IS_OPEN)
    one.on(page.opened, layer.input, head.input, view.input, part.input, again)
    one.on(texts[0].submit, texts[1].submit, picked, adapt=_nothing_masked)
    one.on(*page.changed, adapt=_first_head)
    statistic = _grid(page, tabs, own[1], grid_place, texts, picked, one, (layer, head))
    _wire_finds(page, finds, texts, statistic, one, (layer, head))


def _nothing_masked(values: dict[str, Any]) -> dict[str, Any]:
    """Clear the masked positions: another text has other tokens."""
    return values | {"masked": ""}


def _first_head(values: dict[str, Any]) -> dict[str, Any]:
    """Start from layer 0, head 0, with nothing masked: another model has other tokens, and may have fewer layers."""
    return values | {"masked": "", "layer": 0, "head": 0}


def _grid(
    page: Page,
    tabs: gr.Tabs,
    tab: gr.Tab,
    place: gr.Column,
    texts: Texts,
    picked: Callable[..., Any],
    one: Connection,
    sliders: tuple[gr.Slider, gr.Slider],
) -> gr.Radio:
    """Fill and wire the second tab; return the choice of a statistic."""
    with place, two_columns():
        with inputs_column(250):
            titles = {
                name: title.format(first="the first token", separator="[SEP]")
                for name, title in figures.STATISTIC_TITLES.items()
            }
            statistic = gr.Radio([(title, name) for name, title in titles.items()], value="entropy", label="Colour by")
            gr.Markdown(GRID_HELP, latex_delimiters=[{"left": "$", "right": "$", "display": False}])
        with outputs_column():
            about = View(
                *("attention-heads", "grid", figures.statistics_sentence, figures.statistics_figure),
                notes=figures.statistics_notes,
            )
    with tab:
        panel = folds(STATISTICS)
    asked = {"sentence_a": texts[0], "sentence_b": texts[1]}
    grid = Connection(page, STATISTICS, asked, about, panel, views={"statistic": statistic})
    grid.on(statistic.input, tab.select)
    grid.on(while_in_view("#grid-figure", texts[0].submit, texts[1].submit, picked, *page.changed))

    def pressed(event: gr.EventData) -> list[Any]:
        return [int(event.y), int(event.x), gr.Tabs(selected="one")]  # y counts layers, x heads

    opened = about.figure.select(pressed, None, [*sliders, tabs], api_visibility="private", queue=False)
    one.on(opened.then)
    return statistic


def _wire_finds(
    page: Page,
    buttons: dict[str, gr.Button],
    texts: Texts,
    statistic: gr.Radio,
    one: Connection,
    sliders: tuple[gr.Slider, gr.Slider],
) -> None:
    def finder(name: str) -> Any:
        async def find(model: str, sentence_a: str, sentence_b: str, ticket: int) -> list[Any]:
            try:
                params = StatisticsParams(sentence_a, sentence_b)
                result = await answer(page.engine, STATISTICS.job, params, model)
            except Exception as error:
                return [page.explain(readable(error)), gr.skip(), gr.skip(), gr.skip()]
            grid = result.grid(name) or ()
            # By the negative value: of equal heads the first is found.
            _, layer, head = min(
                (-value, place, number) for place, row in enumerate(grid) for number, value in enumerate(row)
            )
            return ["", layer, head, ticket + 1]

        return find

    # Changes where a head was found, and not where the notice says why none was: an answer would take the notice away.
    found = gr.Number(0, visible="hidden", label="ticket", precision=0)
    for title, button in buttons.items():
        asked, filled = [page.model, *texts, found], [page.notice, *sliders, found]
        button.click(finder(FINDS[title]), asked, filled, **QUIET)
    one.on(found.change)

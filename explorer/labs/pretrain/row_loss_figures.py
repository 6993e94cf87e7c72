"""What one row costs: the loss of each chosen token, and the pair's."""

from __future__ import annotations

from explorer.charts import Axis, Look, Mark, Panel, Picture, Trace, axis, bars, level, picture
from explorer.charts.words import fixed, label, percent
from explorer.labs.pretrain.row import CLASSES, RowResult, RowToken
from explorer.labs.pretrain.row_figures import FATE_NAMES, row_sentence

MOST_NAMES, MOST_NAMES_ON_A_PHONE = 42, 21
MOST_LOSSES = 8
"""Tokens that have their losses above their bars."""
SLANTED = 104
"""Pixels below a panel whose names are slanted, with a title after them."""


def row_figure(result: RowResult) -> Picture:
    """Draw bars of −ln P(true token) in the colour of each token's fate with their mean; beside them the pair's two
    classes.
    """
    panels = [_mlm_panel(result), _nsp_panel(result)]
    return picture(row_sentence(result), panels, height=250, phone=470, gap=0.1)


def _mlm_panel(result: RowResult) -> Panel:
    """Draw the tokens in their order, each with its loss above its bar if there is room."""
    chosen, drawn = result.chosen, list[Trace]()
    places = {token.position: number for number, token in enumerate(chosen)}
    for fate, told in FATE_NAMES.items():
        if of := [token for token in chosen if token.fate == fate]:
            hover = "%{customdata}: −ln P = %{y:.4f} nats"
            names = [f"{label(token.token, 20)}, P = {percent(token.probability or 0.0)}" for token in of]
            look: Look = {"upright": True, "hover": hover, "customdata": names}
            if len(chosen) <= MOST_LOSSES:
                look["texts"] = [fixed(token.loss or 0.0) for token in of]
            drawn.append(
                bars([places[token.position] for token in of], [token.loss for token in of], f"@{fate}", told, **look)
            )
    marks, title = list[Mark](), "Nothing is hidden: no MLM loss"
    if result.mlm_loss is not None:
        marks, title = [level(result.mlm_loss)], f"L<sub>MLM</sub> = {fixed(result.mlm_loss, 3)}, the mean (dashed)"
    across, narrow = (_names(chosen, most) for most in (MOST_NAMES, MOST_NAMES_ON_A_PHONE))
    top = 1.15 * max([token.loss or 0.0 for token in chosen] + [0.5])  # a bar's loss has room above it
    up = axis("−ln P (nats)", span=(0, top))
    return Panel(drawn, across, up, title, marks, width=3.2, alone=Panel((), narrow, up, title, marks))


def _names(chosen: tuple[RowToken, ...], most: int) -> Axis:
    """Return the axis of the tokens, with up to `most` of their names."""
    texts = [label(token.token, 12) for token in chosen]
    named: Look = {"tickmode": "array", "tickvals": list(range(len(chosen))), "ticktext": texts}
    span = (-0.6, max(len(chosen), 1) - 0.4)
    return axis(grid=False, size=14, span=span, zeroline=False, showticklabels=len(chosen) <= most, **named)


def _nsp_panel(result: RowResult) -> Panel:
    """Draw both classes' probabilities; the true one's is the one that is paid for."""
    colours = ["@accent" if name == result.truth else "@muted" for name in CLASSES]
    names = [f"{name}<br>(true)" if name == result.truth else name for name in CLASSES]
    look: Look = {"upright": True, "texts": [percent(share) for share in result.pair], "hover": "%{x}: %{text}"}
    drawn = bars(names, result.pair, colours, "P(class)", **look)
    up = axis("P", percent=True, span=(0, 1.2), tickvals=[0, 0.5, 1])
    across, title = axis(names=True, size=14), f"L<sub>NSP</sub> = {fixed(result.nsp_loss, 4)}"
    return Panel([drawn], across, up, title, alone=Panel((), across, up, title, air=SLANTED))

"""The filled masks as pictures, sentences and tables, from plain results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from explorer.figures import percent, picture, prose, strong
from explorer.labs.masking.schema import FilledMask, FillResult
from explorer.tables import Table

COLUMNS = 3
"""Masks beside each other in one row of bars."""


def fill_chips(result: FillResult) -> dict[str, Any]:
    """The token chips: which can be clicked, which are masked."""
    chips = [
        {
            "text": result.mask_token if token.state in ("masked", "blank") else token.shown,
            "joined": token.joined,
            "style": {"masked": "mask", "blank": "mask", "special": "special"}.get(token.state, "plain"),
            "position": token.position if token.state in ("plain", "masked") else None,
            "pressed": token.state == "masked",
            "title": f"{token.text}, position {token.position}"
            + (" (not in this model's vocabulary)" if token.unknown else ""),
            "below": token.shown if token.state == "masked" else "",
            "span": [token.start, token.stop],
        }
        for token in result.tokens
    ]
    return {
        "chips": chips,
        "label": "Tokens. Press one to hide it.",
        "source": {"model": result.model, "text": result.text},
    }


def hidden_for(chips: dict[str, Any], model: str, text: str, hidden: str) -> dict[str, Any]:
    """What of the hidden tokens still holds, as parameters of a new request.

    Positions belong to one text and one model's tokens. For another text only words stay; for another model the pressed
    chips are handed on as characters of the text.
    """
    source = chips.get("source") or {}
    if source.get("text") != text:
        words = [entry.strip() for entry in hidden.split(",") if entry.strip() and not entry.strip().isdecimal()]
        return {"also_mask": tuple(word for word in words if word in text)}
    if source.get("model") != model:
        return {"also_mask": (), "spans": tuple(tuple(chip["span"]) for chip in chips["chips"] if chip["pressed"])}
    return {"also_mask": hidden}


def fill_table(result: FillResult) -> Table:
    """position, rank, token, probability."""
    rows = [
        (mask.position, guess.rank, guess.token, guess.probability)
        for mask in result.masks
        for guess in mask.predictions
    ]
    return Table.of(("position", "rank", "token", "probability"), rows)


def fill_sentence(result: FillResult) -> Markup:
    """What the bars show, from the numbers."""
    if not result.masks:
        return prose("Nothing is hidden yet: press a token above to hide it, or type ", strong(result.mask_token), ".")
    parts: list[str] = []
    for mask in result.masks[:3]:
        best = mask.predictions[0]
        leads = f" leads with {percent(best.probability)}"
        parts += [f"At position {mask.position} ", strong(best.token.strip()), leads]
        if mask.hidden is not None and mask.hidden_rank is not None and mask.hidden_probability is not None:
            if mask.hidden_rank == 1:
                parts.append(", and that is the hidden token")
            else:
                parts += ["; the hidden token ", strong(mask.hidden.strip())]
                parts.append(f" comes {ordinal(mask.hidden_rank)} with {percent(mask.hidden_probability)}")
        parts.append(". ")
    if len(result.masks) > 3:
        parts.append(f"{len(result.masks) - 3} more masks are in the table. ")
    parts.append(f"Each mask is guessed on its own, from {result.vocabulary:,} tokens.")
    unknown = [token.text for token in result.tokens if token.unknown]
    if unknown:
        parts.append(
            f" {len(unknown)} of the tokens are unknown to this vocabulary. In their place the model reads {unknown[0]}."
        )
    return prose(*parts)


def fill_figure(result: FillResult) -> dict[str, Any]:
    """Bars of the top predictions, a panel a mask (six at most); the hidden token's bar is highlighted."""
    masks = result.masks[: 2 * COLUMNS]
    panels = [(_panel_title(mask, len(masks) == 1), mask) for mask in masks]
    return _panels(panels, max(1, min(COLUMNS, len(masks))), fill_sentence(result).striptags()) if panels else {}


def _panel_title(mask: FilledMask, alone: bool) -> str:
    """Which mask; where there is room for it, also what the highlighted bar is."""
    shown = alone and any(guess.token == mask.hidden for guess in mask.predictions)
    return f"position {mask.position} (highlighted: the hidden token)" if shown else f"mask at position {mask.position}"


def compare_figure(results: Sequence[FillResult]) -> dict[str, Any]:
    """The same masks by several models: a column a model, a row a mask (three at most)."""
    rows = min(COLUMNS, *(len(result.masks) for result in results))
    panels = [(_model_name(result), result.masks[row]) for row in range(rows) for result in results]
    return _panels(panels, len(results), compare_sentence(results).striptags()) if rows else {}


def compare_table(results: Sequence[FillResult]) -> Table:
    """model, position, rank, token, probability."""
    rows = [(result.model, *row) for result in results for row in fill_table(result).rows]
    return Table.of(("model", "position", "rank", "token", "probability"), rows)


def compare_sentence(results: Sequence[FillResult]) -> Markup:
    """What each model puts first in the first blank."""
    parts = ["Side by side, first blank: "]
    for place, result in enumerate(results):
        parts.append("; " if place else "")
        parts.append(f"{_model_name(result)} says ")
        best = result.masks[0].predictions[0] if result.masks else None
        parts += [strong(best.token.strip()), f" ({percent(best.probability)})"] if best else ["nothing is hidden"]
    vocabularies = {result.vocabulary for result in results}
    parts.append(
        "." if len(vocabularies) == 1 else ". Their vocabularies differ, so probabilities compare only roughly."
    )
    return prose(*parts)


def _model_name(result: FillResult) -> str:
    return result.model.rstrip("/").rsplit("/", 1)[-1]


def _panels(panels: Sequence[tuple[str, FilledMask]], columns: int, described: str) -> dict[str, Any]:
    """Bar charts in a grid, filled row by row; `narrow` is the layout in one column, for a phone."""
    traces = [_bars(mask, _suffix(number)) for number, (_, mask) in enumerate(panels)]
    wide = picture(traces, described, **_grid(panels, columns))
    return wide if columns == 1 else wide | {"narrow": picture(traces, described, **_grid(panels, 1))["layout"]}


def _suffix(number: int) -> str:
    """Plotly's name for the axes of a panel: x, x2, x3."""
    return "" if number == 0 else str(number + 1)


def _grid(panels: Sequence[tuple[str, FilledMask]], columns: int) -> dict[str, Any]:
    """Axes and titles of the panels. The gap between columns leaves room for the longest label."""
    rows = -(-len(panels) // columns)
    most = max(len(mask.predictions) for _, mask in panels)
    height = rows * (76 + 34 * most) + 24
    longest = max(len(visible(guess.token)) for _, mask in panels for guess in mask.predictions)
    gap = min(0.2, 0.03 + 0.016 * longest)
    width = (1 - gap * (columns - 1)) / columns
    changes: dict[str, Any] = {"height": max(200, height), "bargap": 0.25, "annotations": []}
    for number, (title, mask) in enumerate(panels):
        suffix, (row, column) = _suffix(number), divmod(number, columns)
        left = column * (width + gap)
        top = 1 - row / rows - (44 / height if row else 0.0)
        bottom = 1 - (row + 1) / rows + (28 / height if row + 1 < rows else 0.0)
        changes[f"xaxis{suffix}"] = {
            "domain": [left, left + width],
            "range": [0, max(guess.probability for guess in mask.predictions) * (1.25 + 0.15 * columns)],
            "tickformat": ".2~p",
            "nticks": 4,
            "anchor": f"y{suffix}",
            **({"title": {"text": "probability"}} if row + 1 == rows else {}),
        }
        changes[f"yaxis{suffix}"] = {
            "domain": [bottom, top],
            "autorange": "reversed",
            "anchor": f"x{suffix}",
            "type": "category",
            "showgrid": False,
            "tickfont": {"size": 18},
        }
        changes["annotations"].append(_title(title, left, top, -8 * longest if columns == 1 else 0))
    return changes


def _title(text: str, left: float, top: float, shift: int) -> dict[str, Any]:
    """shift: pixels; a single column's title starts above the labels, since a phone has no room for it above the bars."""
    return {
        "text": visible(text, longest=60),
        "x": left,
        "y": top,
        "xref": "paper",
        "yref": "paper",
        "xanchor": "left",
        "xshift": shift,
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": 15},
    }


def _bars(mask: FilledMask, suffix: str) -> dict[str, Any]:
    """One mask's bars. Labels are numbered behind the scenes, so that two tokens that look alike keep a bar each."""
    names = [visible(guess.token) for guess in mask.predictions]
    places = [f"{name}\u200b" + "\u200b" * place for place, name in enumerate(names)]
    hidden = mask.hidden
    return {
        "type": "bar",
        "orientation": "h",
        "x": [guess.probability for guess in mask.predictions],
        "y": places,
        "text": [percent(guess.probability) for guess in mask.predictions],
        "textposition": "outside",
        "cliponaxis": False,
        "textfont": {"size": 17},
        "marker": {"color": ["@highlight" if guess.token == hidden else "@accent" for guess in mask.predictions]},
        "xaxis": f"x{suffix}",
        "yaxis": f"y{suffix}",
        "hovertemplate": "%{y}: %{x:.4%}<extra></extra>",
    }


def visible(token: str, longest: int = 18) -> str:
    """A token for an axis label: never empty, never markup (Plotly reads <b> and the like in labels), never long."""
    text = token.strip() or repr(token)
    text = text if len(text) <= longest else text[: longest - 1] + "…"
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def fill_facts(result: FillResult) -> Markup:
    """One line of measures for each mask: the hidden token's rank, probability and -ln p, and the entropy, both in nats."""
    lines = []
    for mask in result.masks:
        cells = [f"entropy {mask.entropy * math.log(2):.2f} nats"]
        if mask.hidden is not None and mask.hidden_probability is not None:
            cells = [
                f"hidden token {mask.hidden.strip()}",
                f"rank {mask.hidden_rank:,} of {result.vocabulary:,}",
                f"p = {percent(mask.hidden_probability)}",
                f"−ln p = {mask.surprisal:.2f} nats",
                *cells,
            ]
        spans = Markup("").join(Markup("<span>{}</span>").format(cell) for cell in cells)
        lines.append(Markup("<li><b>position {}</b>{}</li>").format(mask.position, spans))
    return Markup('<ul class="facts">{}</ul>').format(Markup("").join(lines)) if lines else Markup("")


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number % 100 not in (11, 12, 13) else "th"
    return f"{number:,}{ending}"

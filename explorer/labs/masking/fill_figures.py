"""The filled masks as pictures, sentences and tables, from plain results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from explorer.charts import Look, Panel, Picture, Trace, axis, bars, picture
from explorer.charts.chips import hiding_chips
from explorer.charts.words import facts, in_quotes, label, measures, percent, prose
from explorer.labs.masking.fill_said_figures import WordGuess, fill_sentence, word_guesses
from explorer.labs.masking.schema import FilledMask, FillResult, Prediction
from explorer.tables import Table

COLUMNS = 3
"""Masks beside each other in one row of bars."""


def fill_chips(result: FillResult) -> dict[str, Any]:
    """Return the token chips: which can be clicked, which are masked."""
    return hiding_chips(result.model, result.text, result.mask_token, result.tokens, result.in_view)


def fill_table(result: FillResult) -> Table:
    """position, rank, token, probability."""
    rows = [
        (mask.position, guess.rank, guess.token, guess.probability)
        for mask in result.masks
        for guess in mask.predictions
    ]
    return Table.of(("position", "rank", "token", "probability"), rows)


def fill_figure(result: FillResult) -> Picture:
    """Draw bars of the top predictions, with the hidden token's highlighted.

    It is a panel a mask (six at most), or one for a whole word.
    """
    if words := word_guesses(result):
        return _word_figure(result, words)
    masks = result.masks[: 2 * COLUMNS]
    panels = [(_panel_title(mask, len(masks) == 1, result.in_view), mask) for mask in masks]
    return _grid(panels, min(COLUMNS, len(masks)), fill_sentence(result)) if panels else {}


def _word_figure(result: FillResult, words: Sequence[WordGuess]) -> Picture:
    """Draw one panel of bars for a word whose pieces are all hidden."""
    masks = [
        FilledMask(
            result.masks[0].position,
            tuple(Prediction(rank, 0, word.text, word.probability) for rank, word in enumerate(words, start=1)),
            0.0,
            hidden=next((word.text for word in words if word.hidden), None),
        )
    ]
    title = f"the {len(result.masks)} pieces together: the product of their probabilities"
    return _grid([(title, masks[0])], 1, fill_sentence(result))


def _panel_title(mask: FilledMask, alone: bool, in_view: bool) -> str:
    """Name the mask; if there is room, say also what the highlighted bar is."""
    shown = alone and any(guess.token == mask.hidden for guess in mask.predictions)
    return (
        f"position {mask.position} (highlighted: the {'token in view' if in_view else 'hidden token'})"
        if shown
        else f"mask at position {mask.position}"
    )


def compare_figure(results: Sequence[FillResult]) -> Picture:
    """Draw the same masks by several models: a column a model, a row a mask (three at most)."""
    rows = min(COLUMNS, *(len(result.masks) for result in results))
    panels = [(_model_name(result), result.masks[row]) for row in range(rows) for result in results]
    return _grid(panels, len(results), compare_sentence(results)) if rows else {}


def compare_table(results: Sequence[FillResult]) -> Table:
    """model, position, rank, token, probability."""
    rows = [(result.model, *row) for result in results for row in fill_table(result).rows]
    return Table.of(("model", "position", "rank", "token", "probability"), rows)


def compare_sentence(results: Sequence[FillResult]) -> Markup:
    """Say what each model puts first in the first blank."""
    parts = ["Side by side, first blank: "]
    for place, result in enumerate(results):
        parts.append("; " if place else "")
        parts.append(f"{_model_name(result)} says ")
        best = result.masks[0].predictions[0] if result.masks else None
        parts += [in_quotes(best.token), f" ({percent(best.probability)})"] if best else ["nothing is hidden"]
    vocabularies = {result.vocabulary for result in results}
    parts.append(
        "." if len(vocabularies) == 1 else ". Their vocabularies differ, so probabilities compare only roughly."
    )
    return prose(*parts)


def _model_name(result: FillResult) -> str:
    return result.model.rstrip("/").rsplit("/", 1)[-1]


def _grid(masks: Sequence[tuple[str, FilledMask]], columns: int, said: Markup) -> Picture:
    """Draw a panel of bars for each mask, so many in a row. The gap between columns leaves room for the longest label."""
    most = max(len(mask.predictions) for _, mask in masks)
    longest = max(len(visible(guess.token)) for _, mask in masks for guess in mask.predictions)
    down, panels = axis(names=True, down=True, size=18), []
    for name, mask in masks:
        title, highest = visible(name, 60), max(guess.probability for guess in mask.predictions)
        wide, alone = (
            # Narrow columns leave more room for the numbers.
            axis("probability", span=(0, highest * (1.25 + 0.15 * count)), outer=True, tickformat=".2~p", nticks=4)
            for count in (columns, 1)
        )
        panels.append(Panel([_bars(mask)], wide, down, title, alone=Panel((), alone, down, title)))
    rows = -(-len(masks) // columns)  # rounded up
    height, phone = (max(200, count * (76 + 34 * most) + 24) for count in (rows, len(masks)))
    gap = min(0.2, 0.03 + 0.016 * longest)
    look: Look = {"columns": columns, "gap": gap, "bargap": 0.25, "phone": phone if columns > 1 else 0}
    drawn = picture(said, panels, height=height, **look)
    for heading in drawn["narrow" if columns > 1 else "layout"]["annotations"]:
        heading["xshift"] = -8 * longest  # above the labels: a phone has no room for it above the bars
    return drawn


def _bars(mask: FilledMask) -> Trace:
    """Draw one mask's bars. Labels are numbered behind the scenes, so that two tokens that look alike keep a bar each."""
    places = [visible(guess.token) + "\u200b" * place for place, guess in enumerate(mask.predictions, start=1)]
    shares = [guess.probability for guess in mask.predictions]
    colours = [
        "@highlight" if guess.token == mask.hidden else "@second" if guess.named else "@accent"
        for guess in mask.predictions
    ]
    return bars(places, shares, colours, texts=map(percent, shares), size=17, hover="%{y}: %{x:.4%}")


def visible(token: str, longest: int = 18) -> str:
    """Write a token for an axis label: never empty, never markup, never long."""
    return label(token.strip() or repr(token), longest)


def fill_facts(result: FillResult) -> Markup:
    """State one line of measures a mask: the hidden token's rank, p and -ln p, and the entropy, both in nats."""
    lines = []
    for mask in result.masks:
        found = [f"entropy {mask.entropy * math.log(2):.2f} nats"]  # from bits to nats
        if mask.hidden is not None and mask.hidden_probability is not None:
            rank = f"rank {mask.hidden_rank:,} of {result.vocabulary:,}"
            share = f"p = {percent(mask.hidden_probability)}"
            found = [f"hidden token {mask.hidden.strip()}", rank, share, f"−ln p = {mask.surprisal:.2f} nats", *found]
        lines.append(measures(*found, name=f"position {mask.position}"))
    return facts(*lines) if lines else Markup("")

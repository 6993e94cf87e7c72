"""One head's weights, and every head by one number, as pictures, sentences and tables."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from explorer.charts import (
    DIVERGING,
    MAGNITUDE,
    Axis,
    Look,
    Panel,
    Picture,
    Trace,
    axis,
    chart,
    colorbar,
    heat,
    picture,
)
from explorer.charts.chips import chip, chips
from explorer.charts.words import caption, in_quotes, label, percent, prose, strong
from explorer.labs.attention.head import AttentionResult, Square, StatisticsResult, TokenPlace
from explorer.tables import Table

VIEWS = {"weights": "this head", "rollout": "with the rollout beside it", "change": "change by what you mask"}
PARTS = {"all": "all", "aa": "A → A", "ab": "A → B", "ba": "B → A", "bb": "B → B"}
"""Which text's tokens look at which."""

Grid = Sequence[Sequence[float]]
"""A row for each layer, a column for each head."""

KEY: Look = {"thickness": 12, "len": 0.9}
"""How the key to the colours looks beside a heatmap."""

MOST_TICKS = 36
"""Tokens that still get a name on an axis."""

PANEL_PIXELS, NAME_PIXELS = 520, 8.5
"""The least width of the heatmap on a projector, and the width of a letter under it."""

MOST_ROWS = 1000
"""Of the page's table: all weights of 31 tokens."""

STATISTIC_TITLES = {
    "entropy": "entropy, bits",
    "distance": "mean distance, tokens",
    "to_first": "share to {first}",
    "to_separator": "share to {separator}",
    "to_previous": "share to the previous token",
    "to_next": "share to the next token",
    "to_itself": "share to itself",
}


def attention_table(result: AttentionResult) -> Table:
    """from, to (position and token each), weight; the weights of one `from` sum to 1."""
    names = [token.name for token in result.tokens]
    rows = [(names[i], names[j], w) for i in range(len(names)) for j, w in enumerate(result.weights.row(i))]
    return Table.of(("from", "to", "weight"), rows)


def page_table(result: AttentionResult) -> Table:
    """Return attention_table; of a long text the largest weights alone, since 512 tokens have a quarter of a million."""
    return attention_table(result).largest(2, MOST_ROWS)


def attention_sentence(result: AttentionResult, view: str = "weights") -> Markup:
    """Say what the head does on this text, and the strongest link between two words."""
    parts: list[str] = [strong(f"Layer {result.layer}, head {result.head}"), " "]
    habit = habit_of(result)
    if habit:
        parts += [habit, ". "]
    elif result.facts.to_special > 0.5:
        parts += ["spends ", strong(percent(result.facts.to_special)), " of its attention on the special tokens. "]
    else:
        spread = result.facts.value("entropy") or 0.0
        parts += [f"spreads over about {2**spread:.1f} tokens a row. "]  # the length of a uniform row of this entropy
    link = strongest_link(result)
    if link:
        weight, here, there = link
        parts += ["Its strongest link between two words: ", in_quotes(result.tokens[here].shown), " looks at "]
        parts += [in_quotes(result.tokens[there].shown), f" with {percent(weight)}."]
    return prose(*parts)


def attention_notes(result: AttentionResult, view: str = "weights") -> Markup:
    """State the head's entropy, what is hidden and what that moved, and how much of a long table stands on the page."""
    parts: list[str] = [f"Entropy of a row: {result.facts.value('entropy') or 0.0:.2f} bits on average."]
    masked = [token.shown for token in result.tokens if token.masked]
    if masked:
        hidden = Markup(", ").join(in_quotes(token, bold=False) for token in masked)
        parts += [" Hidden from the model: ", hidden, "."]
        if result.before is not None and view == "change":
            moved = sum(abs(a - b) for a, b in zip(result.weights.values, result.before.values, strict=True))
            # Halved, since what one token loses another gains.
            parts += [f" That moved {percent(moved / 2 / len(result.tokens))} of a row's attention on average."]
    elif view == "change":
        parts += [" Press a token to hide it: the figure then shows what changes."]
    if len(result.tokens) ** 2 > MOST_ROWS:
        parts += [f" The table lists the {MOST_ROWS:,} largest weights; the endpoint gives all."]
    return caption(*parts)


def strongest_link(result: AttentionResult) -> tuple[float, int, int] | None:
    """Return the largest weight from one word to another, off the diagonal, and the two places."""
    words = [token.position for token in result.tokens if not token.special]
    return max(((result.weights.row(i)[j], i, j) for i in words for j in words if i != j), default=None)


def attention_figure(result: AttentionResult, view: str = "weights", part: str = "all") -> Picture:
    """Draw a heatmap: the token that looks down, the token looked at across."""
    rows, columns = rows_and_columns(result, part)
    x, y = ([label(result.tokens[place].name) for place in kept] for kept in (columns, rows))
    # In a long text the gaps would be as wide as the cells.
    grids, gap = _grids(result, view), 1 if len(rows) <= MOST_TICKS else 0
    panels: list[Panel] = []
    for title, matrix, ends in grids:
        sign, scale = ("+", DIVERGING) if ends[0] < 0 else ("", MAGNITUDE)
        key, hover = colorbar("", f"{sign}.0%", **KEY), f"%{{y}} → %{{x}}: %{{z:{sign}.2%}}"
        # The four decimals that the label shows; more would only be sent.
        cells = [[round(matrix.row(i)[j], 4) for j in columns] for i in rows]
        # The rollout's own maximum stands in its title.
        drawn = heat(x, y, cells, scale, ends, gap=gap, bar=None if panels else key, hover=hover)
        across = _axis(result, columns, f"looked at · {title}" if title else "looked at", top=True)
        across["tickangle"] = _angle(across["ticktext"], len(grids))
        panels.append(Panel(drawn, across, None if panels else _axis(result, rows, "looking", down=True)))
    height = min(780, max(300, 80 + 20 * len(rows)))
    return picture(attention_sentence(result, view), panels, height=height, gap=0.03, above=40)


def _grids(result: AttentionResult, view: str) -> list[tuple[str, Square, tuple[float, float]]]:
    """Return the matrices to draw, each as (title, matrix, ends of its scale).

    A change is after minus before; there is none while no token is hidden.
    """
    if view == "weights":
        return [("", result.weights, (0.0, 1.0))]
    if view == "rollout":
        most = max(result.rollout.values)  # it spreads over many tokens: on a scale to 1 it would be pale
        title = f"rollout to layer {result.layer} (fullest: {percent(most)})"
        return [("weights of this head", result.weights, (0.0, 1.0)), (title, result.rollout, (0.0, most))]
    if result.before is None:
        return []
    moved = [after - before for after, before in zip(result.weights.values, result.before.values, strict=True)]
    # Not below a percentage point: rounding would look like a change.
    bound = max(0.01, max(map(abs, moved)))
    return [("change of the weight", Square(result.weights.size, array("f", moved)), (-bound, bound))]


def rows_and_columns(result: AttentionResult, part: str) -> tuple[list[int], list[int]]:
    """Return the rows and columns of a part of a pair; everything if there is one text."""
    everything = list(range(len(result.tokens)))
    if result.second_starts is None or part == "all":
        return everything, everything
    texts = {"a": everything[: result.second_starts], "b": everything[result.second_starts :]}
    return texts[part[0]], texts[part[1]]


def _axis(result: AttentionResult, kept: Sequence[int], title: str, **more: Any) -> Axis:
    every = max(1, -(-len(kept) // MOST_TICKS))  # rounded up
    titled = {"title": {"text": title, "font": {"size": 14}, "standoff": 4}}
    return token_axis([result.tokens[place] for place in kept[::every]], **more) | titled


def token_axis(places: Sequence[TokenPlace], **more: Any) -> Axis:
    """Return an axis whose values are the tokens' unique names, and whose texts are short."""
    names, short = [label(place.name) for place in places], [label(place.shown, 12) for place in places]
    return axis(names=True, size=14, tickvals=names, ticktext=short, **more)


def _angle(names: Sequence[str], panels: int) -> int:
    """Return the angle of an axis' names: those that would touch their neighbours on a projector stand aslant or
    upright.
    """
    room = PANEL_PIXELS / panels / max(1, len(names))
    if NAME_PIXELS * max(map(len, names), default=0) < room:
        return 0
    return -45 if room >= 24 else -90  # pixels between lines of text that stand aslant


def attention_chips(result: AttentionResult) -> dict[str, Any]:
    """Return the tokens as chips; a press hides one. Special tokens stay."""
    row = []
    for token in result.tokens:
        place, style = token.position, "special" if token.special else "mask" if token.masked else "plain"
        title = f"{token.text}: position {place}" + ("" if token.special else ", press to hide it")
        look: Look = {"joined": token.joined, "pressed": token.masked, "position": None if token.special else place}
        row.append(chip(token.shown, title, style, **look))
    of = {"model": result.model, "texts": [token.text for token in result.tokens]}
    return chips("The tokens; press one to hide it from the model", row, **of)


def statistics_table(result: StatisticsResult) -> Table:
    """layer, head, statistic, value."""
    rows = [(layer, head, name, value) for name, grid in result.grids for value, layer, head in by_head(grid)]
    return Table.of(("layer", "head", "statistic", "value"), rows)


def by_head(grid: Grid) -> list[tuple[float, int, int]]:
    """Return the value, the layer and the head of each cell."""
    return [(value, layer, head) for layer, row in enumerate(grid) for head, value in enumerate(row)]


def statistic_title(result: StatisticsResult, statistic: str) -> str:
    """Return the statistic's name, with the model's own spelling of the tokens that it is about."""
    return STATISTIC_TITLES[statistic].format(first=result.first, separator=result.separator)


def statistics_sentence(result: StatisticsResult, statistic: str = "entropy") -> Markup:
    """Say where the statistic is highest and lowest."""
    grid = result.grid(statistic)
    if grid is None:
        return prose(f"{result.model} has no separator, so there is no share to it. Choose another statistic.")
    high, low = max(by_head(grid)), min(by_head(grid))
    title = statistic_title(result, statistic)
    if high[0] == low[0]:
        return prose(strong(title), f": {_value(statistic, high[0])} in every head.")
    return prose(
        strong(title),
        ": highest in ",
        strong(f"layer {high[1]}, head {high[2]}"),
        f" ({_value(statistic, high[0])}), lowest in layer {low[1]}, head {low[2]} ({_value(statistic, low[0])}).",
    )


def statistics_notes(result: StatisticsResult, statistic: str = "entropy") -> Markup:
    """Say how it goes with depth, and where a press leads."""
    grid = result.grid(statistic)
    if grid is None:
        return Markup("")
    first, last = (_value(statistic, sum(row) / len(row)) for row in (grid[0], grid[-1]))
    return caption(
        f"On this text of {result.tokens} tokens the mean of layer 0 is {first}, of layer {len(grid) - 1} {last}. Press a cell "
        "to open that head."
    )


def _value(statistic: str, value: float) -> str:
    return percent(value) if statistic.startswith("to_") else f"{value:.2f}"


def statistics_figure(result: StatisticsResult, statistic: str = "entropy") -> Picture:
    """Draw a cell for each head: layers down, heads across."""
    grid, said = result.grid(statistic), statistics_sentence(result, statistic)
    if grid is None:
        return chart(said, [])
    share, height = statistic.startswith("to_"), min(760, max(300, 100 + 34 * len(grid)))
    # No percent sign in a cell: it has no room, and the key has one.
    written = (lambda value: f"{100 * value:.0f}") if share else (lambda value: f"{value:.1f}")
    hover = "layer %{y}, head %{x}: " + ("%{z:.1%}" if share else "%{z:.2f}")
    look: Look = {"bar": colorbar("", ".0%" if share else "", **KEY), "hover": hover, "size": 14}
    look |= {"scale": MAGNITUDE, "ends": (0, 1 if share else max(map(max, grid)))}
    look |= {"texts": written} if len(grid[0]) <= 16 else {}  # cells of more heads are too narrow
    return chart(said, *head_cells(grid, label(statistic_title(result, statistic)), **look), height=height, above=44)


def head_cells(grid: Grid, title: str, **look: Any) -> tuple[list[Trace], Axis, Axis]:
    """Draw a cell for each head, layers down and heads across, and return the axes with it; look: of `heat`."""
    x, y = ([str(place) for place in range(count)] for count in (len(grid[0]), len(grid)))
    return heat(x, y, grid, **look), axis(f"head · {title}", names=True, top=True), axis("layer", names=True, down=True)


HABITS = {
    "to_previous": "looks mostly at the previous token",
    "to_next": "looks mostly at the next token",
    "to_itself": "looks mostly at the token itself",
}

FEWEST_ROWS = 3
"""Rows that make a habit."""


def habit_of(result: AttentionResult) -> str | None:
    """Return what a head looks at in most rows of a text: the first of HABITS that takes more than half of the
    attention.
    """
    return next((text for name, text in HABITS.items() if _share(result, name) > 0.5), None)


def _share(result: AttentionResult, name: str) -> float:
    """Return the mean share of one of HABITS over the rows that have a choice; 0 if these are too few.

    The row of the first token has no choice if the model sees no later token, and the last token has no next one.
    """
    offset = {"to_previous": -1, "to_next": 1, "to_itself": 0}[name]
    length = len(result.tokens)
    rows = [row for row in range(1 if result.causal else 0, length) if 0 <= row + offset < length]
    if len(rows) < FEWEST_ROWS:
        return 0.0
    if not result.causal:
        return result.facts.value(name) or 0.0
    return sum(result.weights.row(row)[row + offset] for row in rows) / len(rows)

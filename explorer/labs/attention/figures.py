"""One head's weights, and every head by one number, as pictures, sentences and tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from explorer.figures import CIVIDIS, DIVERGING, cell_texts, label, percent, picture, prose, strong
from explorer.labs.attention.habits import habit_of
from explorer.labs.attention.schema import AttentionResult, Square, StatisticsResult
from explorer.tables import Table

VIEWS = {
    "weights": "this head",
    "rollout": "with the rollout beside it",
    "change": "change by what you mask",
}
PARTS = {"all": "all", "aa": "A → A", "ab": "A → B", "ba": "B → A", "bb": "B → B"}
"""Which text's tokens look at which."""

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
    """As attention_table; of a long text the largest weights alone, since 512 tokens have a quarter of a million."""
    table = attention_table(result)
    if len(table.rows) <= MOST_ROWS:
        return table
    return Table.of(table.columns, sorted(table.rows, key=lambda row: -float(row[2] or 0))[:MOST_ROWS])


def attention_sentence(result: AttentionResult, view: str = "weights") -> Markup:
    """What the head does on this text, and the strongest link between two words."""
    parts: list[str] = [strong(f"Layer {result.layer}, head {result.head}"), " "]
    habit = habit_of(result)
    if habit:
        parts += [habit, ". "]
    elif result.facts.to_special > 0.5:
        parts += ["spends ", strong(percent(result.facts.to_special)), " of its attention on the special tokens. "]
    else:
        spread = result.facts.value("entropy") or 0.0
        parts += [f"spreads over about {2**spread:.1f} tokens a row (entropy {spread:.2f} bits). "]
    link = _strongest(result)
    if link:
        here, there, weight = link
        parts += ["Its strongest link between two words: ", strong(result.tokens[here].shown), " looks at "]
        parts += [strong(result.tokens[there].shown), f" with {percent(weight)}."]
    masked = [token.shown for token in result.tokens if token.masked]
    if masked:
        parts += [" Hidden from the model: ", strong(", ".join(masked)), "."]
        if result.before is not None and view == "change":
            moved = sum(abs(a - b) for a, b in zip(result.weights.values, result.before.values, strict=True))
            parts += [f" That moved {percent(moved / 2 / len(result.tokens))} of a row's attention on average."]
    elif view == "change":
        parts += [" Press a token to hide it: the figure then shows what changes."]
    if len(result.tokens) ** 2 > MOST_ROWS:
        parts += [f" (The table lists the {MOST_ROWS:,} largest weights; the endpoint gives all.)"]
    return prose(*parts)


def _strongest(result: AttentionResult) -> tuple[int, int, float] | None:
    """The largest weight from one word to another, off the diagonal."""
    words = [token.position for token in result.tokens if not token.special]
    pairs = [(result.weights.row(i)[j], i, j) for i in words for j in words if i != j]
    if not pairs:
        return None
    weight, here, there = max(pairs)
    return here, there, weight


def attention_figure(result: AttentionResult, view: str = "weights", part: str = "all") -> dict[str, Any]:
    """A heatmap: the token that looks down, the token looked at across."""
    rows, columns = _kept(result, part)
    described = attention_sentence(result, view).striptags()
    if view == "change":
        return _change_figure(result, rows, columns, described)
    panels = [("weights of this head", result.weights, 1.0)]
    if view == "rollout":
        most = max(result.rollout.values)
        panels.append((f"rollout to layer {result.layer} (brightest: {percent(most)})", result.rollout, most))
    traces, axes = [], {}
    for number, (title, matrix, brightest) in enumerate(panels):
        suffix = "" if number == 0 else "2"
        heat = _heat(result, matrix, rows, columns, CIVIDIS, 0.0, brightest)
        traces.append(heat | {"xaxis": f"x{suffix}", "showscale": number == 0})
        axis = _axis(result, columns, f"looked at · {title}" if len(panels) > 1 else "looked at")
        axis["tickangle"] = _angle(axis["ticktext"], len(panels))
        left, right = (0.0, 1.0) if len(panels) == 1 else ((0.0, 0.485), (0.515, 1.0))[number]
        axes[f"xaxis{suffix}"] = axis | {"domain": [left, right], "side": "top"}
    return picture(
        traces,
        described,
        height=_height(len(rows)),
        margin={"l": 8, "r": 8, "t": 40, "b": 8},
        yaxis=_axis(result, rows, "looking") | {"autorange": "reversed"},
        **axes,
    )


def _change_figure(result: AttentionResult, rows: list[int], columns: list[int], described: str) -> dict[str, Any]:
    """After minus before, white where nothing changed; nothing to draw while no token is hidden."""
    if result.before is None:
        return picture([], described)
    size = result.weights.size
    moved = [after - before for after, before in zip(result.weights.values, result.before.values, strict=True)]
    difference = Square.of([moved[i * size : (i + 1) * size] for i in range(size)])
    bound = max(0.01, max(abs(value) for value in moved))
    across = _axis(result, columns, "looked at · change of the weight")
    return picture(
        [_heat(result, difference, rows, columns, DIVERGING, -bound, bound)],
        described,
        height=_height(len(rows)),
        margin={"l": 8, "r": 8, "t": 40, "b": 8},
        xaxis=across | {"side": "top", "tickangle": _angle(across["ticktext"], 1)},
        yaxis=_axis(result, rows, "looking") | {"autorange": "reversed"},
    )


def _heat(
    result: AttentionResult, matrix: Square, rows: list[int], columns: list[int], scale: Any, low: float, high: float
) -> dict[str, Any]:
    names = [label(token.name) for token in result.tokens]
    signed = low < 0
    return {
        "type": "heatmap",
        "z": [[round(matrix.row(i)[j], 4) for j in columns] for i in rows],
        "x": [names[j] for j in columns],
        "y": [names[i] for i in rows],
        "colorscale": scale,
        "zmin": low,
        "zmax": high,
        "xgap": 1 if len(rows) <= MOST_TICKS else 0,
        "ygap": 1 if len(rows) <= MOST_TICKS else 0,
        "hovertemplate": "%{y} → %{x}: %{z:" + ("+.2%" if signed else ".2%") + "}<extra></extra>",
        "colorbar": {"tickformat": "+.0%" if signed else ".0%", "thickness": 12, "len": 0.9},
    }


def _kept(result: AttentionResult, part: str) -> tuple[list[int], list[int]]:
    """Rows and columns of a part of a pair; everything where there is one text."""
    everything = list(range(len(result.tokens)))
    if result.second_starts is None or part == "all":
        return everything, everything
    texts = {"a": everything[: result.second_starts], "b": everything[result.second_starts :]}
    return texts[part[0]], texts[part[1]]


def _axis(result: AttentionResult, kept: Sequence[int], title: str) -> dict[str, Any]:
    names = [label(result.tokens[place].name) for place in kept]
    short = [label(result.tokens[place].shown, 12) for place in kept]
    every = max(1, -(-len(kept) // MOST_TICKS))
    return {
        "type": "category",
        "tickvals": names[::every],
        "ticktext": short[::every],
        "tickfont": {"size": 14},
        "showgrid": False,
        "title": {"text": title, "font": {"size": 14}, "standoff": 4},
    }


def _angle(names: Sequence[str], panels: int) -> int:
    """Names that would touch their neighbours on a projector stand upright, or aslant where there is room for that."""
    room = PANEL_PIXELS / panels / max(1, len(names))
    if NAME_PIXELS * max(map(len, names), default=0) < room:
        return 0
    return -45 if room >= 24 else -90


def _height(rows: int) -> int:
    return min(780, max(300, 80 + 20 * rows))


def attention_chips(result: AttentionResult) -> dict[str, Any]:
    """The tokens, to be hidden by a press; special ones stay."""
    chips = [
        {
            "text": token.shown,
            "joined": token.joined,
            "style": "special" if token.special else "mask" if token.masked else "plain",
            "position": None if token.special else token.position,
            "pressed": token.masked,
            "title": f"{token.text}: position {token.position}" + ("" if token.special else ", press to hide it"),
        }
        for token in result.tokens
    ]
    return {
        "chips": chips,
        "label": "The tokens; press one to hide it from the model",
        "model": result.model,
        "texts": [token.text for token in result.tokens],
    }


def statistics_table(result: StatisticsResult) -> Table:
    """layer, head, statistic, value."""
    rows = [
        (layer, head, name, value)
        for name, grid in result.grids
        for layer, row in enumerate(grid)
        for head, value in enumerate(row)
    ]
    return Table.of(("layer", "head", "statistic", "value"), rows)


def statistic_title(result: StatisticsResult, statistic: str) -> str:
    """The statistic's name, with the model's own spelling of the tokens that it is about."""
    return STATISTIC_TITLES[statistic].format(first=result.first, separator=result.separator)


def statistics_sentence(result: StatisticsResult, statistic: str = "entropy") -> Markup:
    """Where the statistic is highest and lowest, and how it goes with depth."""
    grid = result.grid(statistic)
    if grid is None:
        return prose(f"{result.model} has no separator, so there is no share to it. Choose another statistic.")
    cells = [(value, layer, head) for layer, row in enumerate(grid) for head, value in enumerate(row)]
    high, low = max(cells), min(cells)
    means = [sum(row) / len(row) for row in grid]
    return prose(
        strong(statistic_title(result, statistic)),
        f" on this text of {result.tokens} tokens: highest in ",
        strong(f"layer {high[1]}, head {high[2]}"),
        f" ({_value(statistic, high[0])}), lowest in layer {low[1]}, head {low[2]} ({_value(statistic, low[0])}). ",
        f"The mean of layer 0 is {_value(statistic, means[0])}, of layer {len(means) - 1} {_value(statistic, means[-1])}. ",
        "Press a cell to open that head.",
    )


def _value(statistic: str, value: float) -> str:
    return percent(value) if statistic.startswith("to_") else f"{value:.2f}"


def statistics_figure(result: StatisticsResult, statistic: str = "entropy") -> dict[str, Any]:
    """A cell for each head: layers down, heads across."""
    grid = result.grid(statistic)
    described = statistics_sentence(result, statistic).striptags()
    if grid is None:
        return picture([], described)
    share = statistic.startswith("to_")
    heads = len(grid[0])
    trace = {
        "type": "heatmap",
        "z": [list(row) for row in grid],
        "x": [str(head) for head in range(heads)],
        "y": [str(layer) for layer in range(len(grid))],
        "colorscale": CIVIDIS,
        "zmin": 0,
        "zmax": 1 if share else max(value for row in grid for value in row),
        "xgap": 2,
        "ygap": 2,
        "hovertemplate": "layer %{y}, head %{x}: " + ("%{z:.1%}" if share else "%{z:.2f}") + "<extra></extra>",
        "colorbar": {"tickformat": ".0%" if share else "", "thickness": 12, "len": 0.9},
    }
    texts = [[f"{100 * value:.0f}" if share else f"{value:.1f}" for value in row] for row in grid]
    return picture(
        [trace, cell_texts(trace, texts, 14)] if heads <= 16 else [trace],
        described,
        height=min(760, max(300, 100 + 34 * len(grid))),
        margin={"l": 8, "r": 8, "t": 44, "b": 8},
        xaxis={
            "title": {"text": f"head · {label(statistic_title(result, statistic))}"},
            "side": "top",
            "showgrid": False,
            "type": "category",
        },
        yaxis={"title": {"text": "layer"}, "autorange": "reversed", "showgrid": False, "type": "category"},
    )

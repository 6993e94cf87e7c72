"""One word in several sentences over the depth of a model: picture, sentences and table, from plain results."""

from __future__ import annotations

import math
from typing import Any

from markupsafe import Markup

from explorer.figures import SERIES, fixed, label, picture, prose, strong
from explorer.labs.context.schema import STATIC, ContextResult
from explorer.tables import Table

KINDS = (
    ("same", "same sense", "@first"),
    ("different", "different sense", "@second"),
    ("unnamed", "sense not given", "@third"),
)
"""What a pair of sentences can be, with its name and its colour."""

LEGEND = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": {"size": 15}}
"""Above the figure, in one line where there is room."""

MOST_LABELS = 14
"""Layers on an axis, beyond which every fourth one is named."""

MOST_COLOURS = 3
"""Pairs without a sense, beyond which all share one colour and their mean is drawn."""


def context_table(result: ContextResult) -> Table:
    """layer (-1 is the token embedding alone, 0 what the first layer reads), first, second, cosine, baseline."""
    rows = [
        (view.layer, i + 1, j + 1, view.cosines[i][j], view.baseline)
        for view in result.layers
        for i, j in result.kinds()
    ]
    return Table.of(("layer", "first", "second", "cosine", "baseline"), rows)


def layer_name(layer: int) -> str:
    """A layer in a sentence."""
    return "the token embedding alone" if layer == STATIC else f"layer {layer}"


def two(value: float) -> str:
    """A cosine with two digits; what is not quite 1 is not shown as 1."""
    if 0.995 <= value < 1 - 1e-9:
        return ">0.99"
    return fixed(value)


def context_sentence(result: ContextResult) -> Markup:
    """What happens over the depth, with the numbers of the layer that tells most."""
    return prose(*_start(result), *_telling(result))


def _start(result: ContextResult) -> list[str]:
    word, count = strong(result.word), len(result.occurrences)
    lowest = min(result.at(0).cosines[i][j] for i, j in result.kinds())
    if not result.one_vector:
        least = min(result.at(STATIC).cosines[i][j] for i, j in result.kinds())
        return [
            word,
            " is not written with the same tokens in each sentence, so already the token embeddings differ (cosine "
            f"{two(least)} at the least). ",
        ]
    parts = ["As a token embedding ", word, f" is one vector in all {count} sentences (cosine 1); "]
    if not result.adds_positions:
        return [*parts, "this model adds no position to it, so that layer 0 is the same still. "]
    if lowest > 1 - 1e-8:
        return [*parts, "it stands at the same position in each, so that layer 0 is the same still. "]
    return [
        *parts,
        f"with its position added (layer 0) any two are at least {math.floor(100 * lowest) / 100:.2f} alike. ",
    ]


def _telling(result: ContextResult) -> list[str]:
    layer = result.telling_layer()
    view, last = result.at(layer), result.depth
    same, different = result.mean("same", layer), result.mean("different", layer)
    random = f"two random tokens of that layer are {two(view.baseline)}."
    if same is not None and different is not None:
        return [
            f"The senses are furthest apart in layer {layer}: pairs of one sense are ",
            strong(two(same)),
            " alike on average, of two senses ",
            strong(two(different)),
            f"; {random}",
        ]
    pairs = list(result.kinds())
    mean = sum(view.cosines[i][j] for i, j in pairs) / len(pairs)
    least = min(pairs, key=lambda pair: view.cosines[pair[0]][pair[1]])
    return [
        f"They are least alike in layer {layer} of {last}: ",
        strong(f"{two(mean)} on average"),
        f", sentences {least[0] + 1} and {least[1] + 1} only {two(view.cosines[least[0]][least[1]])}; {random}",
    ]


def similarity_figure(result: ContextResult, layer: int, adjusted: bool) -> dict[str, Any]:
    """Cosine of each two sentences over the layers, the means of each kind of pair, and the random tokens.

    layer: marked by a line. adjusted: the baseline is taken off (Ethayarajh 2019, section 3.3).
    """
    depths = [view.layer for view in result.layers]
    lift = [-view.baseline if adjusted else 0.0 for view in result.layers]
    kinds = result.kinds()
    several = len(kinds) > MOST_COLOURS or set(kinds.values()) != {"unnamed"}
    traces = _random(result, depths, lift)
    for place, ((i, j), kind) in enumerate(kinds.items()):
        values = [view.cosines[i][j] + shift for view, shift in zip(result.layers, lift, strict=True)]
        colour = _colour(kind) if several else SERIES[place]
        traces.append(_line(f"{i + 1} and {j + 1}", depths, values, colour, _pair(result, i, j), thin=several))
    if several:
        traces += _means(result, depths, lift)
    values = [value for trace in traces for value in trace["y"]]
    low, high = min(values), max(values)
    named = depths if len(depths) <= MOST_LABELS else [STATIC, *depths[5::4]]
    marker = {"type": "line", "x0": layer, "x1": layer, "y0": 0, "y1": 1, "yref": "paper", "layer": "below"}
    return picture(
        traces,
        context_sentence(result).striptags(),
        height=360,
        showlegend=True,
        legend={**LEGEND, "traceorder": "normal"},
        shapes=[{**marker, "line": {"color": "@highlight", "width": 3}}],
        margin={"l": 8, "r": 16, "t": 8, "b": 8},
        xaxis={
            "title": {"text": "layer"},
            "tickvals": named,
            "ticktext": ["static" if depth == STATIC else str(depth) for depth in named],
            "tickangle": 0,
            "range": [STATIC - 0.25, result.depth + 0.25],
            "zeroline": False,
        },
        yaxis={
            "title": {"text": "cosine minus baseline" if adjusted else "cosine"},
            "range": [low - 0.04 * (high - low), high + 0.04 * (high - low)],
        },
    )


def _colour(kind: str) -> str:
    return next(colour for name, _, colour in KINDS if name == kind)


def _pair(result: ContextResult, i: int, j: int) -> str:
    """Two sentences by number, and by sense where they have one; safe in a hover label."""
    both = (result.occurrences[i], result.occurrences[j])
    names = [f"{entry.number} ({entry.sense})" if entry.sense else str(entry.number) for entry in both]
    return label(f"sentences {names[0]} and {names[1]}", 90)


def _line(
    name: str, depths: list[int], values: list[float], colour: str, hover: str, thin: bool = False, dash: str = "solid"
) -> dict[str, Any]:
    """One line over the layers; a thin one stands behind the means and out of the legend."""
    return {
        "type": "scatter",
        "mode": "lines" if thin else "lines+markers",
        "x": depths,
        "y": values,
        "name": name,
        "showlegend": not thin,
        "opacity": 0.4 if thin else 1,
        "line": {"color": colour, "width": 1.5 if thin else 3.5, "dash": dash},
        "marker": {"size": 7},
        "customdata": [[hover, layer_name(depth)] for depth in depths],
        "hovertemplate": "%{customdata[0]}<br>%{customdata[1]}: %{y:.3f}<extra></extra>",
    }


def _means(result: ContextResult, depths: list[int], lift: list[float]) -> list[dict[str, Any]]:
    """A thick line for each kind of pair."""
    found = list(result.kinds().values())
    lines = []
    for kind, title, colour in KINDS:
        count = found.count(kind)
        means = [result.mean(kind, depth) for depth in depths]
        values = [mean + shift for mean, shift in zip(means, lift, strict=True) if mean is not None]
        if count:
            name = "two sentences" if set(found) == {"unnamed"} else title
            name = f"{name}, mean of {count}" if count > 1 else name
            dash = "dash" if kind == "different" else "solid"
            lines.append(_line(name, depths, values, colour, name, dash=dash))
    return lines


def _random(result: ContextResult, depths: list[int], lift: list[float]) -> list[dict[str, Any]]:
    """The random tokens: their mean, and where the middle nine tenths of the pairs lie."""
    edges = [[view.middle[end] + shift for view, shift in zip(result.layers, lift, strict=True)] for end in (0, 1)]
    edge = {"type": "scatter", "mode": "lines", "x": depths, "line": {"width": 0}, "hoverinfo": "skip"}
    name = "two random tokens"
    mean = [view.baseline + shift for view, shift in zip(result.layers, lift, strict=True)]
    hover = f"two random tokens, mean of {result.pairs:,} pairs"
    return [
        {**edge, "y": edges[0], "showlegend": False},
        {**edge, "y": edges[1], "showlegend": False, "fill": "tonexty", "fillcolor": "@untouched"},
        {**_line(name, depths, mean, "@muted", hover, dash="dot"), "legendrank": 2000},
    ]


def sentence_list(result: ContextResult) -> Markup:
    """The sentences with their numbers, the word in each, and the sense."""
    items = []
    for entry in result.occurrences:
        before, after = entry.sentence[: entry.start], entry.sentence[entry.stop :]
        sense = Markup(' <span class="sense">{}</span>').format(entry.sense) if entry.sense else ""
        word = strong(entry.sentence[entry.start : entry.stop])
        items.append(Markup("<li>{}{}{}{}</li>").format(before, word, after, sense))
    return Markup('<ol class="sentences">{}</ol>').format(Markup("").join(items))


def notes(result: ContextResult) -> Markup:
    """How the numbers were made, and what in these sentences needs a word of caution."""
    entries = result.occurrences
    parts = [
        f"Baseline: {result.pairs:,} random pairs of the {result.pool:,} other tokens in these sentences and in "
        f"{result.plain_sentences} plain ones; grey is where nine tenths of them lie. "
        "“static” is the token embedding alone, before position and segment are added (layer −1 in the table)."
    ]
    pieces = {entry.pieces for entry in entries}
    if len(pieces) > 1:
        spelled = "; ".join(" ".join(entry) for entry in sorted(pieces))
        parts.append(f"The tokenizer writes the word in {len(pieces)} ways ({spelled}).")
    if any(len(entry) > 1 for entry in pieces):
        longest = max(pieces, key=len)
        parts.append(f"The word has several pieces ({' '.join(longest)}): the mean of their vectors is taken.")
    for entry in entries:
        if entry.times > 1:
            parts.append(f"Sentence {entry.number} has the word {entry.times} times; the first is taken.")
    if any(entry.unknown for entry in entries):
        parts.append("This vocabulary does not know the word ([UNK]): its vectors tell of the context alone.")
    return Markup('<p class="caption">{}</p>').format(" ".join(parts))

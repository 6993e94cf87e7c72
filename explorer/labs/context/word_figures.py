"""One word in several sentences over the depth of a model: picture, sentences and table, from plain results."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from markupsafe import Markup

from explorer.charts import SERIES, Look, Picture, Trace, axis, chart, level, line
from explorer.charts.words import caption, fixed, in_quotes, label, prose, sentences, strong
from explorer.labs.context.word import STATIC, ContextResult
from explorer.tables import Table

KINDS = (
    ("same", "same sense", "@first"),
    ("different", "different sense", "@second"),
    ("unnamed", "sense not given", "@third"),
)
"""What a pair of sentences can be, with its name and its colour."""

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
    """Name a layer in a sentence."""
    return "the token embedding alone" if layer == STATIC else f"layer {layer}"


def two(value: float) -> str:
    """Write a cosine with two digits; what is not quite 1 is not shown as 1."""
    if 0.995 <= value < 1 - 1e-9:
        return ">0.99"
    return fixed(value)


def context_sentence(result: ContextResult) -> Markup:
    """Say in which layer the senses, or the sentences, are furthest apart."""
    layer, word = result.telling_layer(), in_quotes(result.word)
    same, different = result.mean("same", layer), result.mean("different", layer)
    if same is not None and different is not None:
        furthest = ("The senses of ", word, f" are furthest apart in layer {layer}: pairs of one sense are ")
        nowhere = (
            "In no layer are pairs of one sense of ",
            word,
            f" more alike than of two; in layer {layer} they are ",
        )
        start = furthest if same > different else nowhere
        return prose(*start, strong(two(same)), " alike on average, of two senses ", strong(two(different)), ".")
    pairs = alike(result, layer)
    mean = sum(pairs.values()) / len(pairs)
    return prose(word, f" is least alike in layer {layer}: ", strong(two(mean)), " on average.")


def alike(result: ContextResult, layer: int) -> dict[tuple[int, int], float]:
    """Return the cosine of each two sentences in one layer."""
    cosines = result.at(layer).cosines
    return {(i, j): cosines[i][j] for i, j in result.kinds()}


def _start(result: ContextResult) -> list[str]:
    # One vector is compared where the position joins it.
    word, least = in_quotes(result.word), min(alike(result, 0 if result.one_vector else STATIC).values())
    if not result.one_vector:
        differ = (
            " is not written with the same tokens in each sentence, so already the token embeddings differ (cosine "
        )
        return [word, differ, f"{two(least)} at the least). "]
    if not result.adds_positions:
        rest = "this model adds no position to it, so that layer 0 is the same still. "
    elif least > 1 - 1e-8:  # equal but for float32 rounding
        rest = "it stands at the same position in each, so that layer 0 is the same still. "
    else:
        # Rounded down, to stay true.
        rest = f"with its position added (layer 0) any two are at least {math.floor(100 * least) / 100:.2f} alike. "
    count = len(result.occurrences)
    return ["As a token embedding ", word, f" is one vector in all {count} sentences (cosine 1); ", rest]


def _beside(result: ContextResult) -> list[str]:
    """Say what two random tokens have in the layer that tells most and, without senses, which sentences are least
    alike.
    """
    layer = result.telling_layer()
    random = f"two random tokens of layer {layer} (of {result.depth}) are {two(result.at(layer).baseline)}. "
    if None not in (result.mean("same", layer), result.mean("different", layer)):
        return [random[0].upper(), random[1:]]  # it begins the sentence there
    pairs = alike(result, layer)
    i, j = min(pairs, key=pairs.__getitem__)
    return [f"Sentences {i + 1} and {j + 1} are least alike there, {two(pairs[i, j])}; ", random]


def similarity_figure(result: ContextResult, layer: int, adjusted: bool) -> Picture:
    """Draw the cosine of each two sentences over the layers, the means of each kind of pair, and the random tokens.

    layer: marked by a line. adjusted: the baseline is taken off (Ethayarajh 2019, section 3.3).
    """
    kinds = result.kinds()
    several = len(kinds) > MOST_COLOURS or set(kinds.values()) != {"unnamed"}  # a mean has something to summarise
    colours = {kind: colour for kind, _, colour in KINDS}
    drawn = _random(result, adjusted)
    for place, ((i, j), kind) in enumerate(kinds.items()):
        values, colour = (view.cosines[i][j] for view in result.layers), colours[kind] if several else SERIES[place]
        drawn.append(_line(result, adjusted, values, colour, _pair(result, i, j), several, name=f"{i + 1} and {j + 1}"))
    drawn += _means(result, adjusted) if several else []
    heights = [value for trace in drawn for value in trace["y"]]
    low, high = min(heights), max(heights)
    depths = [view.layer for view in result.layers]
    # From layer 4 on: the first entry is layer -1.
    named = depths if len(depths) <= MOST_LABELS else [STATIC, *depths[5::4]]
    names = ["static" if depth == STATIC else str(depth) for depth in named]
    ends = (STATIC - 0.25, result.depth + 0.25)
    across = axis("layer", span=ends, tickvals=named, ticktext=names, tickangle=0, zeroline=False)
    margin = 0.04 * (high - low)
    up = axis("cosine minus baseline" if adjusted else "cosine", span=(low - margin, high + margin))
    # The marked layer's lines stay in view.
    mark = level(layer, "@highlight", width=3, dash="solid", upright=True) | {"layer": "below"}
    look: Look = {"height": 360, "legend": True, "legend_size": 15, "above": 8}
    return chart(context_sentence(result), drawn, across, up, [mark], **look)


def _pair(result: ContextResult, i: int, j: int) -> str:
    """Name two sentences by number, and by sense if they have one; safe in a hover label."""
    both = (result.occurrences[i], result.occurrences[j])
    names = [f"{entry.number} ({entry.sense})" if entry.sense else str(entry.number) for entry in both]
    return label(f"sentences {names[0]} and {names[1]}", 90)


def _line(
    result: ContextResult,
    adjusted: bool,
    values: Iterable[float],
    colour: str,
    read: str,
    thin: bool = False,
    **more: Any,
) -> Trace:
    """Draw a value of each layer, or what it has above the baseline.

    A thin line stands behind the means and out of the legend.
    """
    shown = [value - adjusted * view.baseline for view, value in zip(result.layers, values, strict=True)]
    depths = [view.layer for view in result.layers]
    look: Look = {"width": 1.5, "opacity": 0.4} if thin else {"width": 3.5, "opacity": 1, "size": 7}
    look |= {"showlegend": not thin, "customdata": [[read, layer_name(depth)] for depth in depths]}
    return line(depths, shown, colour, hover="%{customdata[0]}<br>%{customdata[1]}: %{y:.3f}", **look, **more)


def _means(result: ContextResult, adjusted: bool) -> list[Trace]:
    """Draw a thick line for each kind of pair."""
    found, lines = list(result.kinds().values()), []
    for kind, title, colour in KINDS:
        if count := found.count(kind):
            means = [result.mean(kind, view.layer) or 0.0 for view in result.layers]
            name = "two sentences" if set(found) == {"unnamed"} else title
            name = f"{name}, mean of {count}" if count > 1 else name
            dash = "dash" if kind == "different" else ""
            lines.append(_line(result, adjusted, means, colour, name, name=name, dash=dash))
    return lines


def _random(result: ContextResult, adjusted: bool) -> list[Trace]:
    """Draw where the middle nine tenths of the random pairs lie, and their mean."""
    depths = [view.layer for view in result.layers]
    lower, upper = ([view.middle[end] - adjusted * view.baseline for view in result.layers] for end in (0, 1))
    edge: Look = {"width": 0, "showlegend": False}
    # "tonexty" fills to the line drawn before.
    filled = line(depths, upper, "@untouched", fill="tonexty", fillcolor="@untouched", **edge)
    means, read = (view.baseline for view in result.layers), f"two random tokens, mean of {result.pairs:,} pairs"
    look: Look = {"name": "two random tokens", "dash": "dot", "legendrank": 2000}  # last in the legend
    return [line(depths, lower, "@untouched", **edge), filled, _line(result, adjusted, means, "@muted", read, **look)]


def sentence_list(result: ContextResult) -> Markup:
    """List the sentences with their numbers, the word in each, and the sense."""
    items = []
    for entry in result.occurrences:
        before, after = entry.sentence[: entry.start], entry.sentence[entry.stop :]
        sense = Markup(' <span class="sense">{}</span>').format(entry.sense) if entry.sense else ""
        items.append(prose(before, strong(entry.sentence[entry.start : entry.stop]), after, sense))
    return sentences(items)


def notes(result: ContextResult) -> Markup:
    """Say what stands beside the headline, how the numbers were made, and what in these sentences needs a word of
    caution.
    """
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
    return caption(*_start(result), *_beside(result), " ".join(parts))

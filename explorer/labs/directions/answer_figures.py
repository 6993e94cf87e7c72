"""How a word reaches the position that would have to predict it, and what two models learn of it: tables, sentences, pictures."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from explorer.charts import MAGNITUDE, Look, Panel, Picture, axis, chart, frame, heat, line, picture
from explorer.charts.words import caption, in_quotes, percent, prose, strong
from explorer.labs.directions.blank_figures import blank_chips, token_name
from explorer.labs.directions.schema import AnswerResult, Paths, ProofResult
from explorer.tables import Table

MASKS = {"none": "no mask", "causal": "causal mask"}
COLOURS = {"none": "@first", "causal": "@second"}


def answer_table(result: AnswerResult) -> Table:
    """mask, layer (from 0), direct, reach, moved: each of the word at the position before it."""
    found = [
        (paths.mask, layer, paths.direct[layer], paths.reach[layer], paths.moved[layer])
        for paths in result.paths
        for layer in range(len(paths.direct))
    ]
    return Table.of(("mask", "layer", "direct", "reach", "moved"), found)


def answer_chips(result: AnswerResult) -> dict[str, Any]:
    """Return the sentence as chips, with the word that is the answer."""
    return blank_chips(result.text, result.chips, masked=False)


def answer_sentence(result: AnswerResult) -> Markup:
    """Say how much of its attention the position before a word gives to that word, without a mask and with a causal
    one.
    """
    free, causal = result.paths
    before, share = in_quotes(result.chips[result.position - 1].shown, bold=False), strong(percent(free.direct[0]))
    under = strong("exactly 0" if causal.direct[0] == 0 else percent(causal.direct[0]))
    start = (
        "Where ",
        before,
        " would have to say ",
        in_quotes(result.word),
        ", ",
        share,
        " of its attention goes to that very ",
    )
    return prose(*start, "word if there is no mask, under a causal mask ", under, ".")


def answer_notes(result: AnswerResult) -> Markup:
    """State along which paths the word reaches its own prediction, and how much of it arrives by the second layer and
    the last.
    """
    free, causal = result.paths
    last = len(free.reach) - 1
    exactly = "exactly 0" if max(*causal.direct, *causal.reach, *causal.moved) == 0 else "not 0"
    return caption(
        f"That is in the first layer. After two layers {percent(free.reach[1])} of its rollout is the word, "
        f"{percent(free.detour)} by way of other positions, after all {last + 1} {percent(free.reach[last])}, and putting [MASK] "
        f"in the word's place moves its state by {percent(free.moved[last])}. Under a causal mask each of these is {exactly}."
    )


def masking_sentence(result: AnswerResult) -> Markup:
    """Say what masking does about it: the word is not in the input."""
    return prose(
        "What masking does about it: the word is taken out of the input and asked for at its own place. With ",
        in_quotes(result.word), " there to be read, the head at that place gives it ", strong(percent(result.seen)),
        f"{_copied(result)}; with [MASK] there it has to be told from both sides, and gets ", strong(percent(result.masked)), ".",
    )  # fmt: skip


COPIED = 0.9
"""The probability from which a word that can be read is said to be copied."""


def _copied(result: AnswerResult) -> str:
    return ", a copy" if result.seen >= COPIED else ""


def answer_figure(result: AnswerResult, layer: float = 1) -> Picture:
    """Draw rollout up to a layer without and with a causal mask, and the word's share by layer.

    Each position's next word is outlined.
    """
    layer = min(max(int(layer), 0), len(result.paths[0].flows) - 1)
    maps = [_map(result, paths, layer) for paths in result.paths]
    count = len(result.paths[0].reach)
    layers, drawn = list(range(count)), []
    for paths in result.paths:
        name = MASKS[paths.mask]
        look: Look = {"hover": "after layer %{x}: %{y:.3%}", "aside": name}
        drawn.append(line(layers, paths.reach, COLOURS[paths.mask], f"{name}: rollout", size=9, **look))
        drawn.append(line(layers, paths.moved, COLOURS[paths.mask], f"{name}: state moved", size=9, dash="dot", **look))
    over = axis("layer", dtick=1, grid=False, zeroline=False)
    up = axis(percent=True, zero=True)
    lines = Panel(drawn, over, up, "share, by layer", width=0.9)
    height = 22 * len(result.chips) + 130
    bar = {"coloraxis": {"colorscale": MAGNITUDE, "cmin": 0, "cmax": 1, "showscale": False}}
    look = {"legend": True, "gap": 0.08, "phone": 2 * height + 340, "above": 60, **bar}
    return picture(answer_sentence(result), [*maps, lines], height=max(340, height), **look)


def _map(result: AnswerResult, paths: Paths, layer: int) -> Panel:
    at, names, count = result.position, [token_name(chip.shown) for chip in result.chips], len(result.chips)
    places, ends = list(range(count)), (-0.5, count - 0.5)
    shown = [
        # May not be looked at, so no value.
        [None if paths.mask == "causal" and j > i else share for j, share in enumerate(row)]
        for i, row in enumerate(paths.flows[layer])
    ]
    read = [[f"{one} ← {other}" for other in names] for one in names]
    look: Look = {"hover": "%{customdata}: %{z:.2%}", "hoverongaps": False, "shared": True, "gap": 1}
    cells = heat(places, places, shown, MAGNITUDE, customdata=read, **look)
    across = axis(grid=False, zeroline=False, span=ends, tickvals=[at], ticktext=[names[at]], size=14)
    down = axis(grid=False, zeroline=False, span=ends[::-1], tickvals=places, ticktext=names, size=14, outer=True)
    # Right of the diagonal stands the next word, which a position would have to predict.
    outlines = [frame((i + 0.5, i + 1.5), (i - 0.5, i + 0.5), width=4 if i + 1 == at else 1) for i in places[:-1]]
    return Panel(
        cells,
        across,
        down,
        f"{MASKS[paths.mask]}, layers 0–{layer}" if layer else f"{MASKS[paths.mask]}, layer 0",
        outlines,
    )


READ_OFF = 0.1
"""Nats below which a model does not guess the next token but knows it: 90% on average."""

TITLES = {"none": "no mask: the answer is in view", "causal": "causal mask: the left alone"}


def proof_table(result: ProofResult) -> Table:
    """mask, step, loss (of the next token on held-out text, in nats), accuracy."""
    found = [(curve.mask, step, loss, accuracy) for curve in result.curves for step, loss, accuracy in curve.points]
    return Table.of(("mask", "step", "loss", "accuracy"), found)


def proof_sentence(result: ProofResult) -> Markup:
    """Say where the two losses end, and what the first has learned if its loss is near zero."""
    free, causal = (curve.points[-1][1] for curve in result.curves)
    reads = ": it reads each answer off the next place and learns nothing else" if free < READ_OFF else ""
    return prose(
        "The proof: trained to say the next word of new text without a mask, a model's loss ends at ",
        strong(f"{free:.2f}"),
        f"{reads}. Under a causal mask it ends at ",
        strong(f"{causal:.2f}"),
        ".",
    )


def proof_figure(result: ProofResult) -> Picture:
    """Draw a line for each model, on text that it has not read."""
    drawn = [
        line(
            [step for step, _, _ in curve.points],
            [loss for _, loss, _ in curve.points],
            COLOURS[curve.mask],
            TITLES[curve.mask],
            size=7,
            hover="step %{x}: %{y:.3f}",
            aside=TITLES[curve.mask],
        )
        for curve in result.curves
    ]
    across, up = axis("training step"), axis("−ln p of the next token, held out", zero=True)
    return chart(proof_sentence(result), drawn, across, up, height=300, legend=True)

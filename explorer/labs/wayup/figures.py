"""A text's way through a model as a picture's numbers, sentences and a table, from plain results."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from markupsafe import Markup

from explorer.charts.chips import hiding_chips
from explorer.charts.words import caption, in_quotes, percent, prose, strong
from explorer.labs.wayup.schema import LayerSeen, Opened, PassResult, Rung
from explorer.labs.wayup.stages_figures import stages
from explorer.tables import Table

LEAST_DRAWN = 0.01
"""The share of what a head moves to a token below which no arc is drawn."""


def pass_chips(result: PassResult) -> dict[str, Any]:
    """Return the token chips: which can be pressed, which are hidden."""
    return hiding_chips(result.model, result.text, result.mask_token, result.tokens)


def pass_table(result: PassResult) -> Table:
    """layer (0 is what the embeddings add up to), guess, probability, hidden (the probability of what was hidden), head,
    from (a position), token, share (of all that the head moves to the followed place, what comes from that token).
    """
    seen = [(None,) * 4, *(_most(result, layer) for layer in result.layers)]
    rows = [
        (rung.layer, rung.guesses[0].token, rung.guesses[0].probability, rung.truth, *most)
        for rung, most in zip(result.rungs, seen, strict=True)
    ]
    return Table.of(("layer", "guess", "probability", "hidden", "head", "from", "token", "share"), rows)


def _most(result: PassResult, layer: LayerSeen) -> tuple[Any, ...]:
    if layer.top is None:
        return layer.head, None, None, None
    place, share = layer.top
    return layer.head, place, result.tokens[place].shown, share


def pass_sentence(result: PassResult) -> Markup:
    """Say what the model's guess is, and from which layer on it leads."""
    last = result.rungs[-1].guesses[0]
    parts: list[str] = [f"{_what(result)} ", in_quotes(last.token), " (", strong(percent(last.probability)), ")"]
    if result.hidden and result.hidden == last.token:
        parts.append(", the word that was hidden")
    if result.settles == 0:
        return prose(*parts, ". It leads before any layer, from the embeddings on.")
    return prose(*parts, ". It leads ", *_since(result), ".")


def _what(result: PassResult) -> str:
    token = result.tokens[result.position]
    if result.asked == "continue":
        return "What comes next is"
    if result.asked == "replaced":
        return "The verdict on the followed token is"
    if token.state not in ("masked", "blank"):
        return "In place of the followed token it has"
    blanks = sum(one.state in ("masked", "blank") for one in result.tokens)
    return "The guess for the blank is" if blanks == 1 else f"Of {blanks} blanks the followed one is guessed as"


def _since(result: PassResult) -> list[str]:
    """Say since when the answer leads, and what led before that."""
    depth = result.build.depth
    before = result.rungs[result.settles - 1].guesses[0]
    when = "after the last layer only" if result.settles == depth else f"from layer {result.settles} on"
    layer = f"after layer {result.settles - 1}" if result.settles > 1 else "before the first layer"
    return [strong(when), f"; {layer} it was ", in_quotes(before.token, bold=False)]


def pass_notes(result: PassResult) -> Markup:
    """Say what is drawn, and what of this family differs from BERT."""
    heads = (
        f"head {result.layers[0].head} of every layer"
        if result.chosen
        else "in each layer the head that moves most from one word to the followed token"
    )
    drawn = f"Arcs: {heads}; the wider, the more of what it moves comes from there. "
    dots = "A dot is darker, the more the layer turned that token's state. "
    lens = "The column shows what the model's own head would answer after each layer (logit lens)."
    return caption(drawn, dots, lens, *(f" {one}" for one in differences(result)))


def differences(result: PassResult) -> list[str]:
    """Say what in this model's picture is unlike BERT's, from how it is made."""
    build, said = result.build, []
    kinds = [kind for kind, _ in result.added]
    if build.shared:
        said.append(f"All {build.depth} layers are one layer, used {build.depth} times.")
    if build.causal:
        said.append("A token sees none that comes later, so all arcs come from the left.")
    if build.norm_first:
        said.append("The norms stand before attention and feed-forward net, and the way past them is free.")
    if build.disentangled:
        said.append("The scores have two further terms, of content with position and of position with content.")
    if build.gated:
        said.append("In the feed-forward net one half gates the other.")
    if "position" not in kinds:
        said.append("No position is added to the embeddings: attention is told how far two tokens are apart.")
    if "segment" not in kinds and not build.causal:
        said.append("There are no segments.")
    if result.cut:
        said.append("It was given what stands before the blank.")
    return said


def way(result: PassResult) -> dict[str, Any]:
    """Return the numbers of the picture; assets/way.js draws them over the row of chips."""
    return {
        "described": f"{pass_sentence(result).striptags()} {depth_words(result)}",
        "position": result.position,
        "depth": result.build.depth,
        "tokens": [{"shown": token.shown, "special": token.state == "special"} for token in result.tokens],
        "hidden": result.hidden.strip(),
        "rungs": [[[guess.token.strip() or "␣", guess.probability] for guess in rung.guesses] for rung in result.rungs],
        "filled": [_share_of_answer(result, rung) for rung in result.rungs],
        "layers": [_layer(layer) for layer in result.layers],
        "added": [[kind, [round(one, 3) for one in lengths]] for kind, lengths in result.added if kind in ADDED],
        "opened": None if result.opened is None else result.opened.layer,
        "stages": stages(result),
    }


ADDED = ("token", "segment", "position")
"""The parts of the embeddings that are added; what follows them is a stage."""


def depth_words(result: PassResult) -> str:
    """Return what leads after each layer, for who can't see the picture."""
    names = (f"{rung.layer}: {rung.guesses[0].token.strip()}" for rung in result.rungs)
    return f"After each layer the head would say {', '.join(names)}."


def _share_of_answer(result: PassResult, rung: Rung) -> float:
    """Return the final answer's probability at a depth, 0 where it isn't among the first guesses there."""
    answer = result.rungs[-1].guesses[0].token
    return next((guess.probability for guess in rung.guesses if guess.token == answer), 0.0)


def _layer(layer: LayerSeen) -> dict[str, Any]:
    """Return what is drawn of one layer; shares travel in thousandths of all that is moved to a token."""
    arcs = []
    for place in range(len(layer.weights)):
        moved = layer.moved(place)
        total = sum(moved) or 1.0
        arcs.append(
            {str(source): round(1000 * one / total) for source, one in enumerate(moved) if one >= LEAST_DRAWN * total}
        )
    return {"head": layer.head, "arcs": arcs, "turned": [round(one, 4) for one in layer.turned]}


def opened(result: PassResult) -> dict[str, Any]:
    """Return the numbers of the opened layer; assets/waylayer.js draws them. Nothing is opened: nothing is drawn."""
    found = result.opened
    if found is None:
        return {}
    build = result.build
    return {
        "described": f"Layer {found.layer + 1} of {build.depth}, head {found.head}.",
        "layer": found.layer,
        "head": found.head,
        "chosen": result.chosen,
        "position": result.position,
        "tokens": [token.shown for token in result.tokens],
        "build": {
            "depth": build.depth,
            "heads": build.heads,
            "width": build.width,
            "inner": build.inner,
            "size": build.size,
            "norm": build.norm,
            "normFirst": build.norm_first,
            "activation": build.activation,
            "disentangled": build.disentangled,
            "scaling": found.scaling,
        },
        "query": _rounded(found.query),
        "keys": [_rounded(row) for row in found.keys],
        "values": [_rounded(row) for row in found.values],
        "scores": [_rounded(row) for row in found.scores],
        "weights": [_rounded(row) for row in found.weights],
        "unseen": _pairs(found.unseen),
        "vectors": {name: _rounded(row) for name, row in found.vectors.items()},
        "lengths": {name: round(_length(row), 2) for name, row in found.vectors.items()},
        "active": found.active,
        "said": said_of(result, found),
        "leads": [stage["to"] for stage in stages(result)],
    }


def _pairs(unseen: Iterable[Iterable[bool]]) -> list[list[int]]:
    return [[i, j] for i, row in enumerate(unseen) for j, hidden in enumerate(row) if hidden]


def _rounded(values: Iterable[float]) -> list[float]:
    """Round to four significant digits: a picture shows no more, and JSON is shorter."""
    return [float(f"{value:.4g}") for value in values]


def _length(vector: Iterable[float]) -> float:
    return float(sum(value * value for value in vector) ** 0.5)


def said_of(result: PassResult, found: Opened) -> list[str]:
    """Return the lines below the opened layer's title: where the token looks most, and how much of the net is awake."""
    row = found.weights[result.position]
    most = max(range(len(row)), key=row.__getitem__)
    where = "itself" if most == result.position else f"“{result.tokens[most].shown}”"
    return [
        f"In head {found.head} it looks most at {where}: {percent(row[most])} of its attention.",
        f"Behind the activation {found.active:,} of {result.build.inner:,} numbers are above 0.",
    ]

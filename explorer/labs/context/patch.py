"""Carry over: how much of one sentence's answer comes across when a single state of it is put into another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from markupsafe import Markup

from explorer.action import Action
from explorer.charts import DIVERGING, Look, Panel, Picture, axis, colorbar, heat, picture
from explorer.charts.words import caption, in_quotes, label, percent, prose, strong
from explorer.engine.protocol import Job
from explorer.kinds import Names, OneOf
from explorer.labs.context import plain
from explorer.models.catalog import DEFAULT_MODEL
from explorer.params import Seed, Shown, Text, params
from explorer.tables import Table
from explorer.worked import Opening

PARTS = {"residual": "the state itself", "attention": "what attention adds", "ffn": "what the feed-forward net adds"}

MOST_CARRIED = 32
"""Tokens: each costs a row of the batch in every layer, and another for the noise."""


@params
class PatchParams:
    """Two sentences of as many tokens, and what of the second is put into the first."""

    base: Annotated[Text, Shown("Sentence", "With [MASK] for the blank.", lines=(1, 3))]
    source: Annotated[Text, Shown("Carried over from", "The same with another word in it.", lines=(1, 3))]
    part: Annotated[str, OneOf(tuple(PARTS), tuple(PARTS.values())), Shown("What is carried over", dropdown=True)] = (
        "residual"
    )
    answers: Annotated[
        tuple[str, ...] | str,
        Names(),
        Shown("Two answers", "The first sentence's and the other's, with a comma; empty: their first guesses."),
    ] = ()
    seed: Annotated[Seed, Shown("Seed of the noise")] = 0


@dataclass(frozen=True)
class Carried:
    """One layer (from 0). shares: for each token, how much of the difference between the two sentences' answers comes
    across with its state; 0 is the first sentence, 1 the second. noise: the same for a step as long in a random
    direction."""

    layer: int
    shares: tuple[float, ...]
    noise: tuple[float, ...]


@dataclass(frozen=True)
class PatchResult:
    """tokens, others: of both sentences. changed: where they differ. place: where the head reads.

    answers: of the first and of the second sentence; likelihoods: of these two in the first sentence, then in the second.
    """

    model: str
    part: str
    tokens: tuple[str, ...]
    others: tuple[str, ...]
    changed: tuple[int, ...]
    place: int
    answers: tuple[str, str]
    likelihoods: tuple[tuple[float, float], tuple[float, float]]
    layers: tuple[Carried, ...]
    pair: tuple[int, int] = (0, 0)
    """The ids of the two answers."""

    def best(self, layer: Carried) -> int:
        """Return the token whose state brings most across in a layer."""
        return max(range(len(layer.shares)), key=layer.shares.__getitem__)

    @property
    def loudest(self) -> float:
        """The largest share that noise alone makes, whatever its sign."""
        return max(abs(value) for layer in self.layers for value in layer.noise)


def patch_table(result: PatchResult) -> Table:
    """layer (from 0), position, token, source (the other sentence's token), share, noise."""
    rows = [
        (layer.layer, position, result.tokens[position], result.others[position], share, noise)
        for layer in result.layers
        for position, (share, noise) in enumerate(zip(layer.shares, layer.noise, strict=True))
    ]
    return Table.of(("layer", "position", "token", "source", "share", "noise"), rows)


def patch_sentence(result: PatchResult) -> Markup:
    """Say where the answer stands first and last; of what a layer adds, where most comes across."""
    first, last = result.layers[0], result.layers[-1]
    begins, ends = result.best(first), result.best(last)
    if result.part != "residual" or min(first.shares[begins], last.shares[ends]) <= result.loudest:
        return _most(result)
    parts = [f"Carried over into layer {first.layer + 1}, ", _named(result, begins)]
    parts += [" brings ", strong(percent(first.shares[begins])), " of the other answer across; into layer "]
    parts += [f"{last.layer + 1} ", _named(result, ends), " brings ", strong(percent(last.shares[ends])), "."]
    return prose(*parts)


def _most(result: PatchResult) -> Markup:
    layer = max(result.layers, key=lambda one: max(one.shares))
    place = result.best(layer)
    if layer.shares[place] <= result.loudest:
        return prose(f"No state brings more across than noise does, {percent(result.loudest)}.")
    what = {"residual": "the state", "attention": "what attention adds", "ffn": "what the feed-forward net adds"}
    at = prose(f"{what[result.part]} at ", _named(result, place), f" in layer {layer.layer + 1}: ")
    return prose("The most of the other answer comes across with ", at, strong(percent(layer.shares[place])), ".")


def _named(result: PatchResult, position: int) -> Markup:
    return Markup("the blank") if position == result.place else in_quotes(result.others[position])


def patch_notes(result: PatchResult) -> Markup:
    """Say what the two answers are, and how much noise alone moves."""
    (own, other), (theirs, and_other) = result.likelihoods
    first, second = (in_quotes(answer, bold=False) for answer in result.answers)
    said = [first, f" has {percent(own)} and ", second, f" {percent(other)} in the first sentence; in the second "]
    said += [f"{percent(theirs)} and {percent(and_other)}. "]
    said.append(f"Noise, a step as long in a random direction, moves the answer by {percent(result.loudest)} at most.")
    return caption(*said)


def patch_figure(result: PatchResult) -> Picture:
    """Draw layers by tokens: blue brings the other sentence's answer, vermilion drives away from it."""
    names = [
        label(f"{one} → {other}" if place in result.changed else one, 18)
        for place, (one, other) in enumerate(zip(result.tokens, result.others, strict=True))
    ]
    columns = [name + "\u200b" * place for place, name in enumerate(names)]  # two tokens may look alike
    rows = [f"layer {layer.layer + 1}" for layer in result.layers]
    shares = [layer.shares for layer in result.layers]
    bar = colorbar("comes across", ".0%")
    look: Look = {"texts": _written, "size": 14, "bar": bar, "hover": "%{y}, %{x}: %{z:.1%}"}
    cells = heat(columns, rows, shares, DIVERGING, (-1, 1), **look)
    across = axis(names=True, top=True, tickangle=-45)
    down = axis(names=True)  # the first layer stands at the bottom, as a text goes up
    height = 110 + 44 * len(rows)
    return picture(patch_sentence(result), [Panel(cells, across, down)], height=height, low=min(height, 400))


def _written(share: float) -> str:
    return f"{100 * share:.0f}" if abs(share) >= 0.1 else ""


EXAMPLE = ("The key to the cabinet [MASK] on the table.", "The keys to the cabinet [MASK] on the table.", "is, are")

PATCH_ACTIVATIONS = Action(
    Job("explorer.labs.context.patch_jobs:patch_activations"),
    PatchParams,
    patch_table,
    plain=plain.carried,
    openings=(Opening(PatchParams(*EXAMPLE[:2], answers=EXAMPLE[2]), PatchResult, DEFAULT_MODEL),),
)

"""Probes: what a linear function can read from each layer, beside what it learns by heart."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Annotated

from markupsafe import Markup

from explorer.action import LiveAction
from explorer.charts import DIVERGING, Look, Panel, Picture, axis, heat, level, line, picture, series
from explorer.charts.words import caption, label, percent, progress_bar, prose, strong
from explorer.engine.protocol import Job
from explorer.kinds import Names, Number, OneOf
from explorer.labs.context import plain
from explorer.models.catalog import CATALOG
from explorer.params import Seed, Shown, params, several
from explorer.settings import PROBES
from explorer.tables import Table
from explorer.worked import Opening

TASKS = {"sense": "Sense of a word", "pos": "Part of speech", "depth": "Depth in the parse"}


@dataclass(frozen=True)
class LabelledWord:
    """A word by its place in the text. about: the word for which a control task draws a label: the word itself in small
    letters, or, where senses are told apart, the other word that tells the sense."""

    start: int
    stop: int
    label: str
    about: str


@dataclass(frozen=True)
class Example:
    """A sentence with its labelled words."""

    text: str
    held_out: bool
    words: tuple[LabelledWord, ...]


@cache
def examples(task: str) -> tuple[Example, ...]:
    """Return a task's sentences (assets/probes, written by `python -m pretraining probes`)."""
    lines = (PROBES / f"{task}.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(
        Example(line["text"], line["held_out"], tuple(LabelledWord(*word) for word in line["words"]))
        for line in map(json.loads, lines)
    )


def ambiguous(task: str) -> frozenset[str]:
    """Return the words, in small letters, that stand under more than one label."""
    labels: dict[str, set[str]] = {}
    for example in examples(task):
        for word in example.words:
            labels.setdefault(example.text[word.start : word.stop].lower(), set()).add(word.label)
    return frozenset(spelled for spelled, found in labels.items() if len(found) > 1)


def control_labels(words: Sequence[tuple[str, LabelledWord]], seed: int) -> list[str]:
    """Return a control task's label of each word: drawn once for each word type, so that it can only be learned by heart.

    words: of all sentences, with their spelling. Labels are drawn as often as the task has them. A sense is drawn for
    each word that tells it, out of the senses that the labelled word has. (Hewitt and Liang 2019, section 2.1)
    """
    random, drawn = Random(seed), dict[tuple[str, str], str]()
    of_senses = any(spelled != word.about for spelled, word in words)
    labels: dict[str, Counter[str]] = {}
    for spelled, word in words:
        labels.setdefault(spelled if of_senses else "", Counter())[word.label] += 1
    found = []
    for spelled, word in words:
        key = (spelled if of_senses else "", word.about)
        if key not in drawn:
            counts = labels[key[0]]
            drawn[key] = random.choices(list(counts), list(counts.values()))[0]
        found.append(drawn[key])
    return found


MOST_MODELS = 9
COMPARED = tuple(card.model_id for card in CATALOG if card.bundled)

TOLD = {
    "sense": "tells the sense of",
    "pos": "names the part of speech of",
    "depth": "counts the steps to the root for",
}
"""What a probe does with a word, by task."""

STOPPED = Markup("Stopped. What was measured stays.")


@params
class ProbeParams:
    """What is asked of which models. seed: of the control labels."""

    task: Annotated[str, OneOf(tuple(TASKS), tuple(TASKS.values())), Shown("What the probe reads")] = "sense"
    models: Annotated[
        tuple[str, ...],
        Names("models takes names as a list, or as a text with commas."),
        several(MOST_MODELS, *COMPARED[:2]),
        Shown(
            f"Models, up to {MOST_MODELS}",
            "Lines: the page's model; cells: all of them.",
            choices=tuple((card.model_id,) * 2 for card in CATALOG),
            several=MOST_MODELS,
        ),
    ] = COMPARED
    penalty: Annotated[
        float, Number(1e-4, 10), Shown("Penalty λ", "Larger: a probe of fewer means.", slider=(0.01, 1, 0.01))
    ] = 0.1
    seed: Annotated[Seed, Shown("Seed of the control labels")] = 0


@dataclass(frozen=True)
class Probed:
    """One layer: 0 is what enters the first. accuracy, control: of the probe and of the control on held-out words.
    ambiguous: the probe's on words that stand under several labels."""

    layer: int
    accuracy: float
    control: float
    ambiguous: float

    @property
    def selectivity(self) -> float:
        """What the probe has beyond the control (Hewitt and Liang 2019, section 2.2)."""
        return self.accuracy - self.control


@dataclass(frozen=True)
class ProbedModel:
    """The layers so far of a model with `depth` layers."""

    model: str
    depth: int
    layers: tuple[Probed, ...]

    @property
    def best(self) -> Probed:
        """The first of the layers where the probe is right most often."""
        return max(self.layers, key=lambda layer: layer.accuracy)


@dataclass(frozen=True)
class ProbeResult:
    """training, held_out: words. guess: the share of held-out words under the commonest label. probed: the models so far."""

    task: str
    models: tuple[str, ...]
    classes: int
    training: int
    held_out: int
    guess: float
    probed: tuple[ProbedModel, ...]

    @property
    def done(self) -> float:
        """The share of the work, a model at a time."""
        return sum(len(model.layers) / (model.depth + 1) for model in self.probed) / len(self.models)

    def drawn(self, model: str) -> ProbedModel:
        """Return a model, or the first one if it was not asked or has not had its turn."""
        return next((one for one in self.probed if one.model == model), self.probed[0])

    @property
    def is_done(self) -> bool:
        """Whether each layer of each model has been probed."""
        return len(self.probed) == len(self.models) and len(self.probed[-1].layers) > self.probed[-1].depth


def probe_table(result: ProbeResult) -> Table:
    """model, layer (0: the embeddings), accuracy, control, selectivity, ambiguous (the accuracy on words under several
    labels).
    """
    columns = ("model", "layer", "accuracy", "control", "selectivity", "ambiguous")
    rows = [
        (model.model, layer.layer, layer.accuracy, layer.control, layer.selectivity, layer.ambiguous)
        for model in result.probed
        for layer in model.layers
    ]
    return Table.of(columns, rows)


def probe_sentence(result: ProbeResult, drawn: str = "") -> Markup:
    """Say how often a probe is right on the best layer of the drawn model, and how often on its embeddings."""
    model = result.drawn(drawn)
    begins, best = model.layers[0], model.best
    told = TOLD[result.task]
    if best == begins:
        said = [f"A probe {told} ", strong(percent(begins.accuracy)), " of the held-out words from the embeddings of "]
        return prose(*said, strong(model.model), ", before any layer", _of_all(model), ".")
    said = [f"From layer {best.layer} of ", strong(model.model), f" a probe {told} ", strong(percent(best.accuracy))]
    return prose(*said, " of the held-out words, from its embeddings ", strong(percent(begins.accuracy)), ".")


def _of_all(model: ProbedModel) -> str:
    return ", and no layer adds to it" if len(model.layers) > model.depth else ""


def probe_notes(result: ProbeResult, drawn: str = "") -> Markup:
    """State the control beside it, the words that were asked, and how far the numbers may be off."""
    model = result.drawn(drawn)
    best = model.best
    off = (best.accuracy * (1 - best.accuracy) / result.held_out) ** 0.5
    return caption(
        f"Control labels, drawn at random for each word, are learned to {percent(best.control)} there, so the selectivity "
        f"is {100 * best.selectivity:.0f} points. {result.training:,} words to train on, {result.held_out:,} held out, "
        f"{result.classes} labels; always the commonest one: {percent(result.guess)}. Standard error: "
        f"{100 * off:.1f} points."
    )


def probe_bar(result: ProbeResult) -> Markup:
    """Return a bar of how much is done; nothing when all is."""
    return Markup("") if result.is_done else progress_bar(result.done, "layers probed")


def probe_figure(result: ProbeResult, drawn: str = "") -> Picture:
    """Draw one model's probe and control by layer, and below it each model's selectivity in cells."""
    deepest = max(model.depth for model in result.probed)
    first = result.drawn(drawn)
    across = axis(
        "layer (0: the embeddings)", tickvals=list(range(deepest + 1)), span=(-0.4, deepest + 0.4), outer=True
    )
    lines = Panel(
        [
            line(*_points(first, "accuracy"), series(0), "probe", size=9, hover="layer %{x}: %{y:.1%}"),
            line(*_points(first, "control"), series(1), "control", size=9, dash="dash", hover="layer %{x}: %{y:.1%}"),
        ],
        across,
        axis("right", percent=True, span=(0, 1.05)),
        title=f"{label(first.model)}: right on held-out words",
        marks=[level(result.guess, "@muted")],
    )
    picked = [*reversed(result.probed)]  # the first one stands on top
    values = [
        [model.layers[layer].selectivity if layer < len(model.layers) else None for layer in range(deepest + 1)]
        for model in picked
    ]
    look: Look = {"texts": _points_of, "size": 13, "hover": "%{y}, layer %{x}: %{z:.1%}"}
    names = [label(model.model, 30) for model in picked]
    cells = heat(list(range(deepest + 1)), names, values, DIVERGING, (-0.6, 0.6), **look)
    ticks = axis(names=True, tickvals=names, ticktext=[label(name, 15) for name in names])
    short = Panel((), across, ticks, title="selectivity in points")
    below = Panel(cells, across, axis(names=True), title="selectivity in points: probe minus control", alone=short)
    height = 330 + 28 * len(picked)
    return picture(probe_sentence(result, drawn), [[lines, below]], height=height, legend=True, phone=height + 40)


def _points(model: ProbedModel, field: str) -> tuple[list[int], list[float]]:
    return [layer.layer for layer in model.layers], [getattr(layer, field) for layer in model.layers]


def _points_of(share: float) -> str:
    return f"{100 * share:.0f}"


PROBE_LAYERS = LiveAction(
    Job("explorer.labs.context.probe_jobs:probe_layers", on="resources"),
    ProbeParams,
    probe_table,
    plain=plain.probed,
    openings=tuple(Opening(ProbeParams(task), ProbeResult) for task in TASKS),
)

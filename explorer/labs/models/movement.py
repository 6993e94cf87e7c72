"""How far each layer moves the state of each token: ALBERT's one layer beside layers of their own (Lan et al. 2020, 3.1)."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from markupsafe import Markup
from pydantic import AfterValidator

from explorer.action import Action
from explorer.charts import Panel, Picture, Trace, axis, line, picture, series
from explorer.charts.words import caption, label, prose, strong
from explorer.engine.protocol import Job
from explorer.errors import BadInputError
from explorer.kinds import Names
from explorer.labs.models.plain import layer_movement as movement_script
from explorer.models.catalog import CATALOG
from explorer.params import Shown, Text, params
from explorer.tab import Figure, Tab, Why
from explorer.tables import Table

if TYPE_CHECKING:
    from torch import Tensor

    from explorer.engine.resources import Resources
    from explorer.models.loaded_model import LoadedModel

MOST_MODELS = 4
COMPARED = ("albert-mini", "bert-mini")
TEXT = (
    "The lighthouse keeper wrote a letter to his sister every Sunday. He told her about the storms, the ships that passed, and "
    "the birds that rested on the rocks. She kept all of his letters in a wooden box under her bed."
)


def _some(names: tuple[str, ...]) -> tuple[str, ...]:
    if not 1 <= len(names) <= MOST_MODELS:
        raise BadInputError(f"models takes one to {MOST_MODELS} names, such as {', '.join(COMPARED)}.")
    return tuple(dict.fromkeys(names))


@params
class MovementParams:
    """A text, and the models whose layers are compared on it."""

    models: Annotated[
        tuple[str, ...],
        Names("models takes names as a list, or as a text with commas."),
        AfterValidator(_some),
        Shown(
            f"Models (up to {MOST_MODELS})",
            choices=tuple((card.model_id,) * 2 for card in CATALOG),
            several=MOST_MODELS,
        ),
    ] = COMPARED
    text: Annotated[Text, Shown("Text", lines=(4, 8))] = TEXT


@dataclass(frozen=True)
class Step:
    """What one layer does to the states, as means over the text's tokens without the special ones.

    angle: between its input and its output, in degrees. distance: of the two (L2). length: of its input (L2).
    """

    layer: int
    angle: float
    distance: float
    length: float


@dataclass(frozen=True)
class Movement:
    """One model's layers in order. shares: whether all of them are one set of weights."""

    model: str
    shares: bool
    tokens: int
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class MovementResult:
    """The models as they were asked for."""

    models: tuple[Movement, ...]


def layer_movement(resources: Resources, params: MovementParams) -> MovementResult:
    """Measure the angle and the distance between every layer's input and output. Raises BadInputError as `encode` does."""
    return MovementResult(tuple(_moved(resources.model(name), params.text) for name in params.models))


def _moved(loaded: LoadedModel, text: str) -> Movement:
    import torch  # here, as in each job of a file that the page reads as well: a page needs none of it

    from explorer.models.encoding import encode, with_own_mask
    from explorer.models.inside import depth_of, read

    encoded = encode(loaded, with_own_mask(loaded.tokenizer, text))
    places = [token.position for token in encoded.tokens if token.word is not None]
    # (depth + 1, tokens, width); double, since arccos near 1 magnifies rounding.
    states = torch.stack(read(loaded, encoded.inputs, attentions=False).hidden_states)[:, 0, places].double().cpu()
    steps = tuple(_step(layer, *pair) for layer, pair in enumerate(itertools.pairwise(states), start=1))
    # ALBERT alone has groups of layers.
    shares = getattr(loaded.model.config, "num_hidden_groups", depth_of(loaded.model)) == 1
    return Movement(loaded.model_id, shares, len(places), steps)


def _step(layer: int, before: Tensor, after: Tensor) -> Step:
    """Compare a layer's input with its output, (tokens, width) each."""
    import torch

    from explorer.maths.states import pairwise

    angles = torch.rad2deg(torch.arccos(pairwise(before, after).clamp(-1, 1)))  # rounding may pass 1
    distances = (after - before).norm(dim=-1)
    return Step(layer, float(angles.mean()), float(distances.mean()), float(before.norm(dim=-1).mean()))


SYMBOLS = ("circle", "square", "diamond", "triangle-up")


def movement_table(result: MovementResult) -> Table:
    """model, layer, angle (degrees), distance, length (L2 norms; of the layer's input), tokens."""
    rows = [
        (entry.model, step.layer, step.angle, step.distance, step.length, entry.tokens)
        for entry in result.models
        for step in entry.steps
    ]
    return Table.of(("model", "layer", "angle", "distance", "length", "tokens"), rows)


def movement_sentence(result: MovementResult) -> Markup:
    """Say in which model a layer turns a state least, and in which most."""
    ordered = sorted(result.models, key=_mean_turn)
    parts: list[str] = [
        "A layer of ",
        strong(ordered[0].model),
        " turns a state by ",
        strong(f"{_mean_turn(ordered[0]):.1f}°"),
    ]
    parts.append(" on average")
    if len(ordered) > 1:
        parts += [", one of ", strong(ordered[-1].model), " by ", strong(f"{_mean_turn(ordered[-1]):.1f}°")]
    return prose(*parts, ".")


def movement_notes(result: MovementResult) -> Markup:
    """State each model's mean turn a layer, and between which its turns lie."""
    told = []
    for entry in result.models:
        angles = [step.angle for step in entry.steps]
        layers = "one layer, used at every depth" if entry.shares else "layers of their own"
        told.append(
            f"{entry.model} ({layers}): {_mean_turn(entry):.1f}° on average, between {min(angles):.1f}° and {max(angles):.1f}°"
        )
    return caption(f"{'; '.join(told)}.")


def _mean_turn(entry: Movement) -> float:
    return sum(step.angle for step in entry.steps) / len(entry.steps)


def movement_figure(result: MovementResult) -> Picture:
    """Draw the angle and the distance between each layer's input and output."""
    deepest = max(len(entry.steps) for entry in result.models)
    across = axis("layer", tickvals=list(range(1, deepest + 1)))
    angles = [_line(place, entry, "angle", "°") for place, entry in enumerate(result.models)]
    distances = [_line(place, entry, "distance", "") for place, entry in enumerate(result.models)]
    panels = [
        Panel(angles, across, axis("degrees", zero=True), title="angle between input and output"),
        Panel(distances, across, axis("L2", zero=True), title="distance between them"),
    ]
    return picture(movement_sentence(result), panels, height=370, legend=True, phone=640)


def _line(place: int, entry: Movement, field: str, unit: str) -> Trace:
    layers = [step.layer for step in entry.steps]
    values = [getattr(step, field) for step in entry.steps]
    hover, marker = f"{entry.model}, layer %{{x}}: %{{y:.2f}}{unit}", {"symbol": SYMBOLS[place]}
    return line(layers, values, series(place), label(entry.model), size=9, marker=marker, hover=hover)


WHY = r"""
If one layer is applied again and again, does the state run into a fixed point, which the layer would leave as it is? ALBERT's
authors looked at the angle and the distance between each layer's input and output,

$$\arccos \frac{h^{(\ell-1)} \cdot h^{(\ell)}}{\lVert h^{(\ell-1)} \rVert \, \lVert h^{(\ell)} \rVert}, \qquad
\lVert h^{(\ell)} - h^{(\ell-1)} \rVert,$$

and found that ALBERT's steps go on at every depth without dying out, but change much more smoothly from layer to layer than
BERT's: sharing steadies the network. Here they are means over the text's tokens. Distances of models of different widths are
not on one scale; angles are. (Lan et al. 2020, section 3.1, Figure 1)
"""

MOVEMENT = Action(
    Job("explorer.labs.models.movement:layer_movement", on="resources"),
    MovementParams,
    movement_table,
    plain=movement_script,
)

TAB = Tab(
    "movement",
    "Layer by layer",
    MOVEMENT,
    asks=("models", "text"),
    figure=Figure("movement", "layer-movement", movement_sentence, movement_figure, movement_notes),
    why=Why("the question and the paper", WHY),
    tries={
        "ALBERT and BERT": {"models": list(COMPARED), "text": TEXT},
        "Half of the layers: DistilBERT": {"models": ["bert-mini", "distilbert-mini"], "text": TEXT},
        "The same word, again and again": {"models": list(COMPARED), "text": " ".join(["very"] * 12)},
        "Two halves of ELECTRA": {"models": ["electra-mini-generator", "electra-mini-discriminator"], "text": TEXT},
    },
)

"""The layers' steps as lines over the depth, a sentence and a table."""

from __future__ import annotations

from markupsafe import Markup

from explorer.charts import Panel, Picture, Trace, axis, line, picture, series
from explorer.charts.words import caption, label, prose, strong
from explorer.labs.models.movement.schema import Movement, MovementResult
from explorer.tables import Table

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
    """In which model a layer turns a state least, and in which most."""
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
    """Each model's mean turn a layer, and between which its turns lie."""
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
    """The angle and the distance between each layer's input and output."""
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

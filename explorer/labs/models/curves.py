"""The bundled models' trainings as they were logged: a line each, of a loss, an accuracy or a share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup

from explorer.action import Action
from explorer.charts import SERIES, Picture, axis, chart, line
from explorer.charts.words import caption, label, prose, strong
from explorer.engine.protocol import Job
from explorer.labs.models.schema import BUNDLED, BundledModels
from explorer.models.records import COUNTERS, harder_from, read_curve
from explorer.params import params
from explorer.settings import BUNDLED_MODELS
from explorer.tab import Choice, Figure, Tab
from explorer.tables import Table

AGAINST = {"tokens": "tokens seen", "steps": "steps", "seconds": "minutes"}
QUANTITIES = {
    "mlm_loss": "MLM loss (nats)",
    "pair_loss": "loss on pairs (nats)",
    "soft_loss": "soft-target loss (nats)",
    "cosine_loss": "cosine loss",
    "replaced_loss": "replaced-token loss (nats)",
    "next_loss": "next-token loss (nats)",
    "mlm_accuracy": "MLM accuracy",
    "pair_accuracy": "accuracy on pairs",
    "agreement_accuracy": "agreement with the teacher",
    "replaced_accuracy": "accuracy on replaced tokens",
    "next_accuracy": "next-token accuracy",
    "replaced_share": "share of replaced tokens",
}
"""What a log may hold, as an axis calls it."""


@params
class CurvesParams:
    """Which models' logs are shown; all of them where none is named."""

    models: BundledModels = ()


@dataclass(frozen=True)
class Curve:
    """One model's training as it was logged. values: for each quantity its value at each point, None if it had none."""

    model: str
    steps: tuple[float, ...]
    tokens: tuple[float, ...]
    seconds: tuple[float, ...]
    values: tuple[tuple[str, tuple[float | None, ...]], ...]
    harder_from: int | None = None
    """The step from which its rows have invented names, or its states dropout."""

    def of(self, quantity: str) -> tuple[float | None, ...] | None:
        """Return the values of one quantity; None if it was not logged."""
        return dict(self.values).get(quantity)


@dataclass(frozen=True)
class CurvesResult:
    """without: models whose log is not kept."""

    curves: tuple[Curve, ...]
    without: tuple[str, ...]

    @property
    def quantities(self) -> tuple[str, ...]:
        """Everything that some model logged, losses first."""
        names = dict.fromkeys(name for curve in self.curves for name, _ in curve.values)
        return tuple(sorted(names, key=lambda name: (not name.endswith("_loss"), list(names).index(name))))


def training_curves(params: CurvesParams) -> CurvesResult:
    """Read the logs of the bundled models' trainings."""
    logs = {name: read_curve(BUNDLED_MODELS / name) for name in params.models}
    curves = tuple(_curve(name, points) for name, points in logs.items() if points)
    return CurvesResult(curves, tuple(name for name, points in logs.items() if not points))


def _curve(name: str, points: tuple[Mapping[str, float], ...]) -> Curve:
    quantities = dict.fromkeys(key for point in points for key in point if key not in COUNTERS)
    values = tuple((quantity, tuple(point.get(quantity) for point in points)) for quantity in quantities)
    steps, tokens, seconds = (tuple(float(point[counter]) for point in points) for counter in COUNTERS)
    return Curve(name, steps, tokens, seconds, values, harder_from(BUNDLED_MODELS / name))


def curves_table(result: CurvesResult) -> Table:
    """model, quantity, step, tokens, seconds, value."""
    rows = [
        (curve.model, quantity, step, tokens, seconds, value)
        for curve in result.curves
        for quantity, values in curve.values
        for step, tokens, seconds, value in zip(curve.steps, curve.tokens, curve.seconds, values, strict=True)
        if value is not None
    ]
    return Table.of(("model", "quantity", "step", "tokens", "seconds", "value"), rows)


def curves_sentence(result: CurvesResult, quantity: str = "mlm_loss") -> Markup:
    """Say from where to where the curves end."""
    shown = [(name, value) for name, _, value in _ends(result, quantity) if value is not None]
    if not shown:
        return prose("None of these models logged this: choose another quantity.")
    (low_name, low), (high_name, high) = (choose(shown, key=lambda pair: pair[1]) for choose in (min, max))
    parts: list[str] = [f"{QUANTITIES.get(quantity, quantity)} at the end: "]
    if low == high:
        return prose(*parts, strong(f"{high:.2f}"), f" of {high_name if len(shown) == 1 else 'each of them'}.")
    return prose(*parts, "from ", strong(f"{low:.2f}"), f" ({low_name}) to ", strong(f"{high:.2f}"), f" ({high_name}).")


def curves_notes(result: CurvesResult, quantity: str = "mlm_loss") -> Markup:
    """Say where each ended, which trained longest, whose rows were made harder from where on, who is left out and why."""
    ends = _ends(result, quantity)
    shown = [(name, curve, value) for name, curve, value in ends if value is not None]
    parts: list[str] = []
    if shown:
        named, longest, _ = max(shown, key=lambda entry: entry[1].tokens[-1])
        who = f"The longest of these trainings, {named.split(' (')[0]}'s," if len(shown) > 1 else "Its training"
        parts += [
            f"At the end: {', '.join(f'{name} {value:.2f}' for name, _, value in shown)}. {who} saw "
            f"{longest.tokens[-1] / 1e6:.1f} million tokens in {longest.seconds[-1] / 60:.0f} minutes on two CPU cores."
        ]
    if len(ends) < len(result.curves):
        parts.append(" ELECTRA's generator and discriminator were trained together: one log, one line.")
    if shown:
        parts += _left_out([(name, curve) for name, curve, value in ends if value is None])
    parts += [
        f" From step {curve.harder_from:,} on {curve.model} learned to copy, on rows whose names are invented and with dropout: "
        "what is logged of them is not to be compared with what came before, nor with the loss on held-out text in its card."
        for _, curve, value in ends
        if value is not None and curve.harder_from is not None
    ]
    if result.without:
        parts.append(f" No log was kept of {', '.join(result.without)}, trained before the app kept any.")
    return caption(*parts) if parts else Markup("")


def _left_out(trained: list[tuple[str, Curve]]) -> list[str]:
    """Say what the trainings that are not drawn logged, those of one kind together."""
    named: dict[str, list[str]] = {}
    for name, curve in trained:
        named.setdefault(QUANTITIES.get(curve.values[0][0], curve.values[0][0]), []).append(name)
    return [
        f" {', '.join(names)} {'are left out: they were' if len(names) > 1 else 'is left out: it was'} trained on, and "
        f"logged, {logged}."
        for logged, names in named.items()
    ]


def _ends(result: CurvesResult, quantity: str) -> list[tuple[str, Curve, float | None]]:
    """Return each training with its last value; None if it did not log this."""
    return [(name, curve, _last(curve, quantity)) for name, curve in trainings(result, quantity)]


def trainings(result: CurvesResult, quantity: str) -> list[tuple[str, Curve]]:
    """Return the curves, each training once, with its name.

    ELECTRA's two models are trained together and have one log, in which some quantities are the generator's and some
    the discriminator's.
    """
    named: dict[str, Curve] = {}
    for curve in result.curves:
        name = curve.model
        if curve.model.startswith("electra"):
            part = "discriminator" if quantity.startswith("replaced") else "generator"
            name = f"ELECTRA ({part}'s {quantity.split('_')[-1]})" if curve.of(quantity) else "ELECTRA"
        named.setdefault(name, curve)
    return list(named.items())


def _last(curve: Curve, quantity: str) -> float | None:
    values = [value for value in curve.of(quantity) or () if value is not None]
    return values[-1] if values else None


def curves_figure(result: CurvesResult, quantity: str = "mlm_loss", against: str = "tokens") -> Picture:
    """Draw one line a model."""
    traces = []
    # As many lines as there are colours.
    for (name, curve), colour in zip(trainings(result, quantity), SERIES, strict=False):
        values = curve.of(quantity)
        if values is None:
            continue
        places = {"tokens": curve.tokens, "steps": curve.steps, "seconds": [s / 60 for s in curve.seconds]}[against]
        hover = "%{y:.3f} at %{x:,.4~g}"
        traces.append(line(places, values, colour, label(name), hover=hover, aside=label(name)))
    share = quantity.endswith(("_accuracy", "_share"))
    across, up = axis(AGAINST[against], zero=True), axis(QUANTITIES.get(quantity, quantity), percent=share)
    return chart(curves_sentence(result, quantity), traces, across, up, height=430, legend=True)


CURVES = Action(
    Job("explorer.labs.models.curves:training_curves", on="nothing", light=True), CurvesParams, curves_table
)

TAB = Tab(
    "curves",
    "Training curves",
    CURVES,
    asks=(
        "models",
        Choice("quantity", "Quantity", tuple((said, name) for name, said in QUANTITIES.items()), dropdown=True),
        Choice("against", "Against", tuple((said, name) for name, said in AGAINST.items())),
    ),
    figure=Figure(
        "curves",
        "training-curves",
        curves_sentence,
        curves_figure,
        curves_notes,
        "On training text, as logged; means over short stretches. The losses of models with different vocabularies, or with "
        "different shares of masked tokens, are not one scale.",
    ),
    opening={"models": list(BUNDLED)},
    width=250,
)

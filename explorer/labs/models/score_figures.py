"""Held-out figures and training curves as pictures, sentences and tables, from plain results."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from explorer.figures import SERIES, label, picture, prose, strong
from explorer.labs.models.schema import Curve, CurvesResult, ModelScores, ScoresResult
from explorer.models.records import Measure
from explorer.tables import Table

KINDS: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "masks": ("masked words", (("mlm_top_1", "first guess right"), ("mlm_top_5", "among five"))),
    "pairs": (
        "pairs",
        (
            ("nsp_segments", "true or random (NSP)"),
            ("sop_segments", "in order or swapped (SOP)"),
            ("nsp_everyday", "everyday sentences (NSP)"),
        ),
    ),
    "replaced": ("replaced tokens", (("rtd_auc", "AUC"), ("rtd_found", "found"), ("rtd_false", "false alarms"))),
}
"""What the figure may show, how the choice is worded, and the measures in it, all of them shares."""

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


def scores_table(result: ScoresResult) -> Table:
    """model, measure, value, unit, over, text, date, command, standard_error (of shares of right answers; else None)."""
    columns = ("model", "measure", "value", "unit", "over", "text", "date", "command", "standard_error")
    shown = ("what", "value", "unit", "over")
    rows = [
        (
            entry.model,
            *(getattr(measure, name) for name in shown),
            entry.text,
            measure.date or entry.date,
            entry.command,
            measure.standard_error,
        )
        for entry in result.models
        for measure in entry.measures
    ]
    return Table.of(columns, rows)


def scores_sentence(result: ScoresResult, kind: str = "masks") -> Markup:
    """Which model leads where their figures can be compared, each model's figure where they cannot, and why."""
    first, said = KINDS[kind][1][0]
    found = [(entry.model, measure) for entry in result.models for measure in entry.measures if measure.name == first]
    if not found:
        return prose("None of these models was measured on this.")
    if kind == "masks":
        shown = ", ".join(f"{model} {measure.shown_with_error}" for model, measure in found)
        return prose(
            f"{said[0].upper()}{said[1:]}: ",
            strong(shown),
            ". Compare only models that share a vocabulary: RoBERTa's and ALBERT's pieces differ, so their masked tokens do "
            "too."
            if len(found) > 1
            else ".",
        )
    best, measure = max(found, key=lambda pair: pair[1].value)
    leads = " leads: " if len(found) > 1 else ": "
    parts: list[str] = [strong(best), leads, strong(measure.shown_with_error), f" ({said}, over {measure.over})."]
    if kind == "pairs":
        parts.append(" Half of the pairs are of each class, so 50% is chance.")
    return prose(*parts)


def scores_figure(result: ScoresResult, kind: str = "masks") -> dict[str, Any]:
    """Bars by model, a colour a measure; models that were not measured on it are left out."""
    measures = KINDS[kind][1]
    models = [entry for entry in result.models if any(_value(entry, name) is not None for name, _ in measures)]
    names = [label(entry.model) for entry in models]
    traces = [
        {
            "type": "bar",
            "orientation": "h",
            "name": said,
            "y": names,
            "x": [_value(entry, name) for entry in models],
            "error_x": {"type": "data", "array": [_error(entry, name) for entry in models], "color": "@muted"},
            "text": [
                "" if _value(entry, name) is None else f"{100 * (_value(entry, name) or 0):.1f}" for entry in models
            ],
            "textposition": "auto",
            "insidetextfont": {"color": "@inside"},
            "marker": {"color": colour},
            "customdata": [_shown(entry, name) for entry in models],
            "hovertemplate": f"%{{y}}, {said}: %{{customdata}}<extra></extra>",
        }
        for (name, said), colour in zip(measures, SERIES, strict=False)
    ]
    chance = [
        {
            "type": "line",
            "x0": 0.5,
            "x1": 0.5,
            "yref": "paper",
            "y0": 0,
            "y1": 1,
            "line": {"dash": "dot", "color": "@muted"},
        }
    ]
    return picture(
        traces,
        scores_sentence(result, kind).striptags(),
        height=140 + 58 * len(names),
        barmode="group",
        bargap=0.25,
        showlegend=True,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "traceorder": "normal"},
        shapes=chance if kind == "pairs" else [],
        xaxis={"range": [0, 1], "tickformat": ".0%", "title": {"text": "held-out text"}},
        yaxis={"autorange": "reversed", "showgrid": False},
    )


def _find(entry: ModelScores, name: str) -> Measure | None:
    return next((measure for measure in entry.measures if measure.name == name), None)


def _value(entry: ModelScores, name: str) -> float | None:
    measure = _find(entry, name)
    return measure.value if measure else None


def _error(entry: ModelScores, name: str) -> float | None:
    measure = _find(entry, name)
    return measure.standard_error if measure else None


def _shown(entry: ModelScores, name: str) -> str:
    measure = _find(entry, name)
    return measure.shown_with_error if measure else ""


def scores_view(result: ScoresResult) -> Markup:
    """Every figure of every model with its standard error, the date and the command that measures it again."""
    note = Markup('<p class="caption">± is one standard error in points, as if the answers were independent.</p>')
    return note + Markup("").join(
        Markup(
            '<section class="held-out"><h2>{}</h2><table><tbody>{}</tbody></table><p>{} · <code>{}</code></p></section>'
        ).format(
            entry.model,
            Markup("").join(
                Markup("<tr><td>{}</td><td><b>{}</b></td><td>{}</td></tr>").format(
                    measure.what, measure.shown_with_error, measure.over_and_when
                )
                for measure in entry.measures
            ),
            entry.date,
            entry.command,
        )
        for entry in result.models
    )


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
    """Where each ended, who is left out and why."""
    ends = [(name, curve, _last(curve, quantity)) for name, curve in trainings(result, quantity)]
    shown = [(name, curve, value) for name, curve, value in ends if value is not None]
    parts: list[str] = []
    if shown:
        named, longest, _ = max(shown, key=lambda entry: entry[1].tokens[-1])
        parts += [
            f"{QUANTITIES.get(quantity, quantity)} at the end: ",
            strong(", ".join(f"{name} {value:.2f}" for name, _, value in shown)),
            f". The longest training, {named.split(' (')[0]}'s, saw {longest.tokens[-1] / 1e6:.1f} million tokens in "
            f"{longest.seconds[-1] / 60:.0f} minutes on two CPU cores.",
        ]
    else:
        parts.append("None of these models logged this: choose another quantity.")
    if len(ends) < len(result.curves):
        parts.append(" ELECTRA's generator and discriminator were trained together: one log, one line.")
    for name, curve, value in ends:
        if shown and value is None:
            logged = QUANTITIES.get(curve.values[0][0], curve.values[0][0])
            parts.append(f" {name} is left out: it was trained on, and logged, {logged}.")
    if result.without:
        parts.append(f" No log was kept of {', '.join(result.without)}, trained before the app kept any.")
    return prose(*parts)


def trainings(result: CurvesResult, quantity: str) -> list[tuple[str, Curve]]:
    """The curves, each training once, with its name.

    ELECTRA's two models are trained together and have one log, in which some quantities are the generator's and some the
    discriminator's.
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


def curves_figure(result: CurvesResult, quantity: str = "mlm_loss", against: str = "tokens") -> dict[str, Any]:
    """One line a model."""
    traces = []
    for (name, curve), colour in zip(trainings(result, quantity), SERIES, strict=False):
        values = curve.of(quantity)
        if values is None:
            continue
        places = {"tokens": curve.tokens, "steps": curve.steps, "seconds": [s / 60 for s in curve.seconds]}[against]
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": label(name),
                "x": list(places),
                "y": list(values),
                "line": {"color": colour, "width": 3},
                "hovertemplate": "%{y:.3f} at %{x:,.4~g}<extra>" + label(name) + "</extra>",
            }
        )
    share = quantity.endswith(("_accuracy", "_share"))
    return picture(
        traces,
        curves_sentence(result, quantity).striptags(),
        height=430,
        showlegend=True,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        xaxis={"title": {"text": AGAINST[against]}, "rangemode": "tozero"},
        yaxis={"title": {"text": QUANTITIES.get(quantity, quantity)}, **({"tickformat": ".0%"} if share else {})},
    )

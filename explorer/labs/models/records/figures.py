"""Held-out figures and training curves as pictures, sentences and tables, from plain results."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from explorer.charts import SERIES, Look, Picture, axis, bars, chart, error_bars, level, line
from explorer.charts.words import caption, label, prose, strong
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
    """Which model leads where their figures can be compared; where they cannot, from where to where they reach."""
    said = KINDS[kind][1][0][1]
    found = _measured(result, kind)
    if not found:
        return prose("None of these models was measured on this.")
    best, measure = max(found, key=lambda pair: pair[1].value)
    if kind == "masks":
        return prose(f"{said[0].upper()}{said[1:]}: ", *_reach(found), ".")
    level = sum(one.value == measure.value for _, one in found)
    leads = " leads: " if len(found) > 1 else ": "
    if level > 1:
        leads = f" and {level - 1} more share the lead: "
    return prose(strong(best), leads, strong(measure.shown), f" ({said}).")


def scores_notes(result: ScoresResult, kind: str = "masks") -> Markup:
    """Each model's figure with its error, over what it was measured, and what to compare it with."""
    found = _measured(result, kind)
    if not found:
        return Markup("")
    shown = ", ".join(f"{model} {measure.shown_with_error}" for model, measure in found)
    parts = [f"{shown} (over {' or '.join(dict.fromkeys(measure.over for _, measure in found))})."]
    if kind == "masks" and len(found) > 1:
        parts.append(
            " Compare only models that share a vocabulary: RoBERTa's and ALBERT's pieces differ, so their masked tokens do too."
        )
    if kind == "pairs":
        parts.append(" Half of the pairs are of each class, so 50% is chance.")
    return caption(*parts)


def _measured(result: ScoresResult, kind: str) -> list[tuple[str, Measure]]:
    """The models that have the first figure of this kind, with it."""
    first, _ = KINDS[kind][1][0]
    return [(entry.model, measure) for entry in result.models for measure in entry.measures if measure.name == first]


def _reach(found: Sequence[tuple[str, Measure]]) -> list[str]:
    (low_model, low), (high_model, high) = (choose(found, key=lambda pair: pair[1].value) for choose in (min, max))
    if low.value == high.value:
        return [strong(high.shown), f" by {high_model if len(found) == 1 else 'each of them'}"]
    return ["from ", strong(low.shown), f" ({low_model}) to ", strong(high.shown), f" ({high_model})"]


def scores_figure(result: ScoresResult, kind: str = "masks") -> Picture:
    """Bars by model, a colour a measure; models that were not measured on it are left out."""
    measures = KINDS[kind][1]
    models = [entry for entry in result.models if any(_find(entry, name) for name, _ in measures)]
    names = [label(entry.model) for entry in models]
    traces = []
    for (name, said), colour in zip(measures, SERIES, strict=False):
        found = [_find(entry, name) for entry in models]
        values = [one.value if one else None for one in found]
        texts = ["" if value is None else f"{100 * value:.1f}" for value in values]
        spread = error_bars((one.standard_error if one else None for one in found), colour="@muted")
        shown, hover = [one.shown_with_error if one else "" for one in found], f"%{{y}}, {said}: %{{customdata}}"
        traces.append(
            bars(names, values, colour, said, texts=texts, at="auto", error_x=spread, customdata=shown, hover=hover)
        )
    chance = [level(0.5, "@muted", dash="dot", upright=True)] if kind == "pairs" else []
    across, down = axis("held-out text", percent=True, span=(0, 1)), axis(down=True, grid=False)
    look: Look = {"height": 140 + 58 * len(names), "legend": True, "barmode": "group", "bargap": 0.25}
    return chart(scores_sentence(result, kind), traces, across, down, chance, **look)


def _find(entry: ModelScores, name: str) -> Measure | None:
    return next((measure for measure in entry.measures if measure.name == name), None)


def scores_view(result: ScoresResult) -> Markup:
    """Every figure of every model with its standard error, the date and the command that measures it again."""
    note = caption("± is one standard error in points, as if the answers were independent.")
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
    """From where to where the curves end."""
    shown = [(name, value) for name, _, value in _ends(result, quantity) if value is not None]
    if not shown:
        return prose("None of these models logged this: choose another quantity.")
    (low_name, low), (high_name, high) = (choose(shown, key=lambda pair: pair[1]) for choose in (min, max))
    parts: list[str] = [f"{QUANTITIES.get(quantity, quantity)} at the end: "]
    if low == high:
        return prose(*parts, strong(f"{high:.2f}"), f" of {high_name if len(shown) == 1 else 'each of them'}.")
    return prose(*parts, "from ", strong(f"{low:.2f}"), f" ({low_name}) to ", strong(f"{high:.2f}"), f" ({high_name}).")


def curves_notes(result: CurvesResult, quantity: str = "mlm_loss") -> Markup:
    """Where each ended, which trained longest, who is left out and why."""
    ends = _ends(result, quantity)
    shown = [(name, curve, value) for name, curve, value in ends if value is not None]
    parts: list[str] = []
    if shown:
        named, longest, _ = max(shown, key=lambda entry: entry[1].tokens[-1])
        parts += [
            f"At the end: {', '.join(f'{name} {value:.2f}' for name, _, value in shown)}. The longest training, "
            f"{named.split(' (')[0]}'s, saw {longest.tokens[-1] / 1e6:.1f} million tokens in "
            f"{longest.seconds[-1] / 60:.0f} minutes on two CPU cores.",
        ]
    if len(ends) < len(result.curves):
        parts.append(" ELECTRA's generator and discriminator were trained together: one log, one line.")
    for name, curve, value in ends:
        if shown and value is None:
            logged = QUANTITIES.get(curve.values[0][0], curve.values[0][0])
            parts.append(f" {name} is left out: it was trained on, and logged, {logged}.")
    if result.without:
        parts.append(f" No log was kept of {', '.join(result.without)}, trained before the app kept any.")
    return caption(*parts) if parts else Markup("")


def _ends(result: CurvesResult, quantity: str) -> list[tuple[str, Curve, float | None]]:
    """Each training with its last value; None where it did not log this."""
    return [(name, curve, _last(curve, quantity)) for name, curve in trainings(result, quantity)]


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


def curves_figure(result: CurvesResult, quantity: str = "mlm_loss", against: str = "tokens") -> Picture:
    """One line a model."""
    traces = []
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

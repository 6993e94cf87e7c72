"""Held-out figures as pictures, sentences and tables, from plain results."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from explorer.charts import SERIES, Look, Picture, axis, bars, chart, error_bars, level
from explorer.charts.words import caption, label, prose, strong
from explorer.labs.models.schema import ModelScores, ScoresResult
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
    """Say which model leads if their figures can be compared; else, from where to where they reach."""
    said = KINDS[kind][1][0][1]
    found = _measured(result, kind)
    if not found:
        return prose("None of these models was measured on this.")
    best, measure = max(found, key=lambda pair: pair[1].value)
    if kind == "masks":  # no model leads: their masked tokens differ
        return prose(f"{said[0].upper()}{said[1:]}: ", *_reach(found), ".")
    level = sum(one.value == measure.value for _, one in found)
    leads = " leads: " if len(found) > 1 else ": "
    if level > 1:
        leads = f" and {level - 1} more share the lead: "
    return prose(strong(best), leads, strong(measure.shown), f" ({said}).")


def scores_notes(result: ScoresResult, kind: str = "masks") -> Markup:
    """State each model's figure with its error, over what it was measured, and what to compare it with."""
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
    """Return the models that have the first figure of this kind, with it."""
    first, _ = KINDS[kind][1][0]
    return [(entry.model, measure) for entry in result.models for measure in entry.measures if measure.name == first]


def _reach(found: Sequence[tuple[str, Measure]]) -> list[str]:
    (low_model, low), (high_model, high) = (choose(found, key=lambda pair: pair[1].value) for choose in (min, max))
    if low.value == high.value:
        return [strong(high.shown), f" by {high_model if len(found) == 1 else 'each of them'}"]
    return ["from ", strong(low.shown), f" ({low_model}) to ", strong(high.shown), f" ({high_model})"]


def scores_figure(result: ScoresResult, kind: str = "masks") -> Picture:
    """Draw bars by model, a colour a measure; models that were not measured on it are left out."""
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
    """Tabulate every figure of every model with its standard error, the date and the command that measures it again."""
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

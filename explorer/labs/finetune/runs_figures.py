"""Runs in one plot: those whose losses and metrics can stand on the same axes."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from explorer.charts import Picture
from explorer.charts.words import prose
from explorer.runs.record import RunRecord
from explorer.runs.report import curves_figure, metric_title

FIRST = 3
"""How many runs the tab opens with."""

_NAMED = 3
"""How many of those left out are named."""


def of_one_task(records: Sequence[RunRecord]) -> list[RunRecord]:
    """Return the first runs that have a curve, all of the first one's task and judged by the same metric."""
    curved = [record for record in records if record.losses]
    same = [
        record for record in curved if record.spec.task == curved[0].spec.task and _axes(record) == _axes(curved[0])
    ]
    return same[:FIRST]


def comparable(records: Sequence[RunRecord]) -> tuple[list[RunRecord], list[RunRecord]]:
    """Divide runs into those that can be drawn beside the first one, and those whose metric or loss needs an axis of
    its own.
    """
    together = [record for record in records if _axes(record) == _axes(records[0])]
    return together, [record for record in records if record not in together]


def runs_sentence(records: Sequence[RunRecord]) -> Markup:
    """Say what the two curves are, and which of the chosen runs they leave out."""
    if not records:
        return prose("Choose runs to draw.")
    drawn, left = comparable(records)
    metric = metric_title(drawn[0].leading_metric)
    parts = [f"Training loss above, {metric} on held-out rows below."]
    if left:
        named = ", ".join(f"“{record.name}” ({metric_title(record.leading_metric)})" for record in left[:_NAMED])
        more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
        whose = (
            "whose metric or loss is of another kind"
            if len(left) == 1
            else "whose metrics or losses are of other kinds"
        )
        parts.append(f" Not drawn: {named}{more}, {whose}.")
    return prose(*parts)


def runs_figure(records: Sequence[RunRecord]) -> Picture | str:
    """Draw the curves of those that can stand on the same axes."""
    drawn = comparable(records)[0] if records else []
    names = ", ".join(record.name for record in drawn)
    return curves_figure(drawn, f"Loss and held-out metric of {names}.") if drawn else ""


def _axes(record: RunRecord) -> tuple[object, ...]:
    """Return what two runs must have in common to share axes: the metric, the kind of task, and what is learned of it."""
    from_teacher = "" if record.from_nothing or not record.spec.teacher else "taught"
    return record.leading_metric, record.kind, record.from_nothing, from_teacher

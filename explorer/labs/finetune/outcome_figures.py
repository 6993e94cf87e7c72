"""What a finished run gets right and wrong: the confusion matrix or the scatter, and the mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from explorer.charts import MAGNITUDE, Picture, Trace, axis, chart, colorbar, heat, line, points
from explorer.charts.words import caption, percent, quoted, strong
from explorer.runs.record import Outcome, RunRecord
from explorer.tasks.task import CLASSES
from explorer.tuning.kinds import kind_of

AROUND = 70
"""Characters of a text on each side of where its answer begins."""


def label_text(record: RunRecord, label: float) -> str:
    """Write a class by its name, a score by its number."""
    return record.labels[int(label)] if record.labels else f"{label:.2f}"


def outcome_figure(record: RunRecord) -> Picture | str:
    """Draw the confusion matrix of a classification, true against predicted scores of a regression; "" for other kinds."""
    if record.outcome is None or _has_no_classes(record):
        return ""
    return _confusion(record, record.outcome) if record.labels else _scatter(record.outcome)


def _has_no_classes(record: RunRecord) -> bool:
    """Return whether a run has neither classes nor scores to compare: it fills masks, or its answers are texts."""
    return kind_of(record.spec.method, record.kind).slug != CLASSES


def _confusion(record: RunRecord, outcome: Outcome) -> Picture:
    counts = outcome.confusion
    names = [name if len(name) <= 18 else name[:17] + "…" for name in record.labels]
    right = sum(counts[place][place] for place in range(len(counts)))
    texts = [[str(count) for count in row] for row in counts]
    drawn = confusion_cells(names, names, counts, texts, bar=colorbar("share of the<br>true class", ".0%"))
    said = f"Confusion matrix: {right} of {sum(map(sum, counts))} right."
    across, down = axis("predicted", names=True, top=True), axis("true", names=True, down=True)
    return chart(said, drawn, across, down, height=max(260, 120 + 60 * len(names)), above=60)


def confusion_cells(
    across: Sequence[str],
    down: Sequence[str],
    counts: Sequence[Sequence[int]],
    texts: Sequence[Sequence[str]],
    **look: Any,
) -> list[Trace]:
    """Draw the cells of a confusion matrix, each coloured by its share of its true class; look: as of `heat`."""
    shares = [[count / (sum(row) or 1) for count in row] for row in counts]  # a class without held-out examples
    hover = "%{text} examples of %{y} taken for %{x} (%{z:.1%} of the true class)"
    return heat(across, down, shares, MAGNITUDE, texts=texts, size=22, text=texts, gap=3, hover=hover, **look)


def _scatter(outcome: Outcome) -> Picture:
    true, predicted = [label for label, _ in outcome.points], [guess for _, guess in outcome.points]
    ends = [min(true, default=0.0), max(true, default=1.0)]
    agreed = line(ends, ends, "@muted", width=2, dash="dot")
    look = {"opacity": 0.6}
    dots = points(true, predicted, "@first", marker=look, hover="true %{x:.2f}, predicted %{y:.2f}")
    said = "Predicted against true scores; on the dotted line they agree."
    return chart(said, [agreed, dots], axis("true score"), axis("predicted score"), height=340)


def mistakes(record: RunRecord, most: int = 8) -> Markup:
    """Tabulate the most confident mistakes; the visitor's own texts in it are escaped."""
    if record.outcome is not None and record.outcome.judged:
        return _judged(record, record.outcome, most)
    if record.outcome is None or _has_no_classes(record):
        return Markup("")
    if not record.outcome.wrong:
        return caption("No mistake on the held-out examples.")
    rows = [
        (
            one.text if one.second is None else f"{one.text} / {one.second}",
            label_text(record, one.label),
            label_text(record, one.predicted),
            "" if one.probability is None else percent(one.probability),
        )
        for one in record.outcome.wrong[:most]
    ]
    title = "Most confident mistakes" if record.labels else "Farthest from the true score"
    return quoted(("text", "true", "predicted", "confidence" if record.labels else ""), rows, title, "mistakes")


def _around(context: str, wanted: Sequence[str]) -> str:
    """Return what of a text stands around the first of the wanted words."""
    place = next((context.index(one) for one in wanted if one and one in context), 0)
    begin, end = max(0, place - AROUND), place + AROUND
    return ("…" if begin else "") + context[begin:end].strip() + ("…" if end < len(context) else "")


def _judged(record: RunRecord, outcome: Outcome, most: int) -> Markup:
    """Tabulate what was asked, what is right and what the run said, of held-out examples; the lowest score first."""
    shown = sorted(outcome.judged, key=lambda one: 1.0 if one.score is None else one.score)[:most]
    rows = [
        (
            one.asked if one.context is None else f"{one.asked} / {_around(one.context, (*one.right, one.said))}",
            " / ".join(one.right) or "no answer",
            strong(one.said or "no answer"),
        )
        for one in shown
    ]
    return quoted((record.columns[0] if record.columns else "asked", "right", "the run"), rows, "Held out", "mistakes")

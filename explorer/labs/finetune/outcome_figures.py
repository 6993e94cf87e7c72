"""What a finished run gets right and wrong: the confusion matrix or the scatter, and the mistakes."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from explorer.backend.runs.record import Outcome, RunRecord
from explorer.figures import CIVIDIS, cell_texts, percent, picture
from explorer.tables import Table
from explorer.tuning.methods import find_method


def label_text(record: RunRecord, label: float) -> str:
    """A class by its name, a score by its number."""
    return record.labels[int(label)] if record.labels else f"{label:.2f}"


def outcome_figure(record: RunRecord) -> dict[str, Any] | str:
    """The confusion matrix of a classification, true against predicted scores of a regression; empty without a result."""
    if record.outcome is None or _is_of_text(record):
        return ""
    return _confusion(record, record.outcome) if record.labels else _scatter(record.outcome)


def _is_of_text(record: RunRecord) -> bool:
    """Whether it fills masks (a student on plain text): it has neither classes nor scores to compare."""
    return find_method(record.spec.method).fills_masks


def _confusion(record: RunRecord, outcome: Outcome) -> dict[str, Any]:
    counts = [list(row) for row in outcome.confusion]
    names = [name if len(name) <= 18 else name[:17] + "…" for name in record.labels]
    total = sum(map(sum, counts))
    right = sum(counts[place][place] for place in range(len(counts)))
    shares = [[count / (sum(row) or 1) for count in row] for row in counts]
    trace: dict[str, Any] = {
        "type": "heatmap",
        "z": shares,
        "x": names,
        "y": names,
        "text": [[str(count) for count in row] for row in counts],
        "colorscale": CIVIDIS,
        "zmin": 0,
        "zmax": 1,
        "xgap": 3,
        "ygap": 3,
        "colorbar": {"tickformat": ".0%", "title": {"text": "share of the<br>true class"}, "thickness": 14},
        "hovertemplate": "%{text} examples of %{y} taken for %{x} (%{z:.1%} of the true class)<extra></extra>",
    }
    return picture(
        [trace, cell_texts(trace, trace["text"], 22)],
        f"Confusion matrix: {right} of {total} right.",
        height=max(260, 120 + 60 * len(names)),
        xaxis={"title": {"text": "predicted"}, "side": "top", "showgrid": False, "type": "category"},
        yaxis={"title": {"text": "true"}, "autorange": "reversed", "showgrid": False, "type": "category"},
        margin={"l": 8, "r": 8, "t": 60, "b": 8},
    )


def _scatter(outcome: Outcome) -> dict[str, Any]:
    true = [label for label, _ in outcome.points]
    predicted = [guess for _, guess in outcome.points]
    low, high = min(true, default=0.0), max(true, default=1.0)
    line = {"type": "scatter", "mode": "lines", "x": [low, high], "y": [low, high], "hoverinfo": "skip"}
    dots = {
        "type": "scatter",
        "mode": "markers",
        "x": true,
        "y": predicted,
        "marker": {"color": "@first", "size": 9, "opacity": 0.6},
        "hovertemplate": "true %{x:.2f}, predicted %{y:.2f}<extra></extra>",
    }
    return picture(
        [{**line, "line": {"color": "@muted", "dash": "dot", "width": 2}}, dots],
        "Predicted against true scores; on the dotted line they agree.",
        height=340,
        xaxis={"title": {"text": "true score"}},
        yaxis={"title": {"text": "predicted score"}},
    )


def mistakes(record: RunRecord, most: int = 8) -> Markup:
    """The most confidently wrong examples, as a table; the visitor's own texts in it are escaped."""
    if record.outcome is None or _is_of_text(record):
        return Markup("")
    if not record.outcome.wrong:
        return Markup('<p class="caption">No mistake on the held-out examples.</p>')
    rows = Markup("")
    for one in record.outcome.wrong[:most]:
        confidence = "" if one.probability is None else percent(one.probability)
        text = one.text if one.second is None else f"{one.text} / {one.second}"
        rows += Markup("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>").format(
            text, label_text(record, one.label), label_text(record, one.predicted), confidence
        )
    confidence_head = Markup("<th>confidence</th>") if record.labels else Markup("<td></td>")
    title = "The most confidently wrong" if record.labels else "Farthest from the true score"
    return Markup(
        '<table class="mistakes"><caption>{}</caption><thead><tr><th>text</th><th>true</th><th>predicted</th>{}</tr>'
        "</thead><tbody>{}</tbody></table>"
    ).format(title, confidence_head, rows)


def mistakes_table(record: RunRecord) -> Table:
    """text, second, label, predicted, probability of the mistakes that are kept."""
    wrong = record.outcome.wrong if record.outcome else ()
    rows = [
        (one.text, one.second, label_text(record, one.label), label_text(record, one.predicted), one.probability)
        for one in wrong
    ]
    return Table.of(("text", "second", "label", "predicted", "probability"), rows)

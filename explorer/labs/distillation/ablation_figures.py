"""The ablation: the same student without each term of its loss, beside DistilBERT's table."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from explorer.backend.runs.comparing import ALPHA, compare, without_a_test
from explorer.backend.runs.record import RunRecord
from explorer.figures import percent, picture, prose, strong
from explorer.labs.distillation.train_figures import metric_title, score_text
from explorer.labs.distillation.train_schema import Ablated
from explorer.tables import Table
from explorer.tuning.spec import RunSpec
from explorer.tuning.students import Ablation, ablated


def lines_of(result: Ablated) -> tuple[tuple[Ablation, RunRecord], ...]:
    """Each line of the ablation with its run."""
    return tuple(zip(ablated(_complete(result)), result.records, strict=True))


def _complete(result: Ablated) -> RunSpec:
    return result.records[0].spec


def ablation_table(result: Ablated) -> Table:
    """line, run, status, score, change (from all three terms), agreement, distilbert (change of its GLUE average)."""
    base = result.records[0].score
    rows = [
        (
            line.slug,
            record.run_id,
            record.status.value,
            record.score,
            _change(record, base),
            agreement(record),
            line.change,
        )
        for line, record in lines_of(result)
    ]
    return Table.of(("line", "run", "status", "score", "change", "agreement", "distilbert"), rows)


def agreement(record: RunRecord) -> float | None:
    """With the teacher, on all held-out examples; None before the end."""
    return next(iter(record.outcome.metrics.values())).get("agreement") if record.outcome else None


def _change(record: RunRecord, base: float | None) -> float | None:
    return None if record.outcome is None or record.score is None or base is None else record.score - base


def ablation_sentence(result: Ablated) -> Markup:
    """Which line costs most, where any does, and which differences are beyond chance."""
    done = [(line, record) for line, record in lines_of(result) if record.outcome is not None]
    if len(done) < len(result.records):
        active = next((record for record in result.records if record.status.is_active), None)
        now = f" Now {active.name}: step {active.step} of {active.steps or '?'}." if active else ""
        return prose(strong(f"{len(done)} of {len(result.records)}"), " students have ended.", now)
    base = result.records[0]
    worst = min(done[1:], key=lambda pair: pair[1].score or 0.0)
    lost = (base.score or 0.0) - (worst[1].score or 0.0)
    found = [". No line costs anything: none of the other four scores less. "]
    if lost > 0:
        costs = f". What costs most is the line “{worst[0].title}”: {metric_title(base)} {score_text(base, worst[1].score)}, "
        found = [costs, strong(f"{100 * lost:.1f} points less"), ". "]
    labels = f" and {base.spec.labelled} known labels" if base.spec.labelled else ""
    all_three = (f"With all three terms{labels} the student reaches ", strong(score_text(base, base.score)))
    return prose(*all_three, *found, _beyond_chance(done, "examples" if result.teacher else "words"))


def _beyond_chance(done: list[tuple[Ablation, RunRecord]], rows: str) -> str:
    """Which lines differ from all three terms, beyond chance."""
    pairs = [(0, place) for place in range(1, len(done))]
    verdict = compare([record for _, record in done], pairs)
    if not verdict.p:
        return without_a_test(verdict, rows)
    differ = [f"“{done[place][0].title}”" for _, place in pairs if verdict.p[0, place] < ALPHA]
    said = (
        f"beyond chance these lines differ from it: {', '.join(differ)}" if differ else "no line differs beyond chance"
    )
    asked = (
        f"{verdict.title} on the same {verdict.rows:,} {rows}, 5% for all {len(pairs)} lines together, Holm's allowance"
    )
    return f"{said[0].upper()}{said[1:]} ({asked})."


def ablation_figure(result: Ablated) -> dict[str, Any] | str:
    """The score of every line that has one, with the agreement beside it."""
    scored = [(line, record) for line, record in lines_of(result) if record.outcome and record.score is not None]
    if not scored:
        return ""
    places = list(range(len(scored)))
    bars = (
        (metric_title(scored[0][1]), [record.score for _, record in scored], "@accent"),
        ("agreement with the teacher", [agreement(record) for _, record in scored], "@third"),
    )
    traces = [
        {
            "type": "bar",
            "orientation": "h",
            "name": name,
            "y": places,
            "x": values,
            "text": [f"{value:.3f}" if value is not None else "" for value in values],
            "textposition": "inside",
            "insidetextanchor": "end",
            "insidetextfont": {"color": "@inside", "size": 14},
            "constraintext": "none",
            "marker": {"color": colour},
            "hovertemplate": f"{name} %{{x:.4f}}<extra></extra>",
        }
        for name, values, colour in bars
        if any(value is not None for value in values)
    ]
    ticks = {"tickmode": "array", "tickvals": places, "ticktext": [line.title for line, _ in scored]}
    return picture(
        traces,
        ablation_sentence(result).striptags(),
        height=90 + 60 * len(scored),
        barmode="group",
        bargap=0.3,
        showlegend=True,
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
        xaxis={"range": [min(0.0, *(record.score or 0.0 for _, record in scored)), 1.02]},
        yaxis={"autorange": "reversed", "showgrid": False, **ticks},
    ) | {"low": 90 + 42 * len(scored)}


def ablation_list(result: Ablated) -> Markup:
    """Change by change, beside DistilBERT's."""
    base = result.records[0].score
    rows = Markup("")
    for line, record in lines_of(result):
        change = _change(record, base)
        agreed = agreement(record)
        cells = (
            line.title,
            score_text(record, record.score) if record.outcome else record.status.value,
            "" if change is None or line.change is None else _signed(100 * change, 1),
            "" if agreed is None else percent(agreed),
            "" if line.change is None else _signed(line.change, 2),
        )
        rows += Markup("<tr>{}</tr>").format(Markup("").join(Markup("<td>{}</td>").format(cell) for cell in cells))
    here = Markup("Here the labels take the place of L<sub>mlm</sub>, on one task and on other sentences than GLUE's.")
    if result.teacher is None:
        here = Markup("Here it is the same on far less text, and measured on the hidden words themselves.")
    heads = ("student", metric_title(result.records[0]), "change (points)", "agrees", "DistilBERT (GLUE average)")
    head = Markup("").join(Markup("<th>{}</th>").format(name) for name in heads)
    return Markup(
        '<table class="quoted"><thead><tr>{}</tr></thead><tbody>{}</tbody></table><p class="caption">The last column is quoted '
        "from Sanh et al. 2019, Table 4: there the terms are L<sub>ce</sub> (soft targets), L<sub>cos</sub> and L<sub>mlm</sub> "
        "(the true tokens), in pretraining. {}</p>"
    ).format(head, rows, here)


def _signed(value: float, digits: int) -> str:
    text = f"{value:+.{digits}f}" if round(value, digits) else f"{0:.{digits}f}"
    return text.replace("-", "−")

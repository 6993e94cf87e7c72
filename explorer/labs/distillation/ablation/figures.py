"""The ablation: the same student without each term of its loss, beside DistilBERT's table."""

from __future__ import annotations

from markupsafe import Markup

from explorer.charts import Picture, axis, bars, chart, rows
from explorer.charts.words import caption, percent, prose, quoted, signed, strong
from explorer.labs.distillation.train.schema import Ablated
from explorer.runs.comparing import ALPHA, compare, without_a_test
from explorer.runs.record import RunRecord
from explorer.runs.report import metric_text, metric_title, score_text
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
    return Table.each(
        lines_of(result),
        line=lambda pair: pair[0].slug,
        run=lambda pair: pair[1].run_id,
        status=lambda pair: pair[1].status.value,
        score=lambda pair: pair[1].score,
        change=lambda pair: _change(pair[1], base),
        agreement=lambda pair: agreement(pair[1]),
        distilbert=lambda pair: pair[0].change,
    )


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
        costs = (
            f". What costs most is the line “{worst[0].title}”: {metric_text(base.leading_metric, worst[1].score)}, "
        )
        found = [costs, strong(f"{100 * lost:.1f} points less"), ". "]
    labels = f" and {base.spec.labelled} known labels" if base.spec.labelled else ""
    all_three = (
        f"With all three terms{labels} the student reaches ",
        strong(score_text(base.leading_metric, base.score)),
    )
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


def ablation_figure(result: Ablated) -> Picture | str:
    """The score of every line that has one, with the agreement beside it."""
    scored = [(line, record) for line, record in lines_of(result) if record.outcome and record.score is not None]
    if not scored:
        return ""
    records = [record for _, record in scored]
    measures = (
        (metric_title(records[0].leading_metric), [record.score for record in records], "@accent"),
        ("agreement with the teacher", [agreement(record) for record in records], "@third"),
    )
    traces = [
        bars(
            range(len(scored)),
            values,
            colour,
            name,
            texts=[f"{value:.3f}" if value is not None else "" for value in values],
            at="inside",
            insidetextfont={"color": "@inside", "size": 14},
            insidetextanchor="end",
            constraintext="none",
            hover=f"{name} %{{x:.4f}}",
        )
        for name, values, colour in measures
        if any(value is not None for value in values)
    ]
    across = axis(span=(min(0.0, *(record.score or 0.0 for record in records)), 1.02))
    down, said = rows([line.title for line, _ in scored]), ablation_sentence(result)
    tall, low = (90 + pixels * len(scored) for pixels in (60, 42))
    return chart(said, traces, across, down, height=tall, low=low, legend=True, barmode="group", bargap=0.3)


def ablation_list(result: Ablated) -> Markup:
    """Change by change, beside DistilBERT's."""
    first = result.records[0]
    rows = []
    for line, record in lines_of(result):
        change, agreed = _change(record, first.score), agreement(record)
        rows.append(
            (
                line.title,
                score_text(record.leading_metric, record.score) if record.outcome else record.status.value,
                "" if change is None or line.change is None else signed(100 * change, 1),
                "" if agreed is None else percent(agreed),
                "" if line.change is None else signed(line.change),
            )
        )
    here = Markup("Here the labels take the place of L<sub>mlm</sub>, on one task and on other sentences than GLUE's.")
    if result.teacher is None:
        here = Markup("Here it is the same on far less text, and measured on the hidden words themselves.")
    heads = ("student", metric_title(first.leading_metric), "change (points)", "agrees", "DistilBERT (GLUE average)")
    source = Markup(
        "The last column is quoted from Sanh et al. 2019, Table 4: there the terms are L<sub>ce</sub> (soft targets), "
        "L<sub>cos</sub> and L<sub>mlm</sub> (the true tokens), in pretraining. "
    )
    return quoted(heads, rows) + caption(source, here)

"""The ablation: the same student without each term of its loss, beside DistilBERT's table."""

from __future__ import annotations

from statistics import fmean

from markupsafe import Markup

from explorer.charts import KEPT, Look, Picture, axis, bars, chart, error_bars, rows
from explorer.charts.words import caption, percent, prose, quoted, signed, strong
from explorer.labs.distillation.train import Ablated
from explorer.maths.intervals import paired_interval
from explorer.runs.comparing import ALPHA, beyond_chance, compare, without_a_test
from explorer.runs.record import RunRecord
from explorer.runs.report import metric_title, score_text
from explorer.runs.seeds import Repeated, differences_p
from explorer.tables import Table
from explorer.tuning.spec import RunSpec
from explorer.tuning.students import Ablation, ablated


def lines_of(result: Ablated) -> tuple[tuple[Ablation, Repeated], ...]:
    """Return each line of the ablation with its runs, a seed each."""
    lines = ablated(_complete(result))
    return tuple((line, Repeated(result.records[place :: len(lines)])) for place, line in enumerate(lines))


def _complete(result: Ablated) -> RunSpec:
    return result.records[0].spec


def ablation_table(result: Ablated) -> Table:
    """line, run, status, score, change (from all three terms), agreement, distilbert (change of its GLUE average), seed."""
    lines = lines_of(result)
    every = [(lines[place % len(lines)][0], record) for place, record in enumerate(result.records)]
    base = {record.spec.seed: record.score for record in lines[0][1].records}
    return Table.each(
        every,
        line=lambda pair: pair[0].slug,
        run=lambda pair: pair[1].run_id,
        status=lambda pair: pair[1].status.value,
        score=lambda pair: pair[1].score,
        change=lambda pair: _change(pair[1], base[pair[1].spec.seed]),
        agreement=lambda pair: agreement(pair[1]),
        distilbert=lambda pair: pair[0].change,
        seed=lambda pair: pair[1].spec.seed,
    )


def agreement(record: RunRecord) -> float | None:
    """Return how often the student answers as the teacher, on all held-out examples; None before the end."""
    return next(iter(record.outcome.metrics.values())).get("agreement") if record.outcome else None


def _change(record: RunRecord, base: float | None) -> float | None:
    return None if record.outcome is None or record.score is None or base is None else record.score - base


def ablation_sentence(result: Ablated) -> Markup:
    """Say which line costs most, if any does, and whether that is beyond chance."""
    done = sum(record.outcome is not None for record in result.records)
    if done < len(result.records):
        active = next((record for record in result.records if record.status.is_active), None)
        now = f" Now {active.name}" if active else ""
        now += f": step {active.step} of {active.steps}." if active and active.steps else "." if active else ""
        return prose(strong(f"{done} of {len(result.records)}"), " students have ended.", now)
    (_, whole), *others = lines_of(result)
    base = whole.first
    line, worst = min(others, key=lambda pair: _reached(pair[1]) or 0.0)
    lost = (_reached(whole) or 0.0) - (_reached(worst) or 0.0)
    labels = f" and {base.spec.labelled} known labels" if base.spec.labelled else ""
    reached = strong(score_text(base.leading_metric, _reached(whole)))
    all_three = (f"With all three terms{labels} the student reaches ", reached, ". ")
    if lost <= 0:
        return prose(*all_three, "No line costs anything: none of the other four scores less.")
    differ = _differing(result)
    # None: there is no test to say it by.
    sure = "" if differ is None else (", more than chance" if line in differ else ", which could be chance")
    return prose(
        *all_three, f"What costs most is the line “{line.title}”: ", strong(f"{100 * lost:.1f} points"), f" less{sure}."
    )


def _differing(result: Ablated) -> list[Ablation] | None:
    """Return the lines that differ from all three terms beyond chance; None if that cannot be said."""
    lines = lines_of(result)
    (_, whole), *others = lines
    # Several seeds are compared by their scores, one seed by its examples.
    if len(whole.records) > 1:
        known = [(line, runs) for line, runs in others if len(runs.scores.keys() & whole.scores.keys()) > 1]
        p = differences_p([(runs.scores, whole.scores) for _, runs in known])
        return [line for (line, _), value in zip(known, p, strict=True) if value < ALPHA] if known else None
    pairs = [(0, place) for place in range(1, len(lines))]
    sure = beyond_chance(result.records, pairs)
    return [lines[place][0] for (_, place), differs in sure.items() if differs] if sure else None


def ablation_notes(result: Ablated) -> str:
    """Name the test that compares the lines with all three terms, and the lines that differ by it; "" before all have
    ended.
    """
    if any(record.outcome is None for record in result.records):
        return ""
    (_, whole), *others = lines_of(result)
    rows = "examples" if result.teacher else "words"
    asked = f"Student's t of the differences between {len(whole.records)} seeds"
    if len(whole.records) < 2:
        verdict = compare(result.records, [(0, place + 1) for place in range(len(others))])
        if not verdict.p:
            return f" {without_a_test(verdict, rows)}"
        asked = f"{verdict.title} on the same {verdict.rows:,} {rows}"
    named = ", ".join(f"“{line.title}”" for line in _differing(result) or [])
    said = (
        f"Beyond chance these lines differ from all three terms: {named}" if named else "No line differs beyond chance"
    )
    return f" {said} ({asked}, 5% for all {len(others)} lines together, Holm's allowance)."


def _reached(runs: Repeated) -> float | None:
    """Return the mean of the runs' scores; None if the metric is undefined."""
    return runs.mean if runs.scores else None


def ablation_figure(result: Ablated) -> Picture | str:
    """Draw the score of every line that has one, with the agreement beside it; over several seeds their mean and its
    spread.

    Before any has one, what was there stays.
    """
    scored = [(line, runs) for line, runs in lines_of(result) if runs.scores]
    if not scored:
        return KEPT if any(record.status.is_active for record in result.records) else ""
    several = len(scored[0][1].records) > 1
    metric = metric_title(scored[0][1].first.leading_metric)
    measures = (
        (f"{metric}, mean ± s.d." if several else metric, [runs.mean for _, runs in scored], "@accent"),
        ("agreement with the teacher", [_agreed(runs) for _, runs in scored], "@third"),
    )
    spread: Look = {"error_x": error_bars([runs.spread for _, runs in scored], thickness=2, width=8)} if several else {}
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
            **(spread if colour == "@accent" else {}),
        )
        for name, values, colour in measures
        if any(value is not None for value in values)
    ]
    across = axis(span=(min(0.0, *(runs.mean for _, runs in scored)), 1.02))  # a correlation may be below 0
    down, said = rows([line.title for line, _ in scored]), ablation_sentence(result)
    tall, low = (90 + pixels * len(scored) for pixels in (60, 42))
    return chart(said, traces, across, down, height=tall, low=low, legend=True, barmode="group", bargap=0.3)


def ablation_list(result: Ablated) -> Markup:
    """List each change beside DistilBERT's."""
    (_, whole), first, rows = lines_of(result)[0], result.records[0], []
    for line, runs in lines_of(result):
        agreed = _agreed(runs)
        rows.append(
            (
                line.title,
                score_text(first.leading_metric, runs.mean) if runs.scores else runs.first.status.value,
                "" if line.change is None else _changed(runs, whole),
                "" if agreed is None else percent(agreed),
                "" if line.change is None else signed(line.change),
            )
        )
    here = Markup("Here the labels take the place of L<sub>mlm</sub>, on one task and on other sentences than GLUE's.")
    if result.teacher is None:
        here = Markup("Here it is the same on far less text, and measured on the hidden words themselves.")
    heads = (
        "student",
        metric_title(first.leading_metric),
        "change (points, 95% interval)" if len(whole.records) > 1 else "change (points)",
        "agrees",
        "DistilBERT (GLUE average)",
    )
    source = Markup(
        "The last column is quoted from Sanh et al. 2019, Table 4: there the terms are L<sub>ce</sub> (soft targets), "
        "L<sub>cos</sub> and L<sub>mlm</sub> (the true tokens), in pretraining. "
    )
    return quoted(heads, rows) + caption(source, here, ablation_notes(result))


def _agreed(runs: Repeated) -> float | None:
    """Return the mean agreement of the runs that have ended."""
    found = [value for record in runs.records if (value := agreement(record)) is not None]
    return fmean(found) if found else None


def _changed(runs: Repeated, whole: Repeated) -> str:
    """Say by how much the runs score more than with all three terms, by seed; with an interval if there are two seeds."""
    shared = sorted(runs.scores.keys() & whole.scores.keys())
    if not shared:
        return ""
    if len(shared) < 2:
        return signed(100 * (runs.scores[shared[0]] - whole.scores[shared[0]]), 1)
    found = paired_interval([runs.scores[seed] for seed in shared], [whole.scores[seed] for seed in shared])
    mean, low, high = (signed(100 * value, 1) for value in (found.mean, found.low, found.high))
    return f"{mean} ({low} to {high})"

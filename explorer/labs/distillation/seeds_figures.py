"""What a teacher is worth over several seeds: every seed's students, the mean difference, and its interval."""

from __future__ import annotations

from statistics import fmean

from markupsafe import Markup

from explorer.charts import Axis, Look, Panel, Picture, Trace, axis, error_bars, line, picture, points, strokes
from explorer.charts.words import caption, prose, quoted, signed, strong
from explorer.labs.distillation.train import Seeded, SeedScores
from explorer.labs.distillation.train_figures import COLOURS, SYMBOLS
from explorer.maths.intervals import PairedInterval
from explorer.runs.record import RunRecord, RunStatus
from explorer.runs.report import metric_title, score_text
from explorer.tables import Table
from explorer.tuning.students import labels_only

ROWS = ("with teacher", "without", "difference")


def seeds_table(result: Seeded) -> Table:
    """seed, with_teacher, without_teacher, difference: the leading metric on all held-out examples, empty before a run's end."""
    rows = []
    for pair in result.pairs:
        scores = [record.score if record.outcome else None for record in pair]
        # The run without a teacher has no companion.
        alone = len(pair) == 1 and labels_only(pair[0].spec) == pair[0].spec
        with_teacher, without = (None, *scores) if alone else (*scores, None)[:2]
        both = None if with_teacher is None or without is None else with_teacher - without
        rows.append((pair[0].spec.seed, with_teacher, without, both))
    return Table.of(("seed", "with_teacher", "without_teacher", "difference"), rows)


def known(record: RunRecord) -> str:
    """Say what a student is told without a teacher, as it follows `on`."""
    if not record.spec.teacher:
        return "the hidden words"
    return f"{record.spec.labelled} labels" if record.spec.labelled else "all labels"


def seeds_sentence(result: Seeded) -> Markup:
    """Say whether the teacher helps, harms, or makes no difference that can be told from chance."""
    interval = result.interval
    waiting = sum(any(record.status.is_active for record in pair) for pair in result.pairs)
    going = f" {waiting} of {len(result.pairs)} seeds still train." if waiting else ""
    if interval is None:
        said = "One seed says little: another seed gives another difference."
        return prose(said, going or " Set Seeds to 5 and train, to have an interval.")
    verdict = {1: "The teacher helps", 0: "No difference beyond chance", -1: "The teacher harms"}[interval.direction]
    return prose(strong(f"{verdict}: {in_points(interval.mean)} points"), f" over {interval.pairs} seeds.", going)


def seeds_notes(result: Seeded) -> str:
    """State the interval, both means, and what each student knew and was measured on; "" before two seeds have ended."""
    interval, first = result.interval, result.pairs[0][0]
    if interval is None:
        return ""
    metric = first.leading_metric
    means = [fmean(values) for values in zip(*(one.scores for one in result.measured), strict=True)]
    return (
        f"95% interval {in_points(interval.low)} to {in_points(interval.high)}. The student, {_layers(first)}, reaches "
        f"{metric_title(metric)} {score_text(metric, means[0])} with its teacher and {score_text(metric, means[1])} on "
        f"{known(first)} alone. {_conditions(first)}{_learned(result)} "
    )


def _conditions(record: RunRecord) -> str:
    """Say what was known to whom, and what it was measured on."""
    rows = max(record.outcome.rows.values()) if record.outcome else 0
    held_out = f"All are measured on the same {rows:,} held-out examples."
    if not record.spec.teacher:
        return f"All are measured on the same {rows:,} hidden words of sentences that are held out."
    texts = f"{record.examples:,} texts" if record.examples else "all texts"
    if not record.spec.labelled:
        known_to = "both know every label" if record.spec.hard_weight else "only the one without a teacher knows labels"
        return f"Both read {texts}, and {known_to}. {held_out}"
    labels = f"{record.spec.labelled} labels, other ones in every seed"
    if not record.spec.hard_weight:
        return f"One reads {texts} with its teacher's answers and no label, the other {labels}. {held_out}"
    return f"Both know the same {labels}; one also reads {texts} with its teacher's answers. {held_out}"


def _layers(record: RunRecord) -> str:
    count = record.spec.student_layers
    return f"{count} layer{'s' if count != 1 else ''} of {record.spec.model}"


def _learned(result: Seeded) -> str:
    """Say from how many labels the teacher has its knowledge, if its students know fewer."""
    teacher = result.teacher
    if teacher is None or not result.pairs[0][0].spec.labelled:
        return ""
    labels = teacher.spec.labelled or teacher.spec.examples
    learned = f"has learned from {f'{labels:,}' if labels else 'all'} labels"
    if teacher.status is RunStatus.IMPORTED:
        learned = "was trained elsewhere"
    return f" The teacher, {teacher.short_name} of {teacher.spec.model}, {learned}."


def in_points(difference: float) -> str:
    """Write a difference of shares in percentage points, with its sign."""
    return signed(100 * difference, 1)


def seeds_figure(result: Seeded) -> Picture | str:
    """Draw every seed's two students, joined, and the means; beside them what the teacher adds, with the interval."""
    measured, interval = result.measured, result.interval
    if interval is None:
        return ""
    metric, teacher = result.pairs[0][0].leading_metric, result.teacher.score if result.teacher else None
    columns = [[one.scores[place] for one in measured] for place in (0, 1)]
    above = [line(one.scores, ROWS[:2], "@muted", width=1.5) for one in measured]
    for values, row, colour, symbol in zip(columns, ROWS, COLOURS, SYMBOLS, strict=False):
        above.append(_dots(measured, values, row, colour, symbol))
    for values, row, colour in zip(columns, ROWS, COLOURS, strict=False):
        mean, hover = fmean(values), f"mean {row}: %{{x:.4g}}"
        above.append(strokes([mean], [row], colour, f"mean {row}", size=30, hover=hover))
    if teacher is not None:
        above.append(_teacher(teacher))
    differences = [100 * (one.scores[0] - one.scores[1]) for one in measured]
    below = [_dots(measured, differences, ROWS[2], "@text", "square"), _interval(interval)]
    scores = [*columns[0], *columns[1], *([teacher] if teacher is not None else [])]
    across = axis(
        f"{metric_title(metric)}, each seed a dot", standoff=4, percent=metric == "accuracy", span=_around(scores)
    )
    # 0 in view: whether the interval holds it is the question.
    ends = [0.0, *differences, 100 * interval.low, 100 * interval.high]
    added = axis("what the teacher adds, in points", standoff=4, span=_around(ends, 0.06, 1.0))
    added |= {"zeroline": True, "zerolinecolor": "@text", "zerolinewidth": 2}
    panels = [Panel(above, across, _rows(ROWS[1], ROWS[0])), Panel(below, added, _rows("mean", ROWS[2]))]
    return picture(seeds_sentence(result), panels, gap=0.16, height=250, phone=420)


def _around(values: list[float], share: float = 0.04, least: float = 0.01) -> tuple[float, float]:
    """Return a span from the lowest to the highest value, and a little more at either end."""
    margin = share * (max(values) - min(values)) or least  # equal values have no range of their own
    return min(values) - margin, max(values) + margin


def _rows(*names: str) -> Axis:
    return axis(names=True, categoryarray=list(names), span=(-0.6, 1.6))


def _dots(measured: tuple[SeedScores, ...], values: list[float], row: str, colour: str, symbol: str) -> Trace:
    seeds, hover = [one.seed for one in measured], f"seed %{{customdata}}, {row}: %{{x:.4g}}"
    look = {"opacity": 0.75}
    return points(
        values, [row] * len(values), colour, row, size=12, symbol=symbol, marker=look, customdata=seeds, hover=hover
    )


def _interval(interval: PairedInterval) -> Trace:
    low, mean, high = (100 * value for value in (interval.low, interval.mean, interval.high))
    between = f"{in_points(interval.low)} to {in_points(interval.high)}"
    hover = f"mean {in_points(interval.mean)} points, 95% interval {between}"
    reach = error_bars([high - mean], [mean - low], "@third", thickness=4, width=9)
    return points(
        [mean], ["mean"], "@third", "mean and 95% interval", size=15, symbol="square", error_x=reach, hover=hover
    )


def _teacher(score: float) -> Trace:
    said: Look = {
        "mode": "lines+text",
        "text": ["teacher", ""],
        "textposition": "bottom left",
        "hover": "teacher: %{x:.4g}",
    }
    return line([score, score], [ROWS[1], ROWS[0]], "@text", "teacher", width=2, dash="dot", **said)


def seeds_list(result: Seeded) -> Markup:
    """List a line a seed, and the mean with its interval."""
    first = result.pairs[0][0]
    metric, table, interval = first.leading_metric, seeds_table(result), result.interval
    if len(table.rows) < 2:
        return Markup("")
    rows = [
        (
            str(seed),
            *("" if score is None else score_text(metric, float(score)) for score in (with_teacher, without)),
            "" if difference is None else in_points(float(difference)),
        )
        for seed, with_teacher, without, difference in table.rows
    ]
    if interval is not None:
        means = [score_text(metric, fmean(one.scores[place] for one in result.measured)) for place in (0, 1)]
        between = f"{in_points(interval.mean)} ({in_points(interval.low)} to {in_points(interval.high)})"
        rows.append(("mean (95% interval)", *means, between))
    heads = ("seed", "with the teacher's answers", f"{known(first)} alone", "difference (points)")
    notes = caption(
        seeds_notes(result),
        f"{metric_title(metric).capitalize()} on the held-out examples. The interval is Student’s, of the differences of pairs "
        "with one seed. It holds what a new seed may change, and not what other held-out examples would.",
    )
    folded = "<details><summary>Each seed, and what was measured</summary>{}{}</details>"
    return Markup(folded).format(quoted(heads, rows), notes)

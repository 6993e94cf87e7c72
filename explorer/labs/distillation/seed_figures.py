"""What a teacher is worth over several seeds: every seed's students, the mean difference, and its interval."""

from __future__ import annotations

from statistics import fmean
from typing import Any

from markupsafe import Markup

from explorer.backend.runs.record import RunRecord, RunStatus
from explorer.figures import fixed, picture, prose, strong
from explorer.labs.distillation.train_figures import COLOURS, metric_title, score_text, short_name
from explorer.labs.distillation.train_schema import Seeded, SeedScores
from explorer.maths.seeds import PairedInterval
from explorer.tables import Table
from explorer.tuning.students import labels_only

ROWS = ("with teacher", "without", "difference")
SYMBOLS = ("circle", "diamond")


def seeds_table(result: Seeded) -> Table:
    """seed, with_teacher, without_teacher, difference: the leading metric on all held-out examples, empty before a run's end."""
    rows = []
    for pair in result.pairs:
        scores = [record.score if record.outcome else None for record in pair]
        alone = len(pair) == 1 and labels_only(pair[0].spec) == pair[0].spec
        with_teacher, without = (None, *scores) if alone else (*scores, None)[:2]
        both = None if with_teacher is None or without is None else with_teacher - without
        rows.append((pair[0].spec.seed, with_teacher, without, both))
    return Table.of(("seed", "with_teacher", "without_teacher", "difference"), rows)


def known(record: RunRecord) -> str:
    """What a student is told without a teacher, as it follows `on`."""
    if not record.spec.teacher:
        return "the hidden words"
    return f"{record.spec.labelled} labels" if record.spec.labelled else "all labels"


def seeds_sentence(result: Seeded) -> Markup:
    """Whether the teacher helps, harms, or makes no difference that can be told from chance."""
    measured, interval = result.measured, result.interval
    waiting = sum(any(record.status.is_active for record in pair) for pair in result.pairs)
    going = f" {waiting} of {len(result.pairs)} seeds still train." if waiting else ""
    first = result.pairs[0][0]
    if interval is None:
        said = "One seed says little: another seed gives another difference."
        return prose(said, going or " Set Seeds to 5 and train, to have an interval.")
    means = [fmean(values) for values in zip(*(one.scores for one in measured), strict=True)]
    verdict = {1: "the teacher helps", 0: "no difference beyond chance", -1: "the teacher harms"}[interval.direction]
    return prose(
        strong(f"{verdict[0].upper()}{verdict[1:]}: {points(interval.mean)} points"),
        f" (95% interval {points(interval.low)} to {points(interval.high)}). Over {interval.pairs} seeds the student, "
        f"{_layers(first)}, reaches "
        f"{metric_title(first)} {score_text(first, means[0])} with its teacher and {score_text(first, means[1])} on "
        f"{known(first)} alone. ",
        _conditions(first),
        _learnt(result),
        going,
    )


def _conditions(record: RunRecord) -> str:
    """What was known to whom, and what it was measured on."""
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


def _learnt(result: Seeded) -> str:
    """From how many labels the teacher has its knowledge, where its students know fewer."""
    teacher = result.teacher
    if teacher is None or not result.pairs[0][0].spec.labelled:
        return ""
    labels = teacher.spec.labelled or teacher.spec.examples
    learnt = f"has learnt from {f'{labels:,}' if labels else 'all'} labels"
    if teacher.status is RunStatus.IMPORTED:
        learnt = "was trained elsewhere"
    return f" The teacher, {short_name(teacher)} of {teacher.spec.model}, {learnt}."


def points(difference: float) -> str:
    """A difference of shares in percentage points, with its sign."""
    text = fixed(100 * difference, 1)
    return text if text.startswith("−") or text == "0.0" else f"+{text}"


def seeds_figure(result: Seeded) -> dict[str, Any] | str:
    """Above: every seed's two students, joined, and the means. Below: what the teacher adds, with the interval."""
    measured, interval = result.measured, result.interval
    if interval is None:
        return ""
    traces = [*_joined(measured), *(_row(measured, place) for place in (0, 1)), *_means(measured)]
    if result.teacher is not None and result.teacher.score is not None:
        traces.append(_teacher(result.teacher))
    differences = [one.scores[0] - one.scores[1] for one in measured]
    added = (_dots(measured, differences, ROWS[2], "@text", "square", 100), _interval(interval))
    traces += [{**trace, "xaxis": "x2", "yaxis": "y2"} for trace in added]
    return picture(traces, seeds_sentence(result).striptags(), height=400, **_axes(result, differences))


def _axes(result: Seeded, differences: list[float]) -> dict[str, Any]:
    assert result.interval is not None
    ends = [0.0, *differences, result.interval.low, result.interval.high]
    low, high = 100 * min(ends), 100 * max(ends)
    margin = 0.06 * (high - low) or 1.0
    scores = [score for one in result.measured for score in one.scores]
    if result.teacher is not None and result.teacher.score is not None:
        scores.append(result.teacher.score)
    around = 0.04 * (max(scores) - min(scores)) or 0.01
    categories = {"type": "category", "showgrid": False}
    return {
        "xaxis": {
            "title": {"text": f"{metric_title(result.pairs[0][0])}, each seed a dot", "standoff": 4},
            "anchor": "y",
            "range": [min(scores) - around, max(scores) + around],
            **({"tickformat": ".0%"} if result.pairs[0][0].leading_metric == "accuracy" else {}),
        },
        "yaxis": {"domain": [0.62, 1.0], **categories, "categoryarray": [ROWS[1], ROWS[0]], "range": [-0.6, 1.6]},
        "xaxis2": {
            "title": {"text": "what the teacher adds, in points", "standoff": 4},
            "anchor": "y2",
            "range": [low - margin, high + margin],
            "zeroline": True,
            "zerolinecolor": "@text",
            "zerolinewidth": 2,
        },
        "yaxis2": {"domain": [0.0, 0.34], **categories, "categoryarray": ["mean", ROWS[2]], "range": [-0.6, 1.6]},
    }


def _joined(measured: tuple[SeedScores, ...]) -> list[dict[str, Any]]:
    """A line for each seed, from one student to the other."""
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "x": list(one.scores),
            "y": [ROWS[0], ROWS[1]],
            "line": {"color": "@muted", "width": 1.5},
            "hoverinfo": "skip",
        }
        for one in measured
    ]


def _row(measured: tuple[SeedScores, ...], place: int) -> dict[str, Any]:
    return _dots(measured, [one.scores[place] for one in measured], ROWS[place], COLOURS[place], SYMBOLS[place])


def _dots(
    measured: tuple[SeedScores, ...],
    values: list[float],
    row: str,
    colour: str,
    symbol: str,
    times: float = 1,
) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": row,
        "x": [times * value for value in values],
        "y": [row] * len(values),
        "customdata": [one.seed for one in measured],
        "marker": {"size": 12, "color": colour, "symbol": symbol, "opacity": 0.75},
        "hovertemplate": f"seed %{{customdata}}, {row}: %{{x:.4g}}<extra></extra>",
    }


def _means(measured: tuple[SeedScores, ...]) -> list[dict[str, Any]]:
    """A stroke at each row's mean."""
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "name": f"mean {row}",
            "x": [fmean(one.scores[place] for one in measured)],
            "y": [row],
            "marker": {"size": 30, "symbol": "line-ns", "line": {"width": 4, "color": COLOURS[place]}},
            "hovertemplate": f"mean {row}: %{{x:.4g}}<extra></extra>",
        }
        for place, row in enumerate(ROWS[:2])
    ]


def _interval(interval: PairedInterval) -> dict[str, Any]:
    between = f"{points(interval.low)} to {points(interval.high)}"
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "mean and 95% interval",
        "x": [100 * interval.mean],
        "y": ["mean"],
        "error_x": {
            "type": "data",
            "array": [100 * (interval.high - interval.mean)],
            "arrayminus": [100 * (interval.mean - interval.low)],
            "thickness": 4,
            "width": 9,
            "color": "@third",
        },
        "marker": {"size": 15, "color": "@third", "symbol": "square"},
        "hovertemplate": f"mean {points(interval.mean)} points, 95% interval {between}<extra></extra>",
    }


def _teacher(teacher: RunRecord) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines+text",
        "name": "teacher",
        "text": ["", "teacher"],
        "textposition": "top left",
        "x": [teacher.score, teacher.score],
        "y": [ROWS[1], ROWS[0]],
        "line": {"color": "@text", "width": 2, "dash": "dot"},
        "hovertemplate": "teacher: %{x:.4g}<extra></extra>",
    }


def seeds_list(result: Seeded) -> Markup:
    """A line a seed, and the mean with its interval."""
    first = result.pairs[0][0]
    table, interval = seeds_table(result), result.interval
    if len(table.rows) < 2:
        return Markup("")
    rows = Markup("")
    for seed, with_teacher, without, difference in table.rows:
        rows += _line(
            str(seed),
            *("" if score is None else score_text(first, float(score)) for score in (with_teacher, without)),
            "" if difference is None else points(float(difference)),
        )
    if interval is not None:
        means = [fmean(one.scores[place] for one in result.measured) for place in (0, 1)]
        between = f"{points(interval.mean)} ({points(interval.low)} to {points(interval.high)})"
        rows += _line("mean (95% interval)", *(score_text(first, mean) for mean in means), between)
    heads = ("seed", "with the teacher's answers", f"{known(first)} alone", "difference (points)")
    head = Markup("").join(Markup("<th>{}</th>").format(name) for name in heads)
    return Markup(
        '<table class="quoted"><thead><tr>{}</tr></thead><tbody>{}</tbody></table><p class="caption">{} The interval is '
        "Student’s, of the differences of pairs with one seed. It holds what a new seed may change, and not what other held-out "
        "examples would.</p>"
    ).format(head, rows, f"{metric_title(first).capitalize()} on the held-out examples.")


def _line(*cells: str) -> Markup:
    return Markup("<tr>{}</tr>").format(Markup("").join(Markup("<td>{}</td>").format(cell) for cell in cells))

"""Students as they train, and what they are worth at the end, beside DistilBERT's figures."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from explorer.backend.runs.comparing import two_compared
from explorer.backend.runs.record import RunRecord, RunStatus
from explorer.figures import compact, duration, label, megabytes, percent, picture, prose, strong
from explorer.labs.distillation.train_schema import Distilled, Size
from explorer.tables import Table
from explorer.tasks.metrics import METRICS

AGREEMENT, MASKED_LOSS = "agreement", "masked_loss"
COLOURS = ("@accent", "@second")
DASHES = ("solid", "dash")


def metric_title(record: RunRecord) -> str:
    """The leading metric's name as it stands inside a sentence."""
    name = record.leading_metric
    title = METRICS[name].title if name in METRICS else name
    return title.lower() if name == "accuracy" else title


def score_text(record: RunRecord, value: float | None) -> str:
    """A score as a sentence gives it."""
    if value is None:
        return "undefined"
    return percent(value) if record.leading_metric == "accuracy" else f"{value:.3f}"


def distill_table(result: Distilled) -> Table:
    """step, loss, metric of the student: the task's leading metric at the steps where it was measured."""
    record = result.students[0]
    measured = {point.step: point.value for point in record.measured(record.leading_metric)}
    losses = dict(record.losses)
    steps = sorted(set(losses) | set(measured))
    return Table.of(("step", "loss", "metric"), [(step, losses.get(step), measured.get(step)) for step in steps])


def teacher_name(result: Distilled) -> str:
    """The teacher in a few words: a run, or a model as a whole."""
    return short_name(result.teacher) if result.teacher else f"all of {result.students[0].spec.model}"


def short_name(record: RunRecord) -> str:
    """What tells two students of one page apart: what they learn from."""
    return record.name.split(" · ")[0]


def distill_sentence(result: Distilled) -> Markup:
    """How the students stand, or what they reached beside their teacher."""
    active = [record for record in result.students if record.status.is_active]
    if active:
        return _running(active[0], len(result.students) - len(active), len(result.students))
    student, *others = result.students
    if student.outcome is None:
        return prose(strong(student.name), f" is {student.status.value}. ", student.message)
    parts: list[str] = [
        "The student reaches ",
        strong(f"{metric_title(student)} {score_text(student, student.score)}"),
    ]
    best = result.teacher_scores.get(student.leading_metric)
    if best:
        kept = (student.score or 0.0) / best
        parts.append(f", its teacher {score_text(student, best)}: it keeps ")
        parts.append(strong(percent(kept)))
    labels, examples, where = ("labels", "held-out examples", "in")
    if student.spec.labelled:
        labels = f"same {student.spec.labelled} labels"
    if result.on_text:
        labels, examples, where = ("hidden words", "hidden words", "for")
    for other in others:
        reaches = f"reaches {score_text(other, other.score)}" if other.outcome else f"is {other.status.value}"
        parts.append(f". On the {labels} alone the same student {reaches}")
    agreed = [_measured(record, AGREEMENT) for record in result.students if record.outcome]
    if agreed[0] is not None:
        parts.append(f". It answers as its teacher does {where} {percent(agreed[0])} of the {examples}")
        if len(agreed) > 1 and agreed[1] is not None:
            parts.append(f", the other {where} {percent(agreed[1])}")
    parts.append(". ")
    finished = [record for record in result.students if record.outcome is not None]
    if len(finished) > 1:
        parts.append(two_compared(finished, "students", "words" if result.on_text else "examples"))
    stopped = [record.message for record in result.students if record.status is RunStatus.STOPPED]
    return prose(*parts, *(f" {message}" for message in stopped))


def _running(record: RunRecord, ended: int, runs: int) -> Markup:
    count = f" ({ended} of {runs} done)" if ended else ""
    if record.status is RunStatus.QUEUED:
        ahead = (
            f"{record.place} run{'s' if record.place != 1 else ''} ahead of this one" if record.place else "it is next"
        )
        return prose(strong(record.name), f" waits for its turn: {ahead}.{count}")
    if not record.step:
        return prose(strong(record.name), f": {record.message or 'starting'}.{count}")
    left = f", about {duration(record.seconds_left)} left" if record.seconds_left else ""
    latest = next(iter(reversed(record.measured(record.leading_metric))), None)
    said = ""
    if latest is not None and latest.value is not None:
        where = "" if latest.whole else f" on the first {record.between} rows"
        said = f" Held-out {metric_title(record)} {score_text(record, latest.value)}{where}."
    return prose(strong(record.name), f": step {record.step} of {record.steps}{left}.{said}{count}")


def _measured(record: RunRecord, name: str) -> float | None:
    """What was measured beside the task's metrics: at the end, or where it was last."""
    if record.outcome is not None and record.outcome.metrics:
        return next(iter(record.outcome.metrics.values())).get(name)
    return record.evaluations[-1][1].get(name) if record.evaluations else None


def progress(records: tuple[RunRecord, ...]) -> Markup:
    """One bar for all runs while any of them trains."""
    if not any(record.status.is_active for record in records):
        return Markup("")
    done = [record.step / record.steps if record.steps else 0.0 for record in records]
    done = [1.0 if not record.status.is_active else share for record, share in zip(records, done, strict=True)]
    bar = '<progress class="run-progress" value="{:.4f}" max="1" aria-label="training progress"></progress>'
    return Markup(bar).format(sum(done) / len(done))


_DOMAINS = {1: ((0.0, 1.0),), 2: ((0.5, 1.0), (0.0, 0.42)), 3: ((0.68, 1.0), (0.35, 0.62), (0.0, 0.29))}
"""From top to bottom, of so many plots over one axis of steps."""


def distill_figure(result: Distilled) -> dict[str, Any]:
    """From top to bottom: the held-out metric, the loss of a text's hidden words, and the agreement with the teacher.

    The teacher's own line is drawn where it has one.
    """
    leading = result.students[0].leading_metric
    extra = [name for name in (MASKED_LOSS, AGREEMENT) if _is_measured(result, name)]
    names = [leading, *extra]
    last = max((record.steps or record.step or 1 for record in result.students), default=1)
    layout: dict[str, Any] = {}
    traces: list[dict[str, Any]] = []
    for number, (name, domain) in enumerate(zip(names, _DOMAINS[len(names)], strict=True)):
        axis = f"y{number + 1}" if number else "y"
        drawn = []
        if name in result.teacher_scores:
            drawn.append(_teacher_line(result, result.teacher_scores[name], last) | {"yaxis": axis})
        for place, record in enumerate(result.students):
            drawn.append(_line(record, name, axis, place))
        layout[axis.replace("y", "yaxis")] = {
            "title": {"text": _axis_title(result, name), "standoff": 12},
            "domain": list(domain),
            "range": _range(name, drawn, result.on_text),
            **({"tickformat": ".0%"} if name == AGREEMENT else {}),
        }
        traces += [trace | ({"showlegend": False} if number else {}) for trace in drawn]
    return picture(
        traces,
        distill_sentence(result).striptags(),
        height={1: 330, 2: 430, 3: 540}[len(names)],
        showlegend=True,
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0, "font": {"size": 14}},
        xaxis={
            "title": {"text": "training step"},
            "range": [0, last * 1.02],
            "anchor": f"y{len(names)}" if extra else "y",
        },
        uirevision="students",
        **layout,
    )


def _is_measured(result: Distilled, name: str) -> bool:
    return any(name in values for record in result.students for _, values in record.evaluations)


def _axis_title(result: Distilled, name: str) -> str:
    return {AGREEMENT: "agreement", MASKED_LOSS: "−ln p"}.get(name) or metric_title(result.students[0])


def _range(name: str, traces: list[dict[str, Any]], on_text: bool) -> list[float]:
    """Shares of a task from 0.4 on, unless some are lower; of a text from 0, up to what there is; a loss likewise."""
    values = [value for trace in traces for value in trace["y"] if value is not None]
    low, high = min(values, default=0.0), max(values, default=1.0)
    if name == MASKED_LOSS:
        return [0.9 * low, 1.1 * high]
    if on_text:
        return [0.0, min(1.2 * high, 1.03) or 1.0]
    floor = min(0.0, 1.1 * low) if low < 0.4 else 0.4
    return [floor, 1.03]


def _line(record: RunRecord, name: str, axis: str, place: int) -> dict[str, Any]:
    style = {"color": COLOURS[place], "width": 3, "dash": DASHES[place]}
    points, symbol = record.measured(name), ("circle", "diamond")[place]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": label(short_name(record), 48),
        "legendgroup": str(place),
        "x": [point.step for point in points],
        "y": [point.value for point in points],
        "customdata": [record.rows_at(point) for point in points],
        "yaxis": axis,
        "line": style,
        "marker": {
            "size": 8,
            "color": style["color"],
            "symbol": [f"{symbol}{'' if p.whole else '-open'}" for p in points],
        },
        "hovertemplate": "step %{x}: %{y:.3f} on %{customdata}<extra></extra>",
    }


def _teacher_line(result: Distilled, score: float, last: int) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": label(f"teacher: {teacher_name(result)}", 40),
        "legendgroup": "teacher",
        "x": [0, last * 1.02],
        "y": [score, score],
        "line": {"color": "@text", "width": 2, "dash": "dot"},
        "hovertemplate": "teacher: %{y:.3f}<extra></extra>",
    }


def sizes_list(result: Distilled) -> Markup:
    """Size, time and metric side by side, and DistilBERT's own figures."""
    student, sizes = result.students[0], result.sizes
    heads = (
        "model",
        "parameters",
        "size",
        "1 text",
        "16 texts",
        metric_title(student),
        *(["−ln p"] if result.on_text else []),
    )
    teacher = _row(
        f"teacher: {teacher_name(result)}",
        _size_cells(sizes[0] if sizes else None, sizes[0] if sizes else None, result.teacher),
        [result.teacher_scores.get(student.leading_metric), result.teacher_scores.get(MASKED_LOSS), None],
        result,
    )
    rows = [
        _row(
            short_name(record),
            _size_cells(sizes[place] if sizes else None, sizes[0] if sizes else None, record),
            [record.score, _measured(record, MASKED_LOSS), _measured(record, AGREEMENT)],
            result,
        )
        for place, record in enumerate(result.students, 1)
    ]
    heads = (*heads, "agrees")
    head = Markup("").join(Markup("<th>{}</th>").format(name) for name in heads)
    ended = not any(record.status.is_active for record in result.students)
    waiting = "Weighed and timed when they have ended"
    if ended:
        waiting = "Being weighed and timed" if result.students[0].outcome else "Not weighed: the student has not ended"
    caption = "Measured here, now" if result.sizes else waiting
    return Markup(
        '<table class="quoted"><caption>{}</caption><thead><tr>{}</tr></thead><tbody>{}</tbody></table>'
        '<p class="caption">DistilBERT, quoted from Sanh et al. 2019: 66M of BERT-base\'s 110M parameters (40% fewer), 410 s '
        "where BERT-base took 668 s (60% faster), and 77.0 of its 79.5 on GLUE (97%). It was distilled in pretraining, on much "
        "more text.</p>"
    ).format(caption, head, Markup("").join([teacher, *rows]))


def _row(name: str, sizes: tuple[str, ...], values: list[float | None], result: Distilled) -> Markup:
    """values: the metric, the loss on a text's hidden words, and the agreement."""
    score, loss, agreed = values
    cells = (
        name,
        *sizes,
        "" if score is None else score_text(result.students[0], score),
        *(["" if loss is None else f"{loss:.2f}"] if result.on_text else []),
        "" if agreed is None else percent(agreed),
    )
    return Markup("<tr>{}</tr>").format(Markup("").join(Markup("<td>{}</td>").format(cell) for cell in cells))


def _size_cells(size: Size | None, teacher: Size | None, record: RunRecord | None) -> tuple[str, ...]:
    """Each number, and for a student what it is of the teacher's."""
    if size is None or teacher is None:
        return (compact(record.parameters) if record and record.parameters else "", "", "", "")
    if size.run_id == teacher.run_id:
        times = tuple(_milliseconds(one) for one in size.milliseconds)
        return (compact(size.parameters), megabytes(size.bytes), *times)
    saved = 1 - size.parameters / teacher.parameters
    fewer = f"{compact(size.parameters)} ({percent(saved)} fewer)" if saved > 0 else compact(size.parameters)
    times = tuple(
        f"{_milliseconds(one)} ({other / one:.2g}×)"
        for one, other in zip(size.milliseconds, teacher.milliseconds, strict=True)
    )
    return (fewer, megabytes(size.bytes), *times)


def _milliseconds(value: float) -> str:
    return f"{value:,.0f} ms" if value >= 100 else f"{value:.3g} ms"

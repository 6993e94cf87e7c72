"""Students as they train, and what they are worth at the end, beside DistilBERT's figures."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from explorer.backend.runs.record import RunRecord, RunStatus
from explorer.figures import compact, duration, label, megabytes, percent, picture, prose, strong
from explorer.labs.distillation.train_schema import Distilled, Size
from explorer.tables import Table
from explorer.tasks.metrics import METRICS

AGREEMENT = "agreement"
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
    measured = {step: values.get(record.leading_metric) for step, values in record.evaluations}
    losses = dict(record.losses)
    steps = sorted(set(losses) | set(measured))
    return Table.of(("step", "loss", "metric"), [(step, losses.get(step), measured.get(step)) for step in steps])


def short_name(record: RunRecord) -> str:
    """What tells two students of one page apart: what they learn from."""
    return record.name.split(" · ")[0]


def distill_sentence(result: Distilled) -> Markup:
    """How the students stand, or what they reached beside their teacher."""
    active = [record for record in result.students if record.status.is_active]
    if active:
        return _running(active[0], len(result.students) - len(active))
    student, *others = result.students
    if student.outcome is None:
        return prose(strong(student.name), f" is {student.status.value}. ", student.message)
    parts: list[str] = [
        "The student reaches ",
        strong(f"{metric_title(student)} {score_text(student, student.score)}"),
    ]
    if result.teacher.score:
        kept = (student.score or 0.0) / result.teacher.score
        parts.append(f", its teacher {score_text(student, result.teacher.score)}: it keeps ")
        parts.append(strong(percent(kept)))
    for other in others:
        reaches = f"reaches {score_text(other, other.score)}" if other.outcome else f"is {other.status.value}"
        parts.append(f". On the labels alone the same student {reaches}")
    agreed = [_agreement(record) for record in result.students if record.outcome]
    if agreed[0] is not None:
        parts.append(f". It answers as its teacher does in {percent(agreed[0])} of the held-out examples")
        if len(agreed) > 1 and agreed[1] is not None:
            parts.append(f", the other in {percent(agreed[1])}")
    rows = max(next(iter(record.outcome.rows.values())) for record in result.students if record.outcome)
    level = min(max(student.score or 0.0, 0.5), 0.99)
    chance = 2 * (level * (1 - level) / rows) ** 0.5
    parts.append(f". With {rows} of them, differences below {percent(chance)} are within chance.")
    stopped = [record.message for record in result.students if record.status is RunStatus.STOPPED]
    return prose(*parts, *(f" {message}" for message in stopped))


def _running(record: RunRecord, ended: int) -> Markup:
    count = f" ({ended} of 2 done)" if ended else ""
    if record.status is RunStatus.QUEUED:
        ahead = f"{record.place} run{'s' if record.place != 1 else ''} before it" if record.place else "it is next"
        return prose(strong(record.name), f" waits for its turn: {ahead}.{count}")
    if not record.step:
        return prose(strong(record.name), f": {record.message or 'starting'}.{count}")
    left = f", about {duration(record.seconds_left)} left" if record.seconds_left else ""
    latest = record.evaluations[-1][1].get(record.leading_metric) if record.evaluations else None
    said = f" Held-out {metric_title(record)} {score_text(record, latest)}." if latest is not None else ""
    return prose(strong(record.name), f": step {record.step} of {record.steps}{left}.{said}{count}")


def _agreement(record: RunRecord) -> float | None:
    if record.outcome is not None and record.outcome.metrics:
        return next(iter(record.outcome.metrics.values())).get(AGREEMENT)
    return record.evaluations[-1][1].get(AGREEMENT) if record.evaluations else None


def progress(records: tuple[RunRecord, ...]) -> Markup:
    """One bar for all runs while any of them trains."""
    if not any(record.status.is_active for record in records):
        return Markup("")
    done = [record.step / record.steps if record.steps else 0.0 for record in records]
    done = [1.0 if not record.status.is_active else share for record, share in zip(records, done, strict=True)]
    bar = '<progress class="run-progress" value="{:.4f}" max="1" aria-label="training progress"></progress>'
    return Markup(bar).format(sum(done) / len(done))


def distill_figure(result: Distilled) -> dict[str, Any]:
    """The held-out metric with the teacher's line above, the agreement with the teacher below."""
    agreeing = any(AGREEMENT in values for record in result.students for _, values in record.evaluations)
    traces: list[dict[str, Any]] = []
    for place, record in enumerate(result.students):
        style = {"color": COLOURS[place], "width": 3, "dash": DASHES[place]}
        traces.append(_line(record, record.leading_metric, "y", style, place))
        if agreeing:
            traces.append(_line(record, AGREEMENT, "y2", style, place) | {"showlegend": False})
    last = max((record.steps or record.step or 1 for record in result.students), default=1)
    teacher = result.teacher.score
    if teacher is not None:
        traces.insert(0, _teacher_line(result.teacher, teacher, last))
    lowest = min([value for trace in traces for value in trace["y"] if value is not None], default=0.0)
    floor = min(0.0, 1.1 * lowest) if lowest < 0.4 else 0.4
    top = {"title": {"text": metric_title(result.students[0])}, "range": [floor, 1.03]}
    layout: dict[str, Any] = {"yaxis": {**top, "domain": [0.5, 1] if agreeing else [0, 1]}}
    if agreeing:
        layout["yaxis2"] = {
            "title": {"text": "agreement"},
            "domain": [0, 0.42],
            "range": [0.4, 1.03],
            "tickformat": ".0%",
        }
    return picture(
        traces,
        distill_sentence(result).striptags(),
        height=430 if agreeing else 330,
        showlegend=True,
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0, "font": {"size": 14}},
        xaxis={"title": {"text": "training step"}, "range": [0, last * 1.02], "anchor": "y2" if agreeing else "y"},
        uirevision="students",
        **layout,
    )


def _line(record: RunRecord, name: str, axis: str, style: dict[str, Any], place: int) -> dict[str, Any]:
    points = [(step, values.get(name)) for step, values in record.evaluations]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": label(short_name(record), 48),
        "legendgroup": str(place),
        "x": [step for step, _ in points],
        "y": [value for _, value in points],
        "yaxis": axis,
        "line": style,
        "marker": {"size": 8, "color": style["color"], "symbol": ("circle", "diamond")[place]},
        "hovertemplate": "step %{x}: %{y:.3f}<extra></extra>",
    }


def _teacher_line(teacher: RunRecord, score: float, last: int) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": label(f"teacher: {short_name(teacher)}", 40),
        "x": [0, last * 1.02],
        "y": [score, score],
        "line": {"color": "@text", "width": 2, "dash": "dot"},
        "hovertemplate": "teacher: %{y:.3f}<extra></extra>",
    }


def sizes_list(result: Distilled) -> Markup:
    """Size, time and metric side by side, and DistilBERT's own figures."""
    heads = ("", "parameters", "size", "1 text", "16 texts", metric_title(result.students[0]), "agrees")
    rows = Markup("")
    records = (result.teacher, *result.students)
    for place, record in enumerate(records):
        name = ("teacher: " if not place else "") + short_name(record)
        size = result.sizes[place] if result.sizes else None
        agreed = _agreement(record) if place else None
        cells = (
            name,
            *_size_cells(size, result.sizes[0] if result.sizes else None, record),
            score_text(record, record.score) if record.score is not None else "",
            percent(agreed) if agreed is not None else "",
        )
        rows += Markup("<tr>{}</tr>").format(Markup("").join(Markup("<td>{}</td>").format(cell) for cell in cells))
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
    ).format(caption, head, rows)


def _size_cells(size: Size | None, teacher: Size | None, record: RunRecord) -> tuple[str, ...]:
    """Each number, and for a student what it is of the teacher's."""
    if size is None or teacher is None:
        return (compact(record.parameters) if record.parameters else "", "", "", "")
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

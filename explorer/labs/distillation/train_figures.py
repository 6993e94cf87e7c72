"""Students as they train, and what they are worth at the end, beside DistilBERT's figures."""

from __future__ import annotations

from markupsafe import Markup

from explorer.charts import Look, Panel, Picture, Trace, axis, line, picture
from explorer.charts.words import caption, compact, label, megabytes, milliseconds, percent, prose, quoted, strong
from explorer.labs.distillation.train import Distilled, Size
from explorer.runs.comparing import beyond_chance, two_compared
from explorer.runs.record import RunRecord, RunStatus
from explorer.runs.report import metric_line, metric_text, metric_title, run_table, score_text, under_way
from explorer.tables import Table

AGREEMENT, MASKED_LOSS = "agreement", "masked_loss"
COLOURS = ("@accent", "@second")
DASHES = ("", "dash")
SYMBOLS = ("circle", "diamond")
TITLES = {AGREEMENT: "agreement", MASKED_LOSS: "−ln p"}


def distill_table(result: Distilled) -> Table:
    """step, loss, metric of the student: the task's leading metric at the steps where it was measured."""
    return run_table(result.students[0])


def teacher_name(result: Distilled) -> str:
    """Name the teacher in a few words: a run, or a model as a whole."""
    return result.teacher.short_name if result.teacher else f"all of {result.students[0].spec.model}"


def distill_sentence(result: Distilled) -> Markup:
    """Say how the students stand, or what they reached beside their teacher."""
    active = [record for record in result.students if record.status.is_active]
    if active:
        ended, runs = len(result.students) - len(active), len(result.students)
        return prose(under_way(active[0]), f" ({ended} of {runs} done)" if ended else "")
    student, *others = result.students
    metric = student.leading_metric
    if student.outcome is None:
        return prose(strong(student.name), f" is {student.status.value}. ", student.message)
    parts: list[str] = ["The student reaches ", strong(metric_text(metric, student.score))]
    for other in others:
        if other.outcome is None:
            parts.append(f"; on the {_learned_from(result)} alone the same student is {other.status.value}")
        else:
            reaches = strong(score_text(metric, other.score))
            parts += [f", on the {_learned_from(result)} alone ", reaches, _sure(student, other)]
    stopped = [record.message for record in result.students if record.status is RunStatus.STOPPED]
    return prose(*parts, ". ", *(f" {message}" for message in stopped))


def _learned_from(result: Distilled) -> str:
    """Say what the student without a teacher learned from."""
    if result.on_text:
        return "hidden words"
    labelled = result.students[0].spec.labelled
    return f"same {labelled} labels" if labelled else "labels"


def _sure(student: RunRecord, other: RunRecord) -> str:
    """Say whether two students' scores differ beyond chance; "" if they are equal, or it cannot be said."""
    if student.score == other.score:
        return ""
    sure = beyond_chance([student, other], [(0, 1)])
    if not sure:
        return ""
    return ": a difference of more than chance" if sure[0, 1] else ": a difference that could be chance"


def distill_notes(result: Distilled) -> Markup:
    """State what the teacher reaches, how often each student answers as it does, and the test.

    It is empty before a student has ended.
    """
    student = result.students[0]
    if student.outcome is None or any(record.status.is_active for record in result.students):
        return Markup("")
    metric, parts = student.leading_metric, []
    if best := result.teacher_scores.get(metric):  # no share can be kept of a score of 0
        parts.append(
            f"Its teacher reaches {metric_text(metric, best)}: the student keeps {percent((student.score or 0.0) / best)}. "
        )
    examples, where = ("hidden words", "for") if result.on_text else ("held-out examples", "in")
    finished = [record for record in result.students if record.outcome is not None]
    agreed = [_measured(record, AGREEMENT) for record in finished]
    if agreed[0] is not None:
        other = f", the other {where} {percent(agreed[1])}" if len(agreed) > 1 and agreed[1] is not None else ""
        parts.append(f"It answers as its teacher does {where} {percent(agreed[0])} of the {examples}{other}. ")
    if len(finished) > 1:
        parts.append(two_compared(finished, "students", "words" if result.on_text else "examples"))
    return caption(*parts) if parts else Markup("")


def _measured(record: RunRecord, name: str) -> float | None:
    """Return what was measured beside the task's metrics: at the end, or where it was last."""
    if record.outcome is not None and record.outcome.metrics:
        return next(iter(record.outcome.metrics.values())).get(name)
    return record.evaluations[-1][1].get(name) if record.evaluations else None


def distill_figure(result: Distilled) -> Picture:
    """Draw, beside each other, the held-out metric, the loss of a text's hidden words, and the agreement with the
    teacher.

    The teacher's own line is drawn if it has one.
    """
    extra = [name for name in (MASKED_LOSS, AGREEMENT) if _is_measured(result, name)]
    names = [result.students[0].leading_metric, *extra]
    last = max((record.steps or record.step or 1 for record in result.students), default=1)
    across, panels = axis("training step", span=(0, last * 1.02)), []
    for name in names:
        drawn = _lines(result, name, last)
        title, span = TITLES.get(name) or metric_title(name), _range(name, drawn, result.on_text)
        up = axis(title, standoff=12, span=span, percent=name == AGREEMENT)
        panels.append(Panel(drawn, across, up))
    # A visitor's zoom survives the redraws.
    look: Look = {"gap": 0.3 / len(names), "legend": True, "legend_size": 14, "uirevision": "students"}
    return picture(distill_sentence(result), panels, height=330, phone=80 + 230 * len(names), **look)


def _is_measured(result: Distilled, name: str) -> bool:
    return any(name in values for record in result.students for _, values in record.evaluations)


def _range(name: str, traces: list[Trace], on_text: bool) -> list[float]:
    """Return the axis of a metric: a task's shares from 0.4 on, unless some are lower.

    A text's shares go from 0 to what there is, its loss from a little below the lowest to a little above the highest.
    """
    values = [value for trace in traces for value in trace["y"] if value is not None]
    low, high = min(values, default=0.0), max(values, default=1.0)
    if name == MASKED_LOSS:
        return [0.9 * low, 1.1 * high]
    if on_text:
        return [0.0, min(1.2 * high, 1.03) or 1.0]
    floor = min(0.0, 1.1 * low) if low < 0.4 else 0.4
    return [floor, 1.03]


def _lines(result: Distilled, name: str, last: int) -> list[Trace]:
    """Draw what the teacher has reached, and each student's curve."""
    lines = []
    if name in result.teacher_scores:
        score, title = result.teacher_scores[name], label(f"teacher: {teacher_name(result)}", 40)
        ends, hover = [0, last * 1.02], "teacher: %{y:.3f}"
        lines.append(line(ends, [score, score], "@text", title, width=2, dash="dot", hover=hover))
    for record, colour, dash, symbol in zip(result.students, COLOURS, DASHES, SYMBOLS, strict=False):
        lines.append(metric_line(record, name, colour, label(record.short_name, 48), symbol, dash=dash))
    return lines


def sizes_list(result: Distilled) -> Markup:
    """List size, time and metric side by side, and what the headline leaves out."""
    student, sizes, scores = result.students[0], result.sizes, result.teacher_scores
    loss = ["−ln p"] if result.on_text else []
    heads = ("model", "parameters", "size", "1 text", "16 texts", metric_title(student.leading_metric), *loss, "agrees")
    whole = sizes[0] if sizes else None  # the teacher's comes first
    teacher = (
        f"teacher: {teacher_name(result)}",
        *_size_cells(whole, whole, result.teacher),
        *_score_cells(result, scores.get(student.leading_metric), scores.get(MASKED_LOSS), None),
    )
    rows = [
        (
            record.short_name,
            *_size_cells(sizes[place] if sizes else None, whole, record),
            *_score_cells(result, record.score, _measured(record, MASKED_LOSS), _measured(record, AGREEMENT)),
        )
        for place, record in enumerate(result.students, 1)
    ]
    title = "Measured here, now"
    if not sizes:
        ended = not any(record.status.is_active for record in result.students)
        weighed = "Being weighed and timed" if student.outcome else "Not weighed: the student has not ended"
        weighed = "Not weighed and timed on this machine yet" if result.can_be_timed else weighed
        title = weighed if ended else "Weighed and timed when they have ended"
    return quoted(heads, [teacher, *rows], title) + distill_notes(result)


def distilbert() -> Markup:
    """State the paper's own figures, which stand before ours."""
    return Markup(
        '<p class="distilbert"><strong>DistilBERT: 66M parameters, 60% faster, 97% of BERT.</strong> 66M of BERT-base\'s 110M '
        "(40% fewer), 410 s where BERT-base took 668 s, and 77.0 of its 79.5 on GLUE. It was distilled in pretraining, on much "
        "more text than here. (Sanh et al. 2019, section 3, Tables 1 and 3)</p>"
    )


def _score_cells(result: Distilled, score: float | None, loss: float | None, agreed: float | None) -> tuple[str, ...]:
    """Write the metric, the loss on a text's hidden words, and the agreement."""
    metric = result.students[0].leading_metric
    return (
        "" if score is None else score_text(metric, score),
        *(["" if loss is None else f"{loss:.2f}"] if result.on_text else []),
        "" if agreed is None else percent(agreed),
    )


def _size_cells(size: Size | None, teacher: Size | None, record: RunRecord | None) -> tuple[str, ...]:
    """Write each number, and for a student what it is of the teacher's."""
    if size is None or teacher is None:
        return (compact(record.parameters) if record and record.parameters else "", "", "", "")
    if size.run_id == teacher.run_id:
        return (compact(size.parameters), megabytes(size.bytes), *map(milliseconds, size.milliseconds))
    saved = 1 - size.parameters / teacher.parameters
    fewer = f"{compact(size.parameters)} ({percent(saved)} fewer)" if saved > 0 else compact(size.parameters)
    pairs = zip(size.milliseconds, teacher.milliseconds, strict=True)
    return (fewer, megabytes(size.bytes), *(f"{milliseconds(one)} ({other / one:.2g}×)" for one, other in pairs))

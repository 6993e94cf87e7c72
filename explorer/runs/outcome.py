"""The results of a finished run: metrics, the confusion matrix, mistakes worth reading, and the score on the real
task's file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from explorer.errors import BadInputError
from explorer.runs.record import OnRealTask, Outcome, RunRecord, Wrong, row_by_row
from explorer.tasks.formats.glue import read_glue
from explorer.tasks.glue_tasks import find_task
from explorer.tasks.metrics import scores
from explorer.tasks.task import Example, Task, TaskData
from explorer.tuning.adapted import Adapted
from explorer.tuning.masked import MaskedTraining
from explorer.tuning.reading import Scale, decide, predict
from explorer.tuning.rows import Rows, tokenise
from explorer.tuning.spec import LONGEST_ROW
from explorer.tuning.training import Training

MOST_WRONG = 20
MOST_JUDGED = 80
MOST_POINTS = 400
LONGEST_SHOWN = 400


def outcome_of(training: Training, data: TaskData, held_out: Mapping[str, Rows]) -> Outcome:
    """Measure every split; the confusion matrix and the mistakes are those of the leading split."""
    if isinstance(training, MaskedTraining):
        return _of_text(training, held_out)
    if training.adapted.kind.judges_texts:
        return _of_texts(training, held_out)
    metrics, counts, leading = {}, {}, next(iter(held_out))
    confusion: tuple[tuple[int, ...], ...] = ()
    points: tuple[tuple[float, float], ...] = ()
    wrong: tuple[Wrong, ...] = ()
    truths = answers = ""
    for name, rows in held_out.items():
        logits = training.predict(rows)
        predicted = decide(data.task, logits, training.scale)
        labels = rows.labels.tolist()
        metrics[name], counts[name] = training.scored(rows, logits), len(rows)
        if name == leading:
            truths, answers = row_by_row(labels), row_by_row(predicted)
            confusion = _confusion(data.task, labels, predicted)
            wrong = _mistakes(data.task, data.validation[name], logits, predicted)
            if data.task.is_regression:
                points = tuple(zip(labels[:MOST_POINTS], predicted[:MOST_POINTS], strict=True))
    return Outcome(metrics, counts, confusion, points, wrong, truths, answers)


def _of_texts(training: Any, held_out: Mapping[str, Rows]) -> Outcome:
    """Measure runs that write or find text, with what they wrote beside what is right."""
    found = {name: training.judge(rows) for name, rows in held_out.items()}
    return Outcome(
        {name: scores for name, (scores, _) in found.items()},
        {name: len(judged) for name, (_, judged) in found.items()},
        judged=next(iter(found.values()))[1][:MOST_JUDGED],
    )


def _of_text(training: MaskedTraining, held_out: Mapping[str, Rows]) -> Outcome:
    """Measure a model that fills masks: hidden words have no classes, so there is no confusion matrix."""
    found = {name: training.measured(rows) for name, rows in held_out.items()}
    truths = training.truths(next(iter(held_out.values())))
    return Outcome(
        {name: scores for name, (scores, _) in found.items()},
        {name: words for name, (_, words) in found.items()},
        truths=row_by_row(truths.tolist()),
        answers=row_by_row(training.guesses.tolist()),
    )


def _confusion(task: Task, labels: list[float], predicted: list[float]) -> tuple[tuple[int, ...], ...]:
    if task.is_regression:
        return ()
    counts = [[0] * task.outputs for _ in range(task.outputs)]
    for true, guess in zip(labels, predicted, strict=True):
        counts[int(true)][int(guess)] += 1
    return tuple(tuple(row) for row in counts)


def _mistakes(task: Task, examples: tuple[Example, ...], logits: Tensor, predicted: list[float]) -> tuple[Wrong, ...]:
    """List mistakes, the worst first: by the probability of the wrong class, or by the distance of a score."""
    sure = logits.softmax(-1).amax(-1).tolist()
    found = []
    # Fewer rows than examples, if a split was cut.
    for example, guess, probability in zip(examples[: len(predicted)], predicted, sure, strict=True):
        if task.is_regression or guess != example.label:
            shown = None if example.second is None else example.second[:LONGEST_SHOWN]
            weight = abs(guess - example.label) if task.is_regression else probability
            one = Wrong(
                example.text[:LONGEST_SHOWN], shown, example.label, guess, None if task.is_regression else probability
            )
            found.append((weight, one))
    found.sort(key=lambda pair: -pair[0])
    return tuple(one for _, one in found[:MOST_WRONG])


# A run of a bundled task on the real task's file, whose sentences are not the bundled ones; nothing of the file is kept.


def real_file(record: RunRecord, glue: Path) -> Path | None:
    """Return the validation file of a run's task in a folder of GLUE, unpacked as it is distributed; None without one."""
    task = _task_of(record)
    if task is None:
        return None
    names = ("dev.tsv", "dev_matched.tsv")
    return next((path for name in names if (path := glue / _name(task) / name).is_file()), None)


def on_real_task(record: RunRecord, adapted: Adapted, path: Path, date: str, command: str) -> OnRealTask:
    """Measure a run on every row of a file in GLUE's own layout, none of which the run has seen.

    Raises BadInputError for a run of another task than a bundled one, and for a file of another layout.
    """
    task = _task_of(record)
    if task is None:
        raise BadInputError(f"{record.name} has learned none of the bundled tasks, so GLUE has no file of its task.")
    examples = read_glue(path, task.slug).examples
    rows = tokenise(adapted.loaded, examples, min(LONGEST_ROW, adapted.longest))
    device = next(iter(adapted.model.parameters())).device
    predicted = decide(task, predict(adapted, rows, device), Scale(*record.scale))
    found = scores(task, rows.labels.tolist(), predicted)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return OnRealTask(_name(task), path.name, digest, len(rows), found, date, command)


def _task_of(record: RunRecord) -> Task | None:
    try:
        task = find_task(record.spec.task)
    except BadInputError:
        return None
    return task if task.labels == record.labels else None


def _name(task: Task) -> str:
    return task.title.split(" · ")[0]

"""What a finished run scores: metrics, the confusion matrix, and the mistakes worth reading."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from explorer.runs.record import Outcome, Wrong, row_by_row
from explorer.tasks.task import Example, Task, TaskData
from explorer.tuning.masked import MaskedTraining
from explorer.tuning.reading import decide
from explorer.tuning.rows import Rows
from explorer.tuning.training import Training

MOST_WRONG = 20
MOST_JUDGED = 80
MOST_POINTS = 400
LONGEST_SHOWN = 400


def outcome_of(training: Training, data: TaskData, held_out: Mapping[str, Rows]) -> Outcome:
    """Measure every split; the confusion matrix and the mistakes are the leading split's."""
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
    """What is written or found for each example, beside what is right."""
    found = {name: training.judge(rows) for name, rows in held_out.items()}
    return Outcome(
        {name: scores for name, (scores, _) in found.items()},
        {name: len(judged) for name, (_, judged) in found.items()},
        judged=next(iter(found.values()))[1][:MOST_JUDGED],
    )


def _of_text(training: MaskedTraining, held_out: Mapping[str, Rows]) -> Outcome:
    """A text's hidden words have no classes to confuse."""
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
    """The most confidently wrong first: by the probability of the wrong class, or by the distance of a score."""
    sure = logits.softmax(-1).amax(-1).tolist()
    found = []
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

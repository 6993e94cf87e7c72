"""One fine-tuning run's work, from the record to its weights: load, train, report as it goes, evaluate, keep.

What is evaluated is the run's outcome: metrics, the confusion matrix, and mistakes worth reading.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from explorer.models.loaded_model import LoadedModel
from explorer.runs.checks import check_classes
from explorer.runs.open import OpenRun
from explorer.runs.record import Outcome, Wrong, row_by_row
from explorer.runs.store import RESUME, WEIGHTS
from explorer.runs.working import TURNS, Working, in_turn
from explorer.tasks.task import Example, Task, TaskData
from explorer.tuning.adapted import Adapted, adapt
from explorer.tuning.distilling import Teaching, check_teacher, take_layers
from explorer.tuning.kinds import learning_rate
from explorer.tuning.masked import MaskedTraining
from explorer.tuning.merging import merged
from explorer.tuning.plan import plan
from explorer.tuning.reading import Scale, decide
from explorer.tuning.rows import Rows, never
from explorer.tuning.snapshots import due, save_snapshot, save_tensors
from explorer.tuning.spec import MOST_HELD_OUT
from explorer.tuning.students import Lesson, lesson_of
from explorer.tuning.training import Training, Update


@dataclass
class Worker(Working):
    """A fine-tuning run in progress. open_run: opens a student's teacher."""

    data: TaskData
    loaded: LoadedModel
    open_run: Callable[[str], OpenRun] | None = None

    def _work(self) -> None:
        spec = self.record.spec
        self._say(message="Reading the examples", outcome=None, kept=0)
        lesson = lesson_of(self.data.train[: spec.examples or None], spec)
        chosen = lesson.examples
        check_classes(self.data, [chosen[place].label for place in sorted(lesson.labelled)])
        adapted = adapt(self.loaded, self.data.task.outputs, spec, self.data.task.kind)
        kind = adapted.kind
        longest = min(kind.longest, adapted.longest)
        train = kind.read(self.loaded, chosen, longest)
        held_out = {
            name: kind.read(self.loaded, examples[:MOST_HELD_OUT], longest)
            for name, examples in self.data.validation.items()
        }
        rate = learning_rate(spec, kind)
        given = (adapted, self.data.task, train, next(iter(held_out.values())), spec, rate)
        if adapted.method.needs_teacher:
            training: Training = Training(*given, self._taught(adapted, lesson, train, held_out))
        else:
            training = kind.training(*given)
        if (self.folder / RESUME).exists():
            self._go_on(training)
        self._announce(training, train, held_out, lesson)
        if not self.stopping.is_set():
            self._train(training)
        self._finish(training, held_out)

    def _taught(self, student: Adapted, lesson: Lesson, train: Rows, held_out: dict[str, Rows]) -> Teaching:
        """Return the teacher's judgement of every row; a new student also takes over the teacher's layers."""
        spec, task = self.record.spec, self.data.task
        assert self.open_run is not None
        opened = self.open_run(spec.teacher)
        opened.require_weights()
        teacher = opened.restore()
        check_teacher(student, teacher)
        # A run that goes on has its layers in its checkpoint.
        if spec.start == "teacher" and not (self.folder / RESUME).exists():
            take_layers(student, merged(teacher))
        scale = Scale(*opened.record.scale)
        own = Scale.of(train.labels[sorted(lesson.labelled)], task)
        teaching = Teaching(teacher, task, scale, own, spec, lesson.labelled)
        for name, rows in held_out.items():
            with TURNS:
                teaching.judge(rows, self.data.validation[name][: len(rows)], self._first_stop)
        for share in in_turn(teaching.ask(lesson.examples)) if spec.soft_weight or spec.cosine_weight else ():
            if self.stopping.is_set():
                break
            self._say(message=f"Asking the teacher, {share:.0%}")
        return teaching

    def _announce(self, training: Training, train: Rows, held_out: dict[str, Rows], lesson: Lesson) -> None:
        """Report the run's numbers once everything is loaded, and measure before the first step."""
        planned = plan(
            self.loaded,
            self.data.task.outputs,
            self.record.spec,
            len(train),
            float(train.lengths.mean()),
            self.data.task.kind,
        )
        notes = [*self.data.notes]
        texts = len(lesson.examples)
        if len(train) < texts:
            notes.append(f"{texts - len(train)} of the texts hold no word that this model knows, and were left out.")
        if lesson.withheld:
            notes.append(f"{lesson.withheld} of the {texts} examples have no label here.")
        cut = train.cut + sum(rows.cut for rows in held_out.values())
        if cut:
            notes.append(f"{cut} of the texts are longer than the model's row here and were cut at the end.")
        for name, examples in self.data.validation.items():
            if len(examples) > MOST_HELD_OUT:
                notes.append(f"Measured on the first {MOST_HELD_OUT:,} of {len(examples):,} examples of {name}.")
        self._say(
            steps=training.steps,
            step=training.step,
            steps_per_epoch=training.per_epoch,
            examples=len(train),
            # A record may be ahead of its checkpoint, and these steps are done again.
            losses=tuple(point for point in self.record.losses if point[0] <= training.step),
            evaluations=tuple(point for point in self.record.evaluations if point[0] <= training.step),
            snapshots=tuple(step for step in self.record.snapshots if step <= training.step),
            trainable=planned.trainable,
            parameters=planned.total,
            checkpoint_bytes=planned.checkpoint_bytes,
            memory_estimate=planned.memory_bytes,
            held_out=training.measured_on,
            scale=(training.scale.mean, training.scale.spread),
            notes=tuple(notes),
            seconds=self.record.seconds if training.step else 0.0,
            message="",
        )
        if not training.step:
            with TURNS:
                first = training.held_out_scores(stopped=self._first_stop)
            self._say(evaluations=((0, first),), whole=(0,), reference=dict(training.reference))

    def _noted(self, training: Training, update: Update) -> dict[str, Any]:
        """Return the steps whose ΔW is kept, if this step is one of them."""
        due_now = due(update.step, training.steps)
        snapshots = self._snapshot(training, update.step) if due_now else self.record.snapshots
        return {} if snapshots == self.record.snapshots else {"snapshots": snapshots}

    def _snapshot(self, training: Training, step: int) -> tuple[int, ...]:
        """Keep this step's ΔW if the method's is small. Returns the steps that are kept."""
        kept = self.record.snapshots
        if not self.record.keeps_snapshots or step in kept:
            return kept
        save_snapshot(self.folder, step, training.adapted.deltas())
        return tuple(sorted((*kept, step)))

    @property
    def _first_stop(self) -> Callable[[], bool]:
        """A function that tells whether Stop ends what is measured before the first step; a resumed run has something
        to keep and goes on.
        """
        return never if (self.folder / RESUME).exists() else self.stopping.is_set

    def _finish(self, training: Training, held_out: dict[str, Rows]) -> None:
        """Measure on everything that is held out, and keep the trained weights."""
        if not training.step:
            self._nothing_trained()
            return
        self._say(message="Measuring on all held-out examples", seconds_left=0.0)
        kept = training.best.step if training.best else 0
        at = kept or training.step
        with TURNS, training.at_best():
            outcome = outcome_of(training, self.data, held_out)
            save_tensors(self.folder / WEIGHTS, training.adapted.state())
            snapshots = self._snapshot(training, at)
        curve = {**dict(self.record.evaluations), at: next(iter(outcome.metrics.values()))}
        whole = tuple(sorted({*self.record.whole, at}))
        ended = self._ended(training)
        self._say(
            outcome=outcome, evaluations=tuple(curve.items()), whole=whole, snapshots=snapshots, kept=kept, **ended
        )


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

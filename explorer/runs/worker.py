"""One fine-tuning run's work, from the record to its weights: load, train, report as it goes, evaluate, keep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from explorer.models.loaded_model import LoadedModel
from explorer.runs.checks import check_classes
from explorer.runs.open import OpenRun
from explorer.runs.outcome import outcome_of
from explorer.runs.store import RESUME, WEIGHTS
from explorer.runs.working import TURNS, Working, in_turn
from explorer.tasks.task import TaskData
from explorer.tuning.adapted import Adapted, adapt
from explorer.tuning.distilling import Teaching, check_teacher, take_layers
from explorer.tuning.kinds import learning_rate
from explorer.tuning.merging import merged
from explorer.tuning.plan import plan
from explorer.tuning.reading import Scale
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

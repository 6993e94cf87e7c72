"""Students to train: what is asked for, and what is known of them as they train and at the end."""

from __future__ import annotations

from dataclasses import dataclass, replace

from explorer.backend.runs.examples import FIRST, STUDENT
from explorer.backend.runs.record import RunRecord
from explorer.errors import BadInputError
from explorer.maths.seeds import PairedInterval, paired_interval
from explorer.models.catalog import DEFAULT_MODEL
from explorer.numbers import exact_number, real_number
from explorer.tasks.plain_text import TEXT
from explorer.tuning.methods import TEXT_STUDENT
from explorer.tuning.spec import RunSpec
from explorer.tuning.students import WEIGHTS, Ablation, ablated, labels_only

MOST_SEEDS = 20


def _teacher(name: object) -> str:
    """The teacher's run, the worked example where none is named. Raises BadInputError for an empty name."""
    if name is None:
        return FIRST
    if not isinstance(name, str) or not name:
        raise BadInputError("A student needs a teacher: choose a fine-tuned run.")
    return name


def check_text(text: object, task: str) -> None:
    """Raise BadInputError for a text of one's own beside a task that has its own examples."""
    if not isinstance(text, str):
        raise BadInputError("text must be a text: sentences to learn from.")
    if text.strip() and task not in ("", TEXT.slug):
        raise BadInputError(
            f"A text of your own goes with task = {TEXT.slug}, and not with {task}. Leave one of them out."
        )


@dataclass(frozen=True)
class DistillParams:
    """A student of a fine-tuned run, the worked example where none is named; or, on a plain text, of a model that fills masks.

    task: the teacher's where empty; "text" for the masked words of a text, where `model` is the teacher, and `text` is what is
    learnt from (the bundled sentences where it is empty). student: the model whose layers it is made of, the teacher's where
    empty. student_layers: 0 takes every second one. alpha: the share of the soft loss; 1 needs no labels. loss: kl or l2.
    cosine: the weight of the hidden states' cosine. with_labels_only: train the same student on the labels (on a text: the
    hidden words) alone as well. labelled: how many training examples keep their label, drawn by the seed, 0 for all; the rest
    teach by the teacher's answers alone. seeds: how many times all of it is done, with seed, seed + 1, ...
    """

    teacher: str | None = None
    task: str = ""
    student_layers: int = 0
    temperature: float = 2.0
    alpha: float = 1.0
    loss: str = "kl"
    epochs: int = 3
    seed: int = 0
    start: str = "teacher"
    cosine: float = 0.0
    student: str = ""
    learning_rate: float | None = None
    batch_size: int = 16
    examples: int = 0
    with_labels_only: bool = True
    model: str = DEFAULT_MODEL
    text: str = ""
    labelled: int = 0
    seeds: int = 1

    def __post_init__(self) -> None:
        """Raise BadInputError for a setting out of range."""
        object.__setattr__(self, "seeds", exact_number(self.seeds, "seeds", 1, MOST_SEEDS))
        object.__setattr__(self, "teacher", _teacher(self.teacher))
        object.__setattr__(self, "alpha", real_number(self.alpha, "alpha", 0, 1))
        if self.loss not in ("kl", "l2"):
            raise BadInputError(f"loss must be kl or l2; got {self.loss!r}.")
        real_number(self.cosine, "cosine", 0, 1000)
        check_text(self.text, self.task)
        self._spec("model", "task")

    def text_specs(self, task: str) -> tuple[RunSpec, ...]:
        """As specs, on the masked words of a text. Raises BadInputError for a student of another model."""
        if self.student not in ("", self.model):
            raise BadInputError(
                f"On a text the student is made of layers of its teacher, {self.model}. Leave the student's model empty."
            )
        return self._pair(replace(self._spec(self.model, task), method=TEXT_STUDENT.slug, teacher=""))

    def _spec(self, model: str, task: str) -> RunSpec:
        return RunSpec(
            model,
            task,
            "distill",
            learning_rate=self.learning_rate,
            epochs=self.epochs,
            batch_size=self.batch_size,
            examples=self.examples,
            seed=self.seed,
            teacher=_teacher(self.teacher),
            student_layers=self.student_layers,
            start=self.start,
            temperature=self.temperature,
            soft_loss=self.loss,
            soft_weight=self.alpha,
            hard_weight=1 - self.alpha,
            cosine_weight=self.cosine,
            labelled=self.labelled,
        )

    def every_seed(self, specs: tuple[RunSpec, ...]) -> tuple[tuple[RunSpec, ...], ...]:
        """Runs of the first seed, once for each seed."""
        return tuple(tuple(replace(spec, seed=spec.seed + number) for spec in specs) for number in range(self.seeds))

    def specs(self, teacher: RunRecord) -> tuple[RunSpec, ...]:
        """The student, and the one that learns from the labels alone where that is another one."""
        return self._pair(self._spec(self.student or teacher.spec.model, self.task or teacher.spec.task))

    def _pair(self, spec: RunSpec) -> tuple[RunSpec, ...]:
        alone = labels_only(spec)
        return (spec, alone) if self.with_labels_only and alone != spec else (spec,)


@dataclass(frozen=True)
class FollowStudentParams:
    """A student that was started earlier; the worked example where none is named."""

    run: str | None = None

    def __post_init__(self) -> None:
        """No name is the worked example's."""
        if self.run is not None and not isinstance(self.run, str):
            raise BadInputError("run must be a text: the name of a student's run.")
        object.__setattr__(self, "run", self.run or STUDENT)


@dataclass(frozen=True)
class MeasureParams:
    """Runs whose models are weighed and timed. runs: the teacher first.

    whole: the model that the first run is cut from comes before them, as their teacher.
    """

    runs: tuple[str, ...]
    whole: bool = False


@dataclass(frozen=True)
class Size:
    """One model. bytes: of its weights in float32. milliseconds: of a batch of 1 and of 16 held-out texts, the median.

    run_id: empty for a teacher that is no run.
    """

    run_id: str
    parameters: int
    bytes: int
    milliseconds: tuple[float, float]


@dataclass(frozen=True)
class Distilled:
    """Students as they stand, the one that learns from its teacher first; sizes (the teacher's first) once all have ended.

    teacher: None on a plain text, where the students' model teaches as a whole. others: the same students of other seeds.
    """

    teacher: RunRecord | None
    students: tuple[RunRecord, ...]
    sizes: tuple[Size, ...] = ()
    others: tuple[RunRecord, ...] = ()

    @property
    def every(self) -> tuple[RunRecord, ...]:
        """The students of every seed."""
        return (*self.students, *self.others)

    @property
    def on_text(self) -> bool:
        """Whether they learn to fill masks."""
        return self.teacher is None

    @property
    def teacher_scores(self) -> dict[str, float]:
        """What the teacher reaches, by metric; empty before it is known."""
        if self.teacher is None:
            return next((record.reference for record in self.students if record.reference), {})
        score = self.teacher.score
        return {} if score is None else {self.teacher.leading_metric: score}


@dataclass(frozen=True)
class SeedScores:
    """The leading metric of a student with its teacher, and of the same one without."""

    seed: int
    scores: tuple[float, float]


@dataclass(frozen=True)
class Seeded:
    """The same comparison once for each seed, as it stands, in the order of their seeds.

    pairs: (with the teacher, without it), or (with the teacher,) where no other was trained.
    """

    teacher: RunRecord | None
    pairs: tuple[tuple[RunRecord, ...], ...]

    @property
    def measured(self) -> tuple[SeedScores, ...]:
        """Of the pairs of which both have ended."""
        found = []
        for pair in self.pairs:
            scores = [record.score for record in pair if record.outcome is not None]
            given = [score for score in scores if score is not None]
            if len(given) == 2:
                found.append(SeedScores(pair[0].spec.seed, (given[0], given[1])))
        return tuple(found)

    @property
    def interval(self) -> PairedInterval | None:
        """Of the mean difference that the teacher makes; None before two seeds have ended."""
        measured = self.measured
        if len(measured) < 2:
            return None
        return paired_interval([one.scores[0] for one in measured], [one.scores[1] for one in measured])


@dataclass(frozen=True)
class AblationParams:
    """A student with three terms in its loss, and the same one without each, and from a random start.

    labelled: as DistillParams has it.
    """

    teacher: str | None = None
    task: str = ""
    student_layers: int = 0
    temperature: float = 2.0
    soft: float = WEIGHTS[0]
    hard: float = WEIGHTS[1]
    cosine: float = WEIGHTS[2]
    epochs: int = 3
    seed: int = 0
    examples: int = 0
    model: str = DEFAULT_MODEL
    text: str = ""
    labelled: int = 0

    def __post_init__(self) -> None:
        """Raise BadInputError for a setting out of range, or a term without a weight."""
        check_text(self.text, self.task)
        object.__setattr__(self, "teacher", _teacher(self.teacher))
        for name in ("soft", "hard", "cosine"):
            object.__setattr__(self, name, real_number(getattr(self, name), name, 0, 1000))
        self.lines(DistillParams(self.teacher)._spec("model", "task"))

    def lines(self, spec: RunSpec) -> tuple[Ablation, ...]:
        """The runs, made from the settings of one on the right model and task."""
        return ablated(
            replace(
                spec,
                student_layers=self.student_layers,
                temperature=self.temperature,
                epochs=self.epochs,
                seed=self.seed,
                examples=self.examples,
                soft_weight=self.soft,
                hard_weight=self.hard,
                cosine_weight=self.cosine,
                labelled=self.labelled,
            )
        )

    def of(self, teacher: RunRecord) -> tuple[Ablation, ...]:
        """The runs for a teacher."""
        return self.lines(DistillParams(self.teacher, self.task).specs(teacher)[0])

    def of_text(self, task: str) -> tuple[Ablation, ...]:
        """The runs for a text, with the model as their teacher."""
        return self.lines(DistillParams(model=self.model).text_specs(task)[0])


@dataclass(frozen=True)
class Ablated:
    """The ablation as it stands, a record for each of its lines in the order of explorer.tuning.students.ablated.

    teacher: None on a plain text.
    """

    teacher: RunRecord | None
    records: tuple[RunRecord, ...]

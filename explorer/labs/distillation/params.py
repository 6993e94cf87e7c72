"""What can be asked about distillation: of one sentence, and of students to train."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Self

from pydantic import AfterValidator, ValidationInfo, model_validator

from explorer.errors import BadInputError
from explorer.kinds import Exact, Flag, Name, Number, OneOf, Read, Sentence
from explorer.models.catalog import DEFAULT_MODEL
from explorer.params import SecondText, Shown, params
from explorer.runs.examples import FIRST, STUDENT
from explorer.runs.record import RunRecord
from explorer.runs.seeds import Seeds
from explorer.tasks.formats.text import TEXT
from explorer.text import checked_text
from explorer.tuning.methods import TEXT_STUDENT
from explorer.tuning.spec import (
    SOFT_LOSSES,
    BatchSize,
    Epochs,
    Examples,
    Labelled,
    LearningRate,
    RunSeed,
    RunSpec,
    Start,
    StudentLayers,
    Temperature,
    Weight,
)
from explorer.tuning.students import WEIGHTS, Ablation, ablated, labels_only

MASKED = "Cats and [MASK] are popular pets."
"""What a model is asked where no text is given."""

MOST_SHOWN = 30
MOST_SEEDS = 20


def _run(name: Any) -> str | None:
    """Read a run's name; None for none."""
    if name is not None and not isinstance(name, str):
        raise BadInputError(f"A run is named by a text; got {name!r}.")
    return name or None


Asked = Annotated[
    str, Sentence("The sentence is empty. Type one, or pick an example."), Shown("Sentence", lines=(1, 4))
]
Second = Annotated[SecondText, Shown("Second sentence, for a pair", lines=(1, 3))]
Run = Annotated[str | None, Read(_run)]
"""A fine-tuned classifier; without one the model answers with its pretrained head."""

Alpha = Annotated[float, Number(0, 1), Shown("α: share of the soft loss", slider=(0, 1, 0.05))]


TrueAnswer = Annotated[
    str,
    Sentence(optional=True),
    AfterValidator(lambda answer: checked_text(answer).strip() if answer else ""),
    Shown("True answer, if you know it", lines=(1, 1)),
]


@params
class SoftTargetsParams:
    """A teacher and a sentence."""

    text: Annotated[Asked, Shown("Sentence, with [MASK] for a guess", lines=(1, 4))] = MASKED
    temperature: Temperature = 2.0
    model: Annotated[str, Name()] = DEFAULT_MODEL
    run: Run = None
    second: Second = ""
    top_k: Annotated[int, Exact(1, MOST_SHOWN), Shown("Words by name", slider=(1, 20))] = 8
    """How many classes of a vocabulary are named; a classifier's are named all."""

    answer: TrueAnswer = ""
    """The true class or word; without it the hard target is the teacher's own first choice."""


@params
class LossesParams:
    """A teacher, a student and a sentence."""

    text: Asked = MASKED
    temperature: Temperature = 2.0
    model: Annotated[str, Name()] = DEFAULT_MODEL
    run: Run = None
    second: Second = ""
    run_student: Run = None
    """A run as the student; without one it is the teacher with some of its layers."""

    student_layers: StudentLayers = 0
    alpha: Alpha = 0.5
    answer: TrueAnswer = ""
    """As SoftTargetsParams."""


def _teacher(name: Any) -> str:
    if name is None:
        return FIRST
    if not isinstance(name, str) or not name:
        raise BadInputError("A student needs a teacher: choose a fine-tuned run.")
    return name


def _of_no_other_task(text: str, info: ValidationInfo) -> str:
    task = info.data.get("task", "")
    if text.strip() and task not in ("", TEXT.slug):
        raise BadInputError(
            f"A text of your own goes with task = {TEXT.slug}, and not with {task}. Leave one of them out."
        )
    return text


Teacher = Annotated[str | None, Read(_teacher)]
"""A fine-tuned run, the worked example where none is named."""

TaskOrText = Annotated[str, Name(optional=True)]
"""The teacher's where empty; "text" for the masked words of a text, where `model` is the teacher."""

OwnText = Annotated[str, Name(optional=True), AfterValidator(_of_no_other_task)]
"""What is learned from on a text, the bundled sentences where it is empty."""


@params
class DistillParams:
    """A student of a fine-tuned run; or, on a plain text, of a model that fills masks."""

    teacher: Teacher = None
    task: TaskOrText = ""
    student_layers: StudentLayers = 0
    temperature: Temperature = 2.0
    alpha: Annotated[
        Alpha, Shown("α: share of the soft loss", "The rest is the labels', on a text the hidden words'.", (0, 1, 0.05))
    ] = 1.0
    """1 needs no labels."""

    loss: Annotated[
        str,
        OneOf(SOFT_LOSSES, ("soft targets (T² KL)", "logits (L2)"), said="{name} must be kl or l2; got {value}."),
        Shown("Compared with the teacher"),
    ] = "kl"
    epochs: Epochs = 3
    seed: RunSeed = 0
    start: Start = "teacher"
    cosine: Annotated[Weight, Shown("Weight of the states' cosine", "DistilBERT's proportion is a fifth of α.")] = 0.0
    student: Annotated[
        str,
        Name(optional=True),
        Shown("Student's model", "Another model starts from its own pretrained layers.", dropdown=True),
    ] = ""
    """The model whose layers it is made of, the teacher's where empty."""

    learning_rate: LearningRate = None
    batch_size: BatchSize = 16
    examples: Examples = 0
    with_labels_only: Annotated[
        bool, Flag(), Shown("Train the same student on the labels (or hidden words) alone, to compare")
    ] = True
    model: Annotated[str, Name()] = DEFAULT_MODEL
    text: OwnText = ""
    labelled: Labelled = 0
    seeds: Annotated[
        int,
        Exact(1, MOST_SEEDS),
        Shown(
            "Seeds",
            "All of it once for each seed, from the one above on: one says little, five have an interval.",
            (1, MOST_SEEDS),
        ),
    ] = 1

    def text_specs(self, task: str) -> tuple[RunSpec, ...]:
        """Return the runs as specs does, on the masked words of a text. Raises BadInputError for a student of another
        model.
        """
        if self.student not in ("", self.model):
            raise BadInputError(
                f"On a text the student is made of layers of its teacher, {self.model}. Leave the student's model empty."
            )
        # No run teaches, so none is named.
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
            teacher=str(self.teacher),
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
        """Return the runs of the first seed, once for each seed."""
        return tuple(tuple(replace(spec, seed=spec.seed + number) for spec in specs) for number in range(self.seeds))

    def specs(self, teacher: RunRecord) -> tuple[RunSpec, ...]:
        """Return the student, and the one that learns from the labels alone if that is another one."""
        return self._pair(self._spec(self.student or teacher.spec.model, self.task or teacher.spec.task))

    def _pair(self, spec: RunSpec) -> tuple[RunSpec, ...]:
        alone = labels_only(spec)
        return (spec, alone) if self.with_labels_only and alone != spec else (spec,)


@params
class FollowStudentParams:
    """A student that was started earlier; the worked example where none is named."""

    run: Annotated[str | None, Name(optional=True), AfterValidator(lambda run: run or STUDENT)] = None


@params
class TimedStudentParams(FollowStudentParams):
    """The same. timed: whether it is weighed and timed here once it has ended, which takes seconds of the processor."""

    timed: Annotated[bool, Flag()] = True


@params
class AblationParams:
    """A student with three terms in its loss, and the same one without each, and from a random start."""

    teacher: Teacher = None
    task: TaskOrText = ""
    student_layers: StudentLayers = 0
    temperature: Temperature = 2.0
    soft: Annotated[Weight, Shown("Weight of the soft targets")] = WEIGHTS[0]
    hard: Annotated[Weight, Shown("Weight of the labels (on a text: the hidden words)")] = WEIGHTS[1]
    cosine: Annotated[Weight, Shown("Weight of the states' cosine")] = WEIGHTS[2]
    epochs: Epochs = 3
    seed: RunSeed = 0
    examples: Examples = 0
    model: Annotated[str, Name()] = DEFAULT_MODEL
    text: OwnText = ""
    labelled: Labelled = 0
    seeds: Seeds = 1

    @model_validator(mode="after")
    def _runs_are_possible(self) -> Self:
        self.lines(DistillParams(self.teacher)._spec("model", "task"))  # any names do: the weights are what is checked
        return self

    def lines(self, spec: RunSpec) -> tuple[Ablation, ...]:
        """Return the runs, made from the settings of one on the right model and task."""
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
        """Return the runs for a teacher."""
        return self.lines(DistillParams(self.teacher, self.task).specs(teacher)[0])

    def of_text(self, task: str) -> tuple[Ablation, ...]:
        """Return the runs for a text, with the model as their teacher."""
        return self.lines(DistillParams(model=self.model).text_specs(task)[0])

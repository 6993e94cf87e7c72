"""What goes into the fine-tuning lab's jobs and what comes out."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.backend.runs.examples import FIRST, PRAISE
from explorer.errors import BadInputError
from explorer.text import checked_text
from explorer.tuning.spec import RunSpec

MOST_COMPARED = 12


@dataclass(frozen=True)
class PlanParams(RunSpec):
    """A run that has not started."""

    model: str = ""
    """Filled in by the job: the model is the job's own."""


@dataclass(frozen=True)
class PlanResult:
    """What a run would train and cost.

    modules: (name, trainable parameters). total: parameters of the model with its new head. seconds: of training, from a
    timed forward pass here. unavailable: why the method cannot be had on this model. script: train.py of these settings, empty
    where it takes a run's own start.
    """

    model_id: str
    title: str
    modules: tuple[tuple[str, int], ...] = ()
    trainable: int = 0
    total: int = 0
    checkpoint_bytes: int = 0
    memory_bytes: int = 0
    seconds: float = 0.0
    examples: int = 0
    steps: int = 0
    notes: tuple[str, ...] = ()
    unavailable: str = ""
    script: str = ""


@dataclass(frozen=True)
class CompareParams:
    """Several runs with the same data and seed. methods: names, or empty for every one that this model can have."""

    model: str
    task: str = "sst2"
    methods: tuple[str, ...] = ()
    epochs: int = 3
    batch_size: int = 16
    examples: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        """Accept a comma-separated text, then check as a run would."""
        named = self.methods.split(",") if isinstance(self.methods, str) else self.methods or ()
        object.__setattr__(self, "methods", tuple(str(name).strip() for name in named if str(name).strip()))
        RunSpec(
            self.model,
            self.task,
            epochs=self.epochs,
            batch_size=self.batch_size,
            examples=self.examples,
            seed=self.seed,
        )
        if len(self.methods) > MOST_COMPARED:
            raise BadInputError(f"At most {MOST_COMPARED} methods at a time; got {len(self.methods)}.")


@dataclass(frozen=True)
class RunsParams:
    """All of a visitor's runs."""


@dataclass(frozen=True)
class FollowParams:
    """A run to look at until it ends."""

    run: str = FIRST

    def __post_init__(self) -> None:
        """Raise BadInputError where no run is named."""
        _require_run(self.run)


def _require_run(run: object) -> None:
    if not isinstance(run, str) or not run:
        raise BadInputError("Choose a run first: start one on the Train tab.")


@dataclass(frozen=True)
class PredictRunParams:
    """One text, or a pair, for a run's model and for the model before it was fine-tuned."""

    run: str = FIRST
    sentence_a: str = PRAISE
    sentence_b: str = ""

    def __post_init__(self) -> None:
        """Raise BadInputError where there is no run or no text."""
        _require_run(self.run)
        if not isinstance(self.sentence_a, str) or not self.sentence_a.strip():
            raise BadInputError("The sentence is empty. Type one, or pick an example.")
        for text in (self.sentence_a, self.sentence_b):
            if text:
                checked_text(text)


@dataclass(frozen=True)
class Prediction:
    """One model's answer. logits: (outputs,). probabilities: empty for a regression. score: None for classes."""

    name: str
    run_id: str
    logits: tuple[float, ...]
    probabilities: tuple[float, ...]
    score: float | None


@dataclass(frozen=True)
class PredictRunResult:
    """base: the same network with the head it started from, before any training; adapted: after the run."""

    labels: tuple[str, ...]
    task_title: str
    base: Prediction
    adapted: Prediction


@dataclass(frozen=True)
class SwapParams:
    """One text for several runs of one base model, each row of a single batch through another adapter."""

    runs: tuple[str, ...]
    sentence_a: str
    sentence_b: str = ""

    def __post_init__(self) -> None:
        """Raise BadInputError where there is nothing to swap or no text."""
        named = self.runs.split(",") if isinstance(self.runs, str) else self.runs or ()
        object.__setattr__(self, "runs", tuple(str(name).strip() for name in named if str(name).strip()))
        if not self.runs:
            raise BadInputError("Choose one or more LoRA runs of the same model.")
        PredictRunParams(self.runs[0], self.sentence_a, self.sentence_b)


@dataclass(frozen=True)
class SwapResult:
    """rows: one prediction a run, in the batch's order. alone: the same run asked by itself. difference: largest of logits.

    milliseconds: (as one batch, one after the other).
    """

    labels: dict[str, tuple[str, ...]]
    rows: tuple[Prediction, ...]
    alone: tuple[Prediction, ...]
    difference: float
    milliseconds: tuple[float, float]


@dataclass(frozen=True)
class MergeParams:
    """A run whose update is to be merged into the weights."""

    run: str = FIRST

    def __post_init__(self) -> None:
        """Raise BadInputError where no run is named."""
        _require_run(self.run)


@dataclass(frozen=True)
class MergeForm:
    """One form of the model: base, attached or merged. max_difference: of its logits from the attached form's.

    milliseconds: the median of a batch; low, high: the quartiles, between which half of the calls lie.
    """

    form: str
    max_difference: float | None
    milliseconds: float
    parameters: int
    low: float
    high: float

    def differs_from(self, other: MergeForm) -> bool:
        """Whether the middle halves of their calls have no time in common."""
        return self.low > other.high or other.low > self.high


@dataclass(frozen=True)
class MergeResult:
    """The three forms on the same held-out sentences: rows of them for the logits, of which `timed` make the batch."""

    run_id: str
    name: str
    forms: tuple[MergeForm, ...]
    rows: int
    tokens: int
    timed: int


EXPORT_KINDS = ("adapter", "merged")


@dataclass(frozen=True)
class ExportParams:
    """A run as a file. kind: `adapter` (what was trained, peft's format where it has one) or `merged` (a whole checkpoint)."""

    run: str = FIRST
    kind: str = "adapter"

    def __post_init__(self) -> None:
        """Raise BadInputError where no run is named or the kind is unknown."""
        _require_run(self.run)
        if self.kind not in EXPORT_KINDS:
            raise BadInputError(f"kind must be one of {', '.join(EXPORT_KINDS)}; got {self.kind!r}.")

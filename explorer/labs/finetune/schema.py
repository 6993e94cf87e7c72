"""Parameters and results that several questions about fine-tuning share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator

from explorer.errors import BadInputError
from explorer.kinds import Name, Names, OneOf, Sentence
from explorer.maths.intervals import Ratio, Spent, busy
from explorer.models.layer_sizes import LayerSizes, Matrix
from explorer.params import SecondText, Shown, params
from explorer.runs.examples import FIRST, PRAISE
from explorer.runs.seeds import Seeds
from explorer.tuning.spec import BatchSize, Epochs, Examples, RunSeed, RunSpec, Task

MOST_COMPARED = 12


@params
class PlanParams(RunSpec):
    """A run that has not started."""

    model: Annotated[str, Name()] = ""
    """Filled in by the job: the model is the job's own."""


@dataclass(frozen=True)
class LowRank:
    """What LoRA would add: B A to each of a layer's chosen matrices, in so many layers."""

    matrices: tuple[Matrix, ...]
    layers: int
    rank: int
    alpha: float
    variant: str

    def added(self, matrix: Matrix) -> int:
        """Count the trained parameters for one matrix: B has rows times rank, A rank times columns; DoRA a length a row
        besides.
        """
        return self.rank * (matrix.rows + matrix.columns) + (matrix.rows if self.variant == "dora" else 0)

    @property
    def trained(self) -> int:
        """How many numbers LoRA trains in all layers."""
        return self.layers * sum(map(self.added, self.matrices))


@dataclass(frozen=True)
class PlanResult:
    """What a run would train and cost.

    modules: (name, trainable parameters). total: parameters of the model with its new head. seconds: of training, from a
    timed forward pass here. unavailable: why the method cannot be had on this model. script: train.py of these settings, empty
    where it takes a run's own start. layer: of the model; low_rank: what LoRA adds to it, for that method alone.
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
    layer: LayerSizes | None = None
    low_rank: LowRank | None = None


def _not_too_many(methods: tuple[str, ...]) -> tuple[str, ...]:
    if len(methods) > MOST_COMPARED:
        raise BadInputError(f"At most {MOST_COMPARED} methods at a time; got {len(methods)}.")
    return methods


@params
class CompareParams:
    """Several runs with the same data and seeds. methods: names, or empty for every one that this model can have."""

    model: Annotated[str, Name()]
    task: Task = "sst2"
    methods: Annotated[tuple[str, ...], Names(), AfterValidator(_not_too_many), Shown("Methods")] = ()
    epochs: Epochs = 3
    batch_size: BatchSize = 16
    examples: Examples = 0
    seed: RunSeed = 0
    seeds: Seeds = 1


@params
class BaselineParams:
    """The task that words are counted on, and how many of its examples."""

    task: Task = "sst2"
    examples: Examples = 0


@params
class RunsParams:
    """All of a visitor's runs."""


Run = Annotated[str, Name(missing="Choose a run first: start one on the Train tab.")]
FirstText = Annotated[
    str, Sentence("The sentence is empty. Type one, or pick an example."), Shown("Text", lines=(2, 6))
]
PairedText = Annotated[SecondText, Shown("Second text, for tasks on pairs", lines=(1, 4))]


@params
class FollowParams:
    """A run to look at until it ends."""

    run: Run = FIRST


@params
class PredictRunParams:
    """One text, or a pair, for a run's model and for the model before it was fine-tuned."""

    run: Run = FIRST
    sentence_a: FirstText = PRAISE
    sentence_b: PairedText = ""


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


def _some(runs: tuple[str, ...]) -> tuple[str, ...]:
    if not runs:
        raise BadInputError("Choose one or more LoRA runs of the same model.")
    return runs


@params
class SwapParams:
    """One text for several runs of one base model, each row of a single batch through another adapter."""

    runs: Annotated[tuple[str, ...], Names(), AfterValidator(_some)]
    sentence_a: FirstText
    sentence_b: PairedText = ""


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


@params
class MergeParams:
    """A run whose update is to be merged into the weights."""

    run: Run = FIRST


@dataclass(frozen=True)
class MergeForm:
    """One form of the model: base, attached or merged. max_difference: of its logits from the attached form's.

    spent: milliseconds a batch. merged: the merged form's time as a multiple of this one's, round by round.
    """

    form: str
    max_difference: float | None
    spent: Spent
    parameters: int
    merged: Ratio


@dataclass(frozen=True)
class MergeResult:
    """The three forms on the same held-out sentences: rows of them for the logits, of which `timed` make the batch."""

    run_id: str
    name: str
    forms: tuple[MergeForm, ...]
    rows: int
    tokens: int
    timed: int

    @property
    def is_busy(self) -> bool:
        """Whether the machine was too busy to compare times: whoever asks again has them measured again."""
        return busy(next(form.spent for form in self.forms if form.form == "base"))


@params
class ExportParams:
    """A run as a file.

    kind: `adapter` (what was trained, in peft's format where it has one), `merged` (a whole checkpoint with the new head) or
    `model` (one with the heads from before, which another run may start from).
    """

    run: Run = FIRST
    kind: Annotated[
        str,
        OneOf(
            ("adapter", "merged", "model"),
            (
                "Adapter in peft's format, with card, data and training script",
                "Whole merged checkpoint with the new head, for from_pretrained",
                "Whole merged model with the heads from before, to start from again",
            ),
        ),
        Shown("What"),
    ] = "adapter"

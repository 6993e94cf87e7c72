"""The settings of a run in plain values: they travel to the machine that trains and are kept with the result."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Any, Self

from pydantic import AfterValidator, model_validator

from explorer.errors import BadInputError
from explorer.kinds import LARGEST_SEED, Exact, Flag, Name, Names, Number, OneOf
from explorer.params import Shown, params

TARGETS = ("query", "key", "value", "output", "ffn_in", "ffn_out")
"""The weight matrices of one layer that LoRA may adapt: W_q, W_k, W_v, W_o and the two of the feed-forward block."""

VARIANTS = ("lora", "rslora", "dora", "pissa")
STARTS = ("teacher", "pretrained", "random")
"""Where a student's layers come from: the fine-tuned teacher, the model before fine-tuning, or random numbers."""

SOFT_LOSSES = ("kl", "l2")
"""How a student is compared with its teacher: T² KL of softened softmax, or the squared difference of logits."""

MOST_RANK = 4096
LONGEST_ROW = 128
"""Tokens of a row, as in the GLUE recipes; longer texts are cut, and the run says how many."""

QUICK_ROWS = 128
"""Held-out rows that the evaluations during training use; the first and the last evaluation use all."""

MOST_HELD_OUT = 2000
"""Held-out examples that are used of a split; more would cost a laptop more time than the training."""

HIGHEST_TEMPERATURE = 1000.0


def _known_targets(targets: tuple[str, ...]) -> tuple[str, ...]:
    unknown = [target for target in targets if target not in TARGETS]
    if unknown or not targets:
        raise BadInputError(
            f"targets must name one or more of {', '.join(TARGETS)}; got {', '.join(unknown) or 'none'}."
        )
    return targets


Task = Annotated[str, Name(), Shown("Task", dropdown=True)]
"""A task's name, as explorer.tasks.sources.load knows it."""

Targets = Annotated[
    tuple[str, ...],
    Names(said="targets must be a list of names, such as query, value; got {value}."),
    AfterValidator(_known_targets),
    Shown("Adapted matrices", choices=tuple((name.replace("ffn_", "FFN "), name) for name in TARGETS)),
]
Rank = Annotated[int, Exact(1, MOST_RANK), Shown("Rank r", slider=(1, 128))]
Alpha = Annotated[float, Number(0, 10_000, above=True), Shown("LoRA alpha", "The update is scaled by alpha / r.")]
LearningRate = Annotated[float | None, Number(0, 1e6, above=True, optional=True), Shown("Learning rate")]
"""None for the method's own default."""

Epochs = Annotated[int, Exact(1, 200), Shown("Epochs", slider=(1, 20))]
BatchSize = Annotated[int, Exact(1, 512), Shown("Batch size", slider=(1, 64))]
Examples = Annotated[int, Exact(0, 10_000_000), Shown("Training examples", "0 takes all of them.")]
RunSeed = Annotated[int, Exact(0, LARGEST_SEED), Shown("Seed")]
Temperature = Annotated[
    float, Number(0, HIGHEST_TEMPERATURE, above=True), Shown("Temperature T", slider=(0.1, 20, 0.1))
]
"""The temperature T of the soft targets."""

StudentLayers = Annotated[
    int,
    Exact(0, 1000),
    Shown(
        "Student's layers",
        choices=(("every second layer", 0), *((str(count), count) for count in range(1, 25))),
        dropdown=True,
    ),
]
"""How many of the model's layers a student has, 0 for half; the list ends at the depth of BERT-large."""

Start = Annotated[
    str,
    OneOf(STARTS, ("the teacher's layers", "pretrained layers", "random numbers")),
    Shown("Starts from"),
]
LastLayers = Annotated[
    int,
    Exact(0, 1000),
    Shown("Last layers to train", "0 trains all. The others stay as they are, with the embeddings."),
]
Labelled = Annotated[int, Exact(0, 10_000_000), Shown("Known labels")]
"""How many of a student's training examples keep their label, drawn by the seed; 0 for all."""

Weight = Annotated[float, Number(0, 1000)]
"""The factor of a term of a student's loss; 0 leaves the term out."""


@params
class RunSpec:
    """One fine-tuning run. rank, alpha, targets, variant: LoRA's. From teacher on a distilled student's."""

    model: Annotated[str, Name()]
    task: Task = "sst2"
    method: Annotated[str, Name(), Shown("Method", dropdown=True)] = "lora"
    rank: Rank = 8
    alpha: Alpha = 16.0
    targets: Targets = ("query", "value")
    learning_rate: LearningRate = None
    epochs: Epochs = 3
    batch_size: BatchSize = 16
    examples: Examples = 0
    seed: RunSeed = 0
    variant: Annotated[
        str,
        OneOf(VARIANTS, ("LoRA", "rsLoRA", "DoRA", "PiSSA")),
        Shown("LoRA variant", dropdown=True),
    ] = "lora"
    dropout: Annotated[float, Number(0, 0.9), Shown("Dropout in LoRA or the adapters", slider=(0, 0.5, 0.05))] = 0.0
    prefix_length: Annotated[int, Exact(1, 128), Shown("Virtual tokens", slider=(1, 64))] = 16
    bottleneck: Annotated[int, Exact(1, 4096), Shown("Bottleneck width", slider=(1, 256))] = 32
    teacher: Annotated[str, Name()] = ""
    student_layers: StudentLayers = 0
    start: Start = "teacher"
    temperature: Temperature = 2.0
    soft_loss: Annotated[str, OneOf(SOFT_LOSSES)] = "kl"
    soft_weight: Weight = 1.0
    hard_weight: Weight = 0.0
    cosine_weight: Weight = 0.0
    labelled: Labelled = 0
    last_layers: LastLayers = 0
    keep_best: Annotated[
        bool, Flag(), Shown("Keep the best step", "End with the best evaluation, not with the last.")
    ] = False
    after: Annotated[
        str,
        Name(),
        Shown(
            "Starts from", "An earlier run's weights, merged; as RTE started from MNLI in the papers.", dropdown=True
        ),
    ] = ""
    """An earlier run of the same model; empty for the model as it was pretrained. Its head is left behind."""

    @model_validator(mode="after")
    def _has_one_start(self) -> Self:
        if self.after and self.start == "random":
            raise BadInputError(
                "A run starts from random numbers or after another run. Leave after empty, or start pretrained."
            )
        return self

    @model_validator(mode="after")
    def _has_a_loss(self) -> Self:
        if not self.soft_weight + self.hard_weight + self.cosine_weight:
            raise BadInputError(
                "soft_weight, hard_weight and cosine_weight are all 0; one term of the loss must be left."
            )
        return self


def spec_of(asked: Any, **settings: Any) -> RunSpec:
    """Return a run's settings from the fields of `asked` that have a spec's names; `settings` override them."""
    shared = {field.name: getattr(asked, field.name) for field in fields(RunSpec) if hasattr(asked, field.name)}
    return RunSpec(**{**shared, **settings})

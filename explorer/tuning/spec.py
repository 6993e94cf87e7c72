"""What a run is asked to do, in plain values: it crosses to the machine that trains and is kept with the result."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from explorer.errors import BadInputError
from explorer.numbers import exact_number, real_number

TARGETS = ("query", "key", "value", "output", "ffn_in", "ffn_out")
"""The weight matrices of one layer that LoRA may adapt: W_q, W_k, W_v, W_o and the two of the feed-forward block."""

VARIANTS = ("lora", "rslora", "dora", "pissa")
STARTS = ("teacher", "pretrained", "random")
"""Where a student's layers come from: the fine-tuned teacher, the model before it was fine-tuned, or nowhere."""

SOFT_LOSSES = ("kl", "l2")
"""How a student is compared with its teacher: T² KL of softened softmax, or the squared difference of logits."""

QUICK_ROWS = 128
"""Held-out rows that the evaluations during training use; the first and the last one use all."""

HIGHEST_RATE = 1e6
HIGHEST_TEMPERATURE = 1000.0
MOST_EPOCHS = 200
LARGEST_BATCH = 512


@dataclass(frozen=True)
class RunSpec:
    """One fine-tuning run.

    task: a name that explorer.tasks.sources.load knows. learning_rate: None takes the method's own default.
    examples: how many training examples to use, 0 for all. rank, alpha, dropout, targets, variant: LoRA's.
    prefix_length: virtual tokens of the two prefix methods. bottleneck: width of an adapter.
    teacher: the run that a distilled student learns from. student_layers: how many of the model's layers it has, 0 for half.
    start: one of STARTS. temperature: T of the soft targets. soft_loss: one of SOFT_LOSSES. soft_weight, hard_weight,
    cosine_weight: what each term of its loss is multiplied by; 0 leaves it out. labelled: how many of a student's training
    examples keep their label, drawn by the seed; 0 for all.
    Raises BadInputError for a setting out of range.
    """

    model: str
    task: str = "sst2"
    method: str = "lora"
    rank: int = 8
    alpha: float = 16.0
    targets: tuple[str, ...] = ("query", "value")
    learning_rate: float | None = None
    epochs: int = 3
    batch_size: int = 16
    examples: int = 0
    seed: int = 0
    variant: str = "lora"
    dropout: float = 0.0
    prefix_length: int = 16
    bottleneck: int = 32
    teacher: str = ""
    student_layers: int = 0
    start: str = "teacher"
    temperature: float = 2.0
    soft_loss: str = "kl"
    soft_weight: float = 1.0
    hard_weight: float = 0.0
    cosine_weight: float = 0.0
    labelled: int = 0

    def __post_init__(self) -> None:
        """Bring lists and whole floats (as JSON has them) to their type, then check every range."""
        for name in ("model", "task", "method", "variant", "teacher", "start", "soft_loss"):
            if not isinstance(getattr(self, name), str):
                raise BadInputError(f"{name} must be a text; got {getattr(self, name)!r}.")
        targets = self.targets.split(",") if isinstance(self.targets, str) else self.targets or ()
        if not isinstance(targets, Iterable):
            raise BadInputError(f"targets must be a list of names, such as query, value; got {targets!r}.")
        object.__setattr__(self, "targets", tuple(str(target).strip() for target in targets if str(target).strip()))
        for name, least, most in _WHOLE:
            object.__setattr__(self, name, exact_number(getattr(self, name), name, least, most))
        rate = self.learning_rate
        if rate is not None:
            object.__setattr__(self, "learning_rate", real_number(rate, "learning_rate", 0, HIGHEST_RATE, above=True))
        object.__setattr__(self, "alpha", real_number(self.alpha, "alpha", 0, 10_000, above=True))
        object.__setattr__(self, "dropout", real_number(self.dropout, "dropout", 0, 0.9))
        unknown = [target for target in self.targets if target not in TARGETS]
        if unknown or not self.targets:
            raise BadInputError(
                f"targets must name one or more of {', '.join(TARGETS)}; got {', '.join(unknown) or 'none'}."
            )
        if self.variant not in VARIANTS:
            raise BadInputError(f"variant must be one of {', '.join(VARIANTS)}; got {self.variant!r}.")
        self._check_student()

    def _check_student(self) -> None:
        object.__setattr__(
            self, "temperature", real_number(self.temperature, "temperature", 0, HIGHEST_TEMPERATURE, above=True)
        )
        for name in ("soft_weight", "hard_weight", "cosine_weight"):
            object.__setattr__(self, name, real_number(getattr(self, name), name, 0, 1000))
        if not self.soft_weight + self.hard_weight + self.cosine_weight:
            raise BadInputError(
                "soft_weight, hard_weight and cosine_weight are all 0; one term of the loss must be left."
            )
        for name, known in (("start", STARTS), ("soft_loss", SOFT_LOSSES)):
            if getattr(self, name) not in known:
                raise BadInputError(f"{name} must be one of {', '.join(known)}; got {getattr(self, name)!r}.")


_WHOLE = (
    ("rank", 1, 4096),
    ("epochs", 1, MOST_EPOCHS),
    ("batch_size", 1, LARGEST_BATCH),
    ("examples", 0, 10_000_000),
    ("seed", 0, 2**31 - 1),
    ("prefix_length", 1, 128),
    ("bottleneck", 1, 4096),
    ("student_layers", 0, 1000),
    ("labelled", 0, 10_000_000),
)

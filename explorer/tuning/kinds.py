"""The kinds of tasks that a run can learn: for each the head, how its examples become rows, and which methods it takes.

Nothing here imports torch, so that a record can be described without it. To add a kind, describe it here and name it in
KINDS.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from explorer.models.families import Architecture, Capability
from explorer.tasks.formats.e2e import ASKS
from explorer.tasks.task import CLASSES, MASKED, SPAN, WRITTEN
from explorer.tuning.methods import find_method
from explorer.tuning.methods.method import Method
from explorer.tuning.spec import LONGEST_ROW, QUICK_ROWS, RunSpec

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PretrainedConfig, PreTrainedModel

    from explorer.models.loaded_model import LoadedModel
    from explorer.tasks.task import Example
    from explorer.tuning.rows import Rows


EVALUATIONS_PER_EPOCH = 3


def _logits(output: Any) -> Tensor:
    logits: Tensor = output.logits
    return logits


@dataclass(frozen=True)
class Kind:
    """One kind of task.

    model_class: transformers' class that opens its checkpoints. pipeline: the hub's name for the task.

    refuses: returns a sentence why a method or a family cannot learn it, or None.

    fork: (loaded, outputs, seed, kept layers), makes the model with the head on the shared weights. empty: the same
    without storage, for a config made by `classifier_config`.

    read: (loaded, examples, longest), makes rows; raises BadInputError if none is left.

    training: the class that trains it, imported when it is called, since it needs torch.
    """

    slug: str
    model_class: str
    pipeline: str
    refuses: Callable[[Method, Architecture], str | None]
    fork: Callable[[LoadedModel, int, int, Sequence[int]], PreTrainedModel]
    empty: Callable[[PretrainedConfig], PreTrainedModel]
    read: Callable[[LoadedModel, Sequence[Example], int], Rows]
    training: Callable[..., Any]
    rates: Mapping[str, float] = field(default_factory=dict)
    """Learning rates by method that differ from the method's own."""
    scores: Callable[[Any], Tensor] = _logits
    """Returns the head's scores from the model's output."""
    longest: int = LONGEST_ROW
    """The most tokens of a row."""
    evaluations: int = EVALUATIONS_PER_EPOCH
    """How often the first held-out examples are measured: in each epoch, or in the whole run, see `each_epoch`."""
    each_epoch: bool = True
    unit: str = "held-out examples"
    """What the metrics are measured on, in the plural."""
    template: str = "train"
    """The name of its template of train.py."""
    constants: Mapping[str, str] = field(default_factory=dict)
    """Names and code that the template takes besides those of every run."""
    judges_texts: bool = False
    """Whether its answers are texts, kept beside the right ones, and not classes or scores."""

    def measured(self, epochs: int, held_out: int) -> int:
        """Return how many held-out examples a training reads: all of them first and last, and the first ones in between."""
        times = self.evaluations * (epochs if self.each_epoch else 1)
        return 2 * held_out + times * min(QUICK_ROWS, held_out)


def lazily(place: str) -> Callable[..., Any]:
    """Return a function that imports `module:name` when it is called, and calls it."""

    def call(*given: Any, **named: Any) -> Any:
        from importlib import import_module

        module, _, name = place.partition(":")
        return getattr(import_module(module), name)(*given, **named)

    return call


def _refuses_labels(method: Method, architecture: Architecture) -> str | None:
    if method.fills_masks:
        return f"{method.title} learns from a text without labels, and not from labelled examples. Take task = text."
    return None


_CLASSIFIES = Kind(
    CLASSES,
    "AutoModelForSequenceClassification",
    "text-classification",
    _refuses_labels,
    lazily("explorer.tuning.forks:fork_classifier"),
    lazily("explorer.tuning.forks:empty_classifier"),
    lazily("explorer.tuning.rows:tokenise"),
    lazily("explorer.tuning.training:Training"),
)


def _refuses_text(method: Method, architecture: Architecture) -> str | None:
    if method.fills_masks:
        return None
    return (
        f"a text has no labels, and {method.title} needs them. Choose a task with labels, or train a student on this text on "
        "the Distillation page."
    )


def _fork_masked(loaded: LoadedModel, outputs: int, seed: int, kept: Sequence[int]) -> PreTrainedModel:
    from explorer.tuning.forks import fork_masked

    return fork_masked(loaded, kept)


_FILLS = Kind(
    MASKED,
    "AutoModelForMaskedLM",
    "fill-mask",
    _refuses_text,
    _fork_masked,
    lazily("explorer.tuning.forks:empty_masked"),
    lazily("explorer.tuning.masked:rows_of"),
    lazily("explorer.tuning.masked:MaskedTraining"),
    unit="hidden words",
)


EVALUATIONS_OF_TEXTS = 8
"""Evaluations in a run: fewer than a classifier's, since writing takes far longer than reading."""


def _refuses_writing(method: Method, architecture: Architecture) -> str | None:
    if Capability.CAUSAL not in architecture.heads:
        return (
            f"{architecture.family} fills blanks and does not write from left to right. Choose a model that continues a text, "
            "such as gpt2-mini."
        )
    if method.is_student or method.fills_masks:
        return "a student learns classes, scores or hidden words here, and no writing. Choose another method."
    if not method.trains_body:
        return (
            "the head that writes is the model's own (its matrix is that of the word embeddings), so no fresh head is left to "
            "train. Choose another method, such as LoRA."
        )
    return None


def _fork_causal(loaded: LoadedModel, outputs: int, seed: int, kept: Sequence[int]) -> PreTrainedModel:
    from explorer.tuning.forks import fork_causal

    return fork_causal(loaded)


_WRITES = Kind(
    WRITTEN,
    "AutoModelForCausalLM",
    "text-generation",
    _refuses_writing,
    _fork_causal,
    lazily("explorer.tuning.forks:empty_causal"),
    lazily("explorer.tuning.writing:rows_of"),
    lazily("explorer.tuning.writing:WritingTraining"),
    rates={"lora": 6e-3, "full": 1e-3, "prefix": 1e-1, "houlsby": 3e-3, "pfeiffer": 3e-3, "bitfit": 1e-2},
    evaluations=EVALUATIONS_OF_TEXTS,
    each_epoch=False,
    unit="held-out meanings",
    template="train_written",
    constants={"ASKS": repr(ASKS)},
    judges_texts=True,
)


LONGEST = 384
"""Tokens of a question with its text; a longer text is read in windows. This and the next two are those of BERT's SQuAD
recipe.
"""

STRIDE = 128
"""Tokens that a window of a long text shares with the one before it."""

LONGEST_ANSWER = 30
"""Tokens that an answer may have."""

EVALUATIONS_OF_ANSWERS = 6
"""Evaluations in a run: reading all held-out questions takes a good part of an epoch's time."""


def _refuses_answers(method: Method, architecture: Architecture) -> str | None:
    if architecture.layers.reads_last:
        return (
            f"{architecture.family} reads from left to right, so no token knows what follows it, and the first one, which stands "
            "for no answer, has read nothing. Choose a model that reads both sides, such as bert-small."
        )
    if not architecture.finds_answers:
        return (
            f"transformers has no head for {architecture.family} that finds answers in a text. Choose another model, such as "
            "bert-small."
        )
    if method.is_student or method.fills_masks:
        return "a student learns classes, scores or hidden words here, and no answers in a text. Choose another method."
    return None


def _scores(output: Any) -> Tensor:
    """Return start and end scores, (rows, tokens, 2)."""
    import torch

    return torch.stack([output.start_logits, output.end_logits], dim=-1)


_ANSWERS = Kind(
    SPAN,
    "AutoModelForQuestionAnswering",
    "question-answering",
    _refuses_answers,
    lazily("explorer.tuning.forks:fork_span"),
    lazily("explorer.tuning.forks:empty_span"),
    lazily("explorer.tuning.qa_head:rows_of"),
    lazily("explorer.tuning.qa_head:SpanTraining"),
    scores=_scores,
    evaluations=EVALUATIONS_OF_ANSWERS,
    each_epoch=False,
    unit="held-out questions",
    template="train_span",
    constants={"STRIDE": repr(STRIDE), "LONGEST_ANSWER": repr(LONGEST_ANSWER)},
    judges_texts=True,
    rates={"full": 1e-4, "lora": 3e-3, "houlsby": 3e-3, "pfeiffer": 3e-3, "bitfit": 5e-3, "ia3": 2e-2},
    longest=LONGEST,
)


KINDS = {kind.slug: kind for kind in (_CLASSIFIES, _FILLS, _WRITES, _ANSWERS)}


def find_kind(slug: str) -> Kind:
    """Return a kind by its name; the one of classes and scores for a record that is older than kinds."""
    return KINDS.get(slug) or KINDS[CLASSES]


def kind_of(method: str, slug: str) -> Kind:
    """Return the kind that a run learns: its task's, unless its method fills masks."""
    return KINDS["masked"] if find_method(method).fills_masks else find_kind(slug)


def learning_rate(spec: RunSpec, kind: Kind) -> float:
    """Return a run's own learning rate, else the usual one."""
    return spec.learning_rate or usual_rate(spec.method, kind)


def usual_rate(method: str, kind: Kind) -> float:
    """Return the learning rate that suits the kind of task, else the method's."""
    return kind.rates.get(method) or find_method(method).learning_rate

"""Describes a kind of task: the head that learns it, how its examples become rows, and which methods it takes.

Nothing here imports torch, so that a record can be described without it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from explorer.models.families import Architecture
from explorer.tuning.methods.method import Method
from explorer.tuning.spec import LONGEST_ROW, QUICK_ROWS

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

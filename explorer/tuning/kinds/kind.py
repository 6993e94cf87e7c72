"""What a kind of task is to a run: the head that learns it, how its examples become rows, and which methods it takes.

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

    model_class: transformers' class that opens its checkpoints. pipeline: the hub's.
    refuses: says in a sentence why a method or a family cannot learn it, or None.
    fork: (bundle, outputs, seed, kept layers), the model with the head on the shared weights. empty: the same without storage,
    of a config that `classifier_config` has made.
    read: (bundle, examples, longest) to rows; raises BadInputError where none is left.
    training: the class that trains it, called lazily: it imports torch.
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
    """Learning rates by method, where they are not the method's own."""
    scores: Callable[[Any], Tensor] = _logits
    """What its head says, from the model's output."""
    longest: int = LONGEST_ROW
    """Tokens a row that it reads at most."""
    evaluations: int = EVALUATIONS_PER_EPOCH
    """How often the first held-out examples are measured: in each epoch, or in all of them together, see `each_epoch`."""
    each_epoch: bool = True
    unit: str = "held-out examples"
    """What is measured on, in the plural."""
    template: str = "train"
    """Of train.py."""
    constants: Mapping[str, str] = field(default_factory=dict)
    """Names and code that its template of train.py takes besides those of every run."""
    judges_texts: bool = False
    """Its answers are texts, kept beside what is right, and no classes or scores."""

    def measured(self, epochs: int, held_out: int) -> int:
        """How many held-out examples a training reads: all of them first and last, and the first ones in between."""
        times = self.evaluations * (epochs if self.each_epoch else 1)
        return 2 * held_out + times * min(QUICK_ROWS, held_out)


def lazily(place: str) -> Callable[..., Any]:
    """What `module:name` names, looked up when it is called."""

    def call(*given: Any, **named: Any) -> Any:
        from importlib import import_module

        module, _, name = place.partition(":")
        return getattr(import_module(module), name)(*given, **named)

    return call

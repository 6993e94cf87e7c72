"""Describes a fine-tuning method; nothing here imports torch, so that a page can list them.

Every method also trains the fresh head (the classifier, and a pooler if the checkpoint has none). No method drops out
anything in the body: the frozen weights then give the same numbers at every step, which keeps the runs comparable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from explorer.models.families import Architecture, Layers

if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedModel

    from explorer.tuning.spec import RunSpec


BETWEEN_THE_LAYERS = (
    "its small networks stand between the model's own layers and are nonlinear, so no change of W does what they do. "
    "LoRA and IA³ can be merged."
)
BEFORE_THE_TEXT = (
    "its vectors stand before the text and are attended to, so they are input and not part of any W. "
    "LoRA and IA³ can be merged."
)
"""The reasons why two kinds of updates cannot be merged into the weights."""


def _always(architecture: Architecture, config: Mapping[str, Any]) -> str | None:
    return None


def _by_peft(spec: RunSpec, layers: Layers) -> str:
    return "peft"


def _never(spec: RunSpec) -> bool:
    return False


def _none(spec: RunSpec, layers: Layers) -> Iterable[str]:
    return ()


@dataclass(frozen=True)
class Method:
    """One fine-tuning method: what a page says of it, how it is put on a model, and what other code must know of it."""

    slug: str
    title: str
    summary: str
    formula: str
    source: str
    """The paper, and its section."""
    options: tuple[str, ...]
    """The fields of RunSpec that the method reads."""
    learning_rate: float
    """The learning rate for a RunSpec without one."""
    build: Callable[[PreTrainedModel, RunSpec, Layers], nn.Module]
    """Puts the method on a fork and returns the module to call."""
    unavailable: Callable[[Architecture, Mapping[str, Any]], str | None] = _always
    """Returns a sentence why a family with this config (config.json's values) cannot have the method, or None."""

    products: int = 2
    """The cost of a step in passes through the body: 1 forward, 1 back to what is trained, 1 for the gradients of matrices."""
    kept: int = 11
    """float32 numbers that a layer keeps of each token for the backward pass, in units of the hidden size.

    Measured with torch's saved-tensor hooks on BERT, whose inner width is four times that.
    """
    lengthens: bool = False
    """Whether its virtual tokens go through the layers as the text's do."""
    reaches_layers: bool = True
    """Whether it adds to what the layers compute."""

    fills_masks: bool = False
    """Whether it learns from plain text and keeps the model's own head."""
    trains_body: bool = True
    """Whether it trains parameters besides those of a fresh head."""
    changes_matrices: bool = False
    """Whether it has a ΔW."""
    low_rank: bool = False
    """Whether ΔW is kept as B A."""
    starts_elsewhere: Callable[[RunSpec], bool] = _never
    """Tells whether, with these settings, its factors do not start at ΔW = 0 and so are kept beside their starts."""
    unmergeable: str = ""
    """The reason why its update cannot be merged into W; empty if it can."""

    whole_tensors: bool = False
    """Whether its file holds tensors of the model itself."""
    trained_endings: tuple[str, ...] = ()
    """Endings of the names of old tensors that it trains."""
    own_modules: bool = False
    """Whether its file needs modules that no library has."""
    template: Callable[[RunSpec, Layers], str] = _by_peft
    """Returns the name of the template of train.py that trains it."""
    notes: Callable[[RunSpec, Layers], Iterable[str]] = _none
    """Yields sentences on what these settings mean on a model beyond their numbers."""

    @property
    def has_virtual_tokens(self) -> bool:
        """Whether trained vectors stand before the text."""
        return "prefix_length" in self.options

    @property
    def needs_teacher(self) -> bool:
        """Whether it learns from another run."""
        return "teacher" in self.options

    @property
    def is_student(self) -> bool:
        """Whether its model has only some of the layers, all of them trained."""
        return "student_layers" in self.options


def last_layers(fork: PreTrainedModel, spec: RunSpec) -> range | None:
    """Return the numbers of the last layers that a run trains; None for all layers."""
    depth = int(fork.config.num_hidden_layers)
    return range(depth - spec.last_layers, depth) if spec.last_layers else None


def is_reached(name: str, fork: PreTrainedModel, spec: RunSpec, layers: Layers) -> bool:
    """Return whether an old parameter of this name may be trained: one of the last layers, or of the pooler after them."""
    reached = last_layers(fork, spec)
    return reached is None or layers.layer_of(name) in reached or ".pooler." in name

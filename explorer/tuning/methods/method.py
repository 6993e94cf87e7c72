"""What a way to fine-tune is; nothing here imports torch, so that a page can list them.

Every method also trains the fresh head (the classifier, and a pooler where the checkpoint has none). No method drops out
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
"""Why updates of two kinds cannot be folded into the weights."""


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
    """One way to fine-tune: what a page says of it, how it is put on a model, and what others must know of it."""

    slug: str
    title: str
    summary: str
    formula: str
    source: str
    """The paper, and its section."""
    options: tuple[str, ...]
    """The fields of RunSpec that it reads."""
    learning_rate: float
    """What a RunSpec without one takes."""
    build: Callable[[PreTrainedModel, RunSpec, Layers], nn.Module]
    """Puts it on a fork; returns the module to call."""
    unavailable: Callable[[Architecture, Mapping[str, Any]], str | None] = _always
    """Says in a sentence why it cannot be had on a family with this config (config.json's values), or None."""

    products: int = 2
    """Multiplications of a step, in passes through the body: 1 forward, 1 back to what is trained, 1 for matrices' gradients."""
    kept: int = 11
    """float32 numbers that a layer keeps of each token for the backward pass, in units of the hidden size.

    Measured with torch's saved-tensor hooks on BERT, whose inner width is four times that.
    """
    lengthens: bool = False
    """Its virtual tokens go through the layers as the text's do."""
    reaches_layers: bool = True
    """It adds to what the layers compute."""

    fills_masks: bool = False
    """It learns from plain text and keeps the model's own head."""
    trains_body: bool = True
    """It trains numbers besides a fresh head's."""
    changes_matrices: bool = False
    """There is a ΔW."""
    low_rank: bool = False
    """ΔW is kept as B A."""
    starts_elsewhere: Callable[[RunSpec], bool] = _never
    """Its factors do not start at ΔW = 0, so they are kept beside their starts."""
    unmergeable: str = ""
    """Why its update cannot be folded into W."""

    whole_tensors: bool = False
    """Its file holds tensors of the model itself."""
    trained_endings: tuple[str, ...] = ()
    """Endings of the names of old tensors that it trains."""
    own_modules: bool = False
    """Its file needs modules that no library has."""
    template: Callable[[RunSpec, Layers], str] = _by_peft
    """Which of the templates of train.py trains it."""
    notes: Callable[[RunSpec, Layers], Iterable[str]] = _none
    """What these settings mean on a model and is not plain from the numbers."""

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
        """Whether its model has some of the layers alone, all of them trained."""
        return "student_layers" in self.options

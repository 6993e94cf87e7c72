"""The kind for hidden words of a plain text, with the model's own MLM head: what a student on plain text learns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from explorer.models.families import Architecture
from explorer.tasks.task import MASKED
from explorer.tuning.kinds.kind import Kind, lazily
from explorer.tuning.methods.method import Method

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from explorer.models.loaded_model import LoadedModel


def _refuses(method: Method, architecture: Architecture) -> str | None:
    if method.fills_masks:
        return None
    return (
        f"a text has no labels, and {method.title} needs them. Choose a task with labels, or train a student on this text on "
        "the Distillation page."
    )


def _fork(loaded: LoadedModel, outputs: int, seed: int, kept: Sequence[int]) -> PreTrainedModel:
    from explorer.tuning.forks import fork_masked

    return fork_masked(loaded, kept)


KIND = Kind(
    MASKED,
    "AutoModelForMaskedLM",
    "fill-mask",
    _refuses,
    _fork,
    lazily("explorer.tuning.forks:empty_masked"),
    lazily("explorer.tuning.masked:rows_of"),
    lazily("explorer.tuning.masked:MaskedTraining"),
    unit="hidden words",
)

"""The kind for a text for each meaning, with the model's own next-token head: GPT-2 on E2E (Hu et al. 2021, LoRA,
section 5.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from explorer.models.families import Architecture, Capability
from explorer.tasks.formats.e2e import ASKS
from explorer.tasks.task import WRITTEN
from explorer.tuning.kinds.kind import Kind, lazily
from explorer.tuning.methods.method import Method

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from explorer.models.loaded_model import LoadedModel


EVALUATIONS = 8
"""Evaluations in a run: fewer than a classifier's, since writing takes far longer than reading."""


def _refuses(method: Method, architecture: Architecture) -> str | None:
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


def _fork(loaded: LoadedModel, outputs: int, seed: int, kept: Sequence[int]) -> PreTrainedModel:
    from explorer.tuning.forks import fork_causal

    return fork_causal(loaded)


KIND = Kind(
    WRITTEN,
    "AutoModelForCausalLM",
    "text-generation",
    _refuses,
    _fork,
    lazily("explorer.tuning.forks:empty_causal"),
    lazily("explorer.tuning.writing:rows_of"),
    lazily("explorer.tuning.writing:WritingTraining"),
    rates={"lora": 6e-3, "full": 1e-3, "prefix": 1e-1, "houlsby": 3e-3, "pfeiffer": 3e-3, "bitfit": 1e-2},
    evaluations=EVALUATIONS,
    each_epoch=False,
    unit="held-out meanings",
    template="train_written",
    constants={"ASKS": repr(ASKS)},
    judges_texts=True,
)

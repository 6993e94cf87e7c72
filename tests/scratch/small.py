"""A run from nothing that takes a second."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from transformers import PreTrainedTokenizerBase

from explorer.models.loaded_model import LoadedModel
from explorer.scratch.models import build, learn_vocabulary
from explorer.scratch.spec import ScratchSpec
from explorer.scratch.text import Documents, read_documents
from explorer.scratch.training import ScratchTraining
from explorer.settings import Settings

SMALL: dict[str, Any] = {
    "layers": 1,
    "hidden": 32,
    "heads": 2,
    "vocabulary": 600,
    "batch_size": 8,
    "length": 32,
    "steps": 6,
    "probes": "The [MASK] is here.",
}


def small(**changes: Any) -> ScratchSpec:
    return ScratchSpec(**{**SMALL, **changes})


@cache
def stories() -> Documents:
    whole = read_documents("stories", Settings())
    return Documents(whole.title, whole.train[:40], whole.held_out[:10])


@cache
def vocabulary(size: int = 600) -> PreTrainedTokenizerBase:
    return learn_vocabulary((paragraph for document in stories().train for paragraph in document), size)


def training(spec: ScratchSpec, start: LoadedModel | None = None) -> ScratchTraining:
    tokenizer = start.tokenizer if start else vocabulary(spec.vocabulary)
    return ScratchTraining(spec, build(spec, tokenizer, start), stories(), tokenizer, torch.device("cpu"))

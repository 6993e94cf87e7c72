"""Jobs for the engine's tests: each leaves a trace of how often it ran, and some fail."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from explorer.models.loaded_model import LoadedModel

RUNS: list[object] = []
"""The params of every run, oldest first; a test empties it before it starts."""


@dataclass(frozen=True)
class Params:
    """failures: how many runs fail before one works."""

    text: str = "the cat"
    failures: int = 0


@dataclass(frozen=True)
class Result:
    text: str
    model_id: str
    graph: bool


def answer(loaded: LoadedModel, params: Params) -> Result:
    RUNS.append(params)
    scores = loaded.model(torch.tensor([[2, 5, 3]])).prediction_logits
    return Result(params.text, loaded.model_id, not scores.is_inference())


def large(loaded: LoadedModel, params: Params) -> str:
    """As large as what is asked."""
    RUNS.append(params)
    return params.text


def run_out_of_memory(loaded: LoadedModel, params: Params) -> str:
    """As an accelerator does."""
    RUNS.append(params)
    if len(RUNS) <= params.failures:
        raise torch.OutOfMemoryError("CUDA out of memory")
    return "it fits"

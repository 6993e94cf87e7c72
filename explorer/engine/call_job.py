"""How a job is called: its function found, and handed what it works on."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from explorer.engine.protocol import Job
from explorer.engine.resources import Resources

if TYPE_CHECKING:
    from explorer.models.loaded_model import LoadedModel

IMPORTING = threading.RLock()
"""Held by whoever imports what imports transformers: where two threads begin at once, each waits for a module that the other
has half imported, Python lets one of them go on, and it fails ("cannot import name 'PreTrainedModel' from 'transformers'")."""


def no_plain_values(params: Any) -> str:
    """The sentence for parameters that hold a list or an object where one value is expected; it names them."""
    odd = [field.name for field in fields(params) if isinstance(getattr(params, field.name), list | dict | set)]
    return f"{' and '.join(odd) or 'A parameter'} must be one name or number; got a list or an object."


def inference() -> AbstractContextManager[Any]:
    """Without gradients."""
    import torch

    return torch.inference_mode()


def begun(job: Job, params: Any, model: str, resources: Resources) -> Any:
    """A job's result, or its generator."""
    function = named(job.function)
    if job.on == "nothing":
        return function(params)
    if job.on == "resources":
        return function(resources, params)
    if job.on == "runs":
        return function(resources.open_run, params)
    if job.on == "tokenizers":
        opening = resources.tokenizers
        result = function(opening, params)
        resources.is_kept = not opening.refused
        return result
    return function(able(job, resources.model(model)), params)


def named(path: str) -> Callable[..., Any]:
    """A function by its `module:name`."""
    module, name = path.split(":")
    with IMPORTING:
        function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function


def able(job: Job, bundle: LoadedModel) -> LoadedModel:
    """The model. Raises MissingCapabilityError where it lacks what the job needs."""
    if job.needs is not None:
        bundle.require(job.needs)
    return bundle


def flat(names: list[Any]) -> list[Any]:
    """Values from fields that hold one or several."""
    return [name for entry in names for name in (entry if isinstance(entry, (tuple, list)) else (entry,))]

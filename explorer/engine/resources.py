"""The resources that a job receives, which open the models, runs and tokenizers that its parameters name; and its call."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from explorer.engine.protocol import Job
from explorer.lru_cache import LRUCache

if TYPE_CHECKING:
    from explorer.models.loaded_model import LoadedModel
    from explorer.models.tokenizer_store import Opening
    from explorer.runs.open import OpenRuns


class Resources:
    """The resources of one computation.

    model: returns a loaded model by its id, shared by all and never changed. open_run: opens a run by its id.
    tokenizers: opens tokenizers. about: the computation's model and the versions of its runs; what is remembered for
    one such pair is not used for another.
    """

    def __init__(
        self,
        model: Callable[[str], LoadedModel],
        open_run: Callable[[], OpenRuns],
        tokenizers: Callable[[], Opening],
        remembered: LRUCache,
        about: Hashable,
    ) -> None:
        self.model, self._open_run, self._tokenizers = model, open_run, tokenizers
        self._remembered, self._about = remembered, about
        self.is_kept = True
        """Whether the answer is cached for the same question later; a job may set it to False."""

    @property
    def open_run(self) -> OpenRuns:
        """Opens runs by their id."""
        return self._open_run()

    @property
    def tokenizers(self) -> Opening:
        """Opens tokenizers by name."""
        return self._tokenizers()

    def once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Compute a part of the work that other questions about the same model and runs may share; it is computed once,
        and kept for a while.
        """
        return self._remembered.get((self._about, key), make)


IMPORTING = threading.RLock()
"""Must be held while importing anything that imports transformers. If two threads begin at once, each waits for a
module that the other has half imported; Python lets one of them go on, and it fails ("cannot import name
'PreTrainedModel' from 'transformers'").
"""


def no_plain_values(params: Any) -> str:
    """Return the message for parameters that hold a list or an object where one value is expected; it names them."""
    odd = [field.name for field in fields(params) if isinstance(getattr(params, field.name), list | dict | set)]
    return f"{' and '.join(odd) or 'A parameter'} must be one name or number; got a list or an object."


def inference() -> AbstractContextManager[Any]:
    """Return a context without gradients."""
    import torch

    return torch.inference_mode()


def begun(job: Job, params: Any, model: str, resources: Resources) -> Any:
    """Start a job. Returns its result, or its generator."""
    # A light job does not wait while torch is read, which takes seconds when the server has just started.
    with nullcontext() if job.light else IMPORTING:
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
        # A tokenizer that was refused, for lack of a network say, may be had the next time.
        resources.is_kept = not opening.refused
        return result
    return function(able(job, resources.model(model)), params)


def named(path: str) -> Callable[..., Any]:
    """Return the function at `module:name`, importing the module."""
    module, name = path.split(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function


def able(job: Job, loaded: LoadedModel) -> LoadedModel:
    """Return the model. Raises MissingCapabilityError if it lacks what the job needs."""
    if job.needs is not None:
        loaded.require(job.needs)
    return loaded


def flat(names: list[Any]) -> list[Any]:
    """Flatten a list of values of which some are lists or tuples."""
    return [name for entry in names for name in (entry if isinstance(entry, (tuple, list)) else (entry,))]

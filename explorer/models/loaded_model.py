"""Loads a model once, shares it with every visitor, and unloads it when memory is needed for another."""

from __future__ import annotations

import errno
import gc
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors import SafetensorError
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from explorer.errors import MissingCapabilityError, ModelUnavailableError
from explorer.memory import leave_imports_out
from explorer.models.families import Architecture, Capability, find_architecture
from explorer.models.folders import check_sums, read_config, repair, require_folder, unsupported
from explorer.settings import Settings


@dataclass(frozen=True)
class LoadedModel:
    """A model with its tokenizer and what it can do. Jobs read it and never change it."""

    model_id: str
    architecture: Architecture
    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    device: torch.device
    capabilities: frozenset[Capability]
    parameters: int
    bytes: int

    @property
    def longest(self) -> int:
        """The most tokens, special tokens included, that the model reads at once."""
        positions = getattr(self.model.config, "max_position_embeddings", 512) - self.architecture.spare_positions
        limits = [self.tokenizer.model_max_length, positions]
        return int(min(limit for limit in limits if limit and limit > 0))

    def require(self, capability: Capability) -> None:
        """Raise MissingCapabilityError if the model lacks a head."""
        if capability not in self.capabilities:
            why = self.architecture.fills_no_masks if capability is Capability.MLM else ""
            raise MissingCapabilityError(
                f"{self.model_id} cannot {capability.value}: {why or 'its checkpoint has no head for that.'}",
                capability.name,
                self.architecture.model_type,
            )

    def logits(self, capability: Capability, output: Any) -> torch.Tensor:
        """Return one head's scores from the model's output."""
        scores: torch.Tensor = getattr(output, self.architecture.heads[capability].logits)
        return scores


def choose_device(wish: str) -> torch.device:
    """Return the device for a setting; `auto` takes cuda, then mps, then cpu."""
    if wish != "auto":
        return torch.device(wish)
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


LOADING = threading.Lock()
"""Held while a model loads or is built, one at a time: while it loads, transformers takes the tying of weights out of
its base class and puts back what it found there. Two loads that overlap put nothing back, and no model of the process
is tied or complete from then on.
"""


def load_model(model_id: str, settings: Settings) -> LoadedModel:
    """Load a model that is on this machine, in float32, from safetensors, without remote code.

    Raises ModelUnavailableError if it is not here, is broken or is of a family that is not supported.
    """
    folder = require_folder(model_id, settings)
    check_sums(model_id, folder)  # before anything of it is opened
    architecture = _architecture(model_id, folder)
    model_class = getattr(transformers, architecture.model_class)
    leave_imports_out()
    device = choose_device(settings.device)
    try:
        with LOADING:
            model, report = model_class.from_pretrained(
                folder, dtype=torch.float32, use_safetensors=True, local_files_only=True, output_loading_info=True
            )
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    # An exhausted memory is no damage of the file.
    except Exception as error:  # SafetensorError, StrictDataclassError and the like have no base in common
        if is_out_of_memory(error):
            raise
        raise ModelUnavailableError(
            f"{model_id} is on this machine but cannot be read ({_first_line(error)}). {repair(model_id)}"
        ) from error
    check_tokenizer(model_id, tokenizer)
    model.eval().requires_grad_(False).to(device)
    missing = set(report["missing_keys"])
    _check_body(model_id, architecture, missing)
    capabilities = frozenset(
        capability
        for capability, head in architecture.heads.items()
        if not any(name.startswith(head.weights) for name in missing)
    )
    parameters = sum(parameter.numel() for parameter in model.parameters())
    size = sum(parameter.numel() * parameter.element_size() for parameter in model.parameters())
    return LoadedModel(model_id, architecture, model, tokenizer, device, capabilities, parameters, size)


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether memory ran out."""
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)) or getattr(error, "errno", None) == errno.ENOMEM:
        # torch has a class of its own for that on an accelerator, but not on the CPU, where only the message tells.
        return True
    said = str(error) if isinstance(error, (RuntimeError, SafetensorError)) else ""
    return "can't allocate memory" in said or "Cannot allocate memory" in said


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


def check_tokenizer(model_id: str, tokenizer: PreTrainedTokenizerBase) -> None:
    """Refuse a tokenizer that transformers made up for want of files, and switch off the truncation that a file may
    have set.

    Raises ModelUnavailableError.
    """
    if not tokenizer.is_fast or set(tokenizer.get_vocab()) <= set(tokenizer.all_special_tokens):
        raise ModelUnavailableError(f"{model_id} has no tokenizer.json, which the token views need.")
    # A tokenizer that first has to switch its truncation off fails when two threads use it ("Already borrowed").
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()


def _check_body(model_id: str, architecture: Architecture, missing: set[str]) -> None:
    """Raise ModelUnavailableError if weights other than a head's are missing: they would be random, and every page
    would show noise.
    """
    heads = tuple(prefix for head in architecture.heads.values() for prefix in head.weights)
    lost = sorted(name for name in missing if not name.startswith(heads))
    if lost:
        raise ModelUnavailableError(
            f"{model_id} is incomplete: {len(lost)} of its weights are missing ({lost[0]} is one). "
            "Delete its folder and download it again."
        )


def _architecture(model_id: str, folder: Path) -> Architecture:
    values = read_config(model_id, folder / "config.json")
    model_type = str(values.get("model_type"))
    architecture = find_architecture(model_type, values.get("architectures") or ())
    if architecture is None:
        raise ModelUnavailableError(unsupported(model_id, model_type))
    return architecture


class ModelStore:
    """Loaded models, least recently used first; shared by all visitors and safe to use from many threads."""

    def __init__(self, settings: Settings, load: Callable[[str, Settings], LoadedModel] = load_model) -> None:
        self._settings, self._load = settings, load
        self._loaded_models: OrderedDict[str, LoadedModel] = OrderedDict()
        self._lock = threading.Lock()
        self._loading: dict[str, threading.Lock] = {}

    def get(self, model_id: str) -> LoadedModel:
        """Return the model of a model, loaded at most once however many ask at the same time."""
        with self._lock:
            if model_id in self._loaded_models:
                self._loaded_models.move_to_end(model_id)
                return self._loaded_models[model_id]
            gate = self._loading.setdefault(model_id, threading.Lock())
        with gate:  # a lock for each model: a slow load holds up nobody who asks for another
            with self._lock:
                if model_id in self._loaded_models:  # whoever held the gate before may have loaded it
                    return self._loaded_models[model_id]
            loaded = self._load(model_id, self._settings)
            with self._lock:
                self._loaded_models[model_id] = loaded
                self._evict(keep=model_id)
            return loaded

    def loaded(self) -> tuple[str, ...]:
        """Return the models in memory, least recently used first."""
        with self._lock:
            return tuple(self._loaded_models)

    def find(self, model_id: str) -> LoadedModel | None:
        """Return the model of a model that is in memory already; loads nothing."""
        with self._lock:
            return self._loaded_models.get(model_id)

    def release_others(self, model_id: str) -> None:
        """Unload every other model and give the device's memory back."""
        with self._lock:
            for other in [name for name in self._loaded_models if name != model_id]:
                del self._loaded_models[other]
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def _evict(self, keep: str) -> None:
        """Drop the least recently used until the limit holds; the newest stays even if it exceeds the limit alone."""
        while sum(loaded.bytes for loaded in self._loaded_models.values()) > self._settings.model_cache_bytes:
            oldest = next(name for name in self._loaded_models)
            if oldest == keep:
                break
            del self._loaded_models[oldest]

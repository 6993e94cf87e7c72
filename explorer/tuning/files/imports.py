"""Imports an adapter from a file: it is checked, turned into ΔW, and, if its base model is here, into a run that can be
tried.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from torch import Tensor

from explorer.errors import BadInputError
from explorer.models.loaded_model import LoadedModel
from explorer.tuning.adapted import adapt
from explorer.tuning.deltas import Delta, LowRank, base_weights, deltas_from_peft
from explorer.tuning.files.archive import SIDE, AdapterFiles, Shapes, read_files, unreadable
from explorer.tuning.spec import TARGETS, RunSpec

IMPORTED_TASK = "imported"
"""The task of a run whose file does not say what it was trained on; it has no examples."""

_OUTPUT_WEIGHTS = ("classifier.out_proj.weight", "classifier.weight", "score.weight")
_PATTERN = re.compile(r"[\w.^$\\-]{1,200}")
"""Patterns that are accepted. They have no quantifiers: a regular expression from a stranger's file may otherwise take
years to match.
"""


@dataclass(frozen=True)
class Imported:
    """An adapter that somebody has uploaded.

    spec: its settings as a run's; spec.model is the model's id, else the name that the file gives. deltas: ΔW by
    (layer, role). head: the classifier's tensors by their names in a *ForSequenceClassification. state: what
    `adapt(loaded, outputs, spec).load_state` takes, or None if the adapter cannot answer (notes say why); ΔW is drawn
    anyway. labels, columns: empty if the file does not name them. scale: mean and spread of a regression's scores.
    """

    spec: RunSpec
    deltas: Mapping[tuple[int, str], Delta]
    head: Mapping[str, Tensor]
    labels: tuple[str, ...]
    columns: tuple[str, ...]
    scale: tuple[float, float]
    base_model_name: str
    notes: tuple[str, ...]
    state: Mapping[str, Tensor] | None = None

    @property
    def outputs(self) -> int:
        """How many outputs its head has; 0 if it has no head."""
        return next((len(self.head[name]) for name in _OUTPUT_WEIGHTS if name in self.head), 0)


def import_adapter(path: Path | str, loaded: LoadedModel | None = None) -> Imported:
    """Read a LoRA adapter in peft's format: a zip, or a .safetensors file with its adapter_config.json beside it.

    loaded: its base model, if it is on this machine; every shape is then checked against it. Nothing is unpickled,
    unpacked to the disk or fetched. Raises BadInputError naming what does not fit, what was found and what was
    expected.
    """
    files = read_files(Path(path), lambda config, shapes: _check_shapes(config, shapes, loaded))
    config, tensors = files.config, _checked_tensors(files)
    factors = [name for name in tensors if SIDE.search(name)]
    deltas = deltas_from_peft(tensors, config)
    if len(deltas) * 2 != len(factors):
        raise BadInputError(f"{files.name} holds several updates of one matrix; export one adapter at a time.")
    head = {_plain_name(name): tensor.float() for name, tensor in tensors.items() if name not in factors}
    imported = _assembled(files, config, deltas, head, loaded)
    return imported if loaded is None else _with_state(imported, loaded)


def base_name(path: Path | str) -> str:
    """Return the base model that an adapter's file names, or "". Raises BadInputError for all that can be refused
    without its weights.
    """
    named: list[object] = []

    def look(config: Mapping[str, Any], shapes: Shapes) -> None:
        _check_shapes(config, shapes, None)
        named.append(config.get("base_model_name_or_path"))
        raise _SeenError  # ends read_files before it reads the weights

    with suppress(_SeenError):
        read_files(Path(path), look)
    return named[0][:200] if isinstance(named[0], str) else ""


class _SeenError(Exception):
    """Raised to stop reading: the settings have been seen, and the weights are not needed."""


def _check_shapes(config: Mapping[str, Any], shapes: Shapes, loaded: LoadedModel | None) -> None:
    """Refuse an adapter by its settings and the header of its weights. Raises BadInputError."""
    _checked_config(config)
    factors = {name: shape for name, shape in shapes.items() if SIDE.search(name)}
    flat = [f"{name} {shape}" for name, shape in factors.items() if len(shape) != 2]
    if flat:
        raise BadInputError(f"{flat[0]} is no matrix; LoRA's factors are A (r, inputs) and B (outputs, r).")
    if loaded is not None:
        _check_places(factors, loaded)


def _checked_tensors(files: AdapterFiles) -> dict[str, Tensor]:
    """Return the file's tensors, each of finite numbers; their types and sizes have been checked in the header."""
    try:
        tensors: dict[str, Tensor] = dict(sorted(load_tensors(files.weights).items()))
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise unreadable(files.name, str(error)) from error
    for name, tensor in tensors.items():
        if not torch.isfinite(tensor).all():
            raise BadInputError(f"{name} holds values that are not finite (NaN or infinity): its training diverged.")
    return tensors


def _checked_config(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return adapter_config.json, once the values that are used have been found to be of the right types. Raises
    BadInputError.
    """
    kind = config.get("peft_type")
    if kind != "LORA":
        raise BadInputError(
            f"adapter_config.json says peft_type {str(kind)[:40]!r}; only LORA can be imported, since its ΔW stands in the "
            "file. Train the other methods here."
        )
    patterns = config.get("alpha_pattern") or {}
    if not isinstance(patterns, dict) or any(not _PATTERN.fullmatch(one) or not _compiles(one) for one in patterns):
        raise BadInputError("alpha_pattern in adapter_config.json must map simple names of modules to numbers.")
    for where, alpha in (("lora_alpha", config.get("lora_alpha")), *patterns.items()):
        # bool is an int in Python.
        if isinstance(alpha, bool) or not isinstance(alpha, int | float) or not 0 < abs(alpha) <= 1e6:
            name = where if where == "lora_alpha" else f"alpha_pattern {where[:40]}"
            quoted = "a number in quotation marks" if isinstance(alpha, str) else "no number from 0 to 1,000,000"
            raise BadInputError(
                f"adapter_config.json says {name}: {json.dumps(alpha)[:40]}, {quoted}; it must be a number, such as 16."
            )
    return config


def _compiles(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True


def _check_places(factors: Shapes, loaded: LoadedModel) -> None:
    """Check that every factor belongs to a matrix of the base, and fits it: A (r, inputs), B (outputs, r). Raises
    BadInputError.
    """
    base = base_weights(loaded)
    for name, shape in factors.items():
        match = SIDE.search(name)
        assert match is not None
        place = loaded.architecture.layers.locate(name[: match.start()])
        if place not in base:
            layers = 1 + max(layer for layer, _ in base)
            raise BadInputError(
                f"{name} belongs to no matrix of {loaded.model_id} ({loaded.architecture.family}, layers 0 to {layers - 1}). "
                "Choose the model that this adapter was trained on."
            )
        outputs, inputs = base[place].shape
        is_a = match["side"] == "A"
        if shape[1 if is_a else 0] != (inputs if is_a else outputs):
            expected = f"(r, {inputs})" if is_a else f"({outputs}, r)"
            raise BadInputError(
                f"{name} is {shape}, and on {loaded.model_id} it should be {expected}. Choose the model that "
                "this adapter was trained on."
            )


def _plain_name(name: str) -> str:
    """Return the name that a *ForSequenceClassification has for a head's tensor."""
    for prefix in ("base_model.model.", "base_model."):
        if name.startswith(prefix):
            name = name.removeprefix(prefix)
            break
    return re.sub(r"\.modules_to_save(\.default)?\.", ".", name)


def _assembled(
    files: AdapterFiles,
    config: Mapping[str, Any],
    deltas: Mapping[tuple[int, str], Delta],
    head: Mapping[str, Tensor],
    loaded: LoadedModel | None,
) -> Imported:
    named = config.get("base_model_name_or_path")
    base_name = named[:200] if isinstance(named, str) else ""
    notes: list[str] = []
    if loaded is None:
        where = f"{base_name} is" if base_name else "The file does not name its base model, so none is"
        notes.append(f"{where} not opened on this machine: ΔW is drawn from the file alone, and there are no answers.")
    elif base_name and base_name != loaded.model_id:
        notes.append(f"The file names {base_name} as its base; its shapes fit {loaded.model_id}, which is used.")
    spec = _spec(config, deltas, files.facts, loaded.model_id if loaded else base_name)
    outputs = Imported(spec, deltas, head, (), (), (0.0, 1.0), base_name, ()).outputs
    labels = _texts(files.facts.get("labels"))
    if labels and len(labels) != outputs:
        notes.append(
            f"The file names {len(labels)} classes and its head gives {outputs} numbers; they are numbered here."
        )
        labels = ()
    if not labels and outputs > 1:
        labels = tuple(f"class {number}" for number in range(outputs))
    columns, scale = _texts(files.facts.get("columns"))[:2], _pair(files.facts.get("scale"))
    return Imported(spec, deltas, head, labels, columns, scale, base_name, tuple(notes))


def _spec(
    config: Mapping[str, Any], deltas: Mapping[tuple[int, str], Delta], facts: Mapping[str, Any], model: str
) -> RunSpec:
    """Return the settings that a run of the same rank and scale would have. Raises BadInputError if they are out of range."""
    rank = max(delta.A.shape[0] for delta in deltas.values() if isinstance(delta, LowRank))
    roles = {role for _, name in deltas for role in name.split("+")}
    settings = facts.get("spec")
    task = settings.get("task") if isinstance(settings, dict) else None
    return RunSpec(
        model,
        task=task[:60] if isinstance(task, str) else IMPORTED_TASK,
        rank=rank,
        alpha=abs(float(config["lora_alpha"])),  # a negative alpha is in the deltas' scale, and goes into B
        targets=tuple(role for role in TARGETS if role in roles) or ("query", "value"),
        variant="rslora" if config.get("use_rslora") else "lora",
    )


def _texts(values: object) -> tuple[str, ...]:
    if not isinstance(values, list | tuple) or len(values) > 1000:
        return ()
    return tuple(str(value)[:80] for value in values)


def _pair(values: object) -> tuple[float, float]:
    if isinstance(values, list) and len(values) == 2 and all(isinstance(value, int | float) for value in values):
        mean, spread = (float(value) for value in values)
        if math.isfinite(mean) and math.isfinite(spread) and spread > 0:
            return mean, spread
    return 0.0, 1.0


def _with_state(imported: Imported, loaded: LoadedModel) -> Imported:
    """Add the state of a run that computes the same, if the head is complete; else a note that says why not."""
    if not imported.outputs:
        return _but(imported, "The file holds no classifier, so there are no answers; ΔW is drawn.")
    try:
        adapted = adapt(loaded, imported.outputs, imported.spec)
        state = _state(imported, {name: tuple(value.shape) for name, value in adapted.trainable().items()}, loaded)
        adapted.load_state(state)
    except BadInputError as error:
        return _but(imported, f"There are no answers, only ΔW: {error}")
    return replace(imported, state=state)


def _but(imported: Imported, note: str) -> Imported:
    return replace(imported, notes=(*imported.notes, note))


def _state(imported: Imported, shapes: Mapping[str, tuple[int, ...]], loaded: LoadedModel) -> dict[str, Tensor]:
    """Return an imported adapter as the state of a run.

    A matrix that the file does not adapt gets zeros in both factors, so that its update is zero.
    """
    spec, state, used = imported.spec, {}, set()
    scale = spec.alpha / (math.sqrt(spec.rank) if spec.variant == "rslora" else spec.rank)
    for name, shape in shapes.items():
        match = SIDE.search(name)
        plain = _plain_name(name)
        if match is None:
            if plain not in imported.head or imported.head[plain].shape != shape:
                found = tuple(imported.head[plain].shape) if plain in imported.head else "missing"
                raise BadInputError(f"{plain} is {found} in the file, and {loaded.model_id} needs {shape}.")
            state[name] = imported.head[plain].contiguous()
            used.add(plain)
            continue
        place = loaded.architecture.layers.locate(name[: match.start()])
        delta = imported.deltas.get(place) if place is not None else None
        # A run has one rank and one scale: smaller ranks are filled up with zeros, other scales go into B.
        factor = torch.zeros(shape)
        if isinstance(delta, LowRank):
            rank = delta.A.shape[0]
            if match["side"] == "A":
                factor[:rank] = delta.A
            else:
                factor[:, :rank] = delta.B * (delta.scale / scale)
        state[name] = factor
    unused = sorted(set(imported.head) - used)
    if unused:
        raise BadInputError(
            f"the file also holds {', '.join(unused[:3])}{' and others' if len(unused) > 3 else ''}, which a LoRA run here "
            "does not change."
        )
    return state

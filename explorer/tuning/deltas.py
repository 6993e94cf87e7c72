"""ΔW, the change of each weight matrix by fine-tuning, from a model or from an adapter's file alone.

Matrices are oriented as torch's Linear: rows are outputs. A fused projection is one matrix, named "query+key+value".
"""

# ruff: noqa: N803, N806 (matrices keep the papers' capitals)

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from explorer.errors import BadInputError
from explorer.models.families import ARCHITECTURES, Layers
from explorer.models.loaded_model import LoadedModel


@dataclass(frozen=True, eq=False)
class LowRank:
    """ΔW = scale · B A. A: (r, k). B: (d, r)."""

    A: Tensor
    B: Tensor
    scale: float

    def dense(self) -> Tensor:
        """Return ΔW as a matrix, (d, k)."""
        return self.scale * (self.B @ self.A)


@dataclass(frozen=True, eq=False)
class Dense:
    """ΔW as a matrix. value: (d, k)."""

    value: Tensor

    def dense(self) -> Tensor:
        """Return ΔW as a matrix, (d, k)."""
        return self.value


Delta = LowRank | Dense


def base_weights(loaded: LoadedModel) -> dict[tuple[int, str], Tensor]:
    """Return W of every matrix of every layer, by (layer, role): views of the shared tensors, not to be written to."""
    return {place: oriented(module) for place, module in _matrices(loaded.model, loaded.architecture.layers).items()}


def oriented(module: nn.Module) -> Tensor:
    """Return a module's weight with outputs as rows; GPT-2's Conv1D stores it transposed."""
    weight = module.get_parameter("weight").detach()
    return weight.T if isinstance(module, Conv1D) else weight


def stored(weight: Tensor, module: nn.Module) -> Tensor:
    """Return a weight with outputs as rows in the orientation that a module stores: the inverse of `oriented`."""
    return weight.T.contiguous() if isinstance(module, Conv1D) else weight


def model_deltas(
    model: nn.Module, layers: Layers, base: Mapping[tuple[int, str], Tensor], start: Mapping[str, Tensor]
) -> dict[tuple[int, str], Delta]:
    """Return ΔW of every matrix that a model (its *ForSequenceClassification) has changed, copied in float32 to the
    CPU.

    start: PiSSA's initial factors, {module name + ".A" or ".B": tensor}; empty for every other method.
    """
    deltas: dict[tuple[int, str], Delta] = {}
    names = {place: name for name, _ in model.named_modules() if (place := layers.locate(name))}
    for place, name in names.items():
        delta = _module_delta(model.get_submodule(name), base[place])
        if delta is not None and f"{name}.A" in start:
            delta = _less_start(delta, start[f"{name}.A"], start[f"{name}.B"])
        if delta is not None:
            deltas[place] = delta
    return dict(sorted(deltas.items()))


def _matrices(model: nn.Module, layers: Layers) -> dict[tuple[int, str], nn.Module]:
    return {place: module for name, module in model.named_modules() if (place := layers.locate(name))}


@torch.no_grad()
def _module_delta(module: Any, W: Tensor) -> Delta | None:
    """Return the update in one module, whatever the method: low-rank factors, a rescaled matrix, or another matrix."""
    if hasattr(module, "lora_A"):
        return _lora_delta(module, W)
    if hasattr(module, "ia3_l"):
        factor = next(iter(module.ia3_l.values())).detach().flatten()
        # IA³ scales a layer's outputs, the rows of W; before the feed-forward's second matrix it scales inputs, the
        # columns.
        return Dense(_plain(W * ((factor[None] if module.is_feedforward else factor[:, None]) - 1)))
    if not hasattr(module, "weight"):
        return None
    changed = oriented(module)
    # Frozen matrices still share their memory with the base model.
    return None if changed.data_ptr() == W.data_ptr() else Dense(_plain(changed) - _plain(W))


def _lora_delta(module: Any, W: Tensor) -> Delta:
    adapter = next(iter(module.lora_A))
    A, B = module.lora_A[adapter].weight.detach(), module.lora_B[adapter].weight.detach()
    scale = float(module.scaling[adapter])
    if adapter not in module.lora_magnitude_vector:
        return LowRank(_plain(A), _plain(B), scale)
    moved = W + scale * (B @ A)
    # DoRA (Liu et al. 2024): each row of W + s BA gets a trained length.
    lengths = module.lora_magnitude_vector[adapter].weight.detach() / moved.norm(dim=1)
    return Dense(_plain(lengths[:, None] * moved - W))


def _less_start(delta: Delta, A: Tensor, B: Tensor) -> Delta:
    """Return PiSSA's update: it trains W - s B₀A₀ + s BA, so against W it is s (BA - B₀A₀), of rank 2r, with the
    factors side by side.
    """
    assert isinstance(delta, LowRank)
    return LowRank(torch.cat([delta.A, _plain(A)]), torch.cat([delta.B, -_plain(B)], dim=1), delta.scale)


def _plain(tensor: Tensor) -> Tensor:
    """Return a float32 copy on the CPU."""
    return tensor.detach().to("cpu", torch.float32, copy=True)


_FACTOR = re.compile(r"^(?P<module>.+)\.lora_(?P<side>[AB])(?:\.[^.]+)??(?:\.weight)?$")
_LAYER = re.compile(r"(?:^|\.)(\d+)\.(.+)$")


def deltas_from_peft(tensors: Mapping[str, Tensor], config: Mapping[str, Any]) -> dict[tuple[int, str], Delta]:
    """Return the updates in a LoRA file that peft wrote, from its tensors and its adapter_config.json, without the base
    model.

    A module of a supported family is named by its role; any other by its path inside the layer. Other tensors (a
    classifier) are left out. Raises BadInputError for a file whose update cannot be told from its factors, or whose
    factors do not fit.
    """
    _check_kind(tensors, config)
    found: dict[str, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        match = _FACTOR.match(name)
        if match and tensor.ndim == 2:
            found.setdefault(match["module"], {})[match["side"]] = tensor
    if not found:
        raise BadInputError("This file holds no LoRA factors: tensors named ….lora_A.weight and ….lora_B.weight.")
    deltas: dict[tuple[int, str], Delta] = {}
    for module, sides in found.items():
        if set(sides) != {"A", "B"} or sides["A"].shape[0] != sides["B"].shape[1]:
            shapes = ", ".join(f"{side} {tuple(tensor.shape)}" for side, tensor in sorted(sides.items()))
            raise BadInputError(
                f"The factors of {module} do not fit: B A needs A (r, k) and B (d, r), and there is {shapes}."
            )
        A, B = _plain(sides["A"]), _plain(sides["B"])
        deltas[_place(module)] = LowRank(A, B, _scale(module, A.shape[0], config))
    return dict(sorted(deltas.items()))


def _check_kind(tensors: Mapping[str, Tensor], config: Mapping[str, Any]) -> None:
    if config.get("use_dora") or any("lora_magnitude_vector" in name for name in tensors):
        raise BadInputError(
            "This is a DoRA adapter: it rescales the rows of W + BA, so its update needs the base model's weights and "
            "cannot be drawn from the file alone. Merge it into its base, or take a LoRA adapter."
        )
    start = str(config.get("init_lora_weights", True)).lower()
    if start.startswith(("pissa", "olora", "corda")):
        raise BadInputError(
            f"This adapter started from the weights themselves ({start}), so BA alone is not its update. Save it with "
            "peft's path_initial_model_for_weight_conversion, which writes an ordinary LoRA."
        )


def _scale(module: str, rank: int, config: Mapping[str, Any]) -> float:
    """Return alpha / r, or alpha / sqrt(r) for rsLoRA; alpha_pattern may set alpha module by module, as peft matches
    its keys.
    """
    alpha = config.get("lora_alpha")
    for pattern, value in (config.get("alpha_pattern") or {}).items():
        if re.match(rf"(.*\.)?({pattern})$", module):
            alpha = value
            break
    if not isinstance(alpha, int | float) or not math.isfinite(alpha):
        raise BadInputError("adapter_config.json has no number lora_alpha, which scales the update. Add it.")
    return float(alpha) / (math.sqrt(rank) if config.get("use_rslora") else rank)


def _place(module: str) -> tuple[int, str]:
    for architecture in ARCHITECTURES:
        located = architecture.layers.locate(module)
        if located is not None:
            return located
    unknown = _LAYER.search(module)
    return (int(unknown[1]), unknown[2]) if unknown else (0, module.rpartition(".")[2])

"""Carries states of one text over into a model's pass over another (activation patching)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from explorer.models.heads import head_at, layer_modules
from explorer.models.inside import depth_of, modules_with_role, private_tree
from explorer.models.loaded_model import LoadedModel
from explorer.models.whole_pass import WholePass

PARTS = ("residual", "attention", "ffn")
"""What is carried over: the state that a layer reads, or what its attention or its feed-forward net adds to it."""

_ROLES = {"attention": "output", "ffn": "ffn_out"}


def values_of(found: WholePass, part: str, layer: int) -> Tensor:
    """Return what a part of a layer (from 0) has at each token of a text, (length, width)."""
    if part == "residual":
        return found.states[layer]
    return found.layers[layer].attended if part == "attention" else found.layers[layer].ffn


def patched(
    loaded: LoadedModel,
    inputs: Mapping[str, Tensor],
    part: str,
    layer: int,
    where: Tensor,
    values: Tensor,
    place: int,
) -> Any:
    """Return the model's output for one text, read many times, each with some states replaced.

    inputs: keyword tensors, (1, length). where: (rows, length) bool, the tokens whose states are replaced in each row.
    values: (length, width) or (rows, length, width), what replaces them. place: the position at which the head reads;
    scores have the shape (rows, 1, classes).
    """
    tree = private_tree(loaded.model)
    rows = len(where)
    swap = _Swap(layer, depth_of(tree), where.to(loaded.device), values.to(loaded.device))
    if part == "residual":
        for module in _of_layer(layer_modules(tree, loaded), swap):
            module.register_forward_pre_hook(swap.before, with_kwargs=True)
    else:
        for module in _of_layer(modules_with_role(tree, loaded.architecture, _ROLES[part]), swap):
            module.register_forward_hook(swap.after)
    many = {name: tensor.expand(rows, -1).to(loaded.device) for name, tensor in inputs.items()}
    with head_at(tree, torch.tensor([place], device=loaded.device)):
        return tree(**many)


def _of_layer(modules: list[nn.Module], swap: _Swap) -> list[nn.Module]:
    """Return the one module of the layer; where all layers share one, the hook counts its calls."""
    if len(modules) == 1:
        return modules
    swap.wanted = 0
    return [modules[swap.layer]]


class _Swap:
    """Hooks that replace states at one call of a module."""

    def __init__(self, layer: int, depth: int, where: Tensor, values: Tensor) -> None:
        self.layer, self.wanted, self.depth, self.calls = layer, layer, depth, 0
        self.where, self.values = where[..., None], values

    def _replaced(self, states: Tensor) -> Tensor:
        now = self.calls == self.wanted
        self.calls += 1
        return torch.where(self.where, self.values.to(states), states) if now else states

    def before(
        self, module: nn.Module, given: tuple[Any, ...], named: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Replace what a layer reads."""
        if given:
            return (self._replaced(given[0]), *given[1:]), named
        return given, named | {"hidden_states": self._replaced(named["hidden_states"])}

    def after(self, module: nn.Module, given: tuple[Any, ...], output: Tensor) -> Tensor:
        """Replace what a map gives."""
        return self._replaced(output)

"""Follows one text through a model in one forward pass: the states, what attention moves, and one layer taken apart; and
carries states of one text over into the pass over another (activation patching).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from explorer.models.families import Architecture
from explorer.models.heads import head_and_states, head_at, layer_modules
from explorer.models.inside import (
    RECORDING,
    content_scaling,
    content_vectors,
    depth_of,
    modules_with_role,
    private_tree,
)
from explorer.models.loaded_model import LoadedModel


@dataclass(frozen=True)
class Attended:
    """One layer's attention for one text.

    query, key, value: (heads, length, size). weights: (heads, length, length). scaling: what a product q·k is
    multiplied by. brought: ‖W_O v‖ for each head and token, (heads, length): the length of what a token's value becomes
    in the state, so that weight · brought is how much is moved (Kobayashi et al. 2020, "Attention is not only a
    weight").
    """

    query: Tensor
    key: Tensor
    value: Tensor
    weights: Tensor
    scaling: float
    brought: Tensor

    @property
    def moved(self) -> Tensor:
        """How much each head moves from each token to each, (heads, length, length)."""
        return self.weights * self.brought[:, None, :]


@dataclass(frozen=True)
class LayerParts:
    """What one layer computes, (length, width) each, in this order; inner: (length, width inside the feed-forward net).

    reads: what the query's matrix is given, which is the state, or its norm where the norm stands first. joined: all
    heads' answers beside each other. attended: W_O of them. first_sum: the state and what attention adds. ffn_reads,
    inner, ffn: what the feed-forward net is given, what stands behind its activation, what it adds. second_sum: with
    that. after: the next layer's state.
    """

    before: Tensor
    reads: Tensor
    joined: Tensor
    attended: Tensor
    first_sum: Tensor
    ffn_reads: Tensor
    inner: Tensor
    ffn: Tensor
    second_sum: Tensor
    after: Tensor


@dataclass(frozen=True)
class WholePass:
    """states: (depth + 1, length, width), the first before any layer, the last before any norm that follows the layers.

    output: the model's own, with a row of scores for each depth at the places that were asked for. attended, layers:
    one for each layer.
    """

    output: Any
    states: Tensor
    attended: tuple[Attended, ...]
    layers: tuple[LayerParts, ...]


def whole_pass(loaded: LoadedModel, inputs: Mapping[str, Tensor], places: Sequence[int]) -> WholePass:
    """Run the model once on one text and keep what passes through it. inputs: keyword tensors, (1, length).

    places: the positions at which the head reads every layer (`explorer.models.heads`).
    """
    disentangled = loaded.architecture.disentangled
    tree = private_tree(loaded.model, "eager" if disentangled else RECORDING)
    records: list[Any] = []
    for module in tree.modules():
        object.__setattr__(module, "explorer_records", records)
    kept = {role: _Kept(tree, loaded, role) for role in ("query", "key", "value", "output", "ffn_in", "ffn_out")}
    options: dict[str, Any] = {"output_attentions": True} if disentangled else {}
    output, states = head_and_states(loaded, tree, inputs, places, **options)
    outward = modules_with_role(tree, loaded.architecture, "output")
    attended = []
    for number in range(depth_of(tree)):
        found = (
            _disentangled(tree, loaded.architecture, kept, output, number)
            if disentangled
            else _recorded(records[number])
        )
        weight: Tensor = outward[number % len(outward)].weight  # type: ignore[assignment]
        attended.append(_with_brought(found, weight.T if loaded.architecture.layers.transposed else weight))
    norm_first = loaded.architecture.norm_first
    layers = tuple(
        _parts(kept, states[number], states[number + 1], number, norm_first) for number in range(len(attended))
    )
    return WholePass(output, states.float().cpu(), tuple(attended), layers)


class _Kept:
    """What the modules of one role were given and gave, a call for each layer; ALBERT's shared one is called at each depth."""

    def __init__(self, tree: PreTrainedModel, loaded: LoadedModel, role: str) -> None:
        self.given: list[Tensor] = []
        self.gave: list[Tensor] = []
        modules = modules_with_role(tree, loaded.architecture, role)
        # DeBERTa-v3 maps its relative positions by the same modules, in a second call.
        self._each_once = len(modules) > 1
        self._seen: set[int] = set()
        for module in modules:
            module.register_forward_hook(self._keep)

    def _keep(self, module: nn.Module, given: tuple[Any, ...], gave: Tensor) -> None:
        if self._each_once and id(module) in self._seen:
            return
        self._seen.add(id(module))
        self.given.append(given[0][0])
        self.gave.append(gave[0])


@dataclass(frozen=True)
class _Found:
    query: Tensor
    key: Tensor
    value: Tensor
    weights: Tensor
    scaling: float


def _recorded(record: Any) -> _Found:
    parts = (record.query, record.key, record.value, record.weights)
    query, key, value, weights = (part[0].float().cpu() for part in parts)
    return _Found(query, key, value, weights, record.scaling)


def _disentangled(
    tree: PreTrainedModel, architecture: Architecture, kept: Mapping[str, _Kept], output: Any, layer: int
) -> _Found:
    """Return DeBERTa's vectors of content (He et al. 2021, equation 4); its attention is its own code."""
    gave = {role: kept[role].gave[layer][None] for role in ("query", "key", "value")}
    query, key, value = (part[0].float().cpu() for part in content_vectors(tree, architecture, layer, gave))
    weights = output.attentions[layer][0].float().cpu()
    return _Found(query, key, value, weights, content_scaling(tree.config, query.shape[-1]))


def _with_brought(found: _Found, weight: Tensor) -> Attended:
    """weight: W_O, (width, heads · size)."""
    heads, _, size = found.value.shape
    by_head = weight.float().cpu().unflatten(-1, (heads, size)).permute(1, 2, 0)  # (heads, size, width)
    brought = (found.value @ by_head).norm(dim=-1)
    return Attended(found.query, found.key, found.value, found.weights, found.scaling, brought)


def _parts(kept: Mapping[str, _Kept], before: Tensor, after: Tensor, layer: int, norm_first: bool) -> LayerParts:
    joined, attended = kept["output"].given[layer], kept["output"].gave[layer]
    ffn_reads, ffn = kept["ffn_in"].given[layer], kept["ffn_out"].gave[layer]
    inner = kept["ffn_out"].given[layer]
    first_sum = before + attended
    second_sum = (first_sum if norm_first else ffn_reads) + ffn
    parts = (before, kept["query"].given[layer], joined, attended, first_sum, ffn_reads, inner, ffn, second_sum, after)
    return LayerParts(*(part.float().cpu() for part in parts))


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

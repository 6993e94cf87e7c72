"""Removes parts from a model, if they can be removed: rows of query, key and value, columns of output, rows and columns of the
feed-forward part, layers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.pytorch_utils import Conv1D

from explorer.compress.cuts import Cut, Shape, check_cut
from explorer.compress.gates import layers_gated
from explorer.compress.loading import keep_layers, name_sizes
from explorer.errors import BadInputError
from explorer.models.families import Architecture, Layout
from explorer.models.inside import depth_of, gated, heads_of, modules_with_role, neurons_of, private_tree


def shape_of(model: PreTrainedModel, architecture: Architecture) -> Shape:
    """Return the numbers of a whole model's parts."""
    blocks = len(modules_with_role(model, architecture, "output"))
    return Shape(depth_of(model), blocks, heads_of(model), neurons_of(model))


def why_not_removed(model: PreTrainedModel, architecture: Architecture) -> str | None:
    """Return why heads can be masked in a model and not removed; None if they can be removed."""
    switch = architecture.layout.mixes_heads
    if switch and getattr(model.config, switch, False):
        return f"this model mixes its heads with each other ({switch} in its config), so no head can be taken out"
    return None


@dataclass(frozen=True)
class Removed:
    """A model from which parts were removed, in modules of its own; tensors that were not cut are shared with the
    original.

    heads, neurons: how many each block has left. layers: which depths are left. before: the whole model's shape.
    """

    model: PreTrainedModel
    before: Shape
    heads: tuple[int, ...]
    neurons: tuple[int, ...]
    layers: tuple[int, ...]
    head_size: int


@torch.no_grad()
def remove(model: PreTrainedModel, architecture: Architecture, cut: Cut) -> Removed:
    """Remove the parts of a cut from a model; its outputs are those with the same parts' gates at 0, up to rounding.

    model: a plain model of its family (adapters merged); it is not changed. Raises BadInputError if the family's heads
    cannot be removed one by one, or all of a kind would be gone.
    """
    shape = shape_of(model, architecture)
    check_cut(cut, shape)
    reason = why_not_removed(model, architecture)
    if reason and any(cut.heads):
        raise BadInputError(f"Heads can only be masked here: {reason}. Prune neurons or layers instead.")
    if any(cut.layers) and 1 < shape.blocks < shape.depth:
        raise BadInputError("Several groups of layers are shared here, so single depths can only be masked.")
    tree = private_tree(model)
    layout, heads, neurons = architecture.layout, [], []
    for block in range(shape.blocks):
        worker = _Block(tree, architecture, layout, shape, block)
        heads.append(worker.cut_heads(_left(cut.heads, block, shape.heads)))
        neurons.append(worker.cut_neurons(_left(cut.neurons, block, shape.neurons)))
        name_sizes(worker.layer, heads[-1], worker.head_size)
    layers = _left(cut.layers, 0, shape.depth)
    path = architecture.layers.name(0, "").split(".0.")[0]
    keep_layers(tree, path, layers, shape.shared)
    blocks = range(shape.blocks) if shape.shared else layers
    return Removed(
        tree, shape, tuple(heads[b] for b in blocks), tuple(neurons[b] for b in blocks), tuple(layers), worker.head_size
    )


def _left(gone: bytes, row: int, width: int) -> list[int]:
    """Return the units of one row that stay."""
    return [place for place in range(width) if not gone or not gone[row * width + place]]


class _Block:
    """One layer's weights."""

    def __init__(
        self, tree: PreTrainedModel, architecture: Architecture, layout: Layout, shape: Shape, block: int
    ) -> None:
        layers = architecture.layers
        self.layer = tree.get_submodule(layers.name(block, "").rstrip("."))
        self.paths, self.layout, self.shape = layers.modules, layout, shape
        self.head_size = _sizes(self.layer.get_submodule(self.paths["output"]))[1] // shape.heads

    def cut_heads(self, kept: list[int]) -> int:
        """Slice everything that has rows or columns for each head. Returns how many heads are left."""
        if len(kept) == self.shape.heads:
            return len(kept)
        hollow = not kept and self.layout.keeps_one
        kept = kept or [0] * hollow  # the first head stays if the code needs one, with columns of 0 below
        size, wide = self.head_size, self.shape.heads
        rows = torch.tensor([head * size + place for head in kept for place in range(size)], dtype=torch.long)
        for path in dict.fromkeys(self.paths[role] for role in ("query", "key", "value")):
            module = self.layer.get_submodule(path)
            parts = _sizes(module)[0] // (wide * size)
            _take(module, 0, self._fused(rows, kept, parts))
        for path in self.layout.beside:
            self._cut_beside(path, rows)
        self._cut_columns("output", rows, hollow)
        return len(kept)

    def _fused(self, rows: Tensor, kept: list[int], parts: int) -> Tensor:
        """Return the rows of a projection that holds `parts` maps (query, key and value); one part is an ordinary
        projection.
        """
        size = self.head_size
        if self.layout.by_head and parts > 1:
            span = range(parts * size)
            return torch.tensor([head * parts * size + place for head in kept for place in span], dtype=torch.long)
        whole = self.shape.heads * size
        return torch.cat([rows + part * whole for part in range(parts)])

    def _cut_beside(self, path: str, rows: Tensor) -> None:
        parent, _, leaf = path.rpartition(".")
        owner = self.layer.get_submodule(parent)
        if leaf in owner._parameters:
            owner._parameters[leaf] = _indexed(owner.get_parameter(leaf), 0, rows)
        elif leaf in owner._modules:  # a config may do without it
            _take(owner.get_submodule(leaf), 0, rows)

    def cut_neurons(self, kept: list[int]) -> int:
        """Slice the feed-forward part; a gated one (GLU) has two rows for each neuron. Returns how many neurons are left."""
        if len(kept) == self.shape.neurons:
            return len(kept)
        hollow = not kept and self.layout.keeps_one
        kept = kept or [0] * hollow
        rows = torch.tensor(kept, dtype=torch.long)
        module = self.layer.get_submodule(self.paths["ffn_in"])
        parts = _sizes(module)[0] // self.shape.neurons
        _take(module, 0, torch.cat([rows + part * self.shape.neurons for part in range(parts)]))
        for path in self.layout.beside_neurons:
            _take(self.layer.get_submodule(path), 0, rows)
        self._cut_columns("ffn_out", rows, hollow)
        return len(kept)

    def _cut_columns(self, role: str, columns: Tensor, hollow: bool) -> None:
        """Keep these columns of a role's matrix. hollow: what is left stands for nothing, so its columns are set to 0."""
        module = self.layer.get_submodule(self.paths[role])
        _take(module, 1, columns)
        if hollow:
            module._parameters["weight"] = nn.Parameter(torch.zeros_like(module.get_parameter("weight")), False)


def _sizes(module: nn.Module) -> tuple[int, int]:
    """Return (outputs, inputs) of a linear map; GPT-2's Conv1D stores its weight transposed."""
    rows, columns = module.get_parameter("weight").shape
    return (columns, rows) if isinstance(module, Conv1D) else (rows, columns)


def _take(module: nn.Module, dimension: int, places: Tensor) -> None:
    """Keep these outputs (dimension 0) or inputs (1) of a linear map."""
    stored = 1 - dimension if isinstance(module, Conv1D) else dimension
    module._parameters["weight"] = _indexed(module.get_parameter("weight"), stored, places)
    if dimension == 0 and module._parameters.get("bias") is not None:
        module._parameters["bias"] = _indexed(module.get_parameter("bias"), 0, places)


def _indexed(tensor: Tensor, dimension: int, places: Tensor) -> nn.Parameter:
    return nn.Parameter(tensor.detach().index_select(dimension, places.to(tensor.device)), requires_grad=False)


@contextmanager
def masked(model: nn.Module, architecture: Architecture, cut: Cut, shape: Shape) -> Iterator[None]:
    """Gate the parts of a cut to 0 while the context lasts. model: a tree of the caller's own."""
    check_cut(cut, shape)
    device = next(model.parameters()).device
    head_gates, neuron_gates = (
        gates_of(cut, unit, shape).to(device) if any(cut.of(unit)) else None for unit in ("head", "neuron")
    )
    with gated(model, architecture, head_gates, neuron_gates):
        if not any(cut.layers):
            yield
            return
        with layers_gated(model, architecture, gates_of(cut, "layer", shape).to(device)):
            yield


def gates_of(cut: Cut, unit: str, shape: Shape) -> Tensor:
    """Return 0 for a removed unit, else 1: (depth, units) for heads and neurons, each depth with its block's; (depth,)
    for layers.
    """
    rows, width = shape.rows(unit)
    gone = cut.of(unit) or bytes(rows * width)
    gates = 1.0 - torch.tensor(list(gone), dtype=torch.float32).reshape(rows, width)
    if unit == "layer":
        return gates[0]
    return gates[[shape.block_of(depth) for depth in range(shape.depth)]]


def count_parameters(model: Any) -> int:
    """Return the number of parameters in a model, tied ones once."""
    return sum(parameter.numel() for parameter in model.parameters())


def size_in_bytes(model: Any) -> int:
    """Return the bytes of its weights as safetensors, tied ones once."""
    return sum(parameter.numel() * parameter.element_size() for parameter in model.parameters())

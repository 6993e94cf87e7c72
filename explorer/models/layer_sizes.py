"""Describes one layer of a model: its matrices with their shapes, and what stands between them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from explorer.models.families import Architecture

if TYPE_CHECKING:
    from torch import nn

_ACTIVATIONS = {"gelu": "GELU", "silu": "SiLU", "swish": "SiLU", "relu": "ReLU"}
_NAMES = ("hidden_act", "activation", "activation_function", "hidden_activation")
"""The config entries that may name the activation of the feed-forward net."""


@dataclass(frozen=True)
class Matrix:
    """One weight matrix, W in W x. name: its role, or all of them joined by plus signs if they are fused.

    rows: the number of outputs. columns: the number of inputs, whatever the orientation in which the model stores it.
    """

    name: str
    rows: int
    columns: int

    @property
    def numbers(self) -> int:
        """The number of entries, without biases."""
        return self.rows * self.columns


@dataclass(frozen=True)
class LayerSizes:
    """The first of `depth` layers of equal sizes. distinct: how many of these are tensors of their own (ALBERT has
    one).

    looks_back: whether a token sees none that comes later. The rest is as in Architecture.
    """

    matrices: tuple[Matrix, ...]
    heads: int
    activation: str
    norm: str
    norm_first: bool
    gated: bool
    looks_back: bool
    depth: int
    distinct: int

    @property
    def shapes(self) -> dict[str, tuple[int, int]]:
        """(rows, columns) of each role's own matrix, or of its share of a fused one."""
        found = [(matrix, role) for matrix in self.matrices for role in matrix.name.split("+")]
        return {role: (matrix.rows // len(matrix.name.split("+")), matrix.columns) for matrix, role in found}


def layer_sizes(model: nn.Module, architecture: Architecture) -> LayerSizes:
    """Read the sizes off a model, whatever is wrapped around its layers."""
    config: Any = model.config
    activation = next((name for at in _NAMES if (name := getattr(config, at, None))), "gelu")
    plain = str(activation).split("_")[0]  # "gelu_new" and "gelu_pytorch_tanh" are GELU too
    numbers = {place[0] for name, _ in model.named_modules() if (place := architecture.layers.locate(name))}
    return LayerSizes(
        matrices_of(model, architecture),
        int(config.num_attention_heads),
        _ACTIVATIONS.get(plain, str(activation)),
        architecture.norm,
        architecture.norm_first,
        architecture.gated,
        architecture.layers.reads_last,
        int(config.num_hidden_layers),
        len(numbers),
    )


def matrices_of(model: nn.Module, architecture: Architecture, roles: Iterable[str] = ()) -> tuple[Matrix, ...]:
    """Return the matrices of the first layer that have these roles (all if none is named), in the order in which a
    state meets them.
    """
    layers, found = architecture.layers, dict[str, Matrix]()
    wanted = layers.matrices(roles)
    for name, module in model.named_modules():
        place = layers.locate(name)
        if place is not None and place[1] in wanted:
            shape: tuple[int, ...] = tuple(module.get_parameter("weight").shape)
            rows, columns = reversed(shape) if layers.transposed else shape
            found.setdefault(place[1], Matrix(place[1], rows, columns))
    return tuple(found[name] for name in wanted if name in found)

"""Opens a model up: its hidden states, attention weights, queries and keys, and gates on its heads and neurons.

Everything happens in a module tree of the caller's own over the shared tensors, so that one visitor's hooks and
switches never reach another's forward pass.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.masking_utils import eager_mask

from explorer.errors import BadInputError
from explorer.models.families import Architecture
from explorer.models.loaded_model import LoadedModel


@dataclass(frozen=True)
class Reading:
    """One forward pass.

    hidden_states: depth + 1 tensors (rows, length, width); the first is the embeddings' output.

    attentions: depth tensors (rows, heads, length, length), each row a distribution over the tokens looked at; empty
    unless asked for. output: the model's own, with its heads' scores.
    """

    output: Any
    hidden_states: tuple[Tensor, ...]
    attentions: tuple[Tensor, ...]


def depth_of(model: PreTrainedModel) -> int:
    """Return how many layers a text passes; ALBERT's shared layer counts each time."""
    return int(model.config.num_hidden_layers)


def heads_of(model: PreTrainedModel) -> int:
    """Return the number of attention heads in a layer."""
    return int(model.config.num_attention_heads)


def check_place(loaded: LoadedModel, layer: int, head: int) -> None:
    """Raise BadInputError for a layer or a head that the model does not have."""
    for name, value, count in (("layer", layer, depth_of(loaded.model)), ("head", head, heads_of(loaded.model))):
        if not 0 <= value < count:
            raise BadInputError(f"{loaded.model_id} has {count} {name}s, 0 to {count - 1}: there is no {name} {value}.")


def neurons_of(model: PreTrainedModel) -> int:
    """Return the width of a layer's feed-forward part."""
    config = model.config
    width = getattr(config, "intermediate_size", None) or getattr(config, "hidden_dim", None)
    return int(width or getattr(config, "n_inner", None) or 4 * config.hidden_size)


def private_tree(model: PreTrainedModel, attention: str = "eager") -> PreTrainedModel:
    """Return the same tensors (one storage) in modules and a config of the caller's own, in evaluation mode.

    attention: the implementation that it computes with; only `eager` gives attention weights.
    """
    shared: dict[int, Any] = {id(tensor): tensor for tensor in model.parameters()}
    shared |= {id(tensor): tensor for tensor in model.buffers()}
    tree = copy.deepcopy(model, shared)  # a memo with every tensor in it: modules are copied, tensors are not
    tree.eval()
    tree.set_attn_implementation(attention)
    return tree


def read(
    loaded: LoadedModel,
    inputs: Mapping[str, Tensor],
    head_gates: Tensor | None = None,
    attentions: bool = True,
) -> Reading:
    """Run the model once and keep what passes through it. inputs: keyword tensors, (rows, length).

    head_gates: as `gated` takes them.
    """
    tree = private_tree(loaded.model)
    on_device = {name: tensor.to(loaded.device) for name, tensor in inputs.items()}
    with gated(tree, loaded.architecture, head_gates):
        output = tree(**on_device, output_hidden_states=True, output_attentions=attentions)
    return Reading(output, tuple(output.hidden_states), tuple(output.attentions or ()) if attentions else ())


@contextmanager
def gated(
    model: nn.Module,
    architecture: Architecture,
    head_gates: Tensor | None = None,
    neuron_gates: Tensor | None = None,
) -> Iterator[None]:
    """Multiply each head's output, and each feed-forward neuron's, by a gate while the context lasts.

    head_gates: (depth, heads), or (rows, depth, heads) with gates for each row. neuron_gates: (depth, neurons), or
    (rows, depth, neurons). 1 leaves a part unchanged, 0 switches it off, and gradients reach the gates (Michel et al.
    2019, section 2). A layer that ALBERT shares is gated at each depth by that depth's gates.

    model: a tree of the caller's own (`private_tree`), since the gates are hooks.
    """
    handles = []
    for role, gates in (("output", head_gates), ("ffn_out", neuron_gates)):
        # A head's output is a slice of the input of the output projection, a neuron's an entry of the input of
        # ffn_out.
        if gates is not None:
            gate = _Gate(gates)
            handles += [
                module.register_forward_pre_hook(gate) for module in modules_with_role(model, architecture, role)
            ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def modules_with_role(model: nn.Module, architecture: Architecture, role: str) -> list[nn.Module]:
    """Return the modules of one role (as Layers names them), layer by layer; an adapter's wrapper counts as what it wraps."""
    layers = architecture.layers
    name_of = {path: name for name, path in layers.matrices().items()}
    wanted = name_of[layers.modules[role]]
    found = [(layers.locate(name), module) for name, module in model.named_modules()]
    return [module for place, module in found if place is not None and place[1] == wanted]


class _Gate:
    """A hook on the input of every layer's projection; the k-th call of a forward pass is the k-th layer's."""

    def __init__(self, gates: Tensor) -> None:
        self.gates, self.calls = gates, 0

    def __call__(self, module: nn.Module, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        states, *rest = inputs
        depth = self.gates.shape[-2]
        # Modulo: a tree may run several passes, and a shared layer is called at each depth.
        gate = self.gates[..., self.calls % depth, :].to(states)
        self.calls += 1
        parts = states.reshape(*states.shape[:-1], gate.shape[-1], -1)
        if gate.ndim == 2:  # a row of gates for each row of the batch
            gate = gate[:, None, :]
        return ((parts * gate[..., None]).reshape(states.shape), *rest)


RECORDING = "explorer-recording"
"""The name of an attention implementation that keeps its inputs; it is registered with transformers below."""


@dataclass
class _Record:
    """What one layer's attention computed with: query, key and value (rows, heads, length, size), and the weights."""

    query: Tensor
    key: Tensor
    value: Tensor
    scaling: float
    weights: Tensor


def _recording_attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    **unused: Any,
) -> tuple[Tensor, Tensor]:
    """Scaled dot-product attention (Vaswani et al. 2017, section 3.2.1) that keeps its parts in the module's record."""
    scaling = query.shape[-1] ** -0.5 if scaling is None else scaling
    scores = query @ key.transpose(2, 3) * scaling
    if attention_mask is not None:
        scores = scores + attention_mask
    weights = scores.softmax(-1)
    records: list[_Record] = module.explorer_records  # type: ignore[assignment]
    records.append(_Record(query, key, value, scaling, weights))
    return (weights @ value).transpose(1, 2).contiguous(), weights


AttentionInterface.register(RECORDING, _recording_attention)
AttentionMaskInterface.register(RECORDING, eager_mask)


@dataclass(frozen=True)
class QueryKey:
    """How one layer's attention weights come about, for one text.

    query, key: (heads, length, size), as they are multiplied (ModernBERT's are rotated by position before).

    scaling: the factor of each product q·k. weights: (heads, length, length).

    exact: whether softmax(scaling · q·k) is the weights; DeBERTa adds scores of relative positions to it, and a causal
    or sliding-window model masks some positions.
    """

    query: Tensor
    key: Tensor
    scaling: float
    weights: Tensor
    exact: bool


def query_and_key(loaded: LoadedModel, inputs: Mapping[str, Tensor], layer: int) -> QueryKey:
    """Return the queries and keys of one layer (from 0) for one text. inputs: keyword tensors, (1, length)."""
    on_device = {name: tensor.to(loaded.device) for name, tensor in inputs.items()}
    recorded = _content_scores if loaded.architecture.disentangled else _recorded
    record = recorded(loaded, on_device, layer)
    weights = record.weights[0].float().cpu()
    query, key = record.query[0].float().cpu(), record.key[0].float().cpu()
    plain = (query @ key.transpose(1, 2) * record.scaling).softmax(-1)
    return QueryKey(query, key, record.scaling, weights, bool(torch.allclose(plain, weights, atol=1e-4)))


def _recorded(loaded: LoadedModel, inputs: Mapping[str, Tensor], layer: int) -> _Record:
    """Record them by transformers' own interface for attention functions."""
    tree = private_tree(loaded.model, RECORDING)
    records: list[_Record] = []
    for module in tree.modules():
        object.__setattr__(module, "explorer_records", records)
    tree(**inputs)
    return records[layer]


def _content_scores(loaded: LoadedModel, inputs: Mapping[str, Tensor], layer: int) -> _Record:
    """Record DeBERTa's content-to-content part (He et al. 2021, equation 4), from the projections; its attention is its
    own code.
    """
    config, layers = loaded.model.config, loaded.architecture.layers
    tree = private_tree(loaded.model)
    kept: dict[str, Tensor] = {}

    def keep(role: str) -> Any:
        def hook(module: nn.Module, given: Any, output: Tensor) -> None:
            kept.setdefault(role, output.detach())  # DeBERTa-v3 maps its relative positions by the same modules, later

        return hook

    for role in ("query", "key", "value"):
        tree.get_submodule(layers.name(layer, layers.modules[role])).register_forward_hook(keep(role))
    output = tree(**inputs, output_attentions=True)
    parts = content_vectors(tree, loaded.architecture, layer, kept)
    return _Record(*parts, content_scaling(config, parts[0].shape[-1]), output.attentions[layer])


def content_vectors(
    tree: PreTrainedModel, architecture: Architecture, layer: int, gave: Mapping[str, Tensor]
) -> tuple[Tensor, Tensor, Tensor]:
    """Return DeBERTa's query, key and value of content, (rows, heads, length, size), from what its projections gave.

    gave: by role, (rows, length, width).
    """
    heads, modules = heads_of(tree), architecture.layers.modules
    if modules["query"] != modules["key"]:
        query, key, value = (
            gave[role].unflatten(-1, (heads, -1)).transpose(1, 2) for role in ("query", "key", "value")
        )
        return query, key, value
    # The first version: one fused map, q, k and v side by side in each head.
    fused = gave["query"].unflatten(-1, (heads, 3, -1)).transpose(1, 2)
    attention: Any = tree.get_submodule(architecture.layers.name(layer, modules["query"]).rsplit(".", 1)[0])
    query, key, value = (fused[:, :, :, place] for place in range(3))
    return query + attention.q_bias.view(1, heads, 1, -1), key, value + attention.v_bias.view(1, heads, 1, -1)


def content_scaling(config: Any, size: int) -> float:
    """Return DeBERTa's factor of a score, 1 / sqrt(size · (1 + the kinds of relative position))."""
    return float((size * (1 + len(config.pos_att_type or ()))) ** -0.5)

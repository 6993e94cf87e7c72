"""Shortens a model to some of its layers: the same tensors under the names that they have in the shorter model."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar

import torch
from torch import Tensor, nn
from transformers import PretrainedConfig

from explorer.errors import BadInputError
from explorer.models.families import Layers
from explorer.models.inside import depth_of
from explorer.models.loaded_model import LoadedModel

Value = TypeVar("Value")


Choice = Literal["from_first", "first_to_last"]


def layers_kept(depth: int, count: int, choice: Choice = "from_first") -> tuple[int, ...]:
    """Return which of `depth` layers stay when `count` are kept. Half of six are 0, 2, 4, or 0, 2, 5 with
    `first_to_last`.

    from_first: at even steps from the first one; half are every second, "one layer out of two" as DistilBERT's paper
    says (Sanh et al. 2019, section 3). first_to_last: spread from the first to the last one, as its published code
    does: of twelve 0, 2, 4, 7, 9, 11.

    Raises BadInputError for more layers than there are, or none.
    """
    if not 1 <= count <= depth:
        raise BadInputError(
            f"A student of {count} layers cannot be cut from {depth}. Take 1 to {depth} layers, or 0 for every second one."
        )
    if choice == "from_first":
        return tuple(place * depth // count for place in range(count))
    return tuple(round(place * (depth - 1) / max(1, count - 1)) for place in range(count))


def half_of(depth: int) -> int:
    """Return how many layers stay when half of them do, one at least."""
    return max(1, depth // 2)


def shortened_config(config: PretrainedConfig, kept: Sequence[int]) -> PretrainedConfig:
    """Return a copy of a config for a model of these layers; kinds of attention that alternate between layers go with them."""
    changed: PretrainedConfig = copy.deepcopy(config)
    if getattr(config, "layer_types", None):
        changed.layer_types = [config.layer_types[place] for place in kept]
    changed.num_hidden_layers = len(kept)
    return changed


def renamed(named: Mapping[str, Value], layers: Layers, depth: int, kept: Sequence[int]) -> dict[str, Value]:
    """Rename the values of the kept among `depth` layers to their new numbers; everything outside the layers keeps its
    name.

    If layers share their weights (ALBERT), there are fewer names than layers, and all of them stay.
    """
    if layers.count(named) != depth:
        return dict(named)
    before, _, after = f"{layers.body}.{layers.path}".partition("*")
    found: dict[str, Value] = {}
    for name, value in named.items():
        number, separator, rest = name.removeprefix(before).partition(f"{after}.")
        if not name.startswith(before) or not separator or not number.isdigit():
            found[name] = value
        for place, layer in enumerate(kept):
            if name.startswith(before) and number == str(layer):
                found[f"{before}{place}{after}.{rest}"] = value
    return found


def put(model: nn.Module, name: str, tensor: Tensor) -> None:
    """Put a tensor in the place of a parameter or a buffer, by its full name; an nn.Parameter stays one."""
    path, _, leaf = name.rpartition(".")
    module = model.get_submodule(path)
    # Not setattr, which refuses to put a tensor in a parameter's place.
    if isinstance(tensor, nn.Parameter):
        module._parameters[leaf] = tensor
    else:
        module._buffers[leaf] = tensor


def shortened(loaded: LoadedModel, count: int) -> LoadedModel:
    """Return the model's model, heads included, with `count` of its layers; the tensors are shared. Raises as layers_kept."""
    model = loaded.model
    kept = layers_kept(depth_of(model), count)
    config = shortened_config(model.config, kept)
    config._attn_implementation = None
    with torch.device("meta"):  # without storage, since every tensor is replaced below
        short: Any = type(model)(config)
    named: dict[str, Tensor] = {**dict(model.named_parameters(remove_duplicate=False)), **dict(model.named_buffers())}
    tensors = renamed(named, loaded.architecture.layers, depth_of(model), kept)
    wanted = [*short.named_parameters(remove_duplicate=False), *short.named_buffers()]
    for name, _ in wanted:
        put(short, name, tensors[name])
    short.eval()
    parameters = sum(parameter.numel() for parameter in short.parameters())
    size = sum(parameter.numel() * parameter.element_size() for parameter in short.parameters())
    name = f"{loaded.model_id} with {count} of {depth_of(model)} layers"
    return dataclasses.replace(loaded, model_id=name, model=short, parameters=parameters, bytes=size)

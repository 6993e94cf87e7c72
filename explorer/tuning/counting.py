"""Counts the parameters that a method trains on a model, by group, on torch's meta device: no weight is allocated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace

import torch
from torch import nn
from transformers import PretrainedConfig, PreTrainedModel

from explorer.models.families import Layers
from explorer.models.shortening import shortened_config
from explorer.tasks.task import CLASSES
from explorer.tuning.adapted import build, layers_of
from explorer.tuning.forks import classifier_config
from explorer.tuning.kinds import kind_of
from explorer.tuning.spec import RunSpec

HEAD = "head"
OUTSIDE = "outside the layers"
INSIDE = "layer norms and the like"


@dataclass(frozen=True)
class Sizes:
    """The numbers of parameters. groups: trained ones by group. total: of the model with the adapter. matrices: of the
    layers' weight matrices by (layer, role). passes: how often a text goes through these (ALBERT's one layer serves for
    all). depth: the number of layers.
    """

    groups: dict[str, int]
    total: int
    matrices: dict[tuple[int, str], int]
    passes: int
    depth: int

    @property
    def trained(self) -> int:
        """The number of trained parameters in all groups."""
        return sum(self.groups.values())

    def of_roles(self, roles: Collection[str]) -> int:
        """Return the number of parameters of the matrices with these roles, in all layers."""
        return sum(number for (_, role), number in self.matrices.items() if role in roles)


def count(
    config: PretrainedConfig,
    layers: Layers,
    outputs: int,
    spec: RunSpec,
    known: Collection[str] | None = None,
    kind: str = CLASSES,
) -> Sizes:
    """Count a method's parameters on a model of this config.

    known: the names of the parameters that the checkpoint holds; by default all of the body. Raises BadInputError for a
    rank or a bottleneck over the width.
    """
    fork = empty_fork(config, layers, outputs, spec, known, kind)
    depth = fork.config.num_hidden_layers
    places = [(name, layers.locate(name)) for name, _ in fork.named_modules()]
    matrices = {place: fork.get_parameter(f"{name}.weight").numel() for name, place in places if place}
    # PiSSA needs weights to start from, which meta tensors lack; its shapes are LoRA's.
    plain = replace(spec, variant="lora") if spec.variant == "pissa" else spec
    with torch.device("meta"):
        _, model, fresh = build(fork, plain, layers)
    distinct = len({layer for layer, _ in matrices})
    # peft keeps the original beside each module that it trains whole.
    kept = [parameter.numel() for name, parameter in model.named_parameters() if ".original_module." not in name]
    return Sizes(_groups(model, layers, fresh), sum(kept), matrices, depth // max(1, distinct), depth)


def empty_fork(
    config: PretrainedConfig,
    layers: Layers,
    outputs: int,
    spec: RunSpec,
    known: Collection[str] | None = None,
    kind: str = CLASSES,
) -> PreTrainedModel:
    """Make the model that a method is put on, without weights (on torch's meta device); only parameters that no
    checkpoint holds are trained.
    """
    config = classifier_config(config, outputs, 0)
    kept_layers = layers_of(config, spec)
    fork = kind_of(spec.method, kind).empty(shortened_config(config, kept_layers) if kept_layers else config)
    for name, parameter in fork.named_parameters():
        held = name.startswith(f"{layers.body}.") if known is None else name in known
        parameter.requires_grad_(not held)
    return fork


def _groups(model: nn.Module, layers: Layers, fresh: Collection[str]) -> dict[str, int]:
    """Count trained parameters by group, the largest group first."""
    groups: Counter[str] = Counter()
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            groups[_group(name, layers, fresh)] += parameter.numel()
    return dict(groups.most_common())


_KINDS = (("lora_", "LoRA"), ("ia3_l", "IA³"), (".adapter.", "adapter"), ("prompt_encoder", "virtual tokens"))


def _group(name: str, layers: Layers, fresh: Collection[str]) -> str:
    """Return the name by which a page calls the part of the model that a parameter belongs to: "LoRA query", "head"."""
    kind = next((title for mark, title in _KINDS if mark in name), "")
    plain = name.replace("modules_to_save.default.", "")
    if not kind and any(f".{plain}".endswith(f".{head}") for head in fresh):
        return HEAD
    pieces = name.split(".")
    for end in range(len(pieces), 0, -1):  # the longest prefix that names a matrix
        place = layers.locate(".".join(pieces[:end]))
        if place is not None:
            return f"{kind} {place[1]}".strip()
    inside = layers.path.partition(".*")[0]
    return kind or (INSIDE if f".{inside}." in f".{name}" else OUTSIDE)

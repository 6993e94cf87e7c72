"""Makes a fine-tuned model one like any other: by adding what was trained to the weights, and for pages that look inside."""

from __future__ import annotations

import copy
import dataclasses

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from explorer.errors import BadInputError
from explorer.models.families import Capability
from explorer.models.loaded_model import LoadedModel
from explorer.models.shortening import put
from explorer.tuning.adapted import Adapted, layers_of
from explorer.tuning.deltas import base_weights, stored


@torch.no_grad()
def merged(adapted: Adapted) -> PreTrainedModel:
    """Return a plain model with the same head that gives the adapted model's logits, frozen and in evaluation mode.

    A student on plain text is a plain *ForMaskedLM already; a copy of it is returned.

    Only what fine-tuning changed is new: W + ΔW, biases, the head. Every other tensor is shared with the model, which
    stays as it is (Hu et al. 2021, LoRA, section 4.1: "No Additional Inference Latency").

    Raises BadInputError with the reason for a method that cannot be merged.
    """
    if adapted.method.unmergeable:
        raise BadInputError(f"{adapted.method.title} cannot be merged: {adapted.method.unmergeable}")
    if adapted.method.fills_masks:
        plain = copy.deepcopy(adapted.fork)
        plain.requires_grad_(False).eval()
        return plain
    kept = layers_of(adapted.loaded.model.config, adapted.spec)
    plain = adapted.kind.fork(adapted.loaded, adapted.fork.config.num_labels or 1, adapted.spec.seed, kept)
    changed = {**_trained_parameters(adapted, plain), **_merged_weights(adapted, plain), **_scaled_biases(adapted)}
    places: dict[int, list[str]] = {}
    for name, parameter in plain.named_parameters(remove_duplicate=False):
        places.setdefault(id(parameter), []).append(name)
    for name, tensor in changed.items():
        own = nn.Parameter(tensor.to(plain.get_parameter(name).device), requires_grad=False)
        for place in places[id(plain.get_parameter(name))]:  # the words' embeddings may be the head's matrix too
            put(plain, place, own)
    plain.requires_grad_(False).eval()
    return plain


def _trained_parameters(adapted: Adapted, plain: PreTrainedModel) -> dict[str, Tensor]:
    """Return copies of the trained parameters that a plain model has too: the head, and biases or whole layers."""
    named = {name.removeprefix("base_model.model."): tensor for name, tensor in adapted.trainable().items()}
    wanted = dict(plain.named_parameters())
    return {name: tensor.detach().clone() for name, tensor in named.items() if name in wanted}


def _merged_weights(adapted: Adapted, plain: PreTrainedModel) -> dict[str, Tensor]:
    """Return W + ΔW of every matrix that an adapter changes, in its module's orientation."""
    if adapted.model is adapted.fork:  # nothing is wrapped, so what changed is among the trained parameters
        return {}
    base, weights = base_weights(adapted.loaded), {}
    modules = {place: name for name, _ in plain.named_modules() if (place := adapted.layers.locate(name))}
    for place, delta in adapted.deltas().items():
        W = base[place]  # noqa: N806
        name = modules[place]
        weights[f"{name}.weight"] = stored(W + delta.dense().to(W), plain.get_submodule(name)).contiguous()
    return weights


def _scaled_biases(adapted: Adapted) -> dict[str, Tensor]:
    """Return the biases of keys and values, scaled: IA³ multiplies the whole output, l ⊙ (W x + b)."""
    biases: dict[str, Tensor] = {}
    for name, module in adapted.fork.named_modules():
        # The feed-forward's factor multiplies its input, so its bias stays.
        if hasattr(module, "ia3_l") and not module.is_feedforward and module.base_layer.bias is not None:
            factor: Tensor = next(iter(module.ia3_l.values())).detach().flatten()
            biases[f"{name}.bias"] = module.base_layer.bias.detach() * factor
    return biases


def as_loaded(adapted: Adapted, name: str) -> LoadedModel:
    """Return the adapted model under a name of its own; it answers with a class only (explorer.models.questions).

    Raises BadInputError for methods that put virtual tokens before the text: attention would have more columns than
    tokens.
    """
    if adapted.method.has_virtual_tokens:
        raise BadInputError(
            f"{name} was trained with {adapted.method.title}, which puts virtual tokens before the text. "
            "Choose a run by another method, such as LoRA, to look inside."
        )
    return dataclasses.replace(adapted.loaded, model_id=name, model=adapted.fork, capabilities=frozenset())


def as_mask_filler(adapted: Adapted, name: str) -> LoadedModel:
    """Return a student on plain text under a name of its own, with its one head."""
    architecture = adapted.loaded.architecture
    head = dataclasses.replace(architecture.heads[Capability.MLM], logits="logits", labels="labels")
    return dataclasses.replace(
        adapted.loaded,
        model_id=name,
        model=adapted.fork,
        architecture=dataclasses.replace(architecture, heads={Capability.MLM: head}),
        capabilities=frozenset({Capability.MLM}),
    )

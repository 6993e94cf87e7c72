"""Forks: classifiers on top of a shared model. A fork is another module tree over the same tensors, with a fresh head.

If the body never changes, a head is trained without it: what it reads of each text is computed once.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from transformers import (
    MODEL_FOR_CAUSAL_LM_MAPPING,
    MODEL_FOR_MASKED_LM_MAPPING,
    MODEL_FOR_QUESTION_ANSWERING_MAPPING,
    MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING,
    PretrainedConfig,
    PreTrainedModel,
)
from transformers.modeling_outputs import BaseModelOutputWithPoolingAndCrossAttentions

from explorer.models.families import Capability, Layers
from explorer.models.inside import depth_of
from explorer.models.loaded_model import LOADING, LoadedModel
from explorer.models.shortening import put, renamed, shortened_config
from explorer.tuning.seeded import Seeded

SPAN_OUTPUTS = 2
"""The outputs for each token: a start score and an end score."""


def fork_classifier(loaded: LoadedModel, outputs: int, seed: int, kept: Sequence[int] = ()) -> PreTrainedModel:
    """Make a *ForSequenceClassification of the model's family, in evaluation mode; with the kept layers alone, if some
    are named.

    Every parameter and buffer that the model's model has under the same name shares its storage and is frozen; the
    Parameter objects are the fork's own, so assigning to `.data` (or replacing one, see `own`) never reaches the
    loaded. Writing INTO a shared tensor would: peft's merge does, so merge only what `own` has copied first, or a deep
    copy.

    What the checkpoint lacks (the classifier, sometimes a pooler) is initialised as transformers does, from `seed`
    alone, and is all that requires gradients.
    """
    return _with_fresh_head(loaded, outputs, seed, kept, empty_classifier)


def fork_span(loaded: LoadedModel, outputs: int, seed: int, kept: Sequence[int] = ()) -> PreTrainedModel:
    """Make a *ForQuestionAnswering as fork_classifier does: a fresh head of two scores a token, for an answer's start
    and end.
    """
    return _with_fresh_head(loaded, SPAN_OUTPUTS, seed, kept, empty_span)


def _with_fresh_head(
    loaded: LoadedModel,
    outputs: int,
    seed: int,
    kept: Sequence[int],
    empty: Callable[[PretrainedConfig], PreTrainedModel],
) -> PreTrainedModel:
    config = classifier_config(loaded.model.config, outputs, loaded.tokenizer.pad_token_id)
    shared = pretrained(loaded)
    if kept:
        config = shortened_config(config, kept)
        shared = renamed(shared, loaded.architecture.layers, depth_of(loaded.model), kept)
    model = empty(config)  # on the meta device, so the shared weights are never copied
    for name, parameter in list(model.named_parameters()):
        source = shared.get(name)
        if source is not None and source.shape == parameter.shape:
            replacement = nn.Parameter(source.detach(), requires_grad=False)
            replacement._is_hf_initialized = True  # type: ignore[attr-defined]  # transformers leaves such a one as it is
        else:
            replacement = nn.Parameter(torch.empty_like(parameter, device=loaded.device))
        put(model, name, replacement)
    for name, _ in list(model.named_buffers()):
        buffer = shared[name].detach()
        buffer._is_hf_initialized = True  # type: ignore[attr-defined]
        put(model, name, buffer)
    # On real tensors by now, and only on those that are not marked as initialised.
    with Seeded(seed), torch.no_grad():
        model.apply(model._init_weights)
    model.name_or_path = loaded.model_id
    model.eval()
    return model


def fork_masked(loaded: LoadedModel, kept: Sequence[int] = ()) -> PreTrainedModel:
    """Make the model's *ForMaskedLM with its own head, frozen and in evaluation mode; with the kept layers alone, if
    some are named.

    Storage is shared as in fork_classifier, and tensors that stand in two places (the word embeddings, which are the
    head's matrix too) stay one. What only other heads read (BERT's pooler) is left out.

    Raises MissingCapabilityError if the checkpoint has no such head.
    """
    loaded.require(Capability.MLM)
    return _with_own_head(loaded, kept, empty_masked)


def fork_causal(loaded: LoadedModel, kept: Sequence[int] = ()) -> PreTrainedModel:
    """Make the model's model that continues a text, as fork_masked does. Raises MissingCapabilityError."""
    loaded.require(Capability.CAUSAL)
    return _with_own_head(loaded, kept, empty_causal)


def _with_own_head(
    loaded: LoadedModel, kept: Sequence[int], empty: Callable[[PretrainedConfig], PreTrainedModel]
) -> PreTrainedModel:
    shared = pretrained(loaded)
    config = copy.deepcopy(loaded.model.config)
    config._attn_implementation = None  # the fastest, whatever the shared model was set to
    if kept:
        config = shortened_config(config, kept)
        shared = renamed(shared, loaded.architecture.layers, depth_of(loaded.model), kept)
    model = empty(config)
    own: dict[int, nn.Parameter] = {}
    for name, _ in list(model.named_parameters(remove_duplicate=False)):
        source = shared[name]
        # By the id of the source: a tied tensor becomes one parameter in both places.
        put(model, name, own.setdefault(id(source), nn.Parameter(source.detach(), requires_grad=False)))
    for name, _ in list(model.named_buffers()):
        put(model, name, shared[name].detach())
    model.name_or_path = loaded.model_id
    model.eval()
    return model


def empty_masked(config: PretrainedConfig) -> PreTrainedModel:
    """Make the family's *ForMaskedLM without storage: all tensors are on torch's meta device."""
    return _empty_tied(MODEL_FOR_MASKED_LM_MAPPING[type(config)], config)


def empty_causal(config: PretrainedConfig) -> PreTrainedModel:
    """Make the family's model that continues a text, without storage."""
    return _empty_tied(MODEL_FOR_CAUSAL_LM_MAPPING[type(config)], config)


def _empty_tied(model_class: Any, config: PretrainedConfig) -> PreTrainedModel:
    with LOADING, torch.device("meta"):  # transformers is patched while a model loads, in all threads
        model: PreTrainedModel = model_class(config)
        model.tie_weights()
    return model


def empty_classifier(config: PretrainedConfig) -> PreTrainedModel:
    """Make the family's *ForSequenceClassification without storage: all tensors are on torch's meta device."""
    return _empty(MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING[type(config)], config)


def empty_span(config: PretrainedConfig) -> PreTrainedModel:
    """Make the family's *ForQuestionAnswering without storage, whatever number of classes the config names."""
    return _empty(MODEL_FOR_QUESTION_ANSWERING_MAPPING[type(config)], classifier_config(config, SPAN_OUTPUTS, None))


def _empty(model_class: Any, config: PretrainedConfig) -> PreTrainedModel:
    with torch.device("meta"):
        model: PreTrainedModel = model_class(config)
    return model


def classifier_config(config: PretrainedConfig, outputs: int, pad_token_id: int | None) -> PretrainedConfig:
    """Return a copy of a model's config for `outputs` classes, or for a regression if it is 1."""
    changed = copy.deepcopy(config)
    changed.num_labels = outputs
    changed.problem_type = "regression" if outputs == 1 else "single_label_classification"
    # GPT-2's classifier finds a row's last token by looking for padding. If neither the config nor the tokenizer
    # names a padding token, the end of text serves as one.
    for token in (pad_token_id, changed.eos_token_id):
        if changed.pad_token_id is None:
            changed.pad_token_id = token[0] if isinstance(token, list) else token
    changed.use_cache = False
    changed._attn_implementation = None  # the quickest, whatever a view of attention may have set on the shared model
    return changed


def pretrained(loaded: LoadedModel) -> dict[str, Tensor]:
    """Return the model's tensors by name, without those of heads that its checkpoint did not hold (they are random
    numbers).
    """
    heads = loaded.architecture.heads.items()
    absent = tuple(
        prefix for capability, head in heads for prefix in head.weights if capability not in loaded.capabilities
    )
    tensors = {**dict(loaded.model.named_parameters(remove_duplicate=False)), **dict(loaded.model.named_buffers())}
    return {name: tensor for name, tensor in tensors.items() if not (absent and name.startswith(absent))}


def own(model: nn.Module, names: list[str]) -> None:
    """Give the model its own copies of these parameters and make them trainable; all others stay shared.

    A parameter that stands in two places is copied once and stands in both.
    """
    copies = {id(model.get_parameter(name)): nn.Parameter(model.get_parameter(name).detach().clone()) for name in names}
    for name, parameter in list(model.named_parameters(remove_duplicate=False)):
        if id(parameter) in copies:
            put(model, name, copies[id(parameter)])


def head_names(model: nn.Module) -> list[str]:
    """Return the names of a new fork's fresh parameters."""
    return [name for name, parameter in model.named_parameters() if parameter.requires_grad]


def head_modules(model: nn.Module) -> list[str]:
    """Return the outermost modules of a new fork that are fresh throughout: its classifier, and a pooler that the
    checkpoint lacked.
    """
    fresh: list[str] = []
    for name, module in model.named_modules():
        parameters = list(module.parameters())
        inside = any(name == outer or name.startswith(f"{outer}.") for outer in fresh)
        if name and not inside and parameters and all(parameter.requires_grad for parameter in parameters):
            fresh.append(name)
    return fresh


class _Replay(nn.Module):
    """Stands in the body's place: returns the features that are passed as embeddings, as if of a text of one token."""

    def forward(self, *args: Any, inputs_embeds: Tensor, **kwargs: Any) -> BaseModelOutputWithPoolingAndCrossAttentions:
        """Return the embeddings as states. inputs_embeds: (rows, 1, width)."""
        return BaseModelOutputWithPoolingAndCrossAttentions(
            last_hidden_state=inputs_embeds, pooler_output=inputs_embeds[:, 0]
        )


def head_alone(fork: PreTrainedModel, layers: Layers) -> PreTrainedModel:
    """Return a view of a classifier with the same head, whose body is skipped."""
    view = copy.copy(fork)
    # Only the dictionary of modules is new, so the head's parameters are the fork's own.
    view._modules = {**fork._modules, layers.body: _Replay()}
    return view


@torch.no_grad()
def read_features(fork: PreTrainedModel, layers: Layers, inputs: dict[str, Tensor]) -> Tensor:
    """Return what the head reads of each row, (rows, width): the pooler's output, or the state at the position it
    classifies by.
    """
    output = fork.get_submodule(layers.body)(**inputs)
    pooled: Tensor | None = getattr(output, "pooler_output", None)
    if pooled is not None:
        return pooled
    hidden: Tensor = output.last_hidden_state
    mask = inputs.get("attention_mask", torch.ones_like(inputs["input_ids"]))
    if getattr(fork.config, "classifier_pooling", "cls") == "mean":  # some ModernBERTs
        return (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
    place = (mask * torch.arange(mask.shape[1], device=mask.device)).argmax(-1) if layers.reads_last else 0
    return hidden[torch.arange(len(hidden), device=hidden.device), place]

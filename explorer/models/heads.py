"""Applies a model's own head at chosen positions, to states that are known, and to the output of each layer (the logit
lens).

Whatever stands between the last layer and the scores (GPT-2's and ModernBERT's last LayerNorm, a head's dense layer) is
the model's own code, so no family needs an entry here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.modeling_outputs import BaseModelOutputWithPoolingAndCrossAttentions

from explorer.errors import ModelUnavailableError
from explorer.models.inside import depth_of, private_tree
from explorer.models.loaded_model import LoadedModel


@contextmanager
def head_at(model: PreTrainedModel, chosen: Tensor) -> Iterator[list[Tensor]]:
    """Let the model's head read the chosen positions alone while the context lasts.

    chosen: bool, (rows, length), for scores of shape (1, chosen, classes), row after row; or positions, (n,), the same
    in every row, for (rows, n, classes). Scores of a text as a whole are the model's own if its body pools.

    Yields a list in which the last states of all positions, (rows, length, width), appear pass by pass.

    model: the caller's own (`private_tree`), since this is a hook.
    """
    seen: list[Tensor] = []

    def choose(module: nn.Module, given: Any, output: Any) -> Any:
        seen.append(output.last_hidden_state)
        # Over all positions the head's product with the vocabulary may cost more than the layers do.
        output.last_hidden_state = at(seen[-1], chosen)
        return output

    handle = model.base_model.register_forward_hook(choose)
    try:
        yield seen
    finally:
        handle.remove()


def at(states: Tensor, chosen: Tensor) -> Tensor:
    """Return the states at chosen positions, as `head_at` takes them: (1, chosen, width), or (rows, n, width)."""
    return states[chosen][None] if chosen.dtype == torch.bool else states[:, chosen]


def before_decoder(model: PreTrainedModel, states: Tensor, chosen: Tensor) -> Tensor:
    """Return what the map to the vocabulary reads at the chosen positions: (chosen, width of the embeddings).

    The model's own head is applied to `states`, (rows, length, width), which its body has computed already; neither the
    body nor the map is computed. chosen: (rows, length) bool. Raises ModelUnavailableError for a model without such a
    map.
    """
    decoder: Any = model.get_output_embeddings()
    if decoder is None or len(decoder.weight) != model.config.vocab_size:
        raise ModelUnavailableError(f"{type(model).__name__} has no map to the vocabulary.")
    picked = at(states, chosen.to(states.device))
    given = BaseModelOutputWithPoolingAndCrossAttentions(last_hidden_state=picked, pooler_output=states[:, 0])
    read: list[Tensor] = []

    def keep(before: Tensor) -> Tensor:
        read.append(before[0])
        return before

    with ExitStack() as replaced:
        replaced.enter_context(_computing(model.base_model, lambda *args, **named: given))
        replaced.enter_context(_computing(decoder, keep))
        model()
    return read[0]


@contextmanager
def _computing(module: nn.Module, forward: Callable[..., Any]) -> Iterator[None]:
    """Let a module compute something else while the context lasts."""
    module.forward = forward  # an instance's attribute goes before its class's method
    try:
        yield
    finally:
        del module.forward


def head_at_each_layer(loaded: LoadedModel, inputs: Mapping[str, Tensor], places: Sequence[int]) -> Any:
    """Return the model's output with one row a layer: row k holds the head's scores from the states after k layers.

    Row 0 reads the embeddings, row `depth` is the model's own answer. One forward pass: the last layer hands on the
    states of all layers instead of its own, as if they were a batch of texts, and what follows works as usual
    (nostalgebraist 2020, "interpreting GPT: the logit lens").

    inputs: keyword tensors, (1, length). places: the positions at which a score for each token is wanted; scores then
    have the shape (depth + 1, len(places), classes). Scores of a text as a whole are not meaningful here.
    """
    return head_and_states(loaded, private_tree(loaded.model), inputs, places)[0]


def head_and_states(
    loaded: LoadedModel, tree: PreTrainedModel, inputs: Mapping[str, Tensor], places: Sequence[int], **options: Any
) -> tuple[Any, Tensor]:
    """Return the output of `head_at_each_layer` and the states that it was read from, (depth + 1, length, width).

    tree: the caller's own (`private_tree`), since hooks stay on it. options: further keywords of the forward pass.
    """
    layers = layer_modules(tree, loaded)
    stack = _Stack(depth_of(tree))
    for layer in layers:
        layer.register_forward_pre_hook(stack.keep, with_kwargs=True)
        layer.register_forward_hook(stack.hand_on)
    with head_at(tree, torch.tensor(list(places), device=loaded.device)):
        output = tree(**{name: tensor.to(loaded.device) for name, tensor in inputs.items()}, **options)
    return output, stack.handed


def layer_modules(tree: nn.Module, loaded: LoadedModel) -> list[nn.Module]:
    """Return the layers' modules; ALBERT's shared one appears once, and is called at each depth."""
    layout = loaded.architecture.layers
    count = layout.count(name for name, _ in tree.named_parameters())
    return [tree.get_submodule(layout.name(number, "").rstrip(".")) for number in range(count)]


class _Stack:
    """Two hooks on every layer: one keeps the layer's input, the other lets the last call hand on all of them."""

    def __init__(self, depth: int) -> None:
        self.depth, self.states = depth, list[Tensor]()
        self.handed = torch.empty(0)

    def keep(self, module: nn.Module, given: tuple[Any, ...], named: dict[str, Any]) -> None:
        self.states.append(given[0] if given else named["hidden_states"])

    def hand_on(self, module: nn.Module, given: tuple[Any, ...], output: Any) -> Any:
        if len(self.states) < self.depth:  # not the last call: the layer's own output goes on
            return None
        own, *others = output if isinstance(output, tuple) else (output,)
        stacked = torch.cat([*self.states, own])  # along the batch, one row for each depth
        self.handed = stacked
        return (stacked, *others) if isinstance(output, tuple) else stacked

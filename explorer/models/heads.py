"""A model's own head applied to what each of its layers hands on: the logit lens.

Whatever stands between the last layer and the scores (GPT-2's and ModernBERT's last LayerNorm, a head's dense layer) is the
model's own code, so no family needs an entry here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from explorer.models.bundle import Bundle
from explorer.models.inside import depth_of, private_tree


def head_at_each_layer(bundle: Bundle, inputs: Mapping[str, Tensor], places: Sequence[int]) -> Any:
    """The model's output with one row a layer: row k holds the head's scores from the states after k layers.

    Row 0 reads what the embeddings give, row `depth` is the model's own answer. One forward pass: the last layer hands on
    the states of all layers instead of its own, as if they were a batch of texts, and what follows works as ever
    (nostalgebraist 2020, "interpreting GPT: the logit lens").
    inputs: keyword tensors, (1, length). places: the positions at which a score for each token is wanted; scores then have
    the shape (depth + 1, len(places), classes). Scores of a text as a whole are not meaningful here.
    """
    tree = private_tree(bundle.model)
    layers = _layers(tree, bundle)
    stack = _Stack(depth_of(tree))
    for layer in layers:
        layer.register_forward_pre_hook(stack.keep, with_kwargs=True)
        layer.register_forward_hook(stack.hand_on)
    chosen = torch.tensor(list(places), device=bundle.device)

    def only_places(module: nn.Module, given: Any, output: Any) -> Any:
        output.last_hidden_state = output.last_hidden_state[:, chosen]
        return output

    tree.get_submodule(bundle.architecture.layers.body).register_forward_hook(only_places)
    return tree(**{name: tensor.to(bundle.device) for name, tensor in inputs.items()})


def _layers(tree: nn.Module, bundle: Bundle) -> list[nn.Module]:
    """The layers' modules; ALBERT's shared one stands once, and is called at each depth."""
    layout = bundle.architecture.layers
    count = layout.count(name for name, _ in tree.named_parameters())
    return [tree.get_submodule(layout.name(number, "").rstrip(".")) for number in range(count)]


class _Stack:
    """Two hooks on every layer: one keeps what it is given, the other lets the last call hand on all of it."""

    def __init__(self, depth: int) -> None:
        self.depth, self.states = depth, list[Tensor]()

    def keep(self, module: nn.Module, given: tuple[Any, ...], named: dict[str, Any]) -> None:
        self.states.append(given[0] if given else named["hidden_states"])

    def hand_on(self, module: nn.Module, given: tuple[Any, ...], output: Any) -> Any:
        if len(self.states) < self.depth:
            return None
        own, *others = output if isinstance(output, tuple) else (output,)
        stacked = torch.cat([*self.states, own])
        return (stacked, *others) if isinstance(output, tuple) else stacked

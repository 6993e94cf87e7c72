"""Bottleneck adapters: a small network after a frozen projection, before its residual addition.

Houlsby et al. 2019 (section 2.1, figure 2) put one after the attention's output projection and one after the
feed-forward block's; Pfeiffer et al. 2021 only the second. The `adapters` library needs an older transformers, hence
this module.
"""

from __future__ import annotations

from torch import Tensor, nn
from transformers import PreTrainedModel

from explorer.errors import BadInputError
from explorer.models.families import Layers
from explorer.tuning.methods.method import last_layers
from explorer.tuning.seeded import SeededDropout
from explorer.tuning.spec import RunSpec


class Bottleneck(nn.Module):
    """x + up(activation(down(x))) for x of shape (..., width). The upper map starts at zero, so the adapter starts as
    the identity.
    """

    def __init__(self, width: int, inner: int, activation: nn.Module, dropout: nn.Module) -> None:
        super().__init__()
        self.down, self.activation, self.up = nn.Linear(width, inner), activation, nn.Linear(inner, width)
        self.dropout = dropout
        nn.init.zeros_(self.up.weight)
        nn.init.zeros_(self.up.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Return x, (..., width), with the network's output added."""
        added: Tensor = self.up(self.dropout(self.activation(self.down(x))))
        return x + added


class WithAdapter(nn.Module):
    """A frozen projection, and the adapter that takes its output."""

    def __init__(self, base_layer: nn.Module, adapter: Bottleneck) -> None:
        super().__init__()
        self.base_layer, self.adapter = base_layer, adapter

    def forward(self, x: Tensor) -> Tensor:
        """Map (..., inputs) to the projection's (..., outputs)."""
        adapted: Tensor = self.adapter(self.base_layer(x))
        return adapted


def insert(
    fork: PreTrainedModel, spec: RunSpec, layers: Layers, roles: tuple[str, ...], activation: nn.Module
) -> nn.Module:
    """Wrap the modules of these roles in every layer, or in the last ones; a module that serves often (ALBERT's) is
    wrapped once.
    """
    places = [(name, layers.locate(name)) for name, _ in fork.named_modules()]
    dropout = SeededDropout(spec.dropout, spec.seed)
    reached = last_layers(fork, spec)
    chosen = [(name, place) for name, place in places if place is not None and place[1] in roles]
    for name in [name for name, place in chosen if reached is None or place[0] in reached]:
        path, _, leaf = name.rpartition(".")
        projection = fork.get_submodule(name)
        bias = next(projection.parameters())
        width = fork.config.hidden_size
        if spec.bottleneck > width:
            raise BadInputError(
                f"bottleneck is {spec.bottleneck}, and this model's layers are {width} wide. Take {width} or less: an "
                "adapter goes through fewer dimensions than it gets."
            )
        adapter = Bottleneck(width, spec.bottleneck, activation, dropout).to(bias.device)
        setattr(fork.get_submodule(path), leaf, WithAdapter(projection, adapter))
    return fork

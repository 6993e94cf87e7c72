"""Bottleneck adapters: where they stand, what they compute, and that a shared layer has one."""

from __future__ import annotations

import pytest
import torch

from explorer.errors import BadInputError
from explorer.models.families import ARCHITECTURES, Architecture
from explorer.tuning.adapted import adapt
from explorer.tuning.forks import fork_classifier
from explorer.tuning.methods.bottleneck import WithAdapter
from explorer.tuning.spec import RunSpec
from tests.tuning.samples import batch, tiny_loaded

EVERY_FAMILY = pytest.mark.parametrize("architecture", ARCHITECTURES, ids=lambda entry: entry.family)


@pytest.mark.parametrize(("method", "roles"), [("houlsby", ["output", "ffn_out"]), ("pfeiffer", ["ffn_out"])])
@EVERY_FAMILY
def test_they_follow_the_projections_of_every_layer(architecture: Architecture, method: str, roles: list[str]) -> None:
    layers = architecture.layers
    adapted = adapt(tiny_loaded(architecture.family), 2, RunSpec("tiny", method=method, bottleneck=8))
    count = 1 if architecture.family == "ALBERT" else 2
    wrapped = {name for name, module in adapted.fork.named_modules() if isinstance(module, WithAdapter)}
    assert wrapped == {layers.name(layer, layers.modules[role]) for layer in range(count) for role in roles}
    trained = sum(parameter.numel() for name, parameter in adapted.trainable().items() if ".adapter." in name)
    assert trained == len(wrapped) * (2 * 8 * 32 + 8 + 32)


@pytest.mark.parametrize(("method", "activation"), [("houlsby", torch.nn.GELU()), ("pfeiffer", torch.nn.ReLU())])
def test_they_add_to_a_projection_before_the_residual(method: str, activation: torch.nn.Module) -> None:
    """Against the formula, on the output of BERT's last feed-forward projection."""
    loaded = tiny_loaded("BERT")
    adapted = adapt(loaded, 2, RunSpec("tiny", method=method, bottleneck=8))
    wrapped = adapted.fork.bert.encoder.layer[1].output.dense
    with torch.no_grad():
        for parameter in wrapped.adapter.parameters():
            parameter += 0.3
        seen = []
        wrapped.register_forward_hook(lambda _, inputs, output: seen.append((inputs[0], output)))
        adapted.logits(batch())
        inputs, output = seen[0]
        h = inputs @ wrapped.base_layer.weight.T + wrapped.base_layer.bias
        down, up = wrapped.adapter.down, wrapped.adapter.up
        expected = h + activation(h @ down.weight.T + down.bias) @ up.weight.T + up.bias
    torch.testing.assert_close(output, expected, rtol=1e-5, atol=1e-6)


def test_a_layer_that_is_used_several_times_meets_its_adapter_each_time() -> None:
    """ALBERT's two layers are one: with the upper map's bias alone, each pass adds it once."""
    loaded = tiny_loaded("ALBERT")
    adapted = adapt(loaded, 2, RunSpec("tiny", method="pfeiffer", bottleneck=8))
    by_hand = fork_classifier(loaded, 2, seed=0)
    name = "albert.encoder.albert_layer_groups.0.albert_layers.0.ffn_output"
    with torch.no_grad():
        adapted.fork.get_submodule(name).adapter.up.bias += 0.5
        dense = by_hand.get_submodule(name)
        dense.bias.data = dense.bias + 0.5
        torch.testing.assert_close(adapted.logits(batch()), by_hand(**batch()).logits, rtol=0, atol=1e-6)


def test_a_bottleneck_over_the_width_is_refused_with_the_width() -> None:
    assert adapt(tiny_loaded("BERT"), 2, RunSpec("tiny", method="pfeiffer", bottleneck=32)).trainable()
    with pytest.raises(BadInputError, match="bottleneck is 33, and this model's layers are 32 wide"):
        adapt(tiny_loaded("BERT"), 2, RunSpec("tiny", method="houlsby", bottleneck=33))

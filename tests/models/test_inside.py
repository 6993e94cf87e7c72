"""Hidden states, attention, queries, keys and gates, for every family."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from explorer.models.encoding import encode
from explorer.models.families import ARCHITECTURES, by_family
from explorer.models.inside import (
    depth_of,
    gated,
    heads_of,
    modules_with_role,
    neurons_of,
    private_tree,
    query_and_key,
    read,
)
from explorer.models.loaded_model import LoadedModel, load_model
from explorer.settings import Settings
from tests.models.tiny import save

FAMILIES = [entry.family for entry in ARCHITECTURES]
RELATIVE = {
    "relative_attention": True,
    "pos_att_type": ["c2p", "p2c"],
    "max_relative_positions": 8,
    "initializer_range": 0.3,
}
CHANGES: dict[str, dict[str, Any]] = {"DeBERTa": RELATIVE, "DeBERTa-v2/v3": RELATIVE}


@pytest.fixture(scope="module", params=FAMILIES)
def opened(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    family = request.param
    folder = save(tmp_path_factory.mktemp("inside") / "model", family, **CHANGES.get(family, {}))
    return load_model(str(folder), Settings(device="cpu"))


def inputs_of(loaded: LoadedModel) -> dict[str, Tensor]:
    return encode(loaded, "the cat sat on a mat", "a cat").inputs


def logits(loaded: LoadedModel, output: Any) -> Tensor:
    head = next(iter(loaded.architecture.heads))
    return loaded.logits(head, output)


def random_gates(*shape: int) -> Tensor:
    return torch.rand(shape, generator=torch.Generator().manual_seed(1))


@torch.inference_mode()
def test_a_reading_is_the_model_s_own_forward_pass(opened: LoadedModel) -> None:
    inputs = inputs_of(opened)
    reading = read(opened, inputs)
    plain = opened.model(**inputs, output_hidden_states=True)
    assert torch.allclose(logits(opened, reading.output), logits(opened, plain), atol=1e-5)
    assert len(reading.hidden_states) == depth_of(opened.model) + 1
    for ours, theirs in zip(reading.hidden_states, plain.hidden_states, strict=True):
        assert torch.allclose(ours, theirs, atol=1e-5)
    length, heads = inputs["input_ids"].shape[1], heads_of(opened.model)
    assert [tuple(layer.shape) for layer in reading.attentions] == [(1, heads, length, length)] * depth_of(opened.model)
    for layer in reading.attentions:
        assert torch.allclose(layer.sum(-1), torch.ones(1, heads, length), atol=1e-5)
    assert read(opened, inputs, attentions=False).attentions == ()


@torch.inference_mode()
def test_open_gates_change_nothing_and_any_closed_one_changes_the_output(opened: LoadedModel) -> None:
    inputs = inputs_of(opened)
    depth, heads = depth_of(opened.model), heads_of(opened.model)
    plain = logits(opened, opened.model(**inputs))
    assert torch.allclose(logits(opened, read(opened, inputs, torch.ones(depth, heads)).output), plain, atol=1e-6)
    outputs = []
    for layer in range(depth):
        for head in range(heads):
            gates = torch.ones(depth, heads)
            gates[layer, head] = 0
            outputs.append(logits(opened, read(opened, inputs, gates).output))
            assert not torch.equal(outputs[-1], plain)
    assert len({tuple(output.flatten().tolist()) for output in outputs}) == depth * heads, "each head does its own part"


@torch.inference_mode()
def test_a_closed_head_is_a_head_whose_columns_of_the_projection_are_zero(opened: LoadedModel) -> None:
    """An independent way to take a head away, by its weights; ALBERT's shared layer loses it at every depth."""
    inputs, depth, heads = inputs_of(opened), depth_of(opened.model), heads_of(opened.model)
    fresh = load_model(opened.model_id, Settings(device="cpu"))
    projections: list[Any] = modules_with_role(fresh.model, fresh.architecture, "output")
    gates = torch.ones(depth, heads)
    gates[0 if len(projections) > 1 else slice(None), 1] = 0
    weight = projections[0].weight
    size = weight.shape[1] // heads
    if type(projections[0]).__name__ == "Conv1D":  # GPT-2 keeps its weights the other way round
        weight[size : 2 * size] = 0
    else:
        weight[:, size : 2 * size] = 0
    expected = logits(fresh, fresh.model(**inputs))
    assert torch.allclose(logits(opened, read(opened, inputs, gates).output), expected, atol=1e-6)


@torch.inference_mode()
def test_rows_of_a_batch_can_have_gates_of_their_own(opened: LoadedModel) -> None:
    inputs = inputs_of(opened)
    gates = random_gates(2, depth_of(opened.model), heads_of(opened.model))
    both = {name: tensor.repeat(2, 1) for name, tensor in inputs.items()}
    together = logits(opened, read(opened, both, gates).output)
    for row in range(2):
        alone = logits(opened, read(opened, inputs, gates[row]).output)
        assert torch.allclose(together[row], alone[0], atol=1e-5)


def test_gradients_reach_every_gate(opened: LoadedModel) -> None:
    depth = depth_of(opened.model)
    head_gates = torch.ones(depth, heads_of(opened.model), requires_grad=True)
    neuron_gates = torch.ones(depth, neurons_of(opened.model), requires_grad=True)
    tree = private_tree(opened.model)
    with gated(tree, opened.architecture, head_gates, neuron_gates):
        logits(opened, tree(**inputs_of(opened))).square().sum().backward()
    for gates in (head_gates, neuron_gates):
        assert gates.grad is not None
        assert (gates.grad != 0).float().mean() > 0.9


@torch.inference_mode()
def test_a_private_tree_shares_every_tensor_and_nothing_else(opened: LoadedModel) -> None:
    tree = private_tree(opened.model)
    for (name, ours), (other, theirs) in zip(tree.named_parameters(), opened.model.named_parameters(), strict=True):
        assert name == other
        assert ours is theirs
    assert not set(map(id, tree.modules())) & set(map(id, opened.model.modules()))
    with gated(tree, opened.architecture, torch.zeros(depth_of(tree), heads_of(tree))):
        pass
    inputs = inputs_of(opened)
    assert torch.allclose(logits(opened, tree(**inputs)), logits(opened, opened.model(**inputs)), atol=1e-5)
    assert opened.model.config is not tree.config


@torch.inference_mode()
@pytest.mark.parametrize("layer", [0, 1])
def test_queries_and_keys_give_the_weights(opened: LoadedModel, layer: int) -> None:
    inputs = inputs_of(opened)
    parts = query_and_key(opened, inputs, layer)
    assert torch.allclose(parts.weights, read(opened, inputs).attentions[layer][0], atol=1e-5)
    plain = (parts.query @ parts.key.transpose(1, 2) * parts.scaling).softmax(-1)
    family = opened.architecture.family
    assert parts.exact == torch.allclose(plain, parts.weights, atol=1e-4)
    assert parts.exact == (family not in ("GPT-2", "ModernBERT decoder", "DeBERTa", "DeBERTa-v2/v3"))
    assert parts.query.shape == parts.key.shape
    assert parts.query.shape[:2] == (heads_of(opened.model), inputs["input_ids"].shape[1])


@torch.inference_mode()
@pytest.mark.parametrize("family", ["DeBERTa", "DeBERTa-v2/v3"])
def test_without_relative_positions_deberta_s_content_scores_are_its_attention(tmp_path: Path, family: str) -> None:
    loaded = load_model(str(save(tmp_path, family, relative_attention=False)), Settings(device="cpu"))
    assert query_and_key(loaded, inputs_of(loaded), 1).exact


def test_the_modules_of_a_role_are_the_layers_in_their_order() -> None:
    from tests.models.tiny import build

    architecture = by_family("BERT")
    model = build(architecture, num_hidden_layers=11)
    found = modules_with_role(model, architecture, "ffn_out")
    assert found == [layer.output.dense for layer in model.bert.encoder.layer]

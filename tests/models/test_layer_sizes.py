"""What a layer is made of, read off models of every family."""

from __future__ import annotations

import torch

from explorer.models.families import ARCHITECTURES, Architecture
from explorer.models.layer_sizes import layer_sizes, matrices_of
from tests.models import tiny
from tests.rows import each_row

ROLES = {"query", "key", "value", "output", "ffn_in", "ffn_out"}


@each_row("architecture", ARCHITECTURES, ids=lambda one: one.family)
def test_every_role_of_every_family_has_its_shape(architecture: Architecture) -> None:
    model = tiny.build(architecture)
    sizes = layer_sizes(model, architecture)
    assert set(sizes.shapes) == ROLES
    assert sizes.depth == model.config.num_hidden_layers
    assert sizes.distinct == (1 if architecture.family == "ALBERT" else sizes.depth)
    wide = model.config.hidden_size
    assert sizes.shapes["query"] == (wide, wide)
    assert sizes.shapes["output"] == (wide, wide)
    assert sizes.shapes["ffn_in"][1] == sizes.shapes["ffn_out"][0] == wide
    inside = [parameter.numel() for name, parameter in model.named_parameters() if name.endswith("weight")]
    assert all(matrix.numbers in inside for matrix in sizes.matrices)


@each_row("architecture", ARCHITECTURES, ids=lambda one: one.family)
def test_norms_and_gates_are_where_the_code_has_them(architecture: Architecture) -> None:
    """In the first layer, in the order in which a state meets them: a norm that comes first is met before the query."""
    model = tiny.build(architecture)
    sizes, layers, met = layer_sizes(model, architecture), architecture.layers, list[str]()
    for name, module in model.named_modules():
        if layers.locate(name) == (0, sizes.matrices[0].name):
            module.register_forward_hook(lambda *_: met.append("query"))
        elif layers.layer_of(f"{name}.") == 0 and type(module).__name__.endswith(("LayerNorm", "RMSNorm")):
            module.register_forward_hook(lambda module, *_: met.append(type(module).__name__))
    model(input_ids=torch.tensor([[2, 5, 6, 3]]))
    comes_first = met[0] != "query" or architecture.family.startswith("ModernBERT")  # whose very first norm is left out
    assert comes_first is sizes.norm_first
    assert any(one.endswith(sizes.norm) for one in met)


def test_a_fused_matrix_appears_once_however_many_of_its_roles_are_asked_for() -> None:
    architecture = next(one for one in ARCHITECTURES if one.family == "GPT-2")
    model = tiny.build(architecture)
    (fused,) = matrices_of(model, architecture, ("query", "value"))
    assert (fused.name, fused.rows, fused.columns) == ("query+key+value", 96, 32)
    assert layer_sizes(model, architecture).looks_back

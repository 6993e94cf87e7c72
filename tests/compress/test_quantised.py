"""Fewer bits: smaller files, nearly the same outputs."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
import torch
from transformers.pytorch_utils import Conv1D

from explorer.compress.cuts import Cut
from explorer.compress.quantised import FORMS, _linear_for_conv1d, in_form
from explorer.compress.removal import count_parameters, remove
from tests.compress.subjects import FAMILIES, run_subject, tiny
from tests.compress.test_removal import outputs, some
from tests.rows import each_row


@each_row("family", FAMILIES)
def test_every_form_of_every_family_answers(tmp_path: Path, family: str) -> None:
    subject = run_subject(tiny(tmp_path, family))
    shape = subject.shape
    pruned = remove(subject.model, subject.loaded.architecture, Cut(heads=some(shape.blocks * 4, *range(3)))).model
    for model in (subject.model, pruned):
        expected = outputs(subject, model)
        forms = {name: in_form(model, name) for name in FORMS}
        assert torch.allclose(outputs(subject, forms["fp32"].model), expected, atol=1e-5)
        size = expected.norm()
        assert (outputs(subject, forms["bf16"].model) - expected).norm() < 0.05 * size
        assert (outputs(subject, forms["int8"].model) - expected).norm() < 0.25 * size
        assert not torch.equal(outputs(subject, forms["int8"].model), expected)
    assert bool(forms["int8"].note) == (family == "GPT-2")


def test_linear_layers_in_place_of_gpt2s_own_are_equal(tmp_path: Path) -> None:
    subject = run_subject(tiny(tmp_path, "GPT-2"))
    copied = copy.deepcopy(subject.model)
    assert _linear_for_conv1d(copied)
    assert not any(isinstance(module, Conv1D) for module in copied.modules())
    assert torch.allclose(outputs(subject, copied), outputs(subject, subject.model), atol=1e-5)


def test_sizes_on_disk(tmp_path: Path) -> None:
    model = run_subject(tiny(tmp_path, "BERT", hidden_size=256, intermediate_size=1024)).model
    sizes = {name: in_form(model, name).bytes for name in FORMS}
    assert sizes["fp32"] == pytest.approx(4 * count_parameters(model), rel=0.03)
    assert sizes["bf16"] == pytest.approx(sizes["fp32"] / 2, rel=0.03)
    assert sizes["int8"] == pytest.approx(sizes["fp32"] / 4, rel=0.1)


def test_a_layer_without_neurons_stays_as_it_is(tmp_path: Path) -> None:
    subject = run_subject(tiny(tmp_path, "BERT"))
    cut = Cut(neurons=bytes(int(place < 64) for place in range(128)))
    pruned = remove(subject.model, subject.loaded.architecture, cut).model
    assert torch.allclose(outputs(subject, in_form(pruned, "int8").model), outputs(subject, pruned), atol=0.3)

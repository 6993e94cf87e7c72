"""Machines with bfloat16 products and without: everything trains, measures and is planned on both."""

from __future__ import annotations

import pytest
import torch

from explorer.models.families import by_family
from explorer.models.loaded_model import LoadedModel
from explorer.tuning import reading as module
from explorer.tuning.methods import METHODS, Method
from explorer.tuning.plan import plan
from explorer.tuning.spec import RunSpec
from tests.models import conftest as models_conftest
from tests.tuning.samples import tiny_loaded
from tests.tuning.small import data, losses, training_of

bert_folder, bert = models_conftest.bert_folder, models_conftest.bert

CPU = torch.device("cpu")


@pytest.fixture(params=[True, False], ids=["bfloat16", "float32"])
def half(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the processor says that it has bfloat16; torch computes it on any, slowly where it doesn't."""
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: request.param)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: False)
    return bool(request.param)


def test_products_are_in_what_the_processor_has_unless_the_familys_code_cannot(half: bool) -> None:
    for family in ("BERT", "ModernBERT", "GPT-2"):
        architecture = by_family(family)
        with module.precision(CPU, architecture):
            product = torch.ones(2, 2) @ torch.ones(2, 2)
        assert product.dtype == (torch.bfloat16 if half and architecture.half_precision else torch.float32)


def test_a_run_learns(bert: LoadedModel, half: bool) -> None:
    spec = RunSpec("tiny", method="full", learning_rate=3e-3, epochs=12)
    training = training_of(bert, spec, data(held_out=40))
    went = losses(training)
    assert sum(went[-5:]) < 0.7 * sum(went[:5])
    accuracy = training.quick_scores()["accuracy"]
    assert accuracy is not None
    assert accuracy >= 0.8


@pytest.mark.parametrize("method", METHODS, ids=lambda entry: entry.slug)
def test_what_is_trained_stays_in_float32(bert: LoadedModel, half: bool, method: Method) -> None:
    training = training_of(bert, RunSpec("tiny", method=method.slug, epochs=1, prefix_length=4, bottleneck=8), data())
    assert torch.tensor(losses(training)).isfinite().all()
    assert {tensor.dtype for tensor in training.adapted.state().values()} == {torch.float32}
    assert training.predict(training.held_out).dtype == torch.float32


def test_both_tell_nearly_the_same(bert: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    training = training_of(bert, RunSpec("tiny", method="full", learning_rate=3e-3, epochs=8), data(held_out=40))
    losses(training)
    told = []
    for has in (True, False):
        monkeypatch.setattr(module, "has_bfloat16", lambda device, has=has: has)
        told.append(training.predict(training.held_out))
    assert not torch.equal(*told)
    torch.testing.assert_close(*told, atol=0.05, rtol=0.05)


def test_less_is_planned_for_the_backward_pass_with_it(half: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = tiny_loaded("BERT")
    spec = RunSpec("tiny", rank=4)
    planned = plan(loaded, 2, spec, 2000, 32).activation_bytes
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: not half)
    other = plan(loaded, 2, spec, 2000, 32).activation_bytes
    assert (planned < other) == half

from __future__ import annotations

import pytest
import torch
from transformers import PreTrainedModel

from explorer.errors import BadInputError
from explorer.tuning.deltas import base_weights, oriented
from explorer.tuning.merging import merged
from explorer.tuning.methods import METHODS
from tests.rows import each_row
from tests.tuning.samples import frozen_copy, is_unchanged, moved, plain_inputs, tiny_loaded

LORA = [("lora", {"variant": variant, "rank": 4}) for variant in ("lora", "rslora", "dora", "pissa")]
MERGEABLE = [*LORA, ("ia3", {}), ("full", {}), ("bitfit", {}), ("head", {})]


@torch.no_grad()
def plain_logits(model: PreTrainedModel) -> torch.Tensor:
    """As a stranger would call it, without the app's Adapted."""
    return model(**plain_inputs(model)).logits


@each_row("family", ["BERT", "GPT-2", "ALBERT", "DeBERTa"])
@each_row(("method", "options"), MERGEABLE, ids=str)
def test_merged_gives_the_logits_of_attached(family: str, method: str, options: dict[str, object]) -> None:
    loaded = tiny_loaded(family)
    before = frozen_copy(loaded)
    targets = ("query", "value", "output", "ffn_in", "ffn_out")
    adapted = moved(loaded, method, outputs=3, **({"targets": targets, **options} if method == "lora" else options))
    attached = adapted.logits(plain_inputs(adapted.fork)).detach()
    plain = merged(adapted)
    torch.testing.assert_close(plain_logits(plain), attached, atol=1e-4, rtol=1e-4)
    assert not any("lora" in name or "ia3" in name for name, _ in plain.named_parameters())
    assert is_unchanged(loaded, before)


def test_merged_differs_from_the_base_by_the_update() -> None:
    loaded = tiny_loaded("BERT")
    adapted = moved(loaded, rank=2)
    plain = merged(adapted)
    weight = plain.get_parameter("bert.encoder.layer.1.attention.self.value.weight")
    torch.testing.assert_close(weight - base_weights(loaded)[1, "value"], adapted.deltas()[1, "value"].dense())


def test_what_is_not_adapted_stays_shared() -> None:
    loaded = tiny_loaded("BERT")
    plain = merged(moved(loaded, rank=2, targets=("query",)))
    shared = base_weights(loaded)
    layer = plain.get_submodule("bert.encoder.layer.0")
    assert oriented(layer.attention.self.key).data_ptr() == shared[0, "key"].data_ptr()
    assert oriented(layer.attention.self.query).data_ptr() != shared[0, "query"].data_ptr()


def test_a_merged_model_does_not_follow_the_run_any_more() -> None:
    adapted = moved(tiny_loaded("BERT"), "full")
    plain = merged(adapted)
    before = plain_logits(plain)
    with torch.no_grad():
        for parameter in adapted.trainable().values():
            parameter += 1
    torch.testing.assert_close(plain_logits(plain), before, atol=0, rtol=0)


UNMERGEABLE = tuple(method.slug for method in METHODS if method.unmergeable)


@each_row("method", UNMERGEABLE)
def test_other_methods_say_why_they_cannot(method: str) -> None:
    with pytest.raises(BadInputError, match="cannot be merged"):
        merged(moved(tiny_loaded("BERT"), method))


def test_every_method_is_either_merged_here_or_explained() -> None:
    assert {method.slug for method in METHODS} == {method for method, _ in MERGEABLE} | set(UNMERGEABLE)

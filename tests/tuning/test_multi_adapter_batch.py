from __future__ import annotations

import pytest
import torch

from explorer.errors import BadInputError
from explorer.tuning.adapted import Adapted
from explorer.tuning.multi_adapter_batch import Mixed
from tests.rows import each_row
from tests.tuning.samples import batch, frozen_copy, is_unchanged, moved, tiny_loaded

FAMILIES = ["BERT", "RoBERTa", "ALBERT", "DistilBERT", "ELECTRA discriminator", "DeBERTa-v2/v3", "GPT-2", "ModernBERT"]


def three_runs(family: str, class_name: str | None = None) -> dict[str, Adapted]:
    """Unlike in rank, targets, scale and number of outputs."""
    loaded = tiny_loaded(family, class_name)
    return {
        "sentiment": moved(loaded, rank=2, targets=("query", "value"), seed=1),
        "inference · 3 classes": moved(loaded, outputs=3, rank=8, targets=("value", "ffn_in"), alpha=4, seed=2),
        "score": moved(loaded, outputs=1, rank=4, targets=("output",), variant="rslora", seed=3),
    }


def check_rows(runs: dict[str, Adapted]) -> None:
    names = [*runs, "score", "sentiment", "inference · 3 classes"]
    inputs = batch(rows=len(names))
    got = Mixed(runs).mixed_logits(inputs, names)
    for row, (name, logits) in enumerate(zip(names, got, strict=True)):
        with torch.no_grad():
            alone = runs[name].logits({key: tensor[row : row + 1] for key, tensor in inputs.items()})[0]
        torch.testing.assert_close(logits, alone, atol=1e-5, rtol=1e-5)
    first, other = (got[names.index("sentiment")], got[names.index("score")])
    assert first.shape == (2,)
    assert other.shape == (1,)


@each_row("family", FAMILIES)
def test_each_row_equals_its_run_alone(family: str) -> None:
    runs = three_runs(family)
    loaded = next(iter(runs.values())).loaded
    before = frozen_copy(loaded)
    check_rows(runs)
    assert is_unchanged(loaded, before)


def test_each_run_has_its_own_pooler_where_the_checkpoint_has_none() -> None:
    runs = three_runs("BERT", "BertForMaskedLM")
    assert any("pooler" in name for name in runs["score"].trainable())
    check_rows(runs)


def test_the_rows_differ_from_each_other() -> None:
    loaded = tiny_loaded("BERT")
    runs = {"a": moved(loaded, seed=1), "b": moved(loaded, seed=2)}
    inputs = {name: tensor[:1].repeat(2, 1) for name, tensor in batch().items()}
    one, two = Mixed(runs).mixed_logits(inputs, ["a", "b"])
    assert (one - two).abs().max() > 1e-3


@each_row(
    ("method", "options", "said"),
    [
        ("lora", {"variant": "dora"}, "DoRA rescales"),
        ("lora", {"variant": "pissa"}, "takes|taking"),
        ("ia3", {}, "only LoRA runs"),
        ("full", {}, "only LoRA runs"),
    ],
)
def test_methods_that_cannot_share_a_batch_say_why(method: str, options: dict[str, str], said: str) -> None:
    loaded = tiny_loaded("BERT")
    with pytest.raises(BadInputError, match=said):
        Mixed({"good": moved(loaded), "other": moved(loaded, method, **options)})


def test_runs_of_two_models_are_refused() -> None:
    with pytest.raises(BadInputError, match="choose runs of one model"):
        Mixed({"a": moved(tiny_loaded("BERT")), "b": moved(tiny_loaded("RoBERTa"))})


def test_no_run_and_an_unknown_name_and_a_missing_name_are_refused() -> None:
    with pytest.raises(BadInputError, match="Choose one or more"):
        Mixed({})
    mixed = Mixed({"a": moved(tiny_loaded("BERT"))})
    with pytest.raises(BadInputError, match="nobody"):
        mixed.mixed_logits(batch(2), ["a", "nobody"])
    with pytest.raises(BadInputError, match="got 1 names"):
        mixed.mixed_logits(batch(2), ["a"])

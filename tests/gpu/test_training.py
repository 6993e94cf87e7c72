"""Runs, a pruned model and memory on a GPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.tuning.reading import precision
from tests.gpu.conftest import DEVICE, On

needs_cuda = pytest.mark.skipif(DEVICE != "cuda", reason="only a GPU has memory of its own")


def test_a_lora_run_learns_as_on_the_processor(gpu: On, cpu: On) -> None:
    asked = {"model": "bert-mini", "task": "sst2", "method": "lora", "rank": 8, "epochs": 2}
    there, here = (on.run("train", **asked) for on in (gpu, cpu))
    for one in (there, here):
        assert not isinstance(one, str), one
        assert one.record.status == "done"
    assert there.record.score == pytest.approx(here.record.score, abs=0.1), "bf16 rounds, and 160 examples are few"
    sentence = gpu.run("predict_run", run=there.record.run_id, text="A warm and funny film.")
    assert not isinstance(sentence, str), sentence


def test_a_pruned_model_answers(gpu: On, cpu: On) -> None:
    asked = {"share": 0.3}
    there, here = (on.run("prune", **asked) for on in (gpu, cpu))
    assert not isinstance(there, str), there
    assert type(there) is type(here)


@needs_cuda
def test_training_is_in_bf16_where_the_card_has_it() -> None:
    import torch

    from explorer.models.families import by_family

    device = torch.device("cuda")
    with precision(device, by_family("BERT")):
        product = torch.ones(2, 2, device=device) @ torch.ones(2, 2, device=device)
    assert product.dtype == (torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float32)


@needs_cuda
def test_models_that_do_not_fit_let_the_card_have_their_memory_back(tmp_path: Path) -> None:
    import torch

    small = On("cuda", tmp_path, model_cache_bytes=100_000_000)
    small.run("fill_masks", model="bert-mini", text="A [MASK].")
    one = torch.cuda.memory_allocated()
    small.run("fill_masks", model="roberta-mini", text="A <mask>.")
    assert small.engine.store.loaded() == ("roberta-mini",)
    assert torch.cuda.memory_allocated() < 1.5 * one


@needs_cuda
def test_without_memory_it_says_so_and_goes_on_when_there_is_some(gpu: On) -> None:
    import torch

    long = {"model": "bert-mini", "text": "word " * 400 + "[MASK]."}
    assert not isinstance(gpu.run("fill_masks", **long), str)
    torch.cuda.empty_cache()
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_allocated() + 1_000_000) / total)
    try:
        refused = gpu.run("fill_masks", **{**long, "top_k": 7})
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    assert "not enough memory for bert-mini" in str(refused)
    assert not isinstance(gpu.run("fill_masks", **{**long, "top_k": 8}), str)

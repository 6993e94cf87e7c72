"""What goes home opens again, with the same outputs, by the script that goes with it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from explorer.compress.cuts import Cut
from explorer.compress.loading import WEIGHTS
from explorer.compress.removal import Removed, remove, size_in_bytes
from explorer.compress.saving import SCRIPT, opens_plainly, save_pruned
from explorer.compress.subject import Subject
from tests.compress.subjects import FAMILIES, model_subject, run_subject, tiny
from tests.compress.test_removal import outputs, some
from tests.rows import each_row


def script(folder: Path) -> Any:
    """The loader as a stranger runs it: from its file alone."""
    source = importlib.util.spec_from_file_location("load_pruned", folder / SCRIPT)
    assert source is not None
    assert source.loader is not None
    module = importlib.util.module_from_spec(source)
    source.loader.exec_module(module)
    assert "explorer" not in (folder / SCRIPT).read_text()
    return module


def saved(subject: Subject, cut: Cut, folder: Path) -> Removed:
    removed = remove(subject.model, subject.loaded.architecture, cut)
    save_pruned(removed, subject.loaded.architecture, subject.loaded.tokenizer, folder, "a title")
    return removed


@each_row("family", FAMILIES)
@each_row("fine_tuned", [False, True])
def test_the_round_trip_gives_the_same_outputs(tmp_path: Path, family: str, fine_tuned: bool) -> None:
    loaded = tiny(tmp_path, family, num_hidden_layers=3) if family not in ("DistilBERT", "GPT-2") else tiny(
        tmp_path, family, **{"DistilBERT": {"n_layers": 3}, "GPT-2": {"n_layer": 3}}[family]
    )  # fmt: skip
    subject = run_subject(loaded) if fine_tuned else model_subject(loaded)
    shape = subject.shape
    heads, neurons = shape.blocks * shape.heads, shape.blocks * shape.neurons
    cut = Cut(some(heads, 0, 2), bytes(int(place % 3 == 0) for place in range(neurons)), some(3, 1))
    folder = tmp_path / "home"
    removed = saved(subject, cut, folder)
    model, tokenizer = script(folder).load_pruned(folder)
    assert torch.allclose(outputs(subject, model), outputs(subject, removed.model), atol=1e-5)
    assert len(tokenizer) == len(loaded.tokenizer)
    assert (folder / WEIGHTS).stat().st_size - size_in_bytes(removed.model) < 20_000
    assert f"of {shape.heads}" in (folder / "README.md").read_text()


def test_equal_widths_open_plainly(tmp_path: Path) -> None:
    subject = run_subject(tiny(tmp_path, "BERT"))
    even = Cut(neurons=bytes(place % 2 for place in range(128)), layers=some(2, 0))
    folder = tmp_path / "even"
    removed = saved(subject, even, folder)
    assert opens_plainly(removed, subject.loaded.architecture)
    plain = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    assert plain.config.intermediate_size == 32
    assert torch.allclose(outputs(subject, plain), outputs(subject, removed.model), atol=1e-6)


@pytest.mark.parametrize("cut", [Cut(heads=some(8, 1, 4)), Cut(neurons=some(128, 5))])
def test_others_do_not(tmp_path: Path, cut: Cut) -> None:
    subject = run_subject(tiny(tmp_path, "BERT"))
    folder = tmp_path / "uneven"
    removed = saved(subject, cut, folder)
    assert not opens_plainly(removed, subject.loaded.architecture)
    with pytest.raises(RuntimeError):
        transformers.AutoModelForSequenceClassification.from_pretrained(folder)

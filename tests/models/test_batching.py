"""Several inputs in one pass: each answer is the one that it would have alone, in every family and with every head."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from explorer.models.batching import CHOSEN, MOST_TOKENS, attentions_of_each, batches, logits_at, logits_of_texts
from explorer.models.encoding import encode
from explorer.models.families import ARCHITECTURES, Architecture, Capability
from explorer.models.inside import depth_of, read
from explorer.models.loaded_model import LoadedModel, load_model
from explorer.settings import Settings
from tests.models import tiny
from tests.rows import each_row

TEXTS = (
    "the cat sat",
    "a mat",
    "the cat sat on a mat. the cat sits",
    "on",
    "a cat sat on the mat, the cats",
    "the mat",
)


def alike(loaded: LoadedModel) -> None:
    """Every head and all attention weights, for texts of several lengths in one batch, against the answer to each alone."""
    rows = [encode(loaded, text).inputs for text in TEXTS]
    for capability in loaded.capabilities:
        with torch.inference_mode():
            each = [loaded.logits(capability, loaded.model(**row))[0] for row in rows]
            if capability in (Capability.NSP, Capability.SOP):
                together = logits_of_texts(loaded, capability, rows)
            else:
                chosen = [torch.arange(len(one)) % (place + 1) == 0 for place, one in enumerate(each)]
                together = logits_at(
                    loaded, capability, [row | {CHOSEN: own[None]} for row, own in zip(rows, chosen, strict=True)]
                )
                each = [one[own] for one, own in zip(each, chosen, strict=True)]
        for one, expected in zip(together, each, strict=True):
            assert one.shape == expected.shape
            assert torch.allclose(one, expected, atol=1e-5, rtol=0)
    with torch.inference_mode():
        for row, layers in zip(rows, attentions_of_each(loaded, rows), strict=True):
            assert len(layers) == depth_of(loaded.model)
            for one, expected in zip(layers, read(loaded, row).attentions, strict=True):
                assert torch.allclose(one, expected[0], atol=1e-5, rtol=0)


@each_row("architecture", ARCHITECTURES, ids=lambda entry: entry.family)
def test_padding_changes_no_answer(architecture: Architecture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("explorer.models.batching.MOST_PADDING", 1.0)
    alike(load_model(str(tiny.save(tmp_path, architecture.family)), Settings(device="cpu")))


def test_nor_in_a_model_that_counts_positions_from_its_padding(
    roberta: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("explorer.models.batching.MOST_PADDING", 1.0)
    alike(roberta)


def test_batches_hold_each_input_once_and_are_neither_too_large_nor_mostly_padding() -> None:
    lengths = [12, 8, 512, 13, 90, 12, 400, 9, 3] + [64] * 20
    found = list(batches(lengths))
    assert sorted(place for batch in found for place in batch) == list(range(len(lengths)))
    for batch in found:
        longest, tokens = max(lengths[place] for place in batch), sum(lengths[place] for place in batch)
        assert len(batch) * longest <= MOST_TOKENS
        assert tokens >= 0.5 * len(batch) * longest
    assert len(found) < 10
    assert list(batches([])) == []

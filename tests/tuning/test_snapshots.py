"""ΔW on disk: few files, no half-written ones, and the same matrices back."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from explorer.errors import StorageError
from explorer.tuning import snapshots
from explorer.tuning.deltas import Delta, Dense, LowRank
from explorer.tuning.snapshots import MOST, due, load_snapshot, save_snapshot, save_tensors


def test_the_first_and_the_last_step_are_kept_and_never_more_than_fit_the_slider() -> None:
    for steps in [*range(1, 400), 1_000, 12_345, 1_000_003]:
        every = max(1, steps // 100_000)  # long runs are looked at in part
        kept = [step for step in range(1, steps + 1, every) if due(step, steps)]
        assert due(1, steps)
        assert due(steps, steps)
        assert len(kept) <= MOST
    assert sum(due(step, 300) for step in range(1, 301)) >= MOST // 2


def updates() -> dict[tuple[int, str], Delta]:
    draw = torch.Generator().manual_seed(0)
    return {
        (layer, role): LowRank(torch.randn(2, 6, generator=draw), torch.randn(4, 2, generator=draw), 0.1 + layer)
        for layer in (10, 2)
        for role in ("value", "query+key+value")
    }


def test_a_snapshot_holds_every_factor_and_scale_in_order_of_the_layers(tmp_path: Path) -> None:
    before = updates()
    assert save_snapshot(tmp_path, 7, before)
    after = load_snapshot(tmp_path, 7)
    assert list(after) == sorted(before)
    for place, delta in before.items():
        again = after[place]
        assert isinstance(again, LowRank)
        assert isinstance(delta, LowRank)
        assert torch.equal(again.A, delta.A)
        assert torch.equal(again.B, delta.B)
        assert again.scale == delta.scale


def test_a_dense_update_is_not_kept(tmp_path: Path) -> None:
    assert not save_snapshot(tmp_path, 1, {(0, "query"): Dense(torch.ones(2, 2))})
    assert not list(tmp_path.rglob("*"))
    with pytest.raises(StorageError, match=r"000001\.safetensors of this run is gone"):
        load_snapshot(tmp_path, 1)


def test_a_crash_while_writing_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "weights.safetensors"
    save_tensors(path, {"a": torch.ones(3)})
    old = path.read_bytes()

    def break_down(tensors: object, file: Path) -> None:
        file.write_bytes(b"half")
        raise OSError("No space left on device")

    monkeypatch.setattr(snapshots, "save_file", break_down)
    with pytest.raises(StorageError, match=r"weights\.safetensors of this run could not be written: .*disk is full"):
        save_tensors(path, {"a": torch.zeros(3)})
    assert path.read_bytes() == old

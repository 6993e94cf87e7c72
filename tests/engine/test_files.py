"""Files by their content's hash: in a folder and in a bucket, whole or not at all."""

from __future__ import annotations

import os
import time
import uuid
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import pytest

from explorer.engine.cluster import files as module
from explorer.engine.cluster.files import Files, GoneError
from explorer.errors import ExplorerError, StorageError


@pytest.fixture(params=["folder", "file://", "memory://"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """fsspec's memory:// is a bucket that needs no network."""
    if request.param == "folder":
        return str(tmp_path / "place")
    return f"file://{tmp_path}/place" if request.param == "file://" else f"memory://{uuid.uuid4().hex}/place"


@pytest.fixture
def files(place: str) -> Files:
    return Files(place)


def written(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_what_is_put_in_one_process_is_fetched_in_another(files: Files, place: str, tmp_path: Path) -> None:
    digest = files.put(written(tmp_path / "one", b"weights"))
    assert digest == sha256(b"weights").hexdigest()
    target = tmp_path / "new" / "folder" / "two"
    Files(place).fetch(digest, target)
    assert target.read_bytes() == b"weights"
    assert [path.name for path in target.parent.iterdir()] == ["two"], "nothing half is left"


def test_a_content_is_there_once_and_a_changed_file_is_another(files: Files, tmp_path: Path) -> None:
    one, two = written(tmp_path / "one", b"same"), written(tmp_path / "two", b"same")
    assert files.put(one) == files.put(two)
    assert len(files._found()) == 1
    os.replace(written(tmp_path / "three", b"diff"), one)
    assert files.put(one) == sha256(b"diff").hexdigest()
    assert len(files._found()) == 2


def test_half_a_file_of_somebody_who_was_killed_is_written_anew(files: Files, place: str, tmp_path: Path) -> None:
    path = written(tmp_path / "one", b"whole")
    digest = files.put(path)
    files._system.pipe_file(files._place(digest), b"wh")
    with pytest.raises(GoneError, match="Ask again"):
        Files(place).fetch(digest, tmp_path / "two")
    assert not (tmp_path / "two").exists()
    Files(place).put(path)
    Files(place).fetch(digest, tmp_path / "two")
    assert (tmp_path / "two").read_bytes() == b"whole"


def test_what_is_not_there_leaves_the_old_file(files: Files, tmp_path: Path) -> None:
    old = written(tmp_path / "old", b"old")
    with pytest.raises(GoneError):
        files.fetch(sha256(b"new").hexdigest(), old)
    assert old.read_bytes() == b"old"


def test_a_folder_is_packed_and_only_what_differs_is_fetched(files: Files, place: str, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for name in ("runs/r1/weights", "runs/r1/snapshots/1", "runs/r2/weights", "runs/r1/half.part"):
        written(here / name, name.encode())
    manifest = files.pack(here, [here / "runs" / "r1", here / "nothing"])
    assert set(manifest) == {"runs/r1/weights", "runs/r1/snapshots/1"}
    same = written(there / "runs" / "r1" / "weights", b"runs/r1/weights")
    before = same.stat().st_ino
    other = Files(place)
    other.unpack(there, manifest)
    assert (there / "runs/r1/snapshots/1").read_bytes() == b"runs/r1/snapshots/1"
    assert same.stat().st_ino == before
    other.unpack(there, manifest)
    assert not list(there.rglob("*.part"))


def test_the_oldest_go_first_and_recent_ones_stay(
    files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digests = []
    for number in range(3):
        digests.append(files.put(written(tmp_path / f"{number}", bytes([number]) * 100)))
        time.sleep(0.02)
    files.trim(150)
    assert len(files._found()) == 3, "they have just come"
    monkeypatch.setattr(module, "SPARED", timedelta())
    files.trim(250)
    assert {path.rsplit("/", 1)[1] for path in files._found()} == set(digests[1:])
    assert files.put(tmp_path / "0") == digests[0]
    assert len(files._found()) == 3, "what was let go is put again"


def test_removing_twice_is_no_error(files: Files, tmp_path: Path) -> None:
    digest = files.put(written(tmp_path / "one", b"weights"))
    files.remove(digest)
    files.remove(digest)
    with pytest.raises(GoneError):
        files.fetch(digest, tmp_path / "two")


@pytest.mark.parametrize("place", ["nosuch://bucket", "s3://bucket/folder"])
def test_a_place_that_cannot_be_used_is_named(place: str) -> None:
    """s3fs is not among what the app needs."""
    with pytest.raises(ExplorerError, match="EXPLORER_FILES cannot be used"):
        Files(place)


def test_a_place_that_may_not_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "place").write_text("no folder", encoding="utf-8")
    with pytest.raises(StorageError, match="has to look at EXPLORER_FILES"):
        Files(str(tmp_path / "place")).put(written(tmp_path / "one", b"weights"))

"""No WAL on a network mount, where SQLite's shared memory does not work."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from explorer.runs import database
from explorer.runs.database import FILE, RunDatabase, journal_mode

TABLE = r"""overlay / overlay rw,relatime 0 0
bucket /data fuse.hf-mount rw 0 0
/dev/vdb /data/scratch ext4 rw 0 0
server:/home /home nfs4 rw 0 0
//server/class /mnt/our\040class cifs rw 0 0
/dev/vdc /twice ext4 rw 0 0
share /twice 9p rw 0 0
fusectl /sys/fs/fuse fusectl rw 0 0
broken
"""


@pytest.fixture
def mounts(tmp_path: Path) -> Path:
    path = tmp_path / "mounts"
    path.write_text(TABLE, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("folder", "mode"),
    [
        ("/data", "DELETE"),
        ("/data/runs", "DELETE"),
        ("/database", "WAL"),
        ("/data/scratch/runs", "WAL"),
        ("/home/student", "DELETE"),
        ("/mnt/our class/runs", "DELETE"),
        ("/twice/runs", "DELETE"),
        ("/sys/fs/fuse/runs", "WAL"),
        ("/opt/runs", "WAL"),
    ],
)
def test_the_deepest_mount_decides(mounts: Path, folder: str, mode: str) -> None:
    assert journal_mode(Path(folder), mounts) == mode


def test_a_machine_without_a_table_of_mounts_is_local(tmp_path: Path) -> None:
    assert journal_mode(tmp_path, tmp_path / "none") == "WAL"


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_the_records_are_kept_in_that_mode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    other = {"DELETE": "WAL", "WAL": "DELETE"}[mode]
    with closing(sqlite3.connect(tmp_path / FILE)) as before:
        before.execute(f"PRAGMA journal_mode={other}")
        before.execute("CREATE TABLE earlier (x)")
    monkeypatch.setattr(database, "journal_mode", lambda folder: mode)
    kept = RunDatabase(tmp_path)
    assert kept.read("PRAGMA journal_mode") == [(mode.lower(),)]
    kept.close()

"""Sentences that visitors read: they can be encoded, and say what the disk has said."""

from __future__ import annotations

import errno
import logging
import sqlite3

import pytest
from safetensors import SafetensorError

from explorer.errors import BadInputError, ExplorerError, MissingCapabilityError, readable, storage_error
from tests.rows import each_row

FULL = (
    OSError(errno.ENOSPC, "No space left on device"),
    OSError("No space left on device"),
    sqlite3.OperationalError("database or disk is full"),
    SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)"),
)
FORBIDDEN = (
    OSError(errno.EROFS, "Read-only file system"),
    PermissionError(errno.EACCES, "Permission denied"),
    sqlite3.OperationalError("attempt to write a readonly database"),
)


@pytest.mark.parametrize("kind", [ExplorerError, BadInputError, MissingCapabilityError])
def test_what_a_sentence_repeats_can_be_encoded(kind: type[ExplorerError]) -> None:
    error = kind("There is no model \ud800 “é” 😀.")
    assert str(error).encode() == "There is no model ? “é” 😀.".encode()


def test_what_a_sentence_repeats_at_length_is_cut() -> None:
    said = str(BadInputError(f"task must be a name; got {'x' * 100_000!r}. Take sst2."))
    assert said.startswith("task must be a name; got 'xxx")
    assert said.endswith("xxx'. Take sst2.")
    assert len(said) < 1300


@each_row("error", FULL, ids=str)
def test_a_full_disk_is_named_with_the_file(error: Exception) -> None:
    said = str(storage_error("weights.safetensors of this run", error))
    assert said.startswith("weights.safetensors of this run could not be written: the server's disk is full.")


@pytest.mark.parametrize("error", FORBIDDEN, ids=str)
def test_a_folder_that_may_not_be_written_is_named_with_its_variable(error: Exception) -> None:
    assert "may not use its data folder" in str(storage_error("The list of runs", error))
    assert "EXPLORER_DATA" in str(storage_error("The list of runs", error))


def test_other_failures_are_told_in_the_disks_own_words() -> None:
    assert "Input/output error" in str(storage_error("The list", OSError(errno.EIO, "Input/output error"), "read"))


def test_a_full_disk_is_no_fault_that_only_the_log_explains(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        assert "disk is full" in str(readable(OSError(errno.ENOSPC, "No space left on device", "/secret/path")))
    assert "/secret/path" in caplog.text
    assert "Something went wrong" in str(readable(PermissionError(errno.EACCES, "Permission denied", "/secret/path")))


def test_a_value_that_is_nested_too_deeply_is_named() -> None:
    assert "nested too deeply" in str(readable(RecursionError("maximum recursion depth exceeded")))

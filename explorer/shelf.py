"""Folders with a limit: what was used longest ago is removed when room is needed."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

SPARED_SECONDS = 600.0
"""Seconds for which an entry stays after it was written or used: it may be on its way to a visitor."""


def bytes_of(path: Path) -> int:
    """Return the bytes of a file, or of all files below a folder; a file that vanishes meanwhile counts nothing."""
    total = 0
    for file in [path] if path.is_file() else path.rglob("*"):
        with suppress(OSError):
            total += file.stat().st_size if file.is_file() else 0
    return total


def trim(entries: Iterable[Path], limit: int, spared: Callable[[Path], bool] = lambda entry: False) -> list[Path]:
    """Remove the entries that were used longest ago until the rest takes at most `limit` bytes. Returns those that were
    removed.

    An entry is a file or a folder, and its own modification time is when it was used. Recently used ones and those for
    which `spared` holds stay, even if the limit is then exceeded.
    """
    sizes = {entry: bytes_of(entry) for entry in entries}
    total, removed = sum(sizes.values()), []
    for entry in sorted(sizes, key=_used):
        if total <= limit:
            break
        if 0 <= time.time() - _used(entry) < SPARED_SECONDS or spared(
            entry
        ):  # from before the clock was set back: not recent
            continue
        remove(entry)
        total -= sizes[entry]
        removed.append(entry)
    return removed


def remove(entry: Path) -> None:
    """Remove a file or a folder, as far as that works."""
    if entry.is_dir():
        shutil.rmtree(entry, ignore_errors=True)
    else:
        with suppress(OSError):
            entry.unlink(missing_ok=True)


def _used(entry: Path) -> float:
    try:
        return entry.stat().st_mtime
    except OSError:
        return 0.0

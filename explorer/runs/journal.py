"""How SQLite keeps its journal, chosen by the file system that a folder lies on."""

from __future__ import annotations

import re
from pathlib import Path

MOUNTS = Path("/proc/self/mounts")
_NETWORK = re.compile(r"fuse(\..+|blk)?|nfs\d?|cifs|smb\d?|9p|afs|ceph|lustre|glusterfs|virtiofs")


def journal_mode(folder: Path, mounts: Path = MOUNTS) -> str:
    """The value for `PRAGMA journal_mode`: DELETE on a network mount, as a Space's storage is, and WAL elsewhere.

    WAL shares memory between processes by a file beside the records, which file systems over a network don't offer.
    `mounts` is a table like Linux's /proc/self/mounts; where there is none, as on macOS, the folder counts as local.
    """
    try:
        table = mounts.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "WAL"
    return "DELETE" if _NETWORK.fullmatch(_file_system(folder.resolve(), table)) else "WAL"


def _file_system(folder: Path, table: str) -> str:
    """The type of the mount that holds the folder: the deepest one, and of several at one place the last."""
    deepest, found = -1, ""
    for line in table.splitlines():
        words = line.split(" ")
        if len(words) < 3:
            continue
        place = Path(_plain(words[1]))
        if folder.is_relative_to(place) and len(place.parts) >= deepest:
            deepest, found = len(place.parts), words[2]
    return found


def _plain(name: str) -> str:
    """A mount's folder without the octal escapes that the table writes for blanks, tabs and backslashes."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match.group(1), 8)), name)

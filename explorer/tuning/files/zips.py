"""Writes a zip so that a reader finds the whole of it or nothing."""

from __future__ import annotations

import hashlib
import os
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

from explorer.settings import Settings
from explorer.shelf import trim

_PACKED_ALREADY = (".safetensors", ".zip")


EXPORTS = Path(tempfile.gettempdir()) / "bert-explorer-exports"
"""The folder of the zips until they are handed over."""


def export_path(owner: str, key: str, name: str, settings: Settings) -> Path:
    """Return the path for a zip called `name`, once older ones have made room. owner: the visitor in whose share it
    counts.

    key: what is exported, such as a run's id.
    """
    # The owner's name is secret, and paths are shown.
    whose = hashlib.sha256(owner.encode("utf-8", "replace")).hexdigest()[:12]
    trim((EXPORTS / whose).glob("*"), settings.visitor_exports_bytes)
    trim(EXPORTS.glob("*/*"), settings.exports_bytes)
    return EXPORTS / whose / key / name


def write_zip(target: Path, members: Mapping[str, str | bytes | Path]) -> Path:
    """Write the members (texts, bytes, or files to copy) under their names; weights are stored, everything else is
    compressed.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    half = target.with_name(target.name + ".part")
    with zipfile.ZipFile(half, "w") as archive:
        for name, content in members.items():
            method = zipfile.ZIP_STORED if name.endswith(_PACKED_ALREADY) else zipfile.ZIP_DEFLATED
            if isinstance(content, Path):
                archive.write(content, name, compress_type=method)
            else:
                plain = content.encode("utf-8", "replace") if isinstance(content, str) else content
                archive.writestr(name, plain, compress_type=method)
    os.replace(half, target)
    return target

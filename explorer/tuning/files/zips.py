"""Write a zip so that a reader finds the whole of it or nothing."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Mapping
from pathlib import Path

_PACKED_ALREADY = (".safetensors", ".zip")


def write_zip(target: Path, members: Mapping[str, str | bytes | Path]) -> Path:
    """Write the members (texts, bytes, or files to copy) under their names; weights are stored, all else is compressed."""
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

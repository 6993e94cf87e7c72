"""SHA-256 sums beside a bundled model: a damaged file could be loaded as a silently wrong model."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from explorer.errors import ModelUnavailableError
from explorer.models.catalog import find_card
from explorer.models.model_errors import repair

SUMS = "SHA256SUMS"
"""The list in a model's folder, in the format of the system's own `sha256sum --check`."""

LOADED = ("*.safetensors", "*.safetensors.index.json", "config.json", "tokenizer.json", "tokenizer_config.json")
"""The files of a model that are loaded; cards, figures and logs may change without a new list."""


def write_sums(folder: Path) -> Path:
    """List the files of a model with their sums, and return the path of the list."""
    files = sorted({file for pattern in LOADED for file in folder.glob(pattern)})
    listed = folder / SUMS
    listed.write_text("".join(f"{_sum_of(file)}  {file.name}\n" for file in files), encoding="ascii", newline="\n")
    listed.chmod(0o644)  # a new file's mode depends on the umask of whoever writes it
    return listed


def check_sums(model_id: str, folder: Path, only: Iterable[str] = ()) -> None:
    """Raise ModelUnavailableError, which names the file, for a bundled model that differs from its list.

    only: the files that matter, all if empty. A file is read once, and again when it has changed.
    """
    card = find_card(model_id)
    listed = folder / SUMS
    if card is None or not card.bundled or not listed.is_file():
        return
    try:
        lines = [line.split("  ", 1) for line in listed.read_text(encoding="ascii").splitlines()]
        changed = [name for right, name in lines if (not only or name in only) and _sum_of(folder / name) != right]
    except (OSError, ValueError) as error:
        raise ModelUnavailableError(f"{model_id} cannot be read ({str(error)[:150]}). {repair(model_id)}") from error
    if changed:
        raise ModelUnavailableError(
            f"{changed[0]} of {model_id} is damaged: it is not the file that {SUMS} lists. {repair(model_id)} Whoever changed "
            f"it on purpose writes the list anew: python -m pretraining sums assets/models/{model_id}"
        )


def _sum_of(file: Path) -> str:
    state = file.stat()
    return _read_sum(file, state.st_size, state.st_mtime_ns)


@cache
# Size and time of change are part of the key, so a changed file is read again.
def _read_sum(file: Path, size: int, changed: int) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()

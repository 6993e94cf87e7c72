"""Finds a model's folder on this machine (bundled, named by the visitor, made by a run, or downloaded before), checks its files,
and says what to do about a model that cannot be had.

A damaged file could be loaded as a silently wrong model, so SHA-256 sums stand beside the files of a bundled one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from huggingface_hub import hf_hub_download
from huggingface_hub.errors import GatedRepoError, HFValidationError, LocalEntryNotFoundError, RepositoryNotFoundError
from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

from explorer.errors import ModelUnavailableError
from explorer.models.catalog import DEFAULT_MODEL, find_card, made_by, trained_folder
from explorer.models.families import ARCHITECTURES
from explorer.settings import BUNDLED_MODELS, Settings


def local_folder(model_id: str, settings: Settings) -> Path | None:
    """Return the folder that already holds a model on this machine, or None; never asks the network."""
    card = find_card(model_id)
    if card is not None and card.bundled:
        return BUNDLED_MODELS / model_id
    if made_by(model_id):
        return trained_folder(model_id, settings)
    if settings.local_folders and looks_like_folder(model_id):
        try:
            folder = Path(model_id).expanduser()
            return folder if (folder / "config.json").is_file() else None
        except (OSError, RuntimeError, ValueError):  # too long, forbidden, an unknown ~user, a null byte
            return None
    if not allowed(model_id, settings):
        return None
    try:
        config = hf_hub_download(model_id, "config.json", cache_dir=settings.hub_cache, local_files_only=True)
    except (LocalEntryNotFoundError, HFValidationError):
        return None
    folder = Path(config).parent
    return folder if weight_files(folder) else None


def allowed(model_id: str, settings: Settings) -> bool:
    """Return whether this server opens a model of the hub; without a list, any."""
    return not settings.hub_allowed or any(
        fnmatchcase(model_id.lower(), pattern.lower()) for pattern in settings.hub_allowed
    )


def weight_files(folder: Path) -> list[Path]:
    """Return the complete set of safetensors files in a folder; empty if one is missing, or the index cannot be read."""
    index = folder / "model.safetensors.index.json"
    names = ["model.safetensors"]
    if index.is_file():
        try:
            names = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
        except (ValueError, LookupError, TypeError, AttributeError):
            return []
    files = [folder / name for name in names]
    return files if all(file.is_file() for file in files) else []


def require_folder(model_id: str, settings: Settings) -> Path:
    """Return the model's folder as local_folder. Raises ModelUnavailableError with what to do if the model is not here."""
    folder = local_folder(model_id, settings)
    if folder is None:
        refuse_elsewhere(model_id, settings)
        raise ModelUnavailableError(
            f"{model_id} is not on this machine yet. Choose it in the model picker to download it, "
            f"or go on with {DEFAULT_MODEL}, which is bundled."
        )
    if not weight_files(folder):
        raise ModelUnavailableError(
            f"{model_id} has no model.safetensors. Pickled weights are never loaded, since they can run code; "
            "save the model again with save_pretrained, which writes safetensors."
        )
    return folder


def refuse_elsewhere(model_id: str, settings: Settings) -> None:
    """Raise ModelUnavailableError for what no hub has, such as a folder or a run's model, and for what this server's
    list leaves out.
    """
    if made_by(model_id):
        raise ModelUnavailableError(
            f"{model_id} is the model of a run that is no longer on this server. Train it again, or go on with {DEFAULT_MODEL}."
        )
    if looks_like_folder(model_id):
        raise ModelUnavailableError(no_folder(model_id, settings))
    try:
        validate_repo_id(model_id)
    except HFValidationError as error:
        raise ModelUnavailableError(explain(model_id, error)) from None
    if not allowed(model_id, settings):
        raise ModelUnavailableError(
            f"This server does not open {model_id}: of the hub's models it takes {', '.join(settings.hub_allowed)}. "
            f"Choose one of these, or go on with {DEFAULT_MODEL}; whoever runs the server can add others (EXPLORER_HUB_ALLOW)."
        )


def looks_like_folder(model_id: str) -> bool:
    """Return whether a name is spelt as a path, which no id of the hub is; whether it exists is not asked."""
    return model_id.startswith(("/", "~", ".")) or model_id.count("/") > 1 or "\\" in model_id


def read_config(model_id: str, file: Path) -> dict[str, Any]:
    """Read a model's config.json. Raises ModelUnavailableError if it cannot be read."""
    try:
        values = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        values = None
    if not isinstance(values, dict):
        said = f"The config.json of {model_id} cannot be read, so its kind is unknown."
        raise ModelUnavailableError(f"{said} {repair(model_id)}")
    return values


def explain(model_id: str, error: Exception) -> str:
    """Return the message for a failed download: what happened and what to do."""
    if isinstance(error, GatedRepoError):
        return (
            f"{model_id} is gated: its owners ask you to accept their terms on the hub and to log in "
            f"(`hf auth login`). {DEFAULT_MODEL} needs neither."
        )
    if isinstance(error, RepositoryNotFoundError):
        return f"The hub has no model called {model_id}. Check the spelling (owner/name); private models need a login."
    if isinstance(error, HFValidationError):
        return f"{model_id!r} is not a model id. An id looks like google-bert/bert-base-uncased."
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status is not None:
        return f"The hub answered with an error ({status}). Try again in a minute, or use {DEFAULT_MODEL}."
    if isinstance(error, OSError) and "No space left" in str(error):
        return f"The disk is full, so {model_id} cannot be kept. Free some space, or use {DEFAULT_MODEL}."
    if isinstance(error, PermissionError):
        return f"{model_id} cannot be kept: this server may not write to its model folder. Use {DEFAULT_MODEL}."
    # A silent hub ends in a LocalEntryNotFoundError, which is a ValueError too.
    if isinstance(error, ValueError) and not isinstance(error, LocalEntryNotFoundError):  # which a silent hub ends in
        return no_network(model_id, "what answered is not a model hub (a network's login page does that)")
    return no_network(model_id, "the connection failed or broke off")


def no_network(model_id: str, reason: str) -> str:
    """Return the message if the hub does not answer."""
    return (
        f"{model_id} could not be downloaded: {reason}. Check the network and choose it again (what has arrived is "
        f"kept), or go on with {DEFAULT_MODEL}, which is bundled."
    )


def no_folder(model_id: str, settings: Settings, needed: str = "config.json and model.safetensors") -> str:
    """Return the message for a folder that is not opened."""
    if not settings.local_folders:
        return "This server does not open folders of its own; give the id of a model on the hub."
    what = "tokenizer" if needed == "tokenizer.json" else "model"
    return f"There is no {what} in the folder {model_id}: it must hold {needed}."


def repair(model_id: str) -> str:
    """Return the sentence on what to do about a damaged model."""
    card = find_card(model_id)
    if card is not None and card.bundled:
        return f"Whoever runs the server has to restore assets/models/{model_id} from the repository; the other models work."
    return "Delete its folder and download it again."


def unsupported(model_id: str, model_type: str) -> str:
    """Return the message for a model of another family."""
    *names, last = dict.fromkeys(entry.family.split(" ")[0].split("-v2")[0] for entry in ARCHITECTURES)
    return f"{model_id} is a {model_type} model. Supported are {', '.join(names)} and {last}."


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

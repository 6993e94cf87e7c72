"""Finds a model's folder: bundled, named by the visitor, already downloaded, or fetched from the hub with progress."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any, cast

import httpx2
from huggingface_hub import HfApi, hf_hub_download, try_to_load_from_cache
from huggingface_hub.errors import (
    HFValidationError,
    LocalEntryNotFoundError,
)
from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]
from tqdm.auto import tqdm

from explorer.errors import ModelUnavailableError
from explorer.models.catalog import DEFAULT_MODEL, find_card, made_by, trained_folder
from explorer.models.families import find_architecture
from explorer.models.fetch import explain, fetch_blob, no_folder, no_network, repair, unsupported
from explorer.settings import BUNDLED_MODELS, GIBIBYTE, Settings

VOCABULARY_FILES = ("tokenizer.json", "vocab.txt", "vocab.json", "spm.model", "spiece.model", "tokenizer.model")
"""A folder with one of these files holds a tokenizer."""

LARGEST_TOKENIZER_BYTES = 64 * 2**20
"""Bytes of a tokenizer that is fetched: vocabularies of a hundred languages take about 20 MB."""


@dataclass(frozen=True)
class Progress:
    """The progress of a download, in bytes; `total` is 0 until it is known."""

    done: int
    total: int

    @property
    def share(self) -> float:
        """The part that has arrived, in [0, 1]."""
        return min(1.0, self.done / self.total) if self.total else 0.0


def local_folder(model_id: str, settings: Settings) -> Path | None:
    """Return the folder that already holds a model on this machine, or None; never asks the network."""
    card = find_card(model_id)
    if card is not None and card.bundled:
        return BUNDLED_MODELS / model_id
    if made_by(model_id):
        return trained_folder(model_id, settings)
    if settings.local_folders and _looks_like_folder(model_id):
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
        _refuse_elsewhere(model_id, settings)
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


def download(model_id: str, settings: Settings) -> Generator[Progress, None, None]:
    """Fetch a model from the hub, yielding progress; what has arrived of a broken download is kept and resumed.

    Closing the generator stops it. Raises ModelUnavailableError with a sentence for every way in which it fails.
    """
    _refuse_elsewhere(model_id, settings)
    if settings.offline:
        raise ModelUnavailableError(no_network(model_id, "HF_HUB_OFFLINE is set"))
    yield Progress(0, 0)  # a hub that takes the question and says nothing can be left before its time is up
    try:
        sizes = _file_sizes(model_id, settings)
        _check(model_id, sizes, settings)
        yield from _fetch(model_id, sizes, settings)
    except (OSError, ValueError, httpx2.HTTPError) as error:
        raise ModelUnavailableError(explain(model_id, error)) from error


def tokenizer_folder(name: str, settings: Settings) -> Path:
    """Return the folder that holds a tokenizer's files; those of a hub model are fetched if needed.

    The weights are not fetched. Raises ModelUnavailableError as `download` does.
    """
    card = find_card(name)
    if card is not None and card.bundled:
        return BUNDLED_MODELS / name
    if made_by(name):
        return require_folder(name, settings)
    if not _looks_like_folder(name):
        _refuse_elsewhere(name, settings)
    try:
        if not _looks_like_folder(name):
            config = try_to_load_from_cache(name, "config.json", cache_dir=settings.hub_cache)
            here = Path(config).parent if isinstance(config, str) else None
        else:
            here = Path(name).expanduser() if settings.local_folders else None
        if here is not None and any((here / file).is_file() for file in VOCABULARY_FILES):
            return here
    except (OSError, RuntimeError, ValueError):  # as above
        pass
    if _looks_like_folder(name):
        raise ModelUnavailableError(no_folder(name, settings, "tokenizer.json"))
    return _fetch_tokenizer(name, settings)


def _fetch_tokenizer(name: str, settings: Settings) -> Path:
    _refuse_elsewhere(name, settings)
    if settings.offline:
        raise ModelUnavailableError(no_network(name, "HF_HUB_OFFLINE is set"))
    try:
        sizes = _file_sizes(name, settings)
        wanted = [file for file in sizes if not file.endswith((".safetensors", ".index.json"))]
        if not set(wanted) & set(VOCABULARY_FILES):
            raise ModelUnavailableError(f"{name} holds no tokenizer.json and no vocabulary, so it has no tokenizer.")
        if sum(sizes[file] for file in wanted) > LARGEST_TOKENIZER_BYTES:
            raise ModelUnavailableError(f"The tokenizer of {name} is too large to be fetched for a comparison.")
        wanted.sort(key=lambda file: file in VOCABULARY_FILES)  # what tells that a tokenizer is here comes last
        return [_library_download(name, file, settings) for file in wanted][-1].parent
    except (OSError, ValueError, httpx2.HTTPError) as error:
        raise ModelUnavailableError(explain(name, error)) from error


def _refuse_elsewhere(model_id: str, settings: Settings) -> None:
    """Raise ModelUnavailableError for what no hub has, such as a folder or a run's model, and for what this server's
    list leaves out.
    """
    if made_by(model_id):
        raise ModelUnavailableError(
            f"{model_id} is the model of a run that is no longer on this server. Train it again, or go on with {DEFAULT_MODEL}."
        )
    if _looks_like_folder(model_id):
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


def _looks_like_folder(model_id: str) -> bool:
    return model_id.startswith(("/", "~", ".")) or model_id.count("/") > 1 or "\\" in model_id


def _file_sizes(model_id: str, settings: Settings) -> dict[str, int]:
    """Return the files worth fetching, with their sizes in bytes."""
    info = HfApi(endpoint=settings.hub_endpoint).model_info(model_id, files_metadata=True, timeout=settings.hub_timeout)
    sizes = {item.rfilename: item.size or 0 for item in info.siblings or []}
    weights = "model.safetensors.index.json" in sizes and [
        name for name in sizes if name.startswith("model-") and name.endswith(".safetensors")
    ]
    wanted = set(weights or ["model.safetensors"])  # one file, or several with an index
    return {
        name: size
        for name, size in sizes.items()
        if name in wanted
        or ("/" not in name and name.endswith((".json", ".model")))
        or name in ("vocab.txt", "merges.txt")
    }


def _check(model_id: str, sizes: dict[str, int], settings: Settings) -> None:
    """Refuse what could not be loaded before a byte of the weights has travelled. Raises ModelUnavailableError."""
    if "config.json" not in sizes:
        raise ModelUnavailableError(f"{model_id} holds no config.json, so it is no model that can be opened here.")
    if not any(name.endswith(".safetensors") for name in sizes):
        raise ModelUnavailableError(
            f"{model_id} is published without safetensors. Pickled weights are never loaded, since they can run code; "
            "look for a converted copy."
        )
    total = sum(sizes.values())
    if total > settings.largest_download_bytes:
        raise ModelUnavailableError(
            f"{model_id} takes {total / GIBIBYTE:.1f} GB, more than this server downloads "
            f"({settings.largest_download_bytes / GIBIBYTE:.0f} GB)."
        )
    values = read_config(model_id, _library_download(model_id, "config.json", settings))
    if find_architecture(str(values.get("model_type")), values.get("architectures") or ()) is None:
        raise ModelUnavailableError(unsupported(model_id, str(values.get("model_type"))))


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


def _fetch(model_id: str, sizes: dict[str, int], settings: Settings) -> Iterator[Progress]:
    """Fetch every file, and yield the progress."""
    total, done = sum(sizes.values()), 0
    yield Progress(0, total)
    # The weights come last, so that a folder with weights is a complete one.
    for name in sorted(sizes, key=lambda name: (name.endswith(".safetensors"), name)):
        if name.endswith(".safetensors"):
            for arrived in fetch_blob(model_id, name, settings):
                yield Progress(min(done + arrived, total), total)
        _library_download(model_id, name, settings)
        done += sizes[name]
        yield Progress(done, total)


def _library_download(model_id: str, name: str, settings: Settings) -> Path:
    """Fetch one file through the hub library, which links a blob that is already here."""
    return Path(
        hf_hub_download(
            model_id,
            name,
            cache_dir=settings.hub_cache,
            endpoint=settings.hub_endpoint,
            etag_timeout=settings.hub_timeout,
            tqdm_class=cast("type[Any]", partial(tqdm, disable=True)),
        )
    )

"""Find a model's folder: bundled, named by the visitor, already downloaded, or fetched from the hub with progress."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import httpx
from huggingface_hub import HfApi, hf_hub_download, snapshot_download
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
)

from explorer.errors import ModelUnavailableError
from explorer.models.architectures import find_architecture
from explorer.models.catalog import DEFAULT_MODEL, find_card
from explorer.settings import BUNDLED_MODELS, GIBIBYTE, Settings

SMALL_FILES = ("*.json", "vocab.txt", "merges.txt", "*.model")
"""Configuration and tokenizer files; weights come as safetensors only, and code never."""

UPDATE_SECONDS = 0.25


@dataclass(frozen=True)
class Progress:
    """How far a download is, in bytes; `total` is 0 until it is known."""

    done: int
    total: int

    @property
    def share(self) -> float:
        """In [0, 1]."""
        return min(1.0, self.done / self.total) if self.total else 0.0


def local_folder(model_id: str, settings: Settings) -> Path | None:
    """The folder that already holds a model on this machine, or None; never asks the network."""
    card = find_card(model_id)
    if card is not None and card.bundled:
        return BUNDLED_MODELS / model_id
    if settings.local_folders and _looks_like_folder(model_id):
        folder = Path(model_id).expanduser()
        return folder if (folder / "config.json").is_file() else None
    try:
        config = hf_hub_download(model_id, "config.json", cache_dir=settings.hub_cache, local_files_only=True)
    except (LocalEntryNotFoundError, HFValidationError):
        return None
    folder = Path(config).parent
    return folder if weight_files(folder) else None


def weight_files(folder: Path) -> list[Path]:
    """The complete set of safetensors files in a folder; empty where one that the index names is missing."""
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        names = sorted(set(json.loads(index.read_text())["weight_map"].values()))
    else:
        names = ["model.safetensors"]
    files = [folder / name for name in names]
    return files if all(file.is_file() for file in files) else []


def require_folder(model_id: str, settings: Settings) -> Path:
    """As local_folder, but raises ModelUnavailableError with what to do where the model is not here."""
    folder = local_folder(model_id, settings)
    if folder is None:
        if _looks_like_folder(model_id):
            raise ModelUnavailableError(_no_folder(model_id, settings))
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


def download(model_id: str, settings: Settings) -> Iterator[Progress]:
    """Fetch a model from the hub, yielding progress; the files of a broken download are kept and taken up again.

    Raises ModelUnavailableError with a sentence for every way in which it fails.
    """
    if _looks_like_folder(model_id):
        raise ModelUnavailableError(_no_folder(model_id, settings))
    if settings.offline:
        raise ModelUnavailableError(_no_network(model_id, "HF_HUB_OFFLINE is set"))
    try:
        sizes = _file_sizes(model_id, settings)
        _check(model_id, sizes, settings)
        yield from _fetch(model_id, sizes, settings)
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError, httpx.HTTPError) as error:
        raise ModelUnavailableError(explain(model_id, error)) from error


def explain(model_id: str, error: Exception) -> str:
    """One sentence or two for a failed download: what happened and what to do."""
    if isinstance(error, GatedRepoError):
        return (
            f"{model_id} is gated: its owners ask you to accept their terms on the hub and to log in "
            f"(`hf auth login`). {DEFAULT_MODEL} needs neither."
        )
    if isinstance(error, RepositoryNotFoundError):
        return (
            f"The hub has no model called {model_id}. Check the spelling (owner/name); private models need a login."
        )
    if isinstance(error, HFValidationError):
        return f"{model_id!r} is not a model id. An id looks like google-bert/bert-base-uncased."
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status is not None and status >= 500:
        return f"The hub answered with an error ({status}). Try again in a minute, or use {DEFAULT_MODEL}."
    if isinstance(error, OSError) and "No space left" in str(error):
        return f"The disk is full, so {model_id} cannot be kept. Free some space, or use {DEFAULT_MODEL}."
    return _no_network(model_id, "the connection failed or broke off")


def _no_network(model_id: str, reason: str) -> str:
    return (
        f"{model_id} could not be downloaded: {reason}. Check the network and choose it again (what has arrived is "
        f"kept), or go on with {DEFAULT_MODEL}, which is bundled."
    )


def _no_folder(model_id: str, settings: Settings) -> str:
    if not settings.local_folders:
        return "This server does not open folders of its own; give the id of a model on the hub."
    return f"There is no model in the folder {model_id}: it must hold config.json and model.safetensors."


def _looks_like_folder(model_id: str) -> bool:
    return model_id.startswith(("/", "~", ".")) or model_id.count("/") > 1 or "\\" in model_id


def _file_sizes(model_id: str, settings: Settings) -> dict[str, int]:
    """The files worth fetching, with their sizes in bytes."""
    info = HfApi(endpoint=settings.hub_endpoint).model_info(
        model_id, files_metadata=True, timeout=settings.hub_timeout
    )
    sizes = {item.rfilename: item.size or 0 for item in info.siblings or []}
    weights = "model.safetensors.index.json" in sizes and [
        name for name in sizes if name.startswith("model-") and name.endswith(".safetensors")
    ]
    wanted = set(weights or ["model.safetensors"])
    return {
        name: size
        for name, size in sizes.items()
        if name in wanted
        or ("/" not in name and name.endswith((".json", ".model")))
        or name in ("vocab.txt", "merges.txt")
    }


def _check(model_id: str, sizes: dict[str, int], settings: Settings) -> None:
    """Refuse what could not be loaded before a byte of the weights has travelled."""
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
    config = hf_hub_download(
        model_id,
        "config.json",
        cache_dir=settings.hub_cache,
        endpoint=settings.hub_endpoint,
        etag_timeout=settings.hub_timeout,
    )
    values = json.loads(Path(config).read_text())
    if find_architecture(values.get("model_type", ""), values.get("architectures") or ()) is None:
        raise ModelUnavailableError(unsupported(model_id, str(values.get("model_type"))))


def unsupported(model_id: str, model_type: str) -> str:
    """The sentence for a model of another family."""
    return (
        f"{model_id} is a {model_type} model. Supported are BERT, RoBERTa, ALBERT, DistilBERT, ELECTRA, DeBERTa, "
        "GPT-2 and ModernBERT."
    )


def _fetch(model_id: str, sizes: dict[str, int], settings: Settings) -> Iterator[Progress]:
    """Run the download in a thread of its own and report the bytes that have arrived."""
    counter = _ByteCounter()
    outcome: SimpleQueue[Exception | None] = SimpleQueue()

    def work() -> None:
        try:
            snapshot_download(
                model_id,
                cache_dir=settings.hub_cache,
                endpoint=settings.hub_endpoint,
                allow_patterns=list(sizes),
                etag_timeout=settings.hub_timeout,
                tqdm_class=counter.bar_class(),
                max_workers=2,
            )
        except Exception as error:  # handed to the caller's thread, which knows what to say
            outcome.put(error)
        else:
            outcome.put(None)

    threading.Thread(target=work, daemon=True, name=f"download {model_id}").start()
    total = sum(sizes.values())
    while True:
        try:
            error = outcome.get(timeout=UPDATE_SECONDS)
        except Empty:
            yield Progress(min(counter.bytes, total), total)
            continue
        if error is not None:
            raise error
        yield Progress(total, total)
        return


class _ByteCounter:
    """Adds up what the hub library's progress bars are told."""

    def __init__(self) -> None:
        self.bytes = 0

    def bar_class(self) -> type[Any]:
        """A tqdm class that draws nothing and counts only bars measured in bytes."""
        from tqdm.auto import tqdm

        counter = self

        class SilentBar(tqdm):  # type: ignore[misc,type-arg]
            def __init__(self, *arguments: Any, **options: Any) -> None:
                self._counts = options.get("unit") == "B"
                options.pop("name", None)
                super().__init__(*arguments, **{**options, "disable": True})

            def update(self, n: float | None = 1) -> bool | None:
                if self._counts:
                    counter.bytes += int(n or 0)
                return None

        return SilentBar

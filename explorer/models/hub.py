"""Fetches a model or a tokenizer from the hub, with progress.

huggingface_hub 2.4 throws away a large file that has half arrived, reports progress once every 10 MB, and cannot be stopped;
a classroom on one line needs better. Only the blob is made here, in the library's own cache: hf_hub_download then finds it
complete and links it.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import httpx2
from filelock import FileLock, Timeout
from huggingface_hub import (
    HfApi,
    get_hf_file_metadata,
    get_session,
    hf_hub_download,
    hf_hub_url,
    try_to_load_from_cache,
)
from huggingface_hub.file_download import repo_folder_name
from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]
from tqdm.auto import tqdm

from explorer.errors import ModelUnavailableError
from explorer.models.catalog import find_card, made_by
from explorer.models.families import find_architecture
from explorer.models.folders import (
    explain,
    looks_like_folder,
    no_folder,
    no_network,
    read_config,
    refuse_elsewhere,
    require_folder,
    unsupported,
)
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


def download(model_id: str, settings: Settings) -> Generator[Progress, None, None]:
    """Fetch a model from the hub, yielding progress; what has arrived of a broken download is kept and resumed.

    Closing the generator stops it. Raises ModelUnavailableError with a sentence for every way in which it fails.
    """
    refuse_elsewhere(model_id, settings)
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
    if not looks_like_folder(name):
        refuse_elsewhere(name, settings)
    try:
        if not looks_like_folder(name):
            config = try_to_load_from_cache(name, "config.json", cache_dir=settings.hub_cache)
            here = Path(config).parent if isinstance(config, str) else None
        else:
            here = Path(name).expanduser() if settings.local_folders else None
        if here is not None and any((here / file).is_file() for file in VOCABULARY_FILES):
            return here
    except (OSError, RuntimeError, ValueError):  # as above
        pass
    if looks_like_folder(name):
        raise ModelUnavailableError(no_folder(name, settings, "tokenizer.json"))
    return _fetch_tokenizer(name, settings)


def _fetch_tokenizer(name: str, settings: Settings) -> Path:
    refuse_elsewhere(name, settings)
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


UPDATE_SECONDS = 0.25

PAUSE_SECONDS = 1.0

FRUITLESS_TRIES = 3
"""How often in a row a broken connection may bring nothing before the download is given up."""


def fetch_blob(model_id: str, name: str, settings: Settings) -> Iterator[int]:
    """Fetch a file, yielding how many of its bytes are here; closing the iterator stops it and keeps what has arrived.

    If another visitor is fetching the same file, that download is followed instead. Raises httpx2.HTTPError, OSError,
    or ModelUnavailableError if what arrived is not what the hub holds.
    """
    url = hf_hub_url(model_id, name, endpoint=settings.hub_endpoint)
    known = get_hf_file_metadata(url, timeout=settings.hub_timeout, endpoint=settings.hub_endpoint)
    if not re.fullmatch(r"[\w.-]+", known.etag or ""):  # it becomes a file's name
        return  # without a name for the blob this is left to the library
    folder = settings.hub_cache / repo_folder_name(repo_id=model_id, repo_type="model")
    blob = folder / "blobs" / str(known.etag)
    part = blob.with_name(f"{blob.name}.incomplete")
    part.parent.mkdir(parents=True, exist_ok=True)
    # the page's generator wanders from thread to thread, so the lock must not belong to one
    lock = FileLock(settings.hub_cache / ".locks" / folder.name / f"{blob.name}.fetch", thread_local=False)
    Path(lock.lock_file).parent.mkdir(parents=True, exist_ok=True)
    yield from _wait_for(lock, part)
    try:
        if not blob.exists():  # another process may have completed it while this one waited
            yield from _complete(url, part, known.size, settings.hub_timeout)
            _verify(model_id, part, known.size, blob.name)
            part.replace(blob)
    finally:
        lock.release()


def _wait_for(lock: FileLock, part: Path) -> Iterator[int]:
    """Take the lock; while another holds it, yield how far that download is."""
    while True:
        try:
            lock.acquire(timeout=0)
            return
        except Timeout:
            yield _size(part)
            time.sleep(UPDATE_SECONDS)


def _complete(url: str, part: Path, size: int | None, timeout: float) -> Iterator[int]:
    """Append what is missing, going on after a broken connection as long as each try brings something."""
    fruitless = 0
    while size is None or _size(part) != size:
        before = _size(part)
        try:
            yield from _append(url, part, size, timeout)
            return
        except httpx2.TransportError:
            fruitless = 0 if _size(part) > before else fruitless + 1
            if fruitless == FRUITLESS_TRIES:
                raise
            time.sleep(PAUSE_SECONDS)


def _append(url: str, part: Path, size: int | None, timeout: float) -> Iterator[int]:
    """Request the bytes from the end of `part` on; start over if the server or the file's length demand it."""
    here = _size(part)
    headers = {**build_hf_headers(), "Accept-Encoding": "identity"}  # compressed bytes could not be counted or resumed
    if size is not None and 0 < here < size:
        headers["Range"] = f"bytes={here}-"
    with get_session().stream("GET", url, headers=headers, timeout=timeout, follow_redirects=True) as response:
        response.raise_for_status()
        here = here if response.status_code == 206 else 0  # a server that ignores Range sends the whole file, with 200
        told = 0.0
        with part.open("ab" if here else "wb") as file:
            for chunk in response.iter_bytes():
                file.write(chunk)
                here += len(chunk)
                if time.monotonic() - told >= UPDATE_SECONDS:
                    told = time.monotonic()
                    yield here


def _verify(model_id: str, part: Path, size: int | None, etag: str) -> None:
    """Check a file's size and SHA-256. Raises ModelUnavailableError."""
    with part.open("rb") as file:
        # The hub names large files after their SHA-256; small ones have another kind of tag.
        right = re.fullmatch("[0-9a-f]{64}", etag) is None or hashlib.file_digest(file, "sha256").hexdigest() == etag
    if not right or (size is not None and _size(part) != size):
        part.unlink()  # going on from it cannot help
        raise ModelUnavailableError(
            f"What arrived of {model_id} is not what the hub holds, so it was thrown away. Choose it again to start "
            "over."
        )


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0

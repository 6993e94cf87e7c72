"""A model's files: a large one downloaded into the hub library's cache, so that it can be watched, stopped and resumed; a
bundled one checked by its sum; and the messages for a model that cannot be had.

huggingface_hub 2.4 throws away a file that has half arrived, reports progress once every 10 MB, and cannot be stopped;
a classroom on one line needs better. Only the blob is made here: hf_hub_download then finds it complete and links it.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import httpx2
from filelock import FileLock, Timeout
from huggingface_hub import get_hf_file_metadata, get_session, hf_hub_url
from huggingface_hub.errors import GatedRepoError, HFValidationError, LocalEntryNotFoundError, RepositoryNotFoundError
from huggingface_hub.file_download import repo_folder_name
from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

from explorer.errors import ModelUnavailableError
from explorer.models.catalog import DEFAULT_MODEL, find_card
from explorer.models.families import ARCHITECTURES
from explorer.settings import Settings


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

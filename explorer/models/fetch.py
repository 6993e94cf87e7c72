"""Downloads one large file of the hub into the hub library's cache, so that it can be watched, stopped and resumed.

huggingface_hub 2.4 throws away a file that has half arrived, reports progress once every 10 MB, and cannot be stopped;
a classroom on one line needs better. Only the blob is made here: hf_hub_download then finds it complete and links it.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
from filelock import FileLock, Timeout
from huggingface_hub import get_hf_file_metadata, get_session, hf_hub_url
from huggingface_hub.file_download import repo_folder_name
from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

from explorer.errors import ModelUnavailableError
from explorer.settings import Settings

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

"""Files on their way between machines, each stored under the SHA-256 of its content: in a folder, on a mount or in a bucket."""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from fsspec.core import url_to_fs

from explorer.errors import ExplorerError, StorageError

Manifest = dict[str, str]
"""Digests (SHA-256 in hexadecimal) by the files' paths below a folder that sender and receiver know."""

SEEN_SECONDS = 300.0
"""Seconds for which a file that was seen in its place is taken to be there still, since a bucket is slow to ask."""

SPARED = timedelta(minutes=10)
"""Files younger than this are not trimmed: one may be on its way to somebody."""


class GoneError(StorageError):
    """Raised for a file that was there and has been removed: whoever still has it can put it again."""


class Files:
    """A store of file contents by their digests. place: a folder, or a URL such as s3://bucket/folder for which fsspec
    has its package.

    All errors are ExplorerErrors.
    """

    def __init__(self, place: str) -> None:
        try:
            self._system, root = url_to_fs(place, use_listings_cache=False)
        except (ImportError, ValueError, OSError) as error:  # no package for it; no such kind of place; no credentials
            raise ExplorerError(
                f"EXPLORER_FILES cannot be used: {str(error)[:300]}. Name a folder that all machines see, or a bucket, and "
                "install fsspec's package for it on every machine (s3fs, gcsfs)."
            ) from error
        self._root = root.rstrip("/")
        self._is_local = "file" in ((protocol,) if isinstance(protocol := self._system.protocol, str) else protocol)
        self._digests: dict[Path, tuple[tuple[int, int, int], str]] = {}
        self._seen: dict[str, float] = {}

    def digest(self, path: Path) -> str:
        """Return a file's SHA-256; it is remembered as long as inode, size and modification time stay the same."""
        about = path.stat()
        key = (about.st_ino, about.st_size, about.st_mtime_ns)
        known = self._digests.get(path)
        if known is None or known[0] != key:
            with path.open("rb") as file:
                known = self._digests[path] = (key, hashlib.file_digest(file, "sha256").hexdigest())
        return known[1]

    def put(self, path: Path) -> str:
        """Store a file's content, unless it is there already. Returns its digest."""
        with _told("written"):
            digest = self.digest(path)
            if time.monotonic() - self._seen.get(digest, -SEEN_SECONDS) >= SEEN_SECONDS:
                if self._size(digest) != path.stat().st_size:  # half a file is what somebody left who was killed
                    self._write(path, self._place(digest))
                self._seen[digest] = time.monotonic()
        return digest

    def fetch(self, digest: str, path: Path) -> None:
        """Write a content to `path`. Raises GoneError if it is not in the store."""
        # Renamed once it is whole, so that `path` has the old file or the new one, never half of it.
        half = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
        with _told("read"):
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._system.get_file(self._place(digest), str(half))
                with half.open("rb") as file:
                    is_whole = hashlib.file_digest(file, "sha256").hexdigest() == digest
                if not is_whole:
                    self.remove(digest)
                    raise FileNotFoundError(digest)
                os.replace(half, path)
            except FileNotFoundError:
                self._seen.pop(digest, None)
                raise
            finally:
                half.unlink(missing_ok=True)
            self._seen[digest] = time.monotonic()

    def forget(self) -> None:
        """Forget which files were seen here, because somebody else may have trimmed the store."""
        self._seen.clear()

    def pack(self, folder: Path, paths: Iterable[Path]) -> Manifest:
        """Store files that lie below a folder, and return their manifest; a folder among the paths stands for all files
        in it.
        """
        found = (file for path in paths for file in ([path] if path.is_file() else sorted(path.rglob("*"))))
        return {
            file.relative_to(folder).as_posix(): self.put(file)
            for file in found
            if file.is_file() and file.suffix != ".part"
        }

    def unpack(self, folder: Path, manifest: Manifest) -> None:
        """Fetch the manifest's files to below a folder; those that are there already are left alone."""
        for name, digest in manifest.items():
            path = folder / name
            if not path.is_file() or self.digest(path) != digest:
                self.fetch(digest, path)

    def remove(self, digest: str) -> None:
        """Remove a content from the store."""
        self._seen.pop(digest, None)
        with _told("removed"):
            if self._size(digest) is not None:
                self._system.rm_file(self._place(digest))

    def trim(self, limit: int) -> None:
        """Remove the oldest contents until at most `limit` bytes are left; recent ones stay."""
        with _told("removed"):
            sizes = {path: int(about["size"] or 0) for path, about in self._found().items()}
            total = sum(sizes.values())
            if total <= limit:
                return
            self._seen.clear()  # what was seen may be removed now
            changed = {path: self._system.modified(path) for path in sizes}
            for path in sorted(changed, key=changed.__getitem__):
                if total <= limit or datetime.now(UTC) - changed[path] < SPARED:  # the rest is younger still
                    return
                self._system.rm_file(path)
                total -= sizes[path]

    def _found(self) -> dict[str, dict[str, int]]:
        found: dict[str, dict[str, int]] = self._system.find(self._root, detail=True)
        return found

    def _place(self, digest: str) -> str:
        return f"{self._root}/{digest[:2]}/{digest}"

    def _size(self, digest: str) -> int | None:
        """Return a content's size in bytes; None if it is not in the store."""
        try:
            return int(self._system.info(self._place(digest))["size"])
        except FileNotFoundError:
            return None

    def _write(self, path: Path, place: str) -> None:
        """Write a file so that it appears in the store only once it is whole, as a bucket does by itself."""
        if not self._is_local:
            self._system.put_file(str(path), place)
            return
        half = f"{place}.{secrets.token_hex(4)}.part"
        self._system.makedirs(os.path.dirname(place), exist_ok=True)
        try:
            self._system.put_file(str(path), half)
            os.replace(half, place)
        except BaseException:
            Path(half).unlink(missing_ok=True)
            raise


@contextmanager
def _told(verb: str) -> Iterator[None]:
    """Turn whatever the store's library raises into a StorageError with a sentence for the visitor."""
    try:
        yield
    except StorageError:
        raise
    except FileNotFoundError as error:
        raise GoneError(
            "A file that this needs was removed on its way between the cluster's machines. Ask again."
        ) from error
    except Exception as error:  # each kind of bucket has errors of its own
        raise StorageError(
            f"A file could not be {verb} where the cluster's machines hand them on ({str(error)[:150]}). Try again; if it "
            "stays so, whoever runs the server has to look at EXPLORER_FILES."
        ) from error

"""Files on their way between machines, each kept under the SHA-256 of what it holds: in a folder, on a mount or in a bucket."""

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
"""How long a file that was seen in its place counts as being there; a bucket takes its time to say so."""

SPARED = timedelta(minutes=10)
"""What has come so recently may be on its way to somebody."""


class GoneError(StorageError):
    """A file was there, and is no more: whoever has it can put it again."""


class Files:
    """Contents by their digests. place: a folder, or a URL such as s3://bucket/folder for which fsspec has its package.

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
        """Of a file; remembered while its inode, size and time stay."""
        about = path.stat()
        key = (about.st_ino, about.st_size, about.st_mtime_ns)
        known = self._digests.get(path)
        if known is None or known[0] != key:
            with path.open("rb") as file:
                known = self._digests[path] = (key, hashlib.file_digest(file, "sha256").hexdigest())
        return known[1]

    def put(self, path: Path) -> str:
        """Have a file's content there; its digest."""
        with _told("written"):
            digest = self.digest(path)
            if time.monotonic() - self._seen.get(digest, -SEEN_SECONDS) >= SEEN_SECONDS:
                if self._size(digest) != path.stat().st_size:  # half a file is what somebody left who was killed
                    self._write(path, self._place(digest))
                self._seen[digest] = time.monotonic()
        return digest

    def fetch(self, digest: str, path: Path) -> None:
        """Write a content to `path`, which has the old file or the whole new one. Raises GoneError where it is not there."""
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
        """Look anew whether files are there: somebody else has tidied up."""
        self._seen.clear()

    def pack(self, folder: Path, paths: Iterable[Path]) -> Manifest:
        """Put files that lie below a folder; a folder among them stands for all that is in it."""
        found = (file for path in paths for file in ([path] if path.is_file() else sorted(path.rglob("*"))))
        return {
            file.relative_to(folder).as_posix(): self.put(file)
            for file in found
            if file.is_file() and file.suffix != ".part"
        }

    def unpack(self, folder: Path, manifest: Manifest) -> None:
        """Have files below a folder; those that are there already stay as they are."""
        for name, digest in manifest.items():
            path = folder / name
            if not path.is_file() or self.digest(path) != digest:
                self.fetch(digest, path)

    def remove(self, digest: str) -> None:
        """Let a content go."""
        self._seen.pop(digest, None)
        with _told("removed"):
            if self._size(digest) is not None:
                self._system.rm_file(self._place(digest))

    def trim(self, limit: int) -> None:
        """Let the oldest contents go until at most `limit` bytes are left; recent ones stay."""
        with _told("removed"):
            sizes = {path: int(about["size"] or 0) for path, about in self._found().items()}
            total = sum(sizes.values())
            if total <= limit:
                return
            self._seen.clear()
            changed = {path: self._system.modified(path) for path in sizes}
            for path in sorted(changed, key=changed.__getitem__):
                if total <= limit or datetime.now(UTC) - changed[path] < SPARED:
                    return
                self._system.rm_file(path)
                total -= sizes[path]

    def _found(self) -> dict[str, dict[str, int]]:
        found: dict[str, dict[str, int]] = self._system.find(self._root, detail=True)
        return found

    def _place(self, digest: str) -> str:
        return f"{self._root}/{digest[:2]}/{digest}"

    def _size(self, digest: str) -> int | None:
        """Bytes; None where it is not there."""
        try:
            return int(self._system.info(self._place(digest))["size"])
        except FileNotFoundError:
            return None

    def _write(self, path: Path, place: str) -> None:
        """A bucket shows a file once it is whole; in a folder it gets its name then."""
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
    """Whatever the place's library raises, as a sentence."""
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

"""A stand-in for the Hugging Face hub on this machine: the API that huggingface_hub 2.4 uses, and its faults on demand.

As on the real one, small files come from the hub itself, and weights from a second server that it redirects to.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"
LARGE = (".safetensors", ".bin")
CHUNK = 4096
SILENCE = 120.0


@dataclass(frozen=True)
class Request:
    """What a client asked for; `range_start` is None for a whole file."""

    method: str
    path: str
    authorization: str | None
    range_start: int | None


@dataclass
class Faults:
    """What goes wrong. api, resolve, weights: (status, X-Error-Code) for these requests.

    cut_at: the connection breaks when this byte of the weights is reached, `cuts` times, after `silence` seconds. pause:
    seconds after each chunk of the weights. ignores_ranges: answers with the whole file. wrong_byte: one byte of the
    weights differs. login_page: a network's login page answers in the hub's place. mute: the hub takes requests in whose paths
    this stands, and says nothing for longer than any test waits.
    """

    api: tuple[int, str | None] | None = None
    resolve: tuple[int, str | None] | None = None
    weights: tuple[int, str | None] | None = None
    cut_at: int | None = None
    cuts: int = 10**9
    pause: float = 0.0
    silence: float = 0.0
    ignores_ranges: bool = False
    wrong_byte: bool = False
    login_page: bool = False
    mute: str = ""


def stuck() -> Faults:
    """Weights of which the first 60,000 bytes arrive and then nothing, for longer than any test waits."""
    return Faults(cut_at=60_000, silence=SILENCE)


@dataclass
class FakeHub:
    """Serve `repositories` (id -> file name -> content) until closed; a data set's id begins with datasets/.

    What is on a branch refs/x/y stands under id@refs/x/y.
    """

    repositories: dict[str, dict[str, bytes]] = field(default_factory=dict)
    faults: Faults = field(default_factory=Faults)
    requests: list[Request] = field(default_factory=list)
    sent: dict[str, int] = field(default_factory=dict)
    """Bytes of each file's content that were written to a client, by file name."""

    def __post_init__(self) -> None:
        self._servers = [_serve(self, _HubHandler), _serve(self, _StorageHandler)]
        self.url, self.storage_url = (f"http://127.0.0.1:{server.server_port}" for server in self._servers)

    def add(self, model_id: str, folder: Path, **more: bytes) -> dict[str, bytes]:
        """Publish a folder's files; returns them, to be changed at will."""
        files = {path.name: path.read_bytes() for path in folder.iterdir()}
        self.repositories[model_id] = files | more
        return self.repositories[model_id]

    def close(self) -> None:
        """Stop serving; asking again then fails to connect."""
        for server in self._servers:
            server.shutdown()
            server.server_close()

    def fetched(self) -> set[str]:
        """The files of which a client has received something."""
        return set(self.sent)

    def resumed_at(self) -> list[int]:
        """From which byte the weights were asked for, where not from the first."""
        from_storage = [request for request in self.requests if "/resolve/" not in request.path]
        return [request.range_start for request in from_storage if request.range_start is not None]

    def weights(self) -> dict[str, tuple[str, bytes]]:
        """SHA-256 -> (name, content) of every large file."""
        files = [item for repository in self.repositories.values() for item in repository.items()]
        return {_sha256(content): (name, content) for name, content in files if name.endswith(LARGE)}


def _serve(hub: FakeHub, handler: type[_Handler]) -> ThreadingHTTPServer:
    bound = type(handler.__name__, (handler,), {"hub": hub})
    server = ThreadingHTTPServer(("127.0.0.1", 0), bound)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    return server


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _git_hash(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


class _Handler(BaseHTTPRequestHandler):
    hub: FakeHub
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._note_and_answer()

    def do_GET(self) -> None:
        self._note_and_answer()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def _note_and_answer(self) -> None:
        wanted = self.headers.get("Range")
        start = int(wanted.removeprefix("bytes=").split("-")[0]) if wanted else None
        path = unquote(urlsplit(self.path).path)
        self.hub.requests.append(Request(self.command, path, self.headers.get("Authorization"), start))
        self.answer(path, start)

    def answer(self, path: str, start: int | None) -> None:
        raise NotImplementedError

    def head(self, status: int, length: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(length)}.items():
            self.send_header(name, value)
        self.end_headers()

    def whole(self, content: bytes, headers: dict[str, str], status: int = 200) -> None:
        self.head(status, len(content), headers)
        if self.command == "GET":
            self.wfile.write(content)

    def fail(self, status: int, code: str | None) -> None:
        named = {"X-Error-Code": code, "X-Error-Message": f"a {code} of the stand-in"} if code else {}
        self.whole(b'{"error": "no"}', {"Content-Type": "application/json", **named}, status)


class _HubHandler(_Handler):
    """The API and the small files."""

    def answer(self, path: str, start: int | None) -> None:
        if self.hub.faults.mute and self.hub.faults.mute in path:
            time.sleep(SILENCE)
            self.close_connection = True
        elif self.hub.faults.login_page:
            self.whole(b"<html>Welcome to the school's network. Log in.</html>", {"Content-Type": "text/html"})
        elif path.startswith("/api/models/"):
            self._info(path.removeprefix("/api/models/"))
        elif path.startswith("/api/datasets/"):
            self._info(path.removeprefix("/api/"))
        else:
            model_id, _, rest = path.removeprefix("/").partition("/resolve/")
            found = re.fullmatch(r"((?:refs/[^/]+/)?[^/]+)/(.+)", rest)
            if found is None:
                return self.fail(404, None)
            revision, name = found.groups()
            self._file(f"{model_id}@{revision}" if revision.startswith("refs/") else model_id, name)

    def _info(self, model_id: str) -> None:
        if self.hub.faults.api:
            return self.fail(*self.hub.faults.api)
        if model_id not in self.hub.repositories:
            return self.fail(404, "RepoNotFound")
        siblings = [_sibling(name, content) for name, content in self.hub.repositories[model_id].items()]
        body = {"id": model_id, "sha": COMMIT, "siblings": siblings, "private": False, "tags": [], "downloads": 0}
        return self.whole(json.dumps(body).encode(), {"Content-Type": "application/json"})

    def _file(self, model_id: str, name: str) -> None:
        if self.hub.faults.resolve:
            return self.fail(*self.hub.faults.resolve)
        content = self.hub.repositories.get(model_id, {}).get(name)
        if content is None:
            return self.fail(404, "EntryNotFound")
        if name.endswith(LARGE):
            found = {"X-Linked-Etag": f'"{_sha256(content)}"', "X-Linked-Size": str(len(content))}
            location = {"Location": f"{self.hub.storage_url}/{_sha256(content)}", "X-Repo-Commit": COMMIT}
            return self.whole(b"", {**found, **location}, 302)
        if self.command == "GET":
            self.hub.sent[name] = self.hub.sent.get(name, 0) + len(content)
        return self.whole(content, {"ETag": f'"{_git_hash(content)}"', "X-Repo-Commit": COMMIT})


class _StorageHandler(_Handler):
    """The weights, by their SHA-256."""

    def answer(self, path: str, start: int | None) -> None:
        faults = self.hub.faults
        if faults.weights:
            return self.fail(*faults.weights)
        name, content = self.hub.weights()[path.removeprefix("/")]
        if faults.wrong_byte:
            content = content[:-1] + bytes([content[-1] ^ 1])
        if start is None or faults.ignores_ranges:
            self.head(200, len(content), {})
            return self._send(name, content, 0)
        span = f"bytes {start}-{len(content) - 1}/{len(content)}"
        self.head(206, len(content) - start, {"Content-Range": span})
        return self._send(name, content, start)

    def _send(self, name: str, content: bytes, start: int) -> None:
        faults = self.hub.faults
        cut = faults.cut_at if faults.cut_at is not None and faults.cuts > 0 else None
        end = len(content) if cut is None else max(start, cut)
        for place in range(start, end, CHUNK):
            chunk = content[place : min(place + CHUNK, end)]
            before = self.hub.sent.get(name, 0)
            self.hub.sent[name] = before + len(chunk)  # before it is sent: a test may look as soon as it has arrived
            try:
                self.wfile.write(chunk)
            except OSError:  # the client has gone
                self.hub.sent[name] = before
                self.close_connection = True
                return
            time.sleep(faults.pause)
        if cut is not None:
            faults.cuts -= 1
            time.sleep(faults.silence)
            self.close_connection = True


def _sibling(name: str, content: bytes) -> dict[str, object]:
    entry: dict[str, object] = {"rfilename": name, "size": len(content), "blobId": _git_hash(content)}
    if name.endswith(LARGE):
        entry["lfs"] = {"sha256": _sha256(content), "size": len(content), "pointerSize": 134}
    return entry

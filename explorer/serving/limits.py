"""Limits of one request: its size, how often a visitor asks and uploads, and a disk that is not full.

The files that visitors may bring, by whichever way, are limited for one, for all from one address, and while the disk is nearly
full.
"""

from __future__ import annotations

import re
import secrets
import shutil
from pathlib import Path

from gradio.utils import get_upload_folder
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer.serving.class_door import cookie
from explorer.serving.rates import Rate, host_of
from explorer.settings import GIBIBYTE, MEBIBYTE, Settings

COOKIE = "bert-explorer-visitor"
LONGEST_NAME = 64


class Uploads:
    """The limits of one server."""

    def __init__(self, settings: Settings) -> None:
        self.free_bytes = settings.free_disk_bytes
        self.rate = Rate(settings.uploads_an_hour, 3600)
        self.address_rate = Rate(settings.address_uploads_an_hour, 3600)

    def refusal(self, request: HTTPConnection) -> tuple[int, str]:
        """Count one file, and return (200, ""), or else the status and the sentence of a refusal."""
        if _free_bytes() < self.free_bytes:
            return 507, (
                f"This server's disk has less than {self.free_bytes / GIBIBYTE:.2g} GB left, so it takes no files now. Whoever "
                "runs it can free some space."
            )
        host = host_of(request)
        if not self.rate.take(f"{host} {name_of(request)}"):
            return 429, (
                f"You have brought more than {self.rate.most:,} files within an hour, the most that this server takes of one "
                "visitor. Try again in a few minutes; what you brought earlier is still there."
            )
        if not self.address_rate.take(host):
            return 429, (
                f"More than {self.address_rate.most:,} files came from your network within an hour, the most that this server "
                "takes. Try again in a few minutes."
            )
        return 200, ""


def name_of(request: HTTPConnection) -> str:
    """Return the name by which a browser is known."""
    return request.cookies.get(COOKIE, "")[:LONGEST_NAME]


def too_large_file(most: int) -> str:
    """Return the message for a file of more bytes than this."""
    return f"A file may have at most {megabytes(most)} on this server. Bring a smaller one."


def megabytes(size: int) -> str:
    """Return a size in bytes as megabytes."""
    return f"{size / MEBIBYTE:.3g} MB"


def _free_bytes() -> int:
    """Return the free bytes of the disk to which uploads go."""
    folder = Path(get_upload_folder()).absolute()
    # The folder is only made with the first upload.
    return shutil.disk_usage(next(one for one in (folder, *folder.parents) if one.is_dir())).free


UPLOADS = "/gradio_api/upload"
QUESTIONS = re.compile(r"/gradio_api/(queue/join|run/|api/|call/|mcp\b)|/explorer/(lessons/|class$|ledger\b)")
FRAMING = MEBIBYTE
"""Bytes of an upload's request besides the file."""

DRAINED = 8
"""How many times the limit is read, and thrown away, of a question that is too long, so that its sender gets to read why."""

SESSION = re.compile(rb'(?<!\\)"session_hash"\s*:\s*"([\w-]{1,64})"')


class Limits:
    """ASGI middleware. A visitor is known by a cookie, and a script, which keeps none, by the session that it names.

    Whoever invents names stays within what all of one address may ask. uploads: counted with those that come by other
    ways.
    """

    def __init__(self, app: ASGIApp, settings: Settings, uploads: Uploads | None = None) -> None:
        self.app, self.settings = app, settings
        self.questions = Rate(settings.questions_a_minute, 60)
        self.address_questions = Rate(settings.address_questions_a_minute, 60)
        self.uploads = uploads or Uploads(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse what is too much, and hand everything else on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        if request.method in ("GET", "HEAD", "OPTIONS"):
            await self.app(scope, receive, self._naming(request, send))
        elif scope["path"].startswith(UPLOADS):
            await self._upload(request, receive, send)
        else:
            await self._question(request, receive, send)

    async def _question(self, request: Request, receive: Receive, send: Send) -> None:
        most = self.settings.question_bytes
        body = await _read(receive, most)
        if body is None:
            said = (
                f"This is longer than {megabytes(most)}, the most that this server reads of one question. "
                "Send less of it, or upload it as a file."
            )
            await _refuse(413, said)(request.scope, receive, send)
            return
        counted = QUESTIONS.match(request.scope["path"])
        named = SESSION.search(body) if counted and not name_of(request) else None
        said = self._too_often(request, named[1].decode() if named else name_of(request)) if counted else ""
        if said:
            await _refuse(429, said, {"retry-after": "5"})(request.scope, receive, send)
            return
        await self.app(request.scope, _replayed(body, receive), send)

    def _too_often(self, request: Request, name: str) -> str:
        host = host_of(request)
        if not self.questions.take(f"{host} {name}"):
            return (
                f"You have asked more than {self.questions.most:,} questions within a minute, the most that this server answers "
                "one visitor. Wait a few seconds, then go on."
            )
        if not self.address_questions.take(host):
            return (
                f"More than {self.address_questions.most:,} questions came from your network within a minute, the most that this "
                "server answers. Wait a few seconds, then go on."
            )
        return ""

    async def _upload(self, request: Request, receive: Receive, send: Send) -> None:
        most = self.settings.upload_bytes + FRAMING
        too_large = too_large_file(self.settings.upload_bytes)
        status, said = self.uploads.refusal(request)
        if not said and int(request.headers.get("content-length") or 0) > most:
            status, said = 413, too_large
        if said:
            await _refuse(status, said)(request.scope, receive, send)
            return
        arrived, answered = 0, False

        async def counted() -> Message:
            nonlocal arrived
            message = await receive()
            arrived += len(message.get("body", b""))
            if arrived > most:  # a request may come without a content-length, or with a wrong one
                raise _TooLargeError
            return message

        async def noted(message: Message) -> None:
            nonlocal answered
            answered = True
            await send(message)

        try:
            await self.app(request.scope, counted, noted)
        except _TooLargeError:
            if not answered:
                await _refuse(413, too_large)(request.scope, receive, send)

    def _naming(self, request: Request, send: Send) -> Send:
        """Return `send`, which gives a browser that has no name one with its first page."""
        if name_of(request) or not (self.questions.most or self.uploads.rate.most):
            return send

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if headers.get("content-type", "").startswith("text/html"):
                    headers.append("set-cookie", cookie(request, COOKIE, secrets.token_urlsafe(16)))
            await send(message)

        return named


class _TooLargeError(Exception):
    """Raised when more arrives than one request may bring."""


def _refuse(status: int, said: str, headers: dict[str, str] | None = None) -> JSONResponse:
    """Return a refusal under both names by which Gradio's clients look for a sentence."""
    return JSONResponse({"detail": said, "error": said}, status, headers)


async def _read(receive: Receive, most: int) -> bytes | None:
    """Return a whole body; None for one that is too long, of which no more than `most` bytes are held."""
    body, length, more = bytearray(), 0, True
    while more and length <= DRAINED * most:
        message = await receive()
        part = message.get("body", b"")
        length += len(part)
        more = message.get("more_body", False)  # a visitor who leaves sends no more either
        if length <= most:
            body.extend(part)
    return bytes(body) if length <= most else None


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that brings a body which was read already."""
    whole: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return whole.pop() if whole else await receive()

    return replay

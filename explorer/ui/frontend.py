"""What a browser fetches before the first page is drawn: fewer, smaller files than Gradio and Plotly come in, and kept."""

from __future__ import annotations

import gzip
import hashlib
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import brotli
import gradio
import plotly
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

PLOTLY_WHOLE = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
PLOTLY_SMALL = Path(sys.prefix) / "plotly-cartesian.min.js"
"""Plotly without maps and solids, which no figure here has: `make setup` takes it from npm, where there is npm."""

FRONTEND = Path(gradio.__file__).parent / "templates" / "frontend"
LARGEST_STYLE = 10_000
"""Bytes of a style sheet of Gradio's that goes into the common one; larger ones belong to components that no page has."""

STYLE_NAME = "explorer/gradio.css"
FOR_A_DAY, FOR_EVER = "public, max-age=86400", "public, max-age=31536000, immutable"


def plotly_script() -> Path:
    """The small one where it is there and of the installed version, which its first lines name."""
    if PLOTLY_SMALL.is_file() and _release(PLOTLY_SMALL) == _release(PLOTLY_WHOLE):
        return PLOTLY_SMALL
    return PLOTLY_WHOLE


def _release(script: Path) -> str:
    """4.1.1 of "plotly.js (cartesian - minified) v4.1.1"."""
    with script.open(encoding="utf-8") as text:
        return text.read(200).partition(" v")[2].split()[0]


@cache
def _packed(read: Path | None, encoding: str) -> bytes:
    """A file, or the common style sheet where it is None, compressed once."""
    data = read.read_bytes() if read else _common_style().encode()
    if encoding == "br":
        return bytes(brotli.compress(data, quality=9))
    return gzip.compress(data, compresslevel=6) if encoding == "gzip" else data


def _answer(request: Request, read: Path | None, media_type: str, kept: str) -> Response:
    accepted = request.headers.get("accept-encoding", "")
    encoding = next((name for name in ("br", "gzip") if name in accepted), "")
    headers = {"cache-control": kept, "vary": "accept-encoding", **({"content-encoding": encoding} if encoding else {})}
    return Response(_packed(read, encoding), media_type=media_type, headers=headers)


def serve_plotly(request: Request) -> Response:
    """Plotly's script, kept by browsers for a day."""
    return _answer(request, plotly_script(), "text/javascript", FOR_A_DAY)


def serve_style(request: Request) -> Response:
    """Gradio's small style sheets as one; the address has its contents' hash."""
    return _answer(request, None, "text/css", FOR_EVER)


@cache
def _styles() -> Sequence[Path]:
    """Gradio's style sheets that are small and name no file beside them."""
    found = sorted((FRONTEND / "assets").glob("*.css"))
    return tuple(file for file in found if file.stat().st_size < LARGEST_STYLE and b"url(" not in file.read_bytes())


@cache
def _common_style() -> str:
    return "\n".join(file.read_text(encoding="utf-8") for file in _styles())


@cache
def style_links() -> Markup:
    """The common style sheet, and a disabled link for each that is in it, which keeps Gradio from fetching that one.

    Its script looks for a link to a style sheet before it adds one; what is disabled is not fetched. Of a release that looks
    no more, the same styles come twice.
    """
    version = hashlib.sha256(_common_style().encode()).hexdigest()[:12]
    links = Markup('<link rel="stylesheet" href="{}?{}">').format(STYLE_NAME, version)
    for file in _styles():
        links += Markup('<link rel="stylesheet" href="assets/{}" crossorigin disabled>').format(file.name)
    return links


class KeptAssets:
    """ASGI middleware: what lies below /assets has its contents' hash in its name, so browsers need not ask for it again."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, with a header more."""
        if scope["type"] != "http" or not scope["path"].startswith("/assets/"):
            await self.app(scope, receive, send)
            return

        async def keep(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 200:
                headers = [pair for pair in message["headers"] if pair[0].lower() != b"cache-control"]
                message = {**message, "headers": [*headers, (b"cache-control", FOR_EVER.encode())]}
            await send(message)

        await self.app(scope, receive, keep)

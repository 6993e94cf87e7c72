"""Serves what a browser fetches before the first page is drawn: fewer and smaller files than Gradio's and Plotly's,
which it may keep.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import brotli
import gradio
import plotly
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer.settings import ROOT

MADE = (Path(sys.prefix) / "frontend", ROOT / "frontend")
"""The folders in which deploy/frontend.py puts what it makes with npm's help: `make setup` the first, a Space the second."""

PLOTLY_WHOLE = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
PLOTLY_SMALL = "plotly-cartesian.min.js"
"""Plotly without maps and solids, which no figure here has."""

JOINED = "joined.json"
"""The list of what stands in place of each of Gradio's scripts that were joined into one."""

FRONTEND = Path(gradio.__file__).parent / "templates" / "frontend"
LARGEST_STYLE = 10_000
"""Bytes of a style sheet of Gradio's that goes into the common one; larger ones belong to components that no page has."""

STYLE_NAME = "explorer/gradio.css"
_PAGE_STYLE = re.compile(r'href="\./assets/([\w.-]+\.css)"')
FOR_A_DAY, FOR_EVER = "public, max-age=86400", "public, max-age=31536000, immutable"


def _made(name: str) -> Path | None:
    return next((folder / name for folder in MADE if (folder / name).is_file()), None)


def plotly_script() -> Path:
    """Return the small script if it exists for the installed version, which its first lines name; else the whole one."""
    small = _made(PLOTLY_SMALL)
    return small if small and _release(small) == _release(PLOTLY_WHOLE) else PLOTLY_WHOLE


def _release(script: Path) -> str:
    """Return 4.1.1 of "plotly.js (cartesian - minified) v4.1.1"."""
    with script.open(encoding="utf-8") as text:
        return text.read(200).partition(" v")[2].split()[0]


@cache
def _packed(source: Path | Callable[[], str], encoding: str) -> bytes:
    """Return a file, or the text that a function makes, compressed once; a compressed file beside it is used if there is
    one.
    """
    if isinstance(source, Path) and encoding == "br" and (ready := source.with_name(source.name + ".br")).is_file():
        return ready.read_bytes()
    data = source.read_bytes() if isinstance(source, Path) else source().encode()
    if encoding == "br":
        return bytes(brotli.compress(data, quality=9))
    return gzip.compress(data, compresslevel=6) if encoding == "gzip" else data


def packed_answer(request: Request, source: Path | Callable[[], str], media_type: str, kept: str) -> Response:
    """Return a file, or the text that a function makes, as small as the browser takes it. kept: for how long it may keep it."""
    accepted = request.headers.get("accept-encoding", "")
    encoding = next((name for name in ("br", "gzip") if name in accepted), "")
    headers = {"cache-control": kept, "vary": "accept-encoding", **({"content-encoding": encoding} if encoding else {})}
    return Response(_packed(source, encoding), media_type=media_type, headers=headers)


def serve_plotly(request: Request) -> Response:
    """Serve Plotly's script, which browsers keep for a day."""
    return packed_answer(request, plotly_script(), "text/javascript", FOR_A_DAY)


FONTS = ROOT / "assets" / "fonts"
TYPEFACES = {"Inter": "inter.woff2", "JetBrains Mono": "jetbrains-mono.woff2"}
"""The bundled typefaces, for text and for tokens, and their files in assets/fonts; other alphabets have the system's."""


def serve_font(request: Request) -> Response:
    """Serve a bundled typeface. Its address has a hash of the contents."""
    name = request.path_params["name"]
    if name not in TYPEFACES.values():
        return Response(status_code=404)
    return Response((FONTS / name).read_bytes(), media_type="font/woff2", headers={"cache-control": FOR_EVER})


@cache
def font_faces() -> str:
    """Return what a page's head needs so that its first letters are in the bundled typefaces already."""
    links, faces = "", ""
    for family, name in TYPEFACES.items():
        address = f"./explorer/fonts/{name}?{hashlib.sha256((FONTS / name).read_bytes()).hexdigest()[:12]}"
        links += f'<link rel="preload" as="font" type="font/woff2" href="{address}" crossorigin>'
        face = f'font-family:"{family}";src:url("{address}") format("woff2");font-weight:100 900;font-display:block'
        faces += f"@font-face{{{face}}}"
    return f"{links}<style>{faces}</style>"


def serve_style(request: Request) -> Response:
    """Serve Gradio's small style sheets as one; its address has a hash of the contents."""
    return packed_answer(request, _common_style, "text/css", FOR_EVER)


@cache
def _styles() -> Sequence[Path]:
    """Return Gradio's style sheets that are small and name no other file."""
    found = sorted((FRONTEND / "assets").glob("*.css"))
    return tuple(file for file in found if file.stat().st_size < LARGEST_STYLE and b"url(" not in file.read_bytes())


@cache
def _common_style() -> str:
    return "\n".join(file.read_text(encoding="utf-8") for file in _styles())


@dataclass(frozen=True)
class Joined:
    """Gradio's scripts that every page needs, as one file. first: the script that a page of Gradio's begins with.
    stubs: served in place of each script that is in the file; a stub re-exports that script's names from the file.
    """

    gradio: str
    first: str
    script: str
    stubs: Mapping[str, str]

    @property
    def folder(self) -> str:
        """The folder in which pages then find Gradio's files: its name is this version's alone, so that nothing a
        browser has kept from another is mixed in.
        """
        return f"assets/{self.script.removesuffix('.js')}"


@cache
def joined() -> Joined | None:
    """Return what `make setup` has joined, if it is for the installed Gradio."""
    told = _made(JOINED)
    if told is None:
        return None
    found = Joined(**json.loads(told.read_text(encoding="utf-8")))
    return found if found.gradio == gradio.__version__ and (told.parent / found.script).is_file() else None


def dressed(page: str) -> str:
    """Return Gradio's page with the common style sheet, and with one script instead of the many."""
    one = joined()
    if one:
        page = page.replace(f"./assets/{one.first}", f"./{one.folder}/{one.script}", 1)
    # Into the HTML itself: what Gradio is given as `head` comes only once its script runs, after that has asked for
    # its first style sheets.
    return page.replace("</head>", f"{_links(page, one)}</head>", 1)


def _links(page: str, one: Joined | None) -> Markup:
    """Return a link to the common style sheet, and a disabled link for each sheet in it, which keeps Gradio from
    fetching that one.

    Gradio's script looks for a link to a style sheet before it adds one; a disabled sheet is not fetched. If a release
    no longer looks, the same styles come twice. The same holds for scripts, whose links of the type "joined" fetch
    nothing. A joined script looks for all of them in its own folder, also for the style sheet that the page has from
    the common one.
    """
    version = hashlib.sha256(_common_style().encode()).hexdigest()[:12]
    links = Markup('<link rel="stylesheet" href="{}?{}">').format(STYLE_NAME, version)
    folder = one.folder if one else "assets"
    had = _PAGE_STYLE.findall(page) if one else []
    for name in [*(file.name for file in _styles()), *had]:
        links += Markup('<link rel="stylesheet" href="{}/{}" crossorigin disabled>').format(folder, name)
    for name in one.stubs if one else ():
        links += Markup('<link rel="joined" href="{}/{}">').format(folder, name)
    return links


def _asset(scope: Scope) -> Response | Scope:
    """Return the answer for a joined file, or the request with the path of Gradio's own file."""
    one = joined()
    if one is None or not scope["path"].startswith(f"/{one.folder}/"):
        return scope
    name = scope["path"].removeprefix(f"/{one.folder}/")
    if name == one.script and (script := _made(name)):
        return packed_answer(Request(scope), script, "text/javascript", FOR_EVER)
    if name in one.stubs:
        return Response(one.stubs[name], media_type="text/javascript", headers={"cache-control": FOR_EVER})
    path = f"/assets/{name}"
    return {**scope, "path": path, "raw_path": path.encode()}


class KeptAssets:
    """ASGI middleware: files below /assets have a hash of their contents in their name, so browsers need not ask for
    them again.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request on, and add a header to the answer."""
        if scope["type"] != "http" or not scope["path"].startswith("/assets/"):
            await self.app(scope, receive, send)
            return
        asset = _asset(scope)
        if isinstance(asset, Response):
            await asset(scope, receive, send)
            return

        async def keep(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 200:
                headers = [pair for pair in message["headers"] if pair[0].lower() != b"cache-control"]
                message = {**message, "headers": [*headers, (b"cache-control", FOR_EVER.encode())]}
            await send(message)

        await self.app(asset, receive, keep)

"""What others show of a link to a page: its name, a sentence and a picture, by the Open Graph protocol (ogp.me)."""

from __future__ import annotations

import re

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from explorer.settings import ROOT

PICTURE = ROOT / "assets" / "picture.png"
"""Of the running app, 1440 by 756; `make picture` makes it."""

_GRADIOS = re.compile(r'<meta (?:property="og|name="twitter):[^>]*>')
_ROOT = re.compile(r'"root":"(https?://[^"]+)"')


def serve_picture(request: Request) -> Response:
    """Serve the picture, which is kept for a day."""
    return FileResponse(PICTURE, media_type="image/png", headers={"cache-control": "public, max-age=86400"})


def with_preview(page: str, title: str, says: str) -> str:
    """Return a page's HTML with our preview in place of Gradio's, which is about Gradio and has no picture.

    The picture's address has to be a whole one; Gradio has written the one by which the page was asked for into it.
    """
    found = _ROOT.search(page)
    picture = f"{found[1]}/explorer/picture.png" if found else "explorer/picture.png"
    named = {"og:type": "website", "og:title": title, "og:description": says, "og:image": picture}
    tags = Markup("").join(Markup('<meta property="{}" content="{}">').format(*pair) for pair in named.items())
    tags += Markup('<meta name="twitter:card" content="summary_large_image">')
    return _GRADIOS.sub("", page).replace("</head>", f"{tags}</head>", 1)

"""The security headers of every answer, and each page's Content-Security-Policy."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable

HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "permissions-policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
}
"""The headers of every answer."""

_SCRIPTS = re.compile(r"<script(?![^>]*\ssrc=)[^>]*>(.*?)</script>", re.DOTALL)


def digest(text: str) -> str:
    """Return the source by which a policy allows one inline script or style, and no other."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def inline_scripts(html: str) -> list[str]:
    """Return the text of a document's inline scripts."""
    return _SCRIPTS.findall(html)


def framed_by(sites: str) -> str:
    """Return the directive for who may show an answer in a frame: this server itself, and `sites`."""
    return f"frame-ancestors 'self' {sites}".rstrip()


def page_policy(html: str, added: Iterable[str], sites: str) -> str:
    """Return a page's policy. added: inline scripts that come into the page later. sites: as in framed_by.

    Scripts are this server's files, and the inline ones that it wrote, by their digests, so HTML that gets into a page
    runs nothing.
    """
    # Gradio 6.31 needs the rest: it makes functions out of text (`js=`, gr.HTML's `js_on_load`), which is
    # 'unsafe-eval', and writes style elements and attributes while the page runs, which is 'unsafe-inline'.
    allowed = " ".join(dict.fromkeys(digest(script) for script in (*inline_scripts(html), *added)))
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src 'self' 'unsafe-eval' {allowed}",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "connect-src 'self'",
            "manifest-src 'self'",
            "base-uri 'self'",
            "form-action 'self'",
            framed_by(sites),
        ]
    )


def bare_policy(sites: str, style: str = "'unsafe-inline'") -> str:
    """Return the policy of every other answer, which shows something at most: a picture, a file that a visitor brought,
    a sentence.
    """
    return f"default-src 'none'; style-src {style}; img-src 'self' data:; form-action 'self'; base-uri 'none'; {framed_by(sites)}"

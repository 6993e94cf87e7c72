"""Fetches files that are named by a link, or refuses to: with the limits of an upload, from the public network alone.

Gradio 6.31 fetches whatever link stands in place of a file, whole into memory and without a limit, also from networks
that only this server reaches. All of that is replaced here.
"""

from __future__ import annotations

import asyncio
import ipaddress
import secrets
import shutil
import socket
from contextlib import aclosing
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NoReturn

import gradio as gr
import httpx
from gradio import processing_utils
from gradio_client import utils as client_utils  # type: ignore[import-untyped]
from starlette.requests import HTTPConnection

from explorer.serving.limits import Uploads, too_large_file
from explorer.serving.refusal import Refusal
from explorer.settings import Settings

SECONDS = 60.0
"""Seconds for a whole file, redirects included."""

SILENT = 10.0
"""Seconds without a byte after which a site is given up."""

MOST_REDIRECTS = 5
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

REFUSED = (
    "This server fetches no links. Bring the file itself: choose it on the page, name one of your own machine by gradio_client's "
    "handle_file, or have an assistant send the content (data:text/csv;base64,…). Whoever runs the server can allow links by "
    "EXPLORER_LINKS=1."
)
NOT_PUBLIC = "The link must be http:// or https:// and lead to a public site. Download the file yourself and bring it."


def is_public(address: Address) -> bool:
    """Return whether an address is of the public network."""
    # A 6to4 address wraps another, to which a gateway would unwrap it.
    if isinstance(address, ipaddress.IPv6Address) and address.sixtofour and not is_public(address.sixtofour):
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)


class Links:
    """The links of one server. uploads: the limits of all who bring files."""

    def __init__(self, settings: Settings, uploads: Uploads) -> None:
        self.allowed, self.most, self.uploads = settings.links, settings.upload_bytes, uploads

    async def fetch(self, link: str, folder: Path, request: HTTPConnection) -> str:
        """Return the path of the file that a link leads to, once it is fetched. Raises Refusal."""
        if not self.allowed:
            raise Refusal(REFUSED)
        if said := self.uploads.refusal(request)[1]:
            raise Refusal(said)
        place = folder / secrets.token_hex(16)
        place.mkdir(parents=True)
        try:
            async with asyncio.timeout(SECONDS):
                return str(await self._fetch(link, place))
        except BaseException as error:  # also where the visitor has gone
            shutil.rmtree(place, ignore_errors=True)
            if isinstance(error, TimeoutError | httpx.HTTPError | httpx.InvalidURL):
                raise Refusal("The link's site did not send the file. Download it yourself and bring it.") from None
            raise

    async def _fetch(self, link: str, place: Path) -> Path:
        url = httpx.URL(link)
        async with httpx.AsyncClient(trust_env=False, timeout=SILENT) as client:
            for _ in range(MOST_REDIRECTS + 1):
                answer = await client.send(_request(client, url, await _address(url)), stream=True)
                async with aclosing(answer):
                    if not answer.has_redirect_location:
                        return await self._kept(answer, place / _file_name(url))
                    url = url.join(answer.headers["location"])
        raise Refusal(f"The link leads on more than {MOST_REDIRECTS} times. Give the address where it ends.")

    async def _kept(self, answer: httpx.Response, file: Path) -> Path:
        if answer.status_code != 200 or answer.headers.get("content-encoding", "identity") != "identity":
            raise Refusal("The link's site did not send the file as it is. Download it yourself and bring it.")
        too_large = Refusal(too_large_file(self.most))
        if int(answer.headers.get("content-length") or 0) > self.most:
            raise too_large
        with file.open("wb") as kept:
            async for part in answer.aiter_raw():
                if kept.tell() + len(part) > self.most:
                    raise too_large
                kept.write(part)
        return file


async def _address(url: httpx.URL) -> str:
    """Return the address of a link's site. Raises Refusal."""
    if url.scheme not in ("http", "https") or not url.host:
        raise Refusal(NOT_PUBLIC)
    try:
        # Looked up once: another look, at the connection, could find another address.
        found = await asyncio.get_running_loop().getaddrinfo(url.host, url.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise Refusal(
            "The link's site is not found. Check the link, or download the file yourself and bring it."
        ) from None
    addresses = [ipaddress.ip_address(str(place[0]).partition("%")[0]) for *_, place in found]
    if not addresses or not all(map(is_public, addresses)):
        raise Refusal(NOT_PUBLIC)
    return str(addresses[0])


def _request(client: httpx.AsyncClient, url: httpx.URL, address: str) -> httpx.Request:
    """Build the request to this very address; the site's name is asked for there, and its certificate is checked by the
    name.
    """
    headers = {"host": url.netloc.decode(), "accept-encoding": "identity"}
    return client.build_request(
        "GET", url.copy_with(host=address), headers=headers, extensions={"sni_hostname": url.host}
    )


def _file_name(url: httpx.URL) -> str:
    return client_utils.strip_invalid_filename_characters(Path(url.path).name) or "file"


_ASKING: ContextVar[tuple[Links, HTTPConnection] | None] = ContextVar("asking", default=None)
"""The server and the visitor whose question is read: Gradio fetches links far below the code that knows them."""


class LinkingPages(gr.Blocks):
    """Pages to which files may be brought by link as `links` allows; without it by none."""

    links: Links | None = None

    def launch(self, *given: Any, links: Links | None = None, **options: Any) -> Any:
        """Launch as Gradio does."""
        self.links = links
        return super().launch(*given, **options)

    async def process_api(self, *given: Any, **named: Any) -> Any:
        """Process a call as Gradio does, and note the request."""
        request = named.get("request")
        _ASKING.set((self.links, request) if self.links and request else None)
        return await super().process_api(*given, **named)


async def _download(url: str, cache_dir: str) -> str:
    asking = _ASKING.get()
    if asking is None:
        raise Refusal(REFUSED)
    links, request = asking
    return await links.fetch(url, Path(cache_dir), request)


def _no_download(*given: Any, **named: Any) -> NoReturn:
    raise Refusal(REFUSED)


def install() -> None:
    """Replace every function by which Gradio fetches links."""
    ours = {
        "async_ssrf_protected_download": _download,
        "async_ssrf_protected_get": _no_download,
        "ssrf_protected_download": _no_download,
        "save_url_to_cache": _no_download,
        "unsafe_download": _no_download,
    }
    for name, function in ours.items():
        assert hasattr(processing_utils, name), (
            f"gradio.processing_utils has no {name} any more: look at how this Gradio fetches links"
        )
        setattr(processing_utils, name, function)

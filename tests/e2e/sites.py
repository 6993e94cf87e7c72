"""Small servers beside the app, and pages of other sites that show it in a frame."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

OTHER_SITES = "http://localhost:*"
"""To a browser `localhost` and `127.0.0.1` are two sites, and two ports of one are not."""


@contextmanager
def serving(app: Starlette) -> Iterator[int]:
    """An app on a free port of this machine; the port."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()


@contextmanager
def another_site(address: str) -> Iterator[str]:
    """A page of another site that holds nothing but a frame with an address; its own address."""

    async def page(request: Request) -> HTMLResponse:
        return HTMLResponse(f'<title>Another</title><iframe src="{address}" width="1000" height="740"></iframe>')

    with serving(Starlette(routes=[Route("/", page)])) as port:
        yield f"http://localhost:{port}/"

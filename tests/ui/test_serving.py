"""The server starts on a machine that is slow to answer, and keeps its connections."""

from __future__ import annotations

import itertools
import socket
from types import SimpleNamespace
from typing import Any

import gradio as gr
import httpx
import pytest
from gradio import http_server
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Scope, Send

from explorer.serving import server
from tests.ports import serving as served


class Slow:
    """ASGI middleware: the first page answers as a machine with too much to do, that is to say not within 3 s."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == "/":
            raise httpx.ReadTimeout("too slow")
        await self.app(scope, receive, send)


@pytest.fixture
def app() -> gr.Blocks:
    server.install()
    with gr.Blocks(analytics_enabled=False) as made:
        gr.Markdown("Ready.")
    return made


def test_it_starts_though_its_first_page_does_not_answer_yet(app: gr.Blocks) -> None:
    with served(app, app_kwargs={"middleware": [Middleware(Slow)]}) as url:
        assert httpx.get(f"{url}config").status_code == 200


def test_it_may_take_longer_to_begin_than_gradio_waits(app: gr.Blocks, monkeypatch: pytest.MonkeyPatch) -> None:
    late = itertools.count(step=6)
    clock: Any = SimpleNamespace(time=lambda: next(late), sleep=lambda seconds: None)
    monkeypatch.setattr(http_server, "time", clock)
    with served(app) as url:
        assert httpx.get(url).status_code == 200


def test_a_port_that_another_program_has_is_still_refused(app: gr.Blocks) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(OSError, match="empty port"), served(app, server_port=other.getsockname()[1]):
            pass


def test_a_connection_stays_open_for_longer_than_a_browser_keeps_it(app: gr.Blocks) -> None:
    with served(app):
        assert app.server is not None
        assert app.server.config.timeout_keep_alive > 300

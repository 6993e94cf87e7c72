"""A page is made once for each address of the server, and never mixed up with another."""

from __future__ import annotations

import asyncio
from itertools import count

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from explorer.labs import LABS
from explorer.serving import kept_pages
from explorer.serving.kept_pages import KeptPages
from tests import loops
from tests.rows import each_row


@pytest.fixture
def visitor() -> TestClient:
    made = count()

    def page(request: Request) -> Response:
        host = request.headers.get("x-forwarded-host", request.headers["host"])
        return HTMLResponse(f"{request.url.scheme} {host}{request.url.path} {request.query_params} made {next(made)}")

    def away(request: Request) -> Response:
        return RedirectResponse("/page")

    def broken(request: Request) -> Response:
        return PlainTextResponse(f"broken {next(made)}", 500, {"x-why": "a test"})

    routes = [Route("/page", page), Route("/other", page), Route("/away", away), Route("/broken", broken)]
    return TestClient(Starlette(routes=routes, middleware=[Middleware(KeptPages, ["/page", "/away", "/broken"])]))


def test_it_is_made_once_whatever_the_query(visitor: TestClient) -> None:
    first = visitor.get("/page").text
    assert first.endswith("made 0")
    assert visitor.get("/page?run=x").text == first
    assert visitor.get("/other?run=x").text == "http testserver/other run=x made 1"


def test_each_address_of_the_server_has_its_own(visitor: TestClient) -> None:
    for number, headers in enumerate([{}, {"host": "a"}, {"x-forwarded-host": "b"}, {"x-forwarded-proto": "https"}]):
        assert visitor.get("/page", headers=headers).text.endswith(f"made {number}")
    assert visitor.get("/page", headers={"host": "a"}).text == "http a/page  made 1"


def test_it_comes_compressed_or_plain_as_the_browser_asks(visitor: TestClient) -> None:
    small = visitor.get("/page", headers={"accept-encoding": "br, gzip"})
    plain = visitor.get("/page", headers={"accept-encoding": "identity"})
    assert (small.headers["content-encoding"], "content-encoding" in plain.headers) == ("gzip", False)
    assert small.text == plain.text
    assert plain.headers["content-type"].startswith("text/html")


def test_what_is_no_page_passes_as_it_is(visitor: TestClient) -> None:
    assert visitor.get("/away", follow_redirects=False).headers["location"] == "/page"
    for number in range(2):
        broken = visitor.get("/broken")
        assert (broken.status_code, broken.text, broken.headers["x-why"]) == (500, f"broken {number}", "a test")


def test_invented_hosts_fill_no_memory(visitor: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_pages, "MOST_PAGES", 2)
    for host in ("a", "b", "c"):
        visitor.get("/page", headers={"host": host})
    assert visitor.get("/page", headers={"host": "b"}).text.endswith("made 1")
    assert visitor.get("/page", headers={"host": "a"}).text.endswith("made 3")


@each_row("lab", LABS, ids=lambda lab: lab.slug)
def test_every_lab_is_served_compressed_and_whole(address: str, lab: object) -> None:
    for _ in range(2):
        answer = httpx.get(f"{address}{lab.slug}")  # type: ignore[attr-defined]
        assert answer.headers["content-encoding"] == "gzip"
        assert f'"current_page":"{lab.slug}"' in answer.text.replace('": "', '":"')  # type: ignore[attr-defined]
        assert answer.text.rstrip().endswith("</html>")


def test_a_class_that_comes_at_once_has_each_page_made_once() -> None:
    made = count()

    async def page(request: Request) -> Response:
        number = next(made)
        await asyncio.sleep(0.05)
        return HTMLResponse(f"{request.url.path} made {number}")

    app = Starlette(routes=[Route("/a", page), Route("/b", page)], middleware=[Middleware(KeptPages, ["/a", "/b"])])

    async def come() -> set[str]:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://class") as browser:
            return {answer.text for answer in await asyncio.gather(*(browser.get(path) for path in ["/a", "/b"] * 30))}

    assert loops.run(come()) == {"/a made 0", "/b made 1"}

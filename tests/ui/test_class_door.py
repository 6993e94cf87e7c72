"""Without the class's password no page, asset, endpoint or file answers; with it everything does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from explorer.engine.local import LocalEngine
from explorer.serving.class_door import COOKIE, HEADER, ClassDoor, Entry
from explorer.serving.front_door import FrontDoor
from explorer.serving.rates import Rate, Tries
from explorer.settings import Settings
from explorer.shell import build_app, launch_options
from tests.caller import Caller
from tests.loops import run
from tests.ports import serving
from tests.rows import each_row
from tests.ui.conftest import HAS_MCP, rows

PASSWORD = "wïnter 26"
READS_PAGES = {"accept": "text/html"}


def _visitor(entry: Entry) -> TestClient:
    async def page(request: Request) -> PlainTextResponse:
        return PlainTextResponse(f"inside {request.query_params}")

    async def streamed(request: Request) -> StreamingResponse:
        return StreamingResponse(iter(["a", "b"]))

    doors = [Middleware(FrontDoor, is_lecturer=lambda key: key == "teach", entry=entry), Middleware(ClassDoor, entry)]
    routes = [Route("/", page), Route("/masking", page, methods=["GET", "POST"]), Route("/stream", streamed)]
    return TestClient(Starlette(routes=routes, middleware=doors), headers=READS_PAGES)


@pytest.fixture
def entry() -> Entry:
    return Entry(PASSWORD)


@pytest.fixture
def visitor(entry: Entry) -> TestClient:
    return _visitor(entry)


def enter(visitor: TestClient, path: str = "/", **options: Any) -> httpx.Response:
    """As a browser does: it is asked, and answers."""
    visitor.get(path)
    return visitor.post(path, data={"password": f" {PASSWORD} "}, **options)


class TestDoor:
    def test_a_browser_is_asked_and_comes_back_to_where_it_was(self, visitor: TestClient) -> None:
        asked = visitor.get("/masking?run=r1&tab=a%20b")
        assert asked.status_code == 401
        assert 'type="password"' in asked.text
        assert asked.headers["cache-control"] == "no-store"
        assert "script-src" not in asked.headers["content-security-policy"]
        entered = visitor.post("/masking?run=r1&tab=a%20b", data={"password": f" {PASSWORD} "})
        assert entered.text == "inside run=r1&tab=a+b"
        assert visitor.get("/stream").text == "ab"

    def test_a_browser_that_keeps_no_cookies_is_sent_to_a_tab_of_its_own(self, visitor: TestClient) -> None:
        answer = visitor.post("/masking?run=%22r1", data={"password": PASSWORD})
        assert answer.status_code == 403
        assert "this browser keeps no cookies here" in answer.text
        assert '<a href="./masking?run=%22r1" target="_blank"' in answer.text
        assert COOKIE not in visitor.cookies
        visitor.cookies.clear()
        assert "not the class&#39;s password" in visitor.post("/", data={"password": "summer"}).text

    def test_a_wrong_password_says_so(self, visitor: TestClient) -> None:
        answer = visitor.post("/", data={"password": "summer"})
        assert answer.status_code == 401
        assert 'role="alert"' in answer.text
        assert "not the class&#39;s password" in answer.text
        assert visitor.get("/").status_code == 401

    @pytest.mark.parametrize("content", [b"", b"other=1", b"password=%ff", b"password=" + b"x" * 10**6])
    def test_nonsense_is_wrong_too(self, visitor: TestClient, content: bytes) -> None:
        kind = {"content-type": "application/x-www-form-urlencoded"}
        assert visitor.post("/", content=content, headers=kind).status_code == 401

    def test_the_cookie_tells_nothing_of_the_password_and_is_of_this_start(
        self, visitor: TestClient, entry: Entry
    ) -> None:
        set_cookie = enter(visitor, follow_redirects=False).headers["set-cookie"]
        assert f"{COOKIE}={entry.token}" in set_cookie
        assert "HttpOnly" in set_cookie
        assert len(entry.token) >= 43
        stranger = _visitor(Entry(PASSWORD))
        stranger.cookies.set(COOKIE, entry.token)
        assert stranger.get("/").status_code == 401

    def test_guessing_ends_and_those_who_are_in_stay(self) -> None:
        entry = Entry(PASSWORD, tries=Tries(2))
        inside, guesser = _visitor(entry), _visitor(entry)
        enter(inside)
        statuses = [guesser.post("/", data={"password": word}).status_code for word in ("a", "b", "c")]
        assert statuses == [401, 401, 429]
        assert guesser.get("/?lecturer=guess").status_code == 429
        assert inside.get("/").status_code == 200

    def test_one_who_guesses_keeps_nobody_with_the_right_one_out(self) -> None:
        entry = Entry("winter", tries=Tries(2))
        guesser, mate = _visitor(entry), _visitor(entry)
        statuses = [guesser.post("/", data={"password": "guess"}).status_code for _ in range(5)]
        assert statuses == [401, 401, 429, 429, 429]
        mate.get("/")
        assert mate.post("/", data={"password": "winter"}).text == "inside "
        assert _visitor(entry).get("/", headers={HEADER: "winter"}).text == "inside "
        assert _visitor(entry).get("/masking?lecturer=teach").text == "inside "

    def test_a_program_that_guesses_ends_too(self) -> None:
        clock = [0.0]
        entry = Entry(PASSWORD, tries=Tries(2), checks=Rate(5, 5, lambda: clock[0]))
        guesser = _visitor(entry)
        statuses = [guesser.post("/", data={"password": str(number)}).status_code for number in range(5)]
        assert statuses == [401, 401, 429, 429, 429]
        assert guesser.post("/", data={"password": PASSWORD}).status_code == 429
        clock[0] = 2.0
        assert enter(_visitor(entry)).text == "inside "

    def test_a_header_counts_as_a_try_as_well(self) -> None:
        guesser = _visitor(Entry("winter", tries=Tries(1)))
        assert [guesser.get("/", headers={HEADER: word}).status_code for word in ("a", "b", "winter")] == [
            401,
            429,
            200,
        ]

    @pytest.mark.parametrize("header", [{HEADER: "winter"}, {"authorization": "Bearer winter"}])
    def test_a_script_gives_it_in_a_header(self, header: dict[str, str]) -> None:
        assert _visitor(Entry("winter")).get("/", headers=header).text == "inside "

    def test_a_script_without_it_reads_how(self, visitor: TestClient) -> None:
        answer = visitor.get("/", headers={"accept": "*/*"})
        assert answer.status_code == 401
        assert HEADER in answer.json()["detail"]

    def test_the_lecturers_link_opens_it_too_and_a_wrong_one_does_not(self, entry: Entry) -> None:
        assert _visitor(entry).get("/masking?lecturer=teach&run=1").text == "inside run=1"
        assert _visitor(entry).get("/masking?lecturer=guess").status_code == 401

    def test_a_websocket_is_closed(self, visitor: TestClient) -> None:
        with pytest.raises(WebSocketDisconnect), visitor.websocket_connect("/"):
            pass

    def test_without_a_password_the_door_stands_open(self) -> None:
        open_door = _visitor(Entry())
        assert open_door.get("/").text == "inside "
        assert open_door.post("/masking", data={"password": "x"}).text == "inside "


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the app, of which a class has the password."""
    chosen = Settings(
        device="cpu",
        offline=True,
        data_folder=tmp_path_factory.mktemp("data"),
        class_password="winter",
        upload_bytes=1000,
    )
    engine = LocalEngine(chosen)
    app = build_app(engine)
    options = launch_options(engine, chosen)
    with serving(app, mcp_server=HAS_MCP, **options) as url:
        yield url


class TestServed:
    @each_row(
        "path",
        [
            "",
            "masking",
            "config",
            "explorer/plotly.min.js",
            "explorer/gradio.css",
            "explorer/attention-view.html",
            "assets/nothing.js",
            "theme.css",
            "gradio_api/info",
            "gradio_api/openapi.json",
            "gradio_api/file=/etc/hostname",
            "gradio_api/queue/data?session_hash=a",
            "gradio_api/heartbeat/a",
            "gradio_api/mcp/",
        ],
    )
    def test_nothing_is_read(self, closed: str, path: str) -> None:
        answer = httpx.get(closed + path)
        assert answer.status_code == 401
        assert "class's password" in answer.text

    @each_row("path", ["run/fill_masks", "call/fill_masks", "queue/join", "upload", "mcp/", "cancel"])
    def test_nothing_is_asked(self, closed: str, path: str) -> None:
        assert httpx.post(f"{closed}gradio_api/{path}", json={"data": []}).status_code == 401

    def test_a_script_with_the_password_asks_downloads_and_streams(self, closed: str, tmp_path: Path) -> None:
        with pytest.raises(Exception, match="credentials"):
            Caller(closed)
        client = Caller(closed, headers={HEADER: "winter"})
        assert len(rows(client.predict(model="bert-mini", text="A [MASK].", top_k=2, api_name="/fill_masks"))) == 2
        kept = client.predict(run="example-lora-8", kind="adapter", api_name="/export_run")
        assert Path(kept).stat().st_size > 10_000

    def test_an_assistant_with_the_password_gets_what_takes_a_while(self, closed: str) -> None:
        pytest.importorskip("mcp")
        from mcp import ClientSession
        from mcp.client.streamable_http import streamablehttp_client

        async def talk() -> Any:
            way_in = streamablehttp_client(f"{closed}gradio_api/mcp/", headers={"Authorization": "Bearer winter"})
            async with way_in as (reads, writes, _), ClientSession(reads, writes) as session:
                await session.initialize()
                return await session.call_tool("continue_text", {"decoding": ["greedy"], "tokens": 4})

        assert json.loads(run(talk()).content[0].text)["rows"]

    def test_a_file_beyond_the_setting_is_refused(self, closed: str) -> None:
        files = {"files": ("a.csv", b"x" * 2000)}
        assert httpx.post(f"{closed}gradio_api/upload", files=files, headers={HEADER: "winter"}).status_code == 413

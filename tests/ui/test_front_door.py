"""Headers, closed paths, uploads, and the lecturer's key in the address."""

from __future__ import annotations

from urllib.parse import quote

import gradio as gr
import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route, Router
from starlette.testclient import TestClient

from explorer.labs import LABS
from explorer.serving import class_door
from explorer.serving.class_door import COOKIE as CLASS_COOKIE
from explorer.serving.class_door import Entry
from explorer.serving.front_door import CLOSED, COOKIE, FrontDoor, lecturers_key
from explorer.serving.rates import Tries
from explorer.settings import Settings
from tests.rows import each_row

KEY = "tëach; me/ %41"

API = (
    "api/{api_name}", "app_id", "call/v2/{api_name}", "call/v2/{api_name}/{event_id}", "call/{api_name}",
    "call/{api_name}/{event_id}", "cancel", "file/{path:path}", "file={path_or_url:path}", "heartbeat/{session_hash}", "info",
    "login_check", "mcp", "openapi.json", "queue/data", "queue/join", "queue/status", "reset", "run/{api_name}", "startup-events",
    "theme.css", "upload", "upload_progress", "user",
)  # fmt: skip
LESSONS = (
    "class", "class/{code}/answer", "class/{code}/answers.csv", "class/{code}/join", "class/{code}/lesson", "class/{code}/step",
    "class/{code}/turn", "class/{code}/watch", "join-code", "lesson/{file}.js", "lessons/check", "lessons/sheet",
    "lessons/truth", "lessons/yaml", "lessons/{name}.json", "lessons/{name}/sheet",
)  # fmt: skip
USED = {
    "", "/", "/assets/{path:path}", "/config", "/explorer/attention-view.html", "/explorer/gradio.css", "/explorer/line",
    "/explorer/map.json", "/explorer/page.js", "/explorer/fonts/{name}", "/explorer/picture.png", "/explorer/ledger", "/join",
    *(f"/explorer/{path}" for path in LESSONS),
    "/explorer/plotly.min.js", "/favicon.ico", "/login", "/logout", "/manifest.json", "/pwa_icon", "/pwa_icon/{size}",
    "/robots.txt", "/static/{path:path}", "/theme.css", *(f"/gradio_api/{path}" for path in API),
}  # fmt: skip
"""The routes that pages, scripts and assistants need."""


def _seen(request: Request) -> JSONResponse:
    return JSONResponse({"query": str(request.query_params), "key": lecturers_key(request.cookies)})


@pytest.fixture
def visitor() -> TestClient:
    door = Middleware(FrontDoor, is_lecturer=lambda key: key == KEY)
    pages = [Route(path, _seen) for path in ("/", "/finetune", "/embed", "/monitoring/summary")]
    return TestClient(Starlette(routes=pages, middleware=[door]))


class TestLecturersKey:
    def test_it_leaves_the_address_and_stays_with_the_browser(self, visitor: TestClient) -> None:
        answer = visitor.get(f"/finetune?lecturer={quote(KEY)}&run=one&tab=a%20b")
        assert answer.json() == {"query": "run=one&tab=a+b", "key": KEY}
        assert "lecturer" not in str(answer.url)
        assert visitor.get("/").json()["key"] == KEY

    def test_the_cookie_is_for_the_server_alone_and_ends_with_the_browser(self, visitor: TestClient) -> None:
        asked = visitor.get(f"/?lecturer={quote(KEY)}", follow_redirects=False)
        cookie = asked.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Lax" in cookie
        assert "max-age" not in cookie.lower()
        assert "expires" not in cookie.lower()
        assert asked.headers["cache-control"] == "no-store"

    @pytest.mark.parametrize("space", ["", "user/name"])
    def test_behind_https_only_a_spaces_frame_keeps_it_on_another_site(
        self, visitor: TestClient, space: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(class_door, "settings", lambda: Settings.from_environment({"SPACE_ID": space}))
        asked = visitor.get(f"/?lecturer={quote(KEY)}", headers={"x-forwarded-proto": "https"}, follow_redirects=False)
        given = asked.headers.get_list("set-cookie")
        assert [line.partition("=")[0] for line in given] == [COOKIE, CLASS_COOKIE]
        wanted = "; SameSite=None; Secure; Partitioned" if space else "; SameSite=Lax; Secure"
        assert all(line.endswith(wanted) for line in given), given

    @pytest.mark.parametrize("wrong", ["", "guess", "ü", "%ff", "a;b"])
    def test_another_key_leaves_the_address_too_and_opens_nothing(self, visitor: TestClient, wrong: str) -> None:
        answer = visitor.get("/finetune", params={"lecturer": wrong})
        assert answer.json() == {"query": "", "key": ""}
        assert COOKIE not in visitor.cookies

    def test_the_way_back_is_relative(self, visitor: TestClient) -> None:
        for path, wanted in (
            ("/?lecturer=x", "./"),
            ("/finetune?lecturer=x&run=1", "./finetune?run=1"),
            ("/https:evil.example?lecturer=x", "./https%3Aevil.example"),
            ("/%2F%2Fevil.example?lecturer=x", "./evil.example"),
        ):
            assert visitor.get(path, follow_redirects=False).headers["location"] == wanted

    def test_guessing_ends_and_the_right_key_is_let_in_beside_it(self) -> None:
        door = Middleware(FrontDoor, is_lecturer=lambda key: key == KEY, entry=Entry(tries=Tries(2)))
        guesser = TestClient(Starlette(routes=[Route("/", _seen)], middleware=[door]))
        statuses = [guesser.get("/", params={"lecturer": key}).status_code for key in ("a", "b", "c", KEY)]
        assert statuses == [200, 200, 429, 200]

    def test_no_address_with_the_key_is_told_to_another_site(self, visitor: TestClient) -> None:
        asked = visitor.get(f"/?lecturer={quote(KEY)}", follow_redirects=False)
        assert asked.headers["referrer-policy"] == "same-origin"
        assert asked.text == "", "no document stands at this address, which could name it as where a visitor comes from"


class TestServed:
    def test_every_answer_has_the_headers(self, address: str) -> None:
        for path in ("masking", "gradio_api/info", "explorer/plotly.min.js", "nothing/here"):
            headers = httpx.head(address + path).headers if path == "masking" else httpx.get(address + path).headers
            assert headers["x-content-type-options"] == "nosniff", path
            assert "frame-ancestors 'self' https://huggingface.co" in headers["content-security-policy"], path
            assert "default-src 'none'" in headers["content-security-policy"], path
            assert headers["referrer-policy"] == "same-origin", path
            assert "camera=()" in headers["permissions-policy"], path

    @each_row(
        "path",
        [
            "monitoring",
            "monitoring/",
            "monitoring/summary",
            "gradio_api/deep_link?session_hash=a",
            "gradio_api/runs",
            "gradio_api/run-history/records",
            "gradio_api/process_recording",
            "gradio_api/component_server/",
            "gradio_api/proxy=https://example.org",
            "openapi.json",
        ],
    )
    def test_what_the_app_does_not_offer_is_closed(self, address: str, path: str) -> None:
        for method in ("GET", "POST"):
            assert httpx.request(method, address + path).status_code == 404

    def test_a_file_that_is_too_large_is_refused_on_its_way(self, address: str) -> None:
        def chunks() -> object:
            yield b'--edge\r\nContent-Disposition: form-data; name="files"; filename="a.csv"\r\n\r\n'
            for _ in range(101):
                yield b"x" * 2**20
            yield b"\r\n--edge--\r\n"

        answer = httpx.post(
            f"{address}gradio_api/upload",
            content=chunks(),  # type: ignore[arg-type]
            headers={"content-type": "multipart/form-data; boundary=edge"},
            timeout=120,
        )
        assert answer.status_code == 413

    def test_every_way_in_that_gradio_has_is_known(self, address: str, blocks: gr.Blocks) -> None:
        """A new Gradio may open more: each is used here, or closed."""
        assert blocks.server_app is not None
        routes = [
            route for one in blocks.server_app.routes for route in getattr(one, "original_router", Router([one])).routes
        ]
        paths = {str(getattr(route, "path", "")).rstrip("/") for route in routes}
        assert len(paths) > 60
        pages = {f"/{lab.slug}" for lab in LABS}
        assert {path for path in paths if not path.startswith(CLOSED) and path not in pages} <= USED


class TestOtherSites:
    """What Gradio would let every site read, where the server is not called localhost."""

    @pytest.fixture
    def visitor(self) -> TestClient:
        def answer(request: Request) -> JSONResponse:
            leave = {
                "access-control-allow-origin": request.headers["origin"],
                "access-control-allow-credentials": "true",
            }
            return JSONResponse({}, headers=leave)

        door = Middleware(FrontDoor, is_lecturer=lambda key: False)
        routes = [Route("/", answer, methods=["GET", "POST", "OPTIONS"])]
        return TestClient(Starlette(routes=routes, middleware=[door]), base_url="http://class.test:7860")

    @pytest.mark.parametrize("method", ["GET", "OPTIONS"])
    @pytest.mark.parametrize("origin", ["http://evil.test", "http://class.test", "https://class.test:1", "null"])
    def test_no_other_origin_may_read(self, visitor: TestClient, method: str, origin: str) -> None:
        answer = visitor.request(method, "/", headers={"origin": origin})
        assert not [name for name in answer.headers if name.startswith("access-control-")]

    def test_its_own_pages_are_as_they_were(self, visitor: TestClient) -> None:
        answer = visitor.get("/", headers={"origin": "http://class.test:7860"})
        assert answer.headers["access-control-allow-origin"] == "http://class.test:7860"
        behind = {"origin": "https://bert.example.edu", "x-forwarded-host": "bert.example.edu"}
        assert "access-control-allow-origin" in visitor.get("/", headers=behind).headers

    @pytest.mark.parametrize(
        ("site", "status"), [("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)]
    )
    def test_another_site_asks_nothing_for_a_visitor(self, visitor: TestClient, site: str, status: int) -> None:
        headers = {"origin": "http://class.test:7860", "sec-fetch-site": site}
        assert visitor.post("/", headers=headers).status_code == status
        assert visitor.get("/", headers=headers).status_code == 200


class TestOtherSitesOfTheApp:
    """The same of the app as it is served: what Gradio adds is around all that it is given."""

    def test_none_is_told_that_it_may_read(self, address: str) -> None:
        evil = {"host": "class.test:7860", "origin": "http://evil.test"}
        asks = {"access-control-request-method": "POST", "access-control-request-headers": "content-type"}
        for answer in (
            httpx.get(f"{address}gradio_api/info", headers=evil, timeout=60),
            httpx.options(f"{address}gradio_api/run/tokenize", headers=evil | asks),
        ):
            assert not [name for name in answer.headers if name.startswith("access-control-")]

    def test_none_asks_for_a_visitor(self, address: str) -> None:
        """By plain http to a name that is not this machine, a browser sends the Origin alone."""
        question = {"data": ["a text"]}
        for origin, status in (("http://evil.test", 403), ("null", 403), ("http://class.test:7860", 200)):
            headers = {"host": "class.test:7860", "origin": origin}
            answer = httpx.post(f"{address}gradio_api/run/tokenize", json=question, headers=headers, timeout=60)
            assert answer.status_code == status, origin

    def test_a_proxy_on_this_machine_may_hide_the_name(self, address: str) -> None:
        headers = {"origin": "https://bert.example.edu"}
        answer = httpx.post(f"{address}gradio_api/run/tokenize", json={"data": ["a text"]}, headers=headers, timeout=60)
        assert answer.status_code == 200


@each_row(
    ("host", "status"),
    [
        ("bert.example.edu", 200),
        ("BERT.example.edu:7860", 200),
        ("evil.test", 421),
        ("bert.example.edu.evil.test", 421),
        ("127.0.0.1:7860", 200),
    ],
)
def test_a_server_with_a_name_answers_to_no_other(host: str, status: int) -> None:
    door = Middleware(FrontDoor, is_lecturer=lambda key: False, hosts=("Bert.example.edu",))
    visitor = TestClient(Starlette(routes=[Route("/", _seen)], middleware=[door]))
    assert visitor.get("/", headers={"host": host}).status_code == status

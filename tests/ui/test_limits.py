"""What one request may bring, and how often: each refusal is a sentence, and nothing that is refused is read by the app."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from explorer.serving import limits
from explorer.serving.limits import COOKIE, Limits
from explorer.settings import MEBIBYTE, Settings

JOIN, UPLOAD = "/gradio_api/queue/join", "/gradio_api/upload"
Visitors = Callable[..., TestClient]


@pytest.fixture
def visitors() -> Visitors:
    """Makes the first visitor of a server with some limits."""

    async def length(request: Request) -> Response:
        return JSONResponse(len(await request.body()))

    async def page(request: Request) -> Response:
        return HTMLResponse("a page")

    def arrive(**limited: int) -> TestClient:
        routes = [Route(path, length, methods=["POST"]) for path in (JOIN, UPLOAD, "/gradio_api/cancel")]
        served = Starlette(
            routes=[Route("/", page), *routes], middleware=[Middleware(Limits, settings=Settings(**limited))]
        )
        return TestClient(served)

    return arrive


def another(visitor: TestClient) -> TestClient:
    """A visitor of the same server from the same address."""
    return TestClient(visitor.app)


def ask(visitor: TestClient, path: str = JOIN, session: str = "") -> Any:
    return visitor.post(path, json={"data": [], **({"session_hash": session} if session else {})})


class TestSize:
    def test_a_question_that_is_too_long_is_refused_and_not_read(self, visitors: Visitors) -> None:
        visitor = visitors(question_bytes=1000)
        assert visitor.post(JOIN, content=b"x" * 1000).json() == 1000
        answer = visitor.post(JOIN, content=b"x" * 1001)
        assert answer.status_code == 413
        assert "longer than 0.000954 MB" in answer.json()["detail"]
        assert answer.json()["error"] == answer.json()["detail"]

    def test_so_is_one_that_does_not_say_how_long_it_is(self, visitors: Visitors) -> None:
        def parts() -> Iterator[bytes]:
            yield from [b"x" * 600] * 100

        assert visitors(question_bytes=1000).post(JOIN, content=parts()).status_code == 413

    def test_the_whole_of_an_upload_has_a_limit_however_many_files_it_is(self, visitors: Visitors) -> None:
        visitor = visitors(upload_bytes=MEBIBYTE, question_bytes=10)
        assert visitor.post(UPLOAD, content=b"x" * 2 * MEBIBYTE).json() == 2 * MEBIBYTE
        for content in (b"x" * (2 * MEBIBYTE + 1), iter([b"x" * MEBIBYTE] * 3)):
            answer = visitor.post(UPLOAD, content=content)
            assert answer.status_code == 413
            assert "at most 1 MB" in answer.json()["error"]

    def test_a_disk_that_is_nearly_full_takes_no_upload(
        self, visitors: Visitors, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        visitor = visitors(free_disk_bytes=1000)
        monkeypatch.setattr(limits, "_free_bytes", lambda: 999)
        answer = visitor.post(UPLOAD, content=b"x")
        assert answer.status_code == 507
        assert "free some space" in answer.json()["error"]
        assert ask(visitor).status_code == 200


class TestRates:
    def test_each_browser_of_one_address_has_its_own(self, visitors: Visitors) -> None:
        ada = visitors(questions_a_minute=2)
        bob = another(ada)
        for visitor in (ada, bob):
            visitor.get("/")
        assert ada.cookies[COOKIE] != bob.cookies[COOKIE]
        assert [ask(ada).status_code for _ in range(3)] == [200, 200, 429]
        assert ask(bob).status_code == 200
        refused = ask(ada, session="another")
        assert "more than 2 questions within a minute" in refused.json()["detail"]
        assert refused.headers["retry-after"] == "5"

    def test_scripts_which_keep_no_cookie_are_told_apart_by_their_sessions(self, visitors: Visitors) -> None:
        script = visitors(questions_a_minute=1)
        assert [ask(script, session=name).status_code for name in ("one", "two", "one")] == [200, 200, 429]

    def test_a_text_names_no_session(self, visitors: Visitors) -> None:
        script = visitors(questions_a_minute=1)
        bodies = [json.dumps({"data": [f'"session_hash": "{name}"']}) for name in ("one", "two")]
        assert [script.post(JOIN, content=body).status_code for body in bodies] == [200, 429]

    def test_whoever_invents_sessions_stays_within_what_the_address_may_ask(self, visitors: Visitors) -> None:
        script = visitors(questions_a_minute=1, address_questions_a_minute=3)
        answers = [ask(script, session=f"made-up-{number}") for number in range(4)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
        assert "from your network" in answers[-1].json()["detail"]

    def test_who_stops_something_is_never_refused(self, visitors: Visitors) -> None:
        visitor = visitors(questions_a_minute=1)
        assert {ask(visitor, "/gradio_api/cancel").status_code for _ in range(5)} == {200}

    def test_uploads_are_counted_by_the_hour(self, visitors: Visitors) -> None:
        ada = visitors(uploads_an_hour=1, address_uploads_an_hour=2)
        ada.get("/")
        answers = [one.post(UPLOAD, content=b"x") for one in (ada, ada, another(ada), another(ada))]
        assert [answer.status_code for answer in answers] == [200, 429, 200, 429]
        assert "more than 1 files within an hour" in answers[1].json()["error"]

    def test_a_server_for_oneself_counts_nothing_and_names_nobody(self, visitors: Visitors) -> None:
        visitor = visitors()
        visitor.get("/")
        assert COOKIE not in visitor.cookies
        assert {ask(visitor).status_code for _ in range(50)} == {200}

    def test_a_browser_keeps_its_name(self, visitors: Visitors) -> None:
        visitor = visitors(questions_a_minute=2)
        assert "set-cookie" in visitor.get("/").headers
        assert "set-cookie" not in visitor.get("/").headers


class TestServed:
    def test_a_paste_of_ten_megabytes_is_refused_before_it_is_parsed(self, address: str) -> None:
        answer = httpx.post(f"{address}gradio_api/run/fill_masks", content=b'{"data": ["' + b"x" * 10 * MEBIBYTE)
        assert answer.status_code == 413
        assert "longer than 8 MB" in answer.json()["error"]

"""Files that are named by a link: refused by default; else fetched as an upload is taken, and from the public network alone."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from gradio import processing_utils
from gradio_client import Client, handle_file
from starlette.requests import HTTPConnection

from explorer.serving import limits, links
from explorer.serving.limits import Uploads
from explorer.serving.links import NOT_PUBLIC, REFUSED, Links, is_public
from explorer.serving.refusal import Refusal
from explorer.settings import Settings
from tests import loops
from tests.rows import each_row

VISITOR = HTTPConnection({"type": "http", "headers": [], "client": ("10.1.2.3", 1)})
ROWS = b"text,label\n" + b"".join(b"row %d,%d\n" % (number, number % 2) for number in range(40))


class Site(BaseHTTPRequestHandler):
    """A site of the public network, as far as a test is concerned."""

    def do_GET(self) -> None:
        if self.path == "/rows.csv":
            self._send(200, ROWS)
        elif self.path == "/unsaid":  # no length is told, and none is kept
            self._send(200, ROWS * 100, length=False)
        elif self.path == "/away":
            self._send(302, b"", location="/rows.csv")
        elif self.path == "/round":
            self._send(302, b"", location="/round")
        elif self.path == "/inside":
            self._send(302, b"", location="http://169.254.169.254/latest")
        elif self.path == "/packed":
            self._send(200, ROWS, **{"content-encoding": "gzip"})
        else:
            self._send(404, b"nothing")

    def _send(self, status: int, body: bytes, length: bool = True, **headers: str) -> None:
        self.send_response(status)
        for name, value in {**headers, **({"content-length": str(len(body))} if length else {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *given: Any) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture
def public(monkeypatch: pytest.MonkeyPatch) -> None:
    """This machine counts as a public one."""
    monkeypatch.setattr(links, "is_public", lambda address: address.is_loopback or is_public(address))


def fetch(link: str, folder: Path, **limits: Any) -> bytes:
    settings = Settings(**{"links": True, "free_disk_bytes": 0, **limits})
    return Path(loops.run(Links(settings, Uploads(settings)).fetch(link, folder, VISITOR))).read_bytes()


def refused(link: str, folder: Path, **limits: Any) -> str:
    with pytest.raises(Refusal) as said:
        fetch(link, folder, **limits)
    assert list(folder.iterdir()) == [], "nothing is left of it"
    return str(said.value)


@pytest.mark.usefixtures("public")
class TestAllowed:
    @pytest.mark.parametrize("path", ["/rows.csv", "/away"])
    def test_the_file_comes_as_it_is(self, site: str, path: str, tmp_path: Path) -> None:
        assert fetch(site + path, tmp_path) == ROWS
        assert [file.name for file in tmp_path.glob("*/*")] == ["rows.csv"]

    @pytest.mark.parametrize("path", ["/rows.csv", "/unsaid"])
    def test_it_has_the_size_of_an_upload_at_most(self, site: str, path: str, tmp_path: Path) -> None:
        assert "A file may have at most" in refused(site + path, tmp_path, upload_bytes=len(ROWS) - 1)

    def test_it_counts_as_an_upload(self, site: str, tmp_path: Path) -> None:
        settings = Settings(links=True, uploads_an_hour=1, free_disk_bytes=0)
        counted = Uploads(settings)
        assert counted.refusal(VISITOR)[0] == 200
        with pytest.raises(Refusal, match="more than 1 files within an hour"):
            loops.run(Links(settings, counted).fetch(site, tmp_path, VISITOR))

    def test_a_disk_that_is_nearly_full_takes_none(
        self, site: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(limits, "_free_bytes", lambda: 999)
        assert "free some space" in refused(site, tmp_path, free_disk_bytes=1000)

    def test_a_site_that_is_silent_is_given_up(
        self, site: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def hangs(url: httpx.URL) -> str:
            await asyncio.Event().wait()
            return ""

        monkeypatch.setattr(links, "_address", hangs)
        monkeypatch.setattr(links, "SECONDS", 0.05)
        assert "did not send the file" in refused(site, tmp_path)

    @pytest.mark.parametrize(
        ("path", "said"),
        [
            ("/none", "did not send the file as it is"),
            ("/packed", "did not send the file as it is"),
            ("/round", "leads on more than"),
            ("/inside", NOT_PUBLIC),
        ],
    )
    def test_what_is_no_file_of_a_public_site_is_said(self, site: str, path: str, said: str, tmp_path: Path) -> None:
        assert said in refused(site + path, tmp_path)

    def test_the_connection_goes_to_the_address_that_was_looked_at(
        self, site: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        looked: list[str] = []
        port = int(site.rsplit(":", 1)[1])

        def look(host: str, *given: Any, **named: Any) -> list[Any]:
            looked.append(host)
            assert host == "rebind.example", "another look could find another address"
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

        monkeypatch.setattr(socket, "getaddrinfo", look)
        assert fetch(f"http://rebind.example:{port}/rows.csv", tmp_path) == ROWS
        assert looked == ["rebind.example"]


@each_row(
    "link",
    [
        "http://127.0.0.1/",
        "http://127.1/",
        "http://2130706433/",
        "http://localhost/",
        "http://10.0.0.1/",
        "http://100.100.100.200/",
        "http://169.254.169.254/",
        "http://0.0.0.0/",
        "http://224.0.0.1/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[2002:7f00:1::]/",
        "http://[fe80::1]/",
        "http://[fd00::1]/",
        "ftp://8.8.8.8/",
        "http:///x",
    ],
)
def test_no_network_but_the_public_one_is_asked(link: str, tmp_path: Path) -> None:
    assert refused(link, tmp_path) == NOT_PUBLIC


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "2002:808:808::"])
def test_what_is_public(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


class TestServed:
    @pytest.mark.parametrize("endpoint", ["upload_task", "import_adapter", "fill_masks"])
    def test_a_link_is_refused_in_a_sentence_and_nothing_is_fetched(
        self, address: str, site: str, endpoint: str, public: None
    ) -> None:
        file = {"path": f"{site}/rows.csv", "meta": {"_type": "gradio.FileData"}}
        answer = httpx.post(f"{address}gradio_api/run/{endpoint}", json={"data": [file, file]})
        assert REFUSED in answer.text

    @pytest.mark.parametrize("streams", [False, True], ids=["at once", "queued"])
    def test_where_links_are_allowed_they_are_counted_by_who_asks(
        self, client: Client, address: str, site: str, public: None, monkeypatch: pytest.MonkeyPatch, streams: bool
    ) -> None:
        settings, asked = Settings(links=True, free_disk_bytes=0), []
        allowed, fetch = Links(settings, Uploads(settings)), Links.fetch

        async def seen(self: Links, link: str, folder: Path, request: HTTPConnection) -> str:
            asked.append((request.client.host if request.client else "", request.cookies.get(limits.COOKIE)))
            return await fetch(allowed, link, folder, request)

        monkeypatch.setattr(Links, "fetch", seen)
        file = {"path": f"{site}/rows.csv", "meta": {"_type": "gradio.FileData"}}
        if streams:
            said = client.predict(file=handle_file(file["path"]), api_name="/upload_task")
        else:
            body = {"data": [file], "session_hash": "linking"}
            cookies = {"cookie": f"{limits.COOKIE}=ada"}
            said = httpx.post(f"{address}gradio_api/run/upload_task", json=body, headers=cookies).text
        assert "32 examples to train on" in str(said)
        assert asked == [("127.0.0.1", None if streams else "ada")]

    @each_row("method", ["GET", "HEAD"])
    @each_row(
        "path",
        [
            "file=http://{}",
            "file=https://{}",
            "file=HTTP://{}",
            "file/http://{}",
            "file=%68ttp://{}",
            "file=%20http:/{}",
        ],
    )
    def test_the_server_is_no_relay(self, address: str, method: str, path: str) -> None:
        answer = httpx.request(method, f"{address}gradio_api/{path.format('example.org/x')}")
        assert answer.status_code == 403

    def test_whatever_else_of_gradio_fetches_is_closed(self, address: str) -> None:
        with pytest.raises(Refusal):
            processing_utils.save_url_to_cache("http://example.org", "/tmp")
        with pytest.raises(Refusal):
            loops.run(processing_utils.async_ssrf_protected_download("http://example.org", "/tmp"))

"""One server and one browser for all end-to-end tests of a worker."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import urllib.request
import warnings
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from gradio_client import Client

from explorer.runs.record import RunStatus
from tests.e2e.sites import OTHER_SITES
from tests.models.fake_hub import FakeHub
from tests.models.tiny import save_reader
from tests.ports import free_port

HUB_MODEL = "class/tiny-bert"
LECTURER_KEY = "teach"
ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 300
"""Far more than it takes, so that a busy machine fails no test."""

CHROMIUM = ("chromium-headless-shell", "chromium", "chromium-browser")
"""The first that is there: the shell has no windows of its own to draw, which take a quarter of the processor time."""

FAILED = pytest.StashKey[bool]()

PROJECTOR = {"width": 1024, "height": 768}


@pytest.fixture(scope="session")
def hub(tiny_model: str) -> Iterator[FakeHub]:
    """A stand-in hub that knows one model."""
    stand_in = FakeHub()
    stand_in.add(HUB_MODEL, Path(tiny_model))
    yield stand_in
    stand_in.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, hub: FakeHub) -> Iterator[str]:
    """The app as a visitor meets it, in a process of its own, with the stand-in for a hub."""
    port = free_port()
    folder = tmp_path_factory.mktemp("server")
    environment = os.environ | {
        "GRADIO_SERVER_PORT": str(port),
        "GRADIO_SERVER_NAME": "127.0.0.1",
        "HF_ENDPOINT": hub.url,
        "HF_HUB_OFFLINE": "0",
        "NO_PROXY": "127.0.0.1",
        "HF_HUB_CACHE": str(folder / "hub"),
        "EXPLORER_DATA": str(folder / "data"),
        "EXPLORER_LECTURER_KEY": LECTURER_KEY,
        "EXPLORER_FRAMES": OTHER_SITES,
    }
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([sys.executable, "app.py"], cwd=ROOT, env=environment, stdout=log, stderr=log)
        try:
            address = f"http://127.0.0.1:{port}"
            _wait(address, process, folder / "log")
            yield address
        finally:
            process.terminate()
            process.wait(timeout=120)


def _wait(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            urllib.request.urlopen(address, timeout=5).read()
            return
        except OSError:
            time.sleep(0.2)
    pytest.fail(f"the server did not start:\n{log.read_text()[-2000:]}")


@pytest.fixture(scope="session")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Debian's Chromium, headless, with a profile on disk; where there is none the tests are skipped, and say so loudly.

    In a profile Chromium keeps the scripts that it has compiled: a page takes half the processor time that it takes a
    context without one.
    """
    program = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if program is None:
        warnings.warn("NO CHROMIUM: the browser tests did not run", stacklevel=1)
        pytest.skip("no chromium on this machine; `make browser` installs it where it may")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            tmp_path_factory.mktemp("profile"),
            executable_path=program,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"],
            viewport=PROJECTOR,
            reduced_motion="reduce",  # what is measured stands still; a test of motion asks for it
        )
        yield context
        context.close()


@pytest.fixture(scope="session")
def browser(profile: Any) -> Any:
    """The same Chromium, for contexts of one's own: other visitors, other screens."""
    return profile.browser


@pytest.fixture(scope="session")
def headless_model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """As tiny_model, without the head for sentence pairs."""
    return save_reader("BertForMaskedLM", tmp_path_factory.mktemp("models") / "headless")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note what failed, for those who clear up after it."""
    report = yield
    item.stash[FAILED] = report.failed or (report.when != "setup" and item.stash[FAILED])
    return report


@pytest.fixture(autouse=True)
def nothing_goes_on(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test that fails leaves no run that trains: its second try, and the tests after it, would wait for their turn."""
    yield
    if request.node.stash.get(FAILED, False) and "server" in request.fixturenames:
        lecturer = Client(request.getfixturevalue("server"), verbose=False)
        whole = {"visitor": f"lecturer:{LECTURER_KEY}"}
        *_, runs = lecturer.predict(**whole, api_name="/runs")
        listed = [dict(zip(runs["headers"], row, strict=True)) for row in runs["data"]]
        for run in listed:
            if RunStatus(run["status"]).is_active:
                lecturer.predict(**whole, run=run["run"], api_name="/stop_run")


@pytest.fixture
def visit(server: str, profile: Any) -> Iterator[Any]:
    """A visitor who comes for the first time, and for whom nothing may go wrong."""
    from tests.e2e.visiting import Visit

    others = profile.pages  # the one with which it started, and without which it would end, and a file's own
    page = profile.new_page()
    _forget(profile, page, server)
    visitor = Visit(page, server)
    yield visitor
    for opened in profile.pages:
        if opened not in others:
            opened.close()
    visitor.assert_unharmed()


@pytest.fixture
def visitors(server: str, browser: Any) -> Iterator[Callable[[], Any]]:
    """Makes visitors, each with a browser of their own."""
    from tests.e2e.visiting import Visit

    made: list[tuple[Any, Visit]] = []

    def arrive() -> Visit:
        context = browser.new_context(viewport=PROJECTOR)
        made.append((context, Visit(context.new_page(), server)))
        return made[-1][1]

    yield arrive
    for context, visitor in made:
        context.close()
        visitor.assert_unharmed()


@pytest.fixture(scope="module")
def visitor(server: str, profile: Any) -> Iterator[Any]:
    """One visitor for all tests of a file that share pages: opening one costs more than most of what is done on it.

    Each test sets what it looks at, or stands after those that leave it as it needs it. A `visit` in between makes the
    browser forget this one's model and runs too, so none opens a page anew after it.
    """
    from tests.e2e.visiting import Visit

    page = profile.new_page()
    _forget(profile, page, server)
    visitor = Visit(page, server)
    yield visitor
    page.close()
    visitor.assert_unharmed()


def _forget(profile: Any, page: Any, server: str) -> None:
    """Nothing is left of the visitor before but the scripts."""
    devices = profile.new_cdp_session(page)
    devices.send("Storage.clearDataForOrigin", {"origin": server, "storageTypes": "cookies,local_storage,indexeddb"})
    devices.detach()

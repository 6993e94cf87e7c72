"""What Gradio does by itself where this app patches it: a test that fails here says that a patch is no longer needed."""

from __future__ import annotations

import importlib.util
import inspect
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from types import MethodType, ModuleType, SimpleNamespace
from typing import Any

import anyio
import gradio
import gradio as gr
import httpx
import pytest
from gradio import component_meta, http_server, networking, processing_utils
from gradio.blocks import Blocks, BlocksConfig
from gradio.exceptions import ServerFailedToStartError
from gradio.queueing import Queue
from gradio.route_utils import CustomCORSMiddleware
from gradio.state_holder import SessionState
from gradio_client import Client
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient

from explorer.serving import at_once, front_door, known_signatures, patches
from explorer.serving.frontend import FRONTEND
from explorer.serving.quiet_queue import LOOKS_EVERY, PROGRESS_EVERY, QuietPages
from tests.loops import run
from tests.ports import serving
from tests.rows import each_row

SERVING = Path(patches.__file__).parent


def test_gradio_makes_stubs_of_components_whose_source_it_finds() -> None:
    script = """
import ast, sys
from explorer.serving.no_stubs import no_stubs
segment, made = ast.get_source_segment, []
ast.get_source_segment = lambda *given, **named: made.append(1) or segment(*given, **named)
if sys.argv[1:]:
    with no_stubs():
        import gradio
else:
    import gradio
print(len(made), gradio.Textbox().get_config()["name"])
"""
    made = [
        subprocess.run(
            [sys.executable, "-c", script, *without], capture_output=True, text=True, check=True
        ).stdout.split()
        for without in ([], ["without"])
    ]
    assert int(made[0][0]) > 50, "Gradio no longer needs no_stubs.py"
    assert made[1] == ["0", made[0][1]]


def test_gradio_reads_a_signature_for_each_component(monkeypatch: pytest.MonkeyPatch) -> None:
    read, real = [], inspect.getfullargspec
    monkeypatch.setattr(inspect, "getfullargspec", lambda of: read.append(of) or real(of))
    plain = untouched(component_meta)

    def made(updateable: Any) -> Any:
        made = type("Made", (), {"__init__": updateable(lambda self, value: None)})
        return made, [made(value) for value in range(3)]

    made(plain.updateable)
    assert len(read) == 3, "Gradio no longer needs known_signatures.py"
    monkeypatch.setattr(component_meta, "inspect", inspect)
    known_signatures.install()
    made(component_meta.updateable)
    assert len(read) == 4


@pytest.fixture
def plain() -> gr.Blocks:
    """An app of Gradio's own."""
    with gr.Blocks(analytics_enabled=False) as app:
        texts = [gr.Textbox() for _ in range(3)]
        texts[0].submit(lambda text: text, texts[0], texts[1], api_name="echo")
    return app


def untouched(module: ModuleType) -> Any:
    """A module as it is installed, whatever this process has put in its place."""
    spec = importlib.util.spec_from_file_location("untouched", str(module.__file__))
    assert spec is not None
    assert spec.loader is not None
    fresh = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fresh)
    return fresh


def counted(patch: pytest.MonkeyPatch, owner: Any, name: str) -> list[int]:
    """Grows by one at each call of a function."""
    calls, own = list[int](), getattr(owner, name)
    static = isinstance(inspect.getattr_static(owner, name), staticmethod)

    def call(*given: Any, **named: Any) -> Any:
        calls.append(1)
        return own(*given, **named)

    patch.setattr(owner, name, staticmethod(call) if static else call)
    return calls


def test_all_patches_fit_the_installed_gradio() -> None:
    assert gr.__version__ == patches.WRITTEN_FOR, "look at explorer/serving/, then write the new version there"
    # by the command itself: in this process the app may have put its own in their place
    said = subprocess.run(
        [sys.executable, "-m", "explorer.serving.patches"], capture_output=True, text=True, check=False
    )
    assert said.returncode == 0, said.stdout + said.stderr
    assert f"{len(patches.PATCHES)} of {len(patches.PATCHES)} patches fit." in said.stdout


def test_every_patch_is_of_a_module_and_says_what_goes_wrong_without_it() -> None:
    for patch in patches.PATCHES:
        assert (SERVING / patch.where).exists()
        assert patch.without.endswith(".")
        assert patch.upstream.endswith(".")


@pytest.mark.parametrize(
    ("target", "parameters"),
    [
        ("gradio.networking:no_such", ""),
        ("gradio.networking:url_ok", "address"),
        ("gradio.no_such_module:x", ""),
    ],
)
def test_what_a_newer_gradio_has_changed_is_named(target: str, parameters: str) -> None:
    assert target in patches.misfit(target, parameters)


def test_sessions_describe_every_component(plain: gr.Blocks, monkeypatch: pytest.MonkeyPatch) -> None:
    described = counted(monkeypatch, BlocksConfig, "config_for_block")
    SessionState(plain)
    assert len(described) >= len(plain.blocks)


def test_every_value_goes_to_a_thread(plain: gr.Blocks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gradio.blocks, "anyio", anyio)
    assert not is_read_here(plain, monkeypatch, gr.Textbox)


@pytest.mark.parametrize(("kind", "here"), [(gr.Textbox, True), (gr.File, False)])
def test_those_of_plain_components_are_read_here(
    plain: gr.Blocks, monkeypatch: pytest.MonkeyPatch, kind: type[gr.components.Component], here: bool
) -> None:
    monkeypatch.setattr(gradio.blocks, "anyio", anyio)
    at_once.install()
    assert is_read_here(plain, monkeypatch, kind) is here


def is_read_here(app: gr.Blocks, patch: pytest.MonkeyPatch, kind: type[gr.components.Component]) -> bool:
    """Whether the value of an event's one component is read in the thread in which the event is answered."""
    event, component, threads = next(iter(app.fns.values())), kind(render=False), list[int]()

    def preprocess(self: Any, value: Any) -> Any:
        threads.append(threading.get_ident())
        return value

    patch.setattr(component, "preprocess", MethodType(preprocess, component))
    patch.setattr(event, "inputs", [component])

    async def answer() -> int:
        await app.preprocess_data(event, [None], None)
        return threading.get_ident()

    own = run(answer())
    [thread] = threads
    return thread == own


def test_every_site_may_read_answers_of_a_server_with_a_name() -> None:
    app = Starlette(routes=[Route("/", lambda request: Response())], middleware=[Middleware(CustomCORSMiddleware)])
    answer = TestClient(app, base_url="http://class.test:7860").get("/", headers={"origin": "http://evil.test"})
    assert answer.headers["access-control-allow-origin"] == "http://evil.test"
    assert answer.headers["access-control-allow-credentials"] == "true"


def edited(value: Any, edits: list[list[Any]]) -> Any:
    """What a browser makes of a value by the edits that it is sent."""
    value = json.loads(json.dumps(value))
    for action, path, new in edits:
        place = value
        for key in path[:-1]:
            place = place[key]
        if action == "delete":
            if path[-1] < len(place):
                del place[path[-1]]
        else:
            place[path[-1]] = new
    return value


def test_lists_in_lists_that_become_shorter_are_cut_at_wrong_places() -> None:
    pages, event = Blocks(), SimpleNamespace(outputs=["figure"])
    before, after = {"data": [[1, 2, 3], [4, 5, 6]]}, {"data": [[1], [4]]}
    sent = [
        pages.handle_streaming_diffs(event, [value], session_hash="s", run="r", final=False)  # type: ignore[arg-type]
        for value in (before, after)
    ]
    assert edited(before, sent[1][0]) != after


def test_a_first_page_that_takes_3_s_ends_the_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*given: Any, **named: Any) -> None:
        assert named["timeout"] <= 3
        raise httpx.ReadTimeout("")

    monkeypatch.setattr(httpx, "head", slow)
    assert untouched(networking).url_ok("http://127.0.0.1:1") is False


def test_a_server_that_takes_5_s_to_begin_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = count(step=3)
    monkeypatch.setattr(time, "time", lambda: next(ticks))
    late: Any = SimpleNamespace(run=lambda: None, reloader=None, started=False, thread=threading.Thread())
    with pytest.raises(ServerFailedToStartError):
        untouched(http_server).Server.run_in_thread(late)


def test_no_option_keeps_connections_open_or_bounds_links() -> None:
    options = " ".join(inspect.signature(Blocks.launch).parameters)
    assert "keep_alive" not in options
    assert "link" not in options.replace("footer_links", "")
    fetches = untouched(processing_utils).async_ssrf_protected_download
    assert [*inspect.signature(fetches).parameters] == ["url", "cache_dir"], "none of them is a limit"


def test_each_page_that_is_added_describes_all_again(monkeypatch: pytest.MonkeyPatch) -> None:
    described = counted(monkeypatch, Blocks, "get_config_file")
    with gr.Blocks(analytics_enabled=False) as app:
        gr.Textbox()
    once = len(described)
    for name in "ab":
        with app.route(name):
            gr.Textbox()
    assert once >= 1
    assert len(described) >= once + 2


def test_a_missing_value_is_an_error_without_words(plain: gr.Blocks) -> None:
    event = next(iter(plain.fns.values()))
    with pytest.raises(ValueError, match="didn't receive enough input values"):
        run(plain.preprocess_data(event, [], None))


def test_parameters_have_no_description(plain: gr.Blocks) -> None:
    [parameter] = plain.get_api_info()["named_endpoints"]["/echo"]["parameters"]
    assert "description" not in parameter["type"]


def test_an_errors_sentence_comes_in_quotes() -> None:
    assert str(gr.Error("As it is.")) == "'As it is.'"


class TestServed:
    """A server of Gradio's own."""

    @pytest.fixture(scope="class")
    def served(self) -> Iterator[gr.Blocks]:
        with gr.Blocks(analytics_enabled=False) as app:
            text = gr.Textbox()
            text.submit(lambda said: said, text, text)
        with serving(app):
            yield app

    def test_a_page_is_described_at_each_request(self, served: gr.Blocks, monkeypatch: pytest.MonkeyPatch) -> None:
        copied = counted(monkeypatch, gradio.utils, "safe_deepcopy")
        for request in (1, 2):
            assert httpx.get(served.local_url).status_code == 200
            assert len(copied) >= request

    def test_an_idle_queue_looks_a_thousand_times_a_second(self, served: gr.Blocks) -> None:
        assert served._queue.sleep_when_free < LOOKS_EVERY
        assert served._queue.progress_update_sleep_when_free < PROGRESS_EVERY
        looks = inspect.getsource(Queue.start_processing) + inspect.getsource(Queue.start_progress_updates)
        assert "sleep(self.sleep_when_free)" in looks
        assert "sleep(self.progress_update_sleep_when_free)" in looks
        ours = QuietPages(analytics_enabled=False)._queue
        assert (ours.sleep_when_free, ours.progress_update_sleep_when_free) == (LOOKS_EVERY, PROGRESS_EVERY)

    @pytest.mark.parametrize(("kind", "is_counted"), [(gr.Blocks, True), (QuietPages, False)])
    def test_every_event_is_counted_but_ours(
        self, kind: type[gr.Blocks], is_counted: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        tables = counted(monkeypatch, Queue, "_get_df")
        with kind(analytics_enabled=False) as app:
            text = gr.Textbox()
            text.submit(lambda said: said, text, text, api_name="echo")
        with serving(app) as address:
            client = Client(address, verbose=False)
            for said in ("this", "that"):  # the second is answered once the first has been counted
                assert client.predict(said, api_name="/echo") == said
        assert bool(tables) is is_counted

    @each_row("closed", front_door.CLOSED)
    def test_what_the_front_door_closes_is_open(self, closed: str) -> None:
        """A path that Gradio no longer has need not be closed."""
        assert closed.removeprefix("/gradio_api").strip("/") in inspect.getsource(gradio.routes)

    def test_a_sessions_stream_ends_when_nothing_is_under_way(self, served: gr.Blocks) -> None:
        asked = {"data": ["x"], "fn_index": 0, "session_hash": "abc"}
        httpx.post(f"{served.local_url}gradio_api/queue/join", json=asked).raise_for_status()
        told = f"{served.local_url}gradio_api/queue/data?session_hash=abc"
        with httpx.stream("GET", told, timeout=20) as stream:
            assert any('"close_stream"' in line for line in stream.iter_lines())

    def test_its_scripts_make_functions_of_text(self) -> None:
        scripts = (FRONTEND / "assets").glob("*.js")
        assert any("AsyncFunction" in script.read_text(encoding="utf-8", errors="replace") for script in scripts)

"""What Gradio keeps for visitors of a server: files for a day, and so many sessions. Then they go, and no question breaks."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import gradio as gr
import gradio.route_utils
import httpx
import pytest

from explorer import shell
from explorer.engine.local import LocalEngine
from explorer.serving import sessions
from explorer.settings import ROOT, Settings, settings
from explorer.tasks.sources import load
from tests.caller import Caller
from tests.faults.serving import until
from tests.ports import serving

FILES_KEPT, SESSIONS_KEPT = shell.FILES_KEPT, sessions.MOST_SESSIONS
SESSIONS = 2
SWEEP_SECONDS = 0.05
TABLE = "text\tlabel\n" + "".join(f"What is kept for a day, {number}.\t{number % 2}\n" for number in range(40))


class Clock(datetime):
    """The one by which Gradio tells how old a file is; it can be put ahead, and counts how often it was looked at."""

    ahead = timedelta(0)
    looks = 0

    @classmethod
    def now(cls, tz: Any = None) -> Any:
        Clock.looks += 1
        return datetime.now(tz) + cls.ahead


@dataclass(frozen=True)
class Served:
    """A server whose files are looked through all the time, and which keeps two sessions."""

    app: gr.Blocks
    server: Any
    client: httpx.Client


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("kept")
    chosen = Settings(device="cpu", offline=True, data_folder=folder / "data")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("GRADIO_TEMP_DIR", str(folder / "gradio"))
        patched.setattr(shell, "FILES_KEPT", (SWEEP_SECONDS, shell.FILES_KEPT[1]))
        patched.setattr(sessions, "MOST_SESSIONS", SESSIONS)
        patched.setattr(gradio.route_utils, "datetime", Clock)
        engine = LocalEngine(chosen)
        app = shell.build_app(engine)
        options = shell.launch_options(engine, chosen)
        with serving(app, **options) as url, httpx.Client(base_url=url, timeout=300, trust_env=False) as client:
            yield Served(app, app.server_app, client)


def after_two_sweeps() -> None:
    """Wait until every file has been looked at with the clock as it is now."""
    seen = Clock.looks
    until(lambda: Clock.looks > seen + 20)


class TestFiles:
    def test_what_was_brought_and_what_was_handed_over_goes_after_a_day_and_no_sooner(
        self, served: Served, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        brought = Path(served.client.post("gradio_api/upload", files={"files": ("own.tsv", TABLE)}).json()[0])
        as_file = {"path": str(brought), "meta": {"_type": "gradio.FileData"}}
        script = Caller(str(served.client.base_url), download_files=False)
        task = script.predict(file=as_file, api_name="/upload_task").split(":")[0]
        handed = script.predict(run="example-lora-8", kind="adapter", api_name="/export_run")
        for hours, there in ((0, True), (23, True), (25, False)):
            monkeypatch.setattr(Clock, "ahead", timedelta(hours=hours))
            if there:
                after_two_sweeps()
            else:
                until(lambda: not brought.exists() and not Path(handed["path"]).exists())
            assert brought.exists() is there
            assert served.client.get(handed["url"]).is_success is there
        monkeypatch.undo()
        again = script.predict(run="example-lora-8", kind="adapter", api_name="/export_run")
        assert served.client.get(again["url"]).is_success
        assert load(task, settings()).train, "what was made of it stays"
        event = served.client.post("gradio_api/call/upload_task", json={"data": [as_file]}).json()["event_id"]
        assert "Upload it again" in served.client.get(f"gradio_api/call/upload_task/{event}").text


class TestSessions:
    def event(self, served: Served) -> tuple[Any, list[str]]:
        """A page's own event that keeps something between two questions, and its inputs' names: a look at attention."""
        for event in served.app.fns.values():
            names = list(inspect.signature(event.fn).parameters) if event.fn else []
            if {"seen", "smallest", "layer"} <= set(names):
                return event, names
        raise AssertionError("no page keeps what it has seen any more: choose another event")

    def look(self, served: Served, session: str, model: str) -> tuple[str, int]:
        """A session's look at the second layer: the notice, and the layer that it is shown."""
        event, names = self.event(served)
        given: dict[str, Any] = {"model": model, "layer": 1, "view": "head", "seen": None}
        data = [given.get(name, part.value) for name, part in zip(names, event.inputs, strict=True)]
        asked = {"fn_index": event._id, "data": data, "session_hash": session}
        answer = served.client.post("gradio_api/run/predict", json=asked)
        assert answer.status_code == 200, answer.text
        shown = answer.json()["data"]
        slider = next(one for one in shown if isinstance(one, dict) and "maximum" in one)
        return shown[0], slider.get("value", given["layer"])  # a slider that stands right is left alone

    def test_the_one_used_longest_ago_is_let_go_and_begins_anew(self, served: Served, tiny_model: str) -> None:
        assert self.look(served, "ada", tiny_model) == ("", 0), "another model begins with its first layer"
        assert self.look(served, "ada", tiny_model) == ("", 1), "which is remembered"
        for other in ("bob", "cleo"):
            self.look(served, other, tiny_model)
        assert list(served.server.state_holder.session_data) == ["bob", "cleo"]
        assert self.look(served, "ada", tiny_model) == ("", 0), "as for a newcomer"
        assert self.look(served, "cleo", tiny_model) == ("", 1)
        assert list(served.server.state_holder.session_data) == ["ada", "cleo"]


def test_the_limits_are_those_that_security_md_names() -> None:
    said = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert FILES_KEPT == (3600, 24 * 3600)
    assert "| removed after a day |" in said
    assert f"| sessions | {SESSIONS_KEPT:,} and {sessions.MOST_BYTES // 2**20} MB together |" in said

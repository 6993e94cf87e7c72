"""A server that is told to end: at once, as process 1 too, and with a last checkpoint of what trains."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from explorer.runs.record import RunStatus
from explorer.runs.store import RunStore
from explorer.serving.server import END_SECONDS
from explorer.settings import ROOT
from tests.caller import Caller
from tests.faults.serving import PATIENCE, Server, environment, until
from tests.faults.test_killed import checkpoint, trained

LONG = {"examples": 320, "batch_size": 1, "epochs": 4}
AS_FIRST = ["unshare", "--user", "--map-root-user", "--fork", "--pid", "--mount-proc"]
WRONG = (
    ({"GRADIO_SERVER_PORT": "abc"}, [], "GRADIO_SERVER_PORT must be a number, 1 to 65535, and is 'abc'."),
    ({"GRADIO_SERVER_PORT": "99999"}, [], "GRADIO_SERVER_PORT must be a number, 1 to 65535, and is '99999'."),
    ({"EXPLORER_WORKERS": "-1"}, [], "EXPLORER_WORKERS must be a number, 1 or more, and is '-1'."),
    ({"EXPLORER_BACKEND": "spark"}, [], "EXPLORER_BACKEND must be local or ray, and is 'spark'."),
    ({}, ["--port", "99999"], "a port is a number from 1 to 65535, and this is '99999'"),
)


def test_it_ends_with_a_checkpoint_of_the_step_that_it_was_at(tmp_path: Path, tiny_model: str) -> None:
    server = Server(tmp_path / "data", tmp_path / "log")
    Caller(server.address).submit(model=tiny_model, **LONG, visitor="ada", api_name="/train")
    store = RunStore(tmp_path / "data")
    until(lambda: (run := trained(store)) is not None and run.losses[-1][0] > 3)
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(PATIENCE) == 0
    left = trained(store)
    assert left is not None
    assert left.status is RunStatus.INTERRUPTED
    assert left.message.endswith("; press Resume to go on from the last checkpoint.")
    assert left.saved == left.losses[-1][0] == checkpoint(store, left.run_id), "not a step is lost"
    store.close()


def test_nothing_that_hangs_keeps_it_longer_than_docker_waits() -> None:
    assert END_SECONDS < 5


def _may_be_first() -> bool:
    return (
        shutil.which("unshare") is not None and subprocess.run([*AS_FIRST, "true"], capture_output=True).returncode == 0
    )


@pytest.mark.skipif(not _may_be_first(), reason="no process may have process numbers of its own here")
def test_as_process_1_it_hears_the_signal(tmp_path: Path) -> None:
    server = Server(tmp_path / "data", tmp_path / "log", before=AS_FIRST)
    (first,) = psutil.Process(server.process.pid).children()
    first.send_signal(signal.SIGTERM)
    try:
        assert server.process.wait(PATIENCE) == 0
    finally:
        if first.is_running():
            first.kill()


@pytest.mark.parametrize(("variables", "options", "said"), WRONG, ids=[said[:30] for *_, said in WRONG])
def test_a_setting_that_cannot_be_read_is_one_sentence(
    tmp_path: Path, variables: dict[str, str], options: list[str], said: str
) -> None:
    command = [sys.executable, "app.py", *options]
    ended = subprocess.run(
        command, cwd=ROOT, env=environment(tmp_path, **variables), capture_output=True, text=True, timeout=PATIENCE
    )
    assert ended.returncode == 2
    assert ended.stderr.rstrip().endswith(said)
    assert "Traceback" not in ended.stderr

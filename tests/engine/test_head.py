"""A cluster whose head is lost: the front stays, says so, and goes on once the head is back."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from explorer.engine.cluster import link
from explorer.engine.cluster.link import AwayError, Link
from explorer.errors import ExplorerError
from explorer.labs.masking import FILL_MASKS
from explorer.labs.masking.schema import FillParams
from explorer.runs.record import RunStatus
from explorer.settings import Settings
from explorer.tuning.spec import RunSpec
from tests.engine.traced import WAIT, until
from tests.ports import free_port
from tests.rows import each_row


def test_where_nobody_answers_it_says_so_at_once() -> None:
    address = f"127.0.0.1:{free_port()}"
    began = time.monotonic()
    with pytest.raises(ExplorerError, match=f"Ray cluster at {address} could not be joined: nobody answers there"):
        Link(Settings(ray_address=address), "nobody")
    assert time.monotonic() - began < 30, "ray.init would look for a quarter of an hour"


@each_row(
    ("address", "found"),
    [
        ("head:6379", ("head", 6379)),
        ("10.0.0.7:6379", ("10.0.0.7", 6379)),
        ("[fd00::1]:6379", ("fd00::1", 6379)),
        ("", None),
        ("auto", None),
        ("ray://head:10001", None),
    ],
)
def test_only_an_address_with_a_port_is_looked_at(address: str, found: tuple[str, int] | None) -> None:
    assert link._host_and_port(address) == found


class Head:
    """A cluster of one machine, which keeps the list and works, in processes that can be killed together."""

    def __init__(self, folder: Path) -> None:
        self.port, self._folder = free_port(), folder
        self.address = f"127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = (
            f"{sys.executable} -m ray.scripts.scripts start --head --block --node-ip-address=127.0.0.1 --port={self.port} "
            f"--num-cpus=2 --object-store-memory={100 * 2**20} --include-dashboard=false --temp-dir={self._folder}"
        )
        self._process = subprocess.Popen(
            command.split(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )

    def kill(self) -> None:
        """Every process of it, as where the machine is switched off."""
        import psutil

        assert self._process is not None
        lost = [*psutil.Process(self._process.pid).children(recursive=True), psutil.Process(self._process.pid)]
        for process in lost:
            with suppress(psutil.NoSuchProcess):  # some end with another
                process.kill()
        psutil.wait_procs(lost, WAIT)
        self._process.wait(WAIT)
        self._process = None

    def close(self) -> None:
        if self._process is not None:
            self.kill()


@pytest.fixture
def head() -> Iterator[Head]:
    pytest.importorskip("ray", reason="ray is not installed: pip install -r requirements-ray.txt")
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as folder:  # sockets have short names
        made = Head(Path(folder))
        made.start()
        until(lambda: link._answers(("127.0.0.1", made.port)))
        yield made
        made.close()


@pytest.fixture
def engine(head: Head, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    from explorer.engine.cluster.front import RayEngine

    monkeypatch.setattr(link, "AWAY_SECONDS", 2.0)
    made = RayEngine(
        Settings(device="cpu", offline=True, data_folder=tmp_path, ray_address=head.address, ray_replicas=1)
    )
    yield made
    made.close()


def test_without_its_head_the_front_says_so_and_goes_on_once_it_is_back(engine: Any, head: Head, tiny_id: str) -> None:
    def asked(text: str) -> Any:
        return engine.follow(FILL_MASKS.job, FillParams(text), tiny_id).last.result(WAIT)

    before = asked("the [MASK] sat")
    run = engine.runs.start(RunSpec(tiny_id, rank=4, examples=64, epochs=5, batch_size=2), "ada")
    until(lambda: engine.runs.get(run).step > 5)
    head.kill()
    until(lambda: not engine._link.is_there())
    with pytest.raises(AwayError, match=f"its head, {head.address}, does not answer"):
        asked("a [MASK] sat")
    assert asked("the [MASK] sat") == before, "what is known is answered from memory"
    until(lambda: "head is away" in engine.runs.get(run).message)
    assert engine.runs.get(run).status is RunStatus.RUNNING
    stopped = engine.runs.start(RunSpec(tiny_id, rank=4, examples=16, epochs=1, batch_size=8), "zed")
    engine.runs.stop(stopped, "zed")
    head.start()
    until(engine._link.is_there)
    assert asked("a [MASK] sat")
    ended = engine.runs.wait(run, WAIT)
    assert ended.status is RunStatus.DONE, ended.message
    steps = [step for step, _ in ended.losses]
    assert steps == sorted(set(steps)), "no step is shown twice"
    assert engine.runs.get(stopped).status is RunStatus.CANCELLED


def test_a_run_that_is_stopped_meanwhile_can_be_resumed(engine: Any, head: Head, tiny_id: str) -> None:
    run = engine.runs.start(RunSpec(tiny_id, rank=4, examples=64, epochs=5, batch_size=2), "ada")
    until(lambda: engine.runs.get(run).step > 0)
    head.kill()
    until(lambda: "head is away" in engine.runs.get(run).message)
    engine.runs.stop(run, "ada")
    stopped = engine.runs.wait(run, WAIT)
    assert stopped.status is RunStatus.INTERRUPTED
    assert "press Resume" in stopped.message


def test_a_link_that_breaks_is_made_anew(engine: Any, tiny_id: str) -> None:
    """Whatever ends the process that has joined the cluster: here it is killed, and the head stays."""
    assert engine.follow(FILL_MASKS.job, FillParams("the [MASK] sat"), tiny_id).last.result(WAIT)
    first = engine._link._process.pid
    os.kill(first, signal.SIGKILL)
    until(lambda: engine._link.is_there() and engine._link._process.pid != first)
    assert engine.follow(FILL_MASKS.job, FillParams("a [MASK] sat"), tiny_id).last.result(WAIT)

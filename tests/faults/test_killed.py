"""A server killed in the middle of a run: what was learned up to the checkpoint is there, for others and when it is back."""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass

import httpx
import pytest
from safetensors import SafetensorError
from safetensors.torch import load_file

from explorer.runs.database import FILE
from explorer.runs.record import RunRecord, RunStatus
from explorer.runs.store import RESUME, WEIGHTS, RunStore
from explorer.runs.working import CHECKPOINT_STEPS
from tests.caller import Caller
from tests.faults.serving import PATIENCE, Server, until
from tests.ui.conftest import rows

STEPS = 320
RUN = {"examples": STEPS, "batch_size": 1, "epochs": 1}
"""Long enough to be killed in, and soon done."""


def trained(store: RunStore) -> RunRecord | None:
    """The one run that is listed, once it trains."""
    listed = store.owned_by(None)
    return listed[0] if listed and listed[0].losses else None


def checkpoint(store: RunStore, run: str) -> int:
    """The step of a run's checkpoint; 0 where there is none yet."""
    try:
        return int(load_file(store.folder / run / RESUME)["progress"][0])
    except (OSError, SafetensorError):
        return 0


def kill_at_checkpoint(store: RunStore, process: subprocess.Popen[bytes]) -> tuple[RunRecord, int]:
    """End a process when it has written one: the record as it lies there, and the step of the checkpoint."""
    until(lambda: (one := trained(store)) is not None and checkpoint(store, one.run_id) > 0)
    process.kill()
    process.wait(PATIENCE)
    with closing(sqlite3.connect(store.folder / FILE)) as database:
        ((text,),) = database.execute("SELECT record FROM runs").fetchall()
    left = RunRecord.from_json(text)
    assert left.status is RunStatus.RUNNING
    return left, checkpoint(store, left.run_id)


@dataclass(frozen=True)
class Restarted:
    """A server that was killed in a run and is there again.

    store: of another process, which was there all the time. left: the run's record as the kill left it; seen: as that one
    reads it from then on.
    """

    server: Server
    client: Caller
    store: RunStore
    left: RunRecord
    seen: RunRecord
    checkpoint: int


@pytest.fixture(scope="module")
def restarted(tmp_path_factory: pytest.TempPathFactory, tiny_model: str) -> Iterator[Restarted]:
    folder = tmp_path_factory.mktemp("killed")
    first = Server(folder / "data", folder / "log")
    Caller(first.address).submit(model=tiny_model, **RUN, visitor="ada", api_name="/train")
    store = RunStore(folder / "data")
    left, step = kill_at_checkpoint(store, first.process)
    seen = store.find(left.run_id)
    assert seen is not None
    second = Server(folder / "data", folder / "log")
    yield Restarted(second, Caller(second.address), store, left, seen, step)
    store.close()
    second.kill()


class TestServer:
    def test_another_process_sees_at_once_that_the_run_has_ended(self, restarted: Restarted) -> None:
        assert restarted.seen.status is RunStatus.INTERRUPTED
        assert restarted.seen.message.startswith("The server ended at step ")

    def test_the_run_is_listed_and_says_how_it_goes_on(self, restarted: Restarted) -> None:
        (listed,) = [
            one for one in rows(restarted.client.predict(visitor="ada", api_name="/runs")) if one["run"][0] == "r"
        ]
        assert (listed["run"], listed["status"]) == (restarted.left.run_id, "interrupted")
        found = restarted.store.find(restarted.left.run_id)
        assert found is not None
        assert found.message.startswith("The server ended at step ")
        assert found.message.endswith(f" of {STEPS}; press Resume to go on from the last checkpoint.")

    def test_nothing_is_lost_up_to_the_checkpoint(self, restarted: Restarted) -> None:
        assert restarted.checkpoint >= CHECKPOINT_STEPS
        assert [step for step, _ in restarted.left.losses][: restarted.checkpoint] == list(
            range(1, restarted.checkpoint + 1)
        )
        with closing(sqlite3.connect(restarted.store.folder / FILE)) as database:
            assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]

    def test_it_goes_on_from_there_and_a_hundred_stops_in_a_second_are_one(self, restarted: Restarted) -> None:
        run, client, store = restarted.left.run_id, restarted.client, restarted.store
        client.predict(visitor="ada", run=run, api_name="/resume_run")
        looks = iter(client.submit(run=run, visitor="ada", api_name="/follow_run"))
        seen = [rows(next(looks))[-1]["step"]]
        with httpx.Client(base_url=restarted.server.address, trust_env=False, timeout=PATIENCE) as http:
            body = {"data": ["ada", run], "session_hash": "stopping"}
            with ThreadPoolExecutor(20) as presses:
                stops = list(presses.map(lambda _: http.post("/gradio_api/run/stop_run", json=body), range(100)))
        assert {stop.status_code for stop in stops} == {200}
        seen += [rows(look)[-1]["step"] for look in looks]
        assert min(seen) >= restarted.checkpoint
        stopped = store.find(run)
        assert stopped is not None
        assert stopped.status in (RunStatus.STOPPED, RunStatus.DONE)
        assert (store.folder / run / WEIGHTS).is_file()

    def test_and_then_to_the_end(self, restarted: Restarted) -> None:
        run, client = restarted.left.run_id, restarted.client
        found = restarted.store.find(run)
        if found is not None and found.status is RunStatus.STOPPED:
            client.predict(visitor="ada", run=run, api_name="/resume_run")
        last = client.predict(run=run, visitor="ada", api_name="/follow_run")
        steps = [one["step"] for one in rows(last) if one["loss"] is not None]
        assert steps == list(range(1, STEPS + 1))

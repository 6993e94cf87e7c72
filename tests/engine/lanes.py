"""A lane whose runs do as a test says, and the manager that sends runs to it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from explorer.models.loaded_model import LoadedModel
from explorer.runs.manager import RunManager
from explorer.runs.record import Outcome, RunRecord, RunStatus
from explorer.runs.store import RunStore
from explorer.settings import Settings
from explorer.tuning.spec import RunSpec

WAIT = 180


class Lane:
    """Stands in for the worker: every run waits until `gate` lets it go, then ends as `endings` says."""

    def __init__(self) -> None:
        self.began: list[str] = []
        self.gate = threading.Semaphore(0)
        self.endings: dict[str, Callable[[RunRecord], RunRecord]] = {}

    def work(self, record: RunRecord, publish: Callable[[RunRecord], None], stopping: threading.Event) -> None:
        self.began.append(record.run_id)
        publish(record := record.evolve(step=1, steps=10, message=""))
        while not self.gate.acquire(timeout=0.01):
            if stopping.is_set():
                publish(record.evolve(status=RunStatus.STOPPED, outcome=Outcome({}, {})))
                return
        ending = self.endings.get(record.run_id)
        publish(ending(record) if ending else record.evolve(status=RunStatus.DONE))

    def let_go(self, runs: int = 1) -> None:
        self.gate.release(runs)


def no_model(model_id: str) -> LoadedModel:
    raise AssertionError("a manager needs no model")


@pytest.fixture
def lane() -> Lane:
    return Lane()


@pytest.fixture
def make(tmp_path: Path, lane: Lane, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., RunManager]]:
    monkeypatch.setattr("explorer.runs.checks.describe", lambda spec, settings: {"name": f"seed {spec.seed}"})
    stores = []

    def manager(**changes: Any) -> RunManager:
        stores.append(RunStore(tmp_path))
        return RunManager(stores[-1], Settings(lecturer_key="key", **changes), lane.work, no_model)

    yield manager
    lane.let_go(1000)


@pytest.fixture
def runs(make: Callable[..., RunManager]) -> RunManager:
    return make()


def start(runs: RunManager, owner: str = "ada", seed: int = 0) -> str:
    return runs.start(RunSpec("bert-small", seed=seed), owner)


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def running(runs: RunManager, run_id: str) -> bool:
    return runs.get(run_id).step == 1


class Stuck:
    """A gate that keeps a run from looking at its stop sign until it is released."""

    def __init__(self) -> None:
        self.opened = threading.Event()

    def acquire(self, timeout: float) -> bool:
        self.opened.wait(WAIT)
        return False

    def release(self, runs: int = 1) -> None:
        self.opened.set()

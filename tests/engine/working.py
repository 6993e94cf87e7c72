"""One run's work without a lane, and a crash in the middle of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from explorer.models.loaded_model import LoadedModel
from explorer.runs.record import RunRecord, RunStatus
from explorer.runs.store import WEIGHTS
from explorer.runs.worker import Worker
from explorer.tasks.task import TaskData
from explorer.tuning.spec import RunSpec
from explorer.tuning.training import Training
from tests.engine.records import record
from tests.tuning.small import data

STEPS = 6
METHODS = {
    "lora": RunSpec("tiny", rank=4, epochs=2),
    "pissa": RunSpec("tiny", rank=4, variant="pissa", dropout=0.1, epochs=2),
    "full": RunSpec("tiny", method="full", epochs=2),
    "bitfit": RunSpec("tiny", method="bitfit", epochs=2),
    "prefix": RunSpec("tiny", method="prefix", prefix_length=4, epochs=2),
}
EACH = pytest.mark.parametrize("spec", METHODS.values(), ids=METHODS.keys())


@pytest.fixture(autouse=True)
def unchanged(bert: LoadedModel) -> Iterator[None]:
    """However a run ends, the shared model is bit for bit what it was, and where it was."""
    before = {name: (tensor.data_ptr(), tensor.clone()) for name, tensor in bert.model.state_dict().items()}
    yield
    after = bert.model.state_dict()
    assert before.keys() == after.keys()
    assert all(after[name].data_ptr() == place for name, (place, _) in before.items())
    assert all(torch.equal(after[name], tensor) for name, (_, tensor) in before.items())
    assert all(weight.grad is None and not weight.requires_grad for weight in bert.model.parameters())


class Run:
    """One run in a folder; work() may be called again to go on with it. `seen` holds every record that it published."""

    def __init__(self, loaded: LoadedModel, folder: Path, spec: RunSpec, task_data: TaskData | None = None) -> None:
        self.loaded, self.folder = loaded, folder
        self.data = task_data or data()
        task = self.data.task
        self.seen = [record(spec=spec, labels=task.labels, metrics=task.metrics, columns=task.columns)]

    @property
    def last(self) -> RunRecord:
        return self.seen[-1]

    def work(self, stop: Callable[[RunRecord], bool] = lambda one: False) -> RunRecord:
        stopping = threading.Event()

        def publish(one: RunRecord) -> None:
            self.seen.append(one)
            if stop(one):
                stopping.set()

        before = self.last.evolve(status=RunStatus.RUNNING)
        Worker(before, self.folder, publish, stopping, self.data, self.loaded).work()
        return self.last

    @property
    def weights(self) -> dict[str, torch.Tensor]:
        return load_file(self.folder / WEIGHTS)


class CrashError(Exception):
    """A fault in the middle of a run."""


def crash_at(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    real = Training._one_step

    def one_step(self: Training, batch: list[int]) -> object:
        if self.step == step:
            raise CrashError
        return real(self, batch)

    monkeypatch.setattr(Training, "_one_step", one_step)


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor], most: float = 1e-6) -> bool:
    return one.keys() == other.keys() and all(bool(((one[name] - other[name]).abs() <= most).all()) for name in one)

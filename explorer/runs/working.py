"""What all runs have in common while they train: turns, news, curves, checkpoints, and reacting to Stop."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any, Protocol, TypeVar

import psutil
import torch
from torch import Tensor

from explorer.errors import BadInputError, StorageError
from explorer.runs.cpu_share import LEAVING, SHARE, Turns
from explorer.runs.record import RunRecord, RunStatus
from explorer.runs.store import RESUME
from explorer.tuning.rows import StoppedError
from explorer.tuning.snapshots import load_tensors, save_tensors
from explorer.tuning.training import Update

# A run's record while it trains: its curves, its rate, the time that is left.

MOST_POINTS = 1500


class Steps(Protocol):
    """The progress of an optimisation. step: how many of `steps` are done."""

    step: int
    steps: int
    device: torch.device


class Reporter:
    """Turns updates into newer records: smooths the rate, keeps the curves to a drawable size."""

    def __init__(self, record: RunRecord, training: Steps) -> None:
        self.training = training
        self.losses = list(record.losses)
        self.evaluations = list(record.evaluations)
        self.before = record.seconds
        self.began = self.told = time.monotonic()
        self.start = training.step
        self.rows, self.seconds = 0, 0.0

    def take(self, update: Update) -> None:
        """Take one step's update."""
        self.rows += update.rows
        self.seconds += update.seconds
        stride = max(1, -(-self.training.steps // MOST_POINTS))  # -(-a // b) rounds up
        if update.step % stride == 0 or update.step == self.training.steps:
            self.losses.append((update.step, round(update.loss, 6)))
        if update.metrics is not None:
            self.evaluations.append((update.step, update.metrics))

    def report(self, record: RunRecord, **noted: Any) -> RunRecord:
        """Return the record as of now. noted: what else a step has brought."""
        self.told = time.monotonic()
        spent = self.told - self.began
        done = self.training.step - self.start
        return record.evolve(
            step=self.training.step,
            losses=tuple(self.losses),
            evaluations=tuple(self.evaluations),
            # Rows in seconds of computing, so that waiting for turns does not count.
            rate=self.rows / self.seconds if self.seconds else 0.0,
            seconds=self.before + spent,
            # Here waiting counts, as it will in the steps to come.
            seconds_left=spent / done * (self.training.steps - self.training.step) if done else None,
            memory_bytes=memory_in_use(self.training.device),
            **noted,
        )


def memory_in_use(device: torch.device) -> int:
    """Return the bytes that this server holds: on the accelerator if the model is on one, else in main memory."""
    if device.type == "cuda":
        return int(torch.cuda.memory_allocated())
    return int(psutil.Process().memory_info().rss)


PUBLISH_SECONDS = 0.2
CHECKPOINT_SECONDS = 10.0
CHECKPOINT_STEPS = 50
CHECKPOINT_SHARE = 0.05
"""A checkpoint is written every so many seconds or steps, and less often if writing would take more than this share of
the time.
"""

LONGEST_REST = 20.0
"""Seconds after which a checkpoint that is due is written whatever it costs: nobody is to lose more than that."""

Step = TypeVar("Step")

TURNS = Turns()
"""The lock by which all runs of this process take turns."""


class Trained(Steps, Protocol):
    """An optimisation, whatever it trains."""

    def updates(self) -> Iterator[Update]:
        """Yield its steps to the end."""
        ...

    def state(self) -> dict[str, Tensor]:
        """Return everything that a resumed run needs."""
        ...

    def load_state(self, kept: Mapping[str, Tensor]) -> None:
        """Go on from what `state` returned."""
        ...


@dataclass
class Working:
    """One run in progress. publish takes each newer record; `stopping` is set by whoever presses Stop."""

    record: RunRecord
    folder: Path
    publish: Callable[[RunRecord], None]
    stopping: Event

    def work(self) -> None:
        """Train to the end, or to the Stop. Errors are left to the caller."""
        try:
            self._work()
        except StoppedError:
            self._nothing_trained()

    def _work(self) -> None:
        raise NotImplementedError

    def _noted(self, training: Any, update: Update) -> dict[str, Any]:
        """Return what a step adds to the record beside its curves."""
        return {}

    def _say(self, **changes: object) -> None:
        self.record = self.record.evolve(**changes)
        self.publish(self.record)

    def _nothing_trained(self) -> None:
        self._say(status=RunStatus.CANCELLED, message="Stopped before the first step.", seconds_left=None)

    def _go_on(self, training: Trained) -> None:
        """Load the last checkpoint. A damaged one is renamed, so that the next Resume starts from the beginning."""
        checkpoint = self.folder / RESUME
        aside = f"{RESUME}.damaged"
        so = f"It is now called {aside}: press Resume to start this run again from its first step."
        try:
            try:
                training.load_state(load_tensors(checkpoint, so))
            except (BadInputError, KeyError, ValueError, RuntimeError) as error:
                raise StorageError(f"{RESUME} of this run is another run's ({str(error)[:150]}). {so}") from error
        except StorageError:
            with suppress(OSError):
                checkpoint.replace(self.folder / aside)
            raise

    def _train(self, training: Trained) -> None:
        reporter = Reporter(self.record, training)
        try:
            with LEAVING.waits_for():
                self._follow(training, reporter)
        finally:  # the curve up to a divergence is what shows it
            self.record = reporter.report(self.record)
            self.publish(self.record)

    def _follow(self, training: Trained, reporter: Reporter) -> None:
        saved, step, rest = time.monotonic(), training.step, 0.0
        for update in in_turn(training.updates()):
            noted = self._noted(training, update)
            reporter.take(update)
            now = time.monotonic()
            if update.metrics is not None or noted or now - reporter.told > PUBLISH_SECONDS:
                self.record = reporter.report(self.record, **noted)
                self.publish(self.record)
            due = now - saved > CHECKPOINT_SECONDS or update.step - step >= CHECKPOINT_STEPS
            if due and now - saved > rest and update.step < training.steps:
                self._checkpoint(training, reporter)
                saved, step = time.monotonic(), update.step
                rest = min(LONGEST_REST, (saved - now) / CHECKPOINT_SHARE)
            LEAVING.keep(partial(self._checkpoint, training, reporter))
            if self.stopping.is_set():
                break

    def _checkpoint(self, training: Trained, reporter: Reporter) -> None:
        """Write a checkpoint."""
        # The record goes first, so that no curve ends before its checkpoint.
        self.record = reporter.report(self.record, saved=training.step)
        self.publish(self.record)
        save_tensors(self.folder / RESUME, training.state())

    def _ended(self, training: Trained) -> dict[str, Any]:
        """Return a run's last changes: done, or stopped with a checkpoint to go on from."""
        if training.step >= training.steps:
            (self.folder / RESUME).unlink(missing_ok=True)
            return {"status": RunStatus.DONE, "message": "", "seconds_left": None, "place": 0}
        save_tensors(self.folder / RESUME, training.state())
        said = f"Stopped at step {training.step} of {training.steps}; what it learned is kept."
        return {"status": RunStatus.STOPPED, "message": said, "seconds_left": None, "place": 0}


def in_turn(updates: Iterator[Step]) -> Iterator[Step]:
    """Yield steps, each of which waits for its turn among the runs, and counts as training beside questions."""
    with SHARE.training():
        while True:
            with TURNS:
                update = next(updates, None)
            if update is None:
                return
            yield update

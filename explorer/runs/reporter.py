"""A run's record while it trains: its curves, its rate, the time that is left."""

from __future__ import annotations

import time
from typing import Any, Protocol

import psutil
import torch

from explorer.runs.record import RunRecord
from explorer.tuning.training import Update

MOST_POINTS = 1500


class Steps(Protocol):
    """How far an optimisation is. step: how many steps are done, of `steps`."""

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
        """One step's news."""
        self.rows += update.rows
        self.seconds += update.seconds
        stride = max(1, -(-self.training.steps // MOST_POINTS))
        if update.step % stride == 0 or update.step == self.training.steps:
            self.losses.append((update.step, round(update.loss, 6)))
        if update.metrics is not None:
            self.evaluations.append((update.step, update.metrics))

    def report(self, record: RunRecord, **noted: Any) -> RunRecord:
        """The record as of now, with what else a step has brought."""
        self.told = time.monotonic()
        spent = self.told - self.began
        done = self.training.step - self.start
        return record.but(
            step=self.training.step,
            losses=tuple(self.losses),
            evaluations=tuple(self.evaluations),
            rate=self.rows / self.seconds if self.seconds else 0.0,
            seconds=self.before + spent,
            seconds_left=spent / done * (self.training.steps - self.training.step) if done else None,
            memory_bytes=memory_in_use(self.training.device),
            **noted,
        )


def memory_in_use(device: torch.device) -> int:
    """Bytes that this server holds: on the accelerator where the model is on one, else in main memory."""
    if device.type == "cuda":
        return int(torch.cuda.memory_allocated())
    return int(psutil.Process().memory_info().rss)

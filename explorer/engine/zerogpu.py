"""The engine of a ZeroGPU Space: questions run on the CPU; a run has a GPU while it trains, in a process forked for it.

The GPU's time is charged to the visitor who started the run: `spaces` reads who that is from the request, which is part
of the context that explorer.runs.manager keeps with the run. Time that is asked for counts even if it isn't used, and a
call that takes longer is ended; so each asks for what its steps will need, and stops by itself before that is over.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import spaces
import torch

from explorer.engine.local import LocalEngine
from explorer.engine.sent import SentRecords, needed, training
from explorer.errors import ExplorerError
from explorer.models.loaded_model import LOADING
from explorer.runs.manager import failure
from explorer.runs.record import RunRecord, RunStatus
from explorer.scratch.spec import ScratchSpec
from explorer.settings import Settings
from explorer.tasks.sources import load

STARTING_SECONDS = 20.0
"""Seconds of a call before the first step: loading the model, reading the examples, measuring it untrained."""

ENDING_SECONDS = 10.0
"""Seconds after the last step: measuring on everything that is held out, keeping the weights."""

STEP_SECONDS = 0.05
"""Seconds of a batch, with what is measured between: a guess on the safe side, since no step was timed on ZeroGPU."""

LONGEST_SECONDS = 120
"""Seconds of one call at most: a visitor has a few minutes a day. What is left is trained in the next call, after a Resume."""

# A process that is forked while a model loads would find transformers half patched, and the lock taken for ever.
os.register_at_fork(before=LOADING.acquire, after_in_parent=LOADING.release, after_in_child=LOADING.release)


class Until(threading.Event):
    """An event that is set once a file exists or a time has come (seconds of time.monotonic): a forked process sees no
    event of another.
    """

    def __init__(self, flag: Path, end: float) -> None:
        super().__init__()
        self._flag, self._end = flag, end

    def is_set(self) -> bool:
        """Return whether to stop."""
        return time.monotonic() > self._end or self._flag.exists()


def steps_of(record: RunRecord, settings: Settings) -> int:
    """Return how many steps a run has still to do, as far as is known before its rows are read."""
    spec = record.spec
    if isinstance(spec, ScratchSpec):
        return max(0, spec.steps - record.saved)
    examples = len(load(spec.task, settings).train[: spec.examples or None])
    # -(-a // b) rounds up: the last batch of an epoch may be smaller.
    return max(0, spec.epochs * -(-examples // spec.batch_size) - record.saved)


def seconds_of(settings: Settings, record: RunRecord, records: list[RunRecord], flag: Path) -> int:
    """Return the seconds for which a call of `train` asks for a GPU."""
    wanted = STARTING_SECONDS + ENDING_SECONDS + STEP_SECONDS * steps_of(record, settings)
    return min(LONGEST_SECONDS, round(wanted))


@spaces.GPU(duration=seconds_of)  # type: ignore[untyped-decorator]
def train(
    settings: Settings, record: RunRecord, records: list[RunRecord], flag: Path
) -> Iterator[RunRecord | ExplorerError]:
    """Train a run on the GPU and yield its records. records: those of the runs that it needs. flag: a file whose
    appearance is the Stop.
    """
    end = time.monotonic() + seconds_of(settings, record, records, flag) - ENDING_SECONDS
    torch.set_num_threads(1)  # threads of the process that was forked are not here, and OpenMP would wait for them
    sent = SentRecords(settings)
    sent.take([record, *records])
    try:
        yield from training(LocalEngine(settings, sent), record, Until(flag, end))
    except Exception as error:
        # Yielded and not raised: of an error that is raised, `spaces` hands on no more than its class.
        yield ExplorerError(failure(record.spec, error))


class ZeroEngine(LocalEngine):
    """This machine's engine, except that each run has a GPU while it trains."""

    def __init__(self, settings: Settings) -> None:
        # Questions never see the GPU, since only a call decorated with spaces.GPU has one.
        super().__init__(replace(settings, device="cpu"))
        self._with_gpu = settings

    def train(self, record: RunRecord, publish: Callable[[RunRecord], None], stopping: threading.Event) -> None:
        """Train a run in one call that has a GPU, from its last checkpoint if there is one."""
        records = needed(self.runs, record.spec.model, record.spec)
        with tempfile.TemporaryDirectory() as folder:
            flag = Path(folder) / "stop"
            with closing(_spoken(train(self._with_gpu, record, records, flag))) as newer_records:
                for newer in newer_records:
                    publish(newer if stopping.is_set() else _told(newer))
                    if stopping.is_set():
                        flag.touch()


def _told(record: RunRecord) -> RunRecord:
    """Return a record; if it was stopped, its message says that the GPU's time is over."""
    if record.status is not RunStatus.STOPPED:
        return record
    return record.evolve(message=f"{record.message} Its time on ZeroGPU is over: press Resume to go on.")


def _spoken(records: Iterator[RunRecord | ExplorerError]) -> Generator[RunRecord, None, None]:
    """Yield the records of a call. Raises ExplorerError with what ended it, or with why ZeroGPU gave it no time."""
    try:
        for record in records:
            if isinstance(record, ExplorerError):
                raise record
            yield record
    except ExplorerError:
        raise
    except Exception as error:  # Gradio's own has what it says in `message`
        said = str(getattr(error, "message", error)).rstrip(". ")
        raise ExplorerError(
            f"ZeroGPU gave this run no time, or ended it: {said}. Press Resume to go on; who has signed in has more time a day."
        ) from error

"""The queue in which runs train: started by visitors, fair between them, and going on when their page is closed."""

from __future__ import annotations

import contextlib
import os
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable
from contextvars import Context, copy_context
from dataclasses import replace
from pathlib import Path

from explorer.errors import BadInputError, OutOfMemoryError, StorageError, readable
from explorer.runs.checks import begun_from
from explorer.runs.examples import OWNER
from explorer.runs.protocol import Adapter
from explorer.runs.queue import FairQueue, moved_up
from explorer.runs.record import RunRecord, RunStatus
from explorer.runs.retention import Room, quietly
from explorer.runs.store import WEIGHTS, RunStore, this_process
from explorer.settings import Settings
from explorer.shelf import remove
from explorer.tasks.places import uploads
from explorer.tuning.spec import RunSpec

LECTURER = "*"
"""The owner that may see, stop and delete every run."""

KEEP_SECONDS = 2.0
"""Seconds between two writes of a training run's record to disk; its checkpoint has a pace of its own."""

SETTLE_SECONDS = 5.0
"""Seconds between two attempts of an idle lane to write what a full disk did not take."""

Work = Callable[[RunRecord, Callable[[RunRecord], None], threading.Event], None]


class RunManager:
    """The runs of one machine; see explorer.runs.protocol.Runs.

    work: trains one run and publishes newer records of it. import_: keeps an adapter's weights and returns its record.
    """

    def __init__(
        self, store: RunStore, settings: Settings, work: Work, import_: Callable[[Adapter], RunRecord]
    ) -> None:
        self.store = store
        self._settings, self._work, self._import = settings, work, import_
        self._queue = FairQueue()
        self._active: dict[str, RunRecord] = {}
        self._stopping: dict[str, threading.Event] = {}
        self._contexts: dict[str, Context] = {}
        """The context in which each run was started: it holds the visitor's request, by which ZeroGPU charges GPU time."""
        self._kept_at: dict[str, float] = {}
        self._lasted: deque[float] = deque(maxlen=8)
        """Seconds that the last runs took, for an estimate of the waiting time."""
        self._changed = threading.Condition()
        self._threads: list[threading.Thread] = []
        self._room = Room(store, settings, self._needs)

    def start(self, spec: RunSpec, owner: str) -> str:
        """Queue a run and return its id. Raises ExplorerError if the task, the method or the model is not possible."""
        # Imported here: a server on which nobody trains needs none of it.
        from explorer.runs.checks import describe, settled

        spec = settled(spec, self._teacher(spec), self._settings)
        facts = describe(spec, self._settings)
        if spec.after:
            spec, facts = begun_from(spec, facts, self.get(spec.after))
        self._room.require()
        record = RunRecord(
            run_id=self.store.new_id(),
            owner=str(owner),
            spec=spec,
            status=RunStatus.QUEUED,
            created=self.store.now(),
            process=this_process(),
            **facts,
        )
        self._enqueue(record, owner)
        return record.run_id

    def _teacher(self, spec: RunSpec) -> RunRecord | None:
        """Return the run that a student learns from. Raises BadInputError if it does not exist, or its weights are not here."""
        teacher = self.get(spec.teacher) if spec.teacher else None
        if teacher is not None and not (self.store.folder_of(teacher.run_id) / WEIGHTS).exists():
            raise BadInputError(
                f"{teacher.name} cannot teach: its weights are not here. Choose a run that can be asked."
            )
        return teacher

    def _enqueue(self, record: RunRecord, owner: str) -> None:
        """Queue a run for its owner, who may be a queue.Visitor."""
        with self._changed:
            # Before it is saved: a visitor whose queue is full is refused here, and then nothing is on disk.
            self._queue.put(owner, record.run_id)
            try:
                self.store.save(record)
            except Exception:
                self._queue.remove(record.run_id)
                raise
            self._stopping[record.run_id] = threading.Event()
            self._contexts[record.run_id] = copy_context()
            self._active[record.run_id] = record
            uploads.hold(record.spec.task)  # its file is not removed while the run needs it
            self._tell_places()
            self._open_lanes()
            self._changed.notify_all()

    def _open_lanes(self) -> None:
        """Start the threads that train. The first run does this, so a server on which nobody trains has none."""
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        while len(self._threads) < self._settings.training_lanes:
            name = f"training-{len(self._threads)}"
            self._threads.append(threading.Thread(target=self._serve, daemon=True, name=name))
            self._threads[-1].start()

    def _tell_places(self) -> None:
        if order := self._queue.order():
            self._active |= moved_up(self._active, order, self._settings.training_lanes, self._lasted)

    def _serve(self) -> None:
        with contextlib.suppress(OSError, AttributeError):  # other systems know no niceness of a thread
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), self._settings.run_niceness)
        while True:
            self._run(self._next())

    def _next(self) -> RunRecord:
        """Wait for the next run, and meanwhile write what a full disk did not take."""
        with self._changed:
            while (run_id := self._queue.take()) is None:
                settled = self.store.settle()
                # New runs wake it; what is unwritten is tried again in a while.
                self._changed.wait(None if settled else SETTLE_SECONDS)
            record = self._active[run_id].evolve(
                status=RunStatus.RUNNING, place=0, seconds_left=None, message="Loading the model"
            )
            self._active[run_id] = record
            self._tell_places()
            return record

    def _run(self, record: RunRecord) -> None:
        """Train one run; whatever happens, its record says how it ended, and the lane is free for the next one."""
        said = "The run ended without a result."
        try:
            self.publish(record)
            # In the visitor's context, though on this thread.
            self._contexts[record.run_id].run(self._work, record, self.publish, self._stopping[record.run_id])
        except BaseException as error:  # a library that panics or exits must not end the lane
            said = failure(record.spec, error)
        with self._changed:
            last = self._active[record.run_id]
            if last.status.is_active:
                last = last.evolve(status=RunStatus.FAILED, message=said, seconds_left=None, place=0)
            self.store.keep(last)
            self._active[record.run_id] = last
            self._lasted.append(last.seconds)
            self._let_go(record.run_id)
        quietly(self._room)  # outside the lock, since it removes folders

    def _let_go(self, run_id: str) -> None:
        """Forget an active run that has ended. It is in the store by now, so whoever looks finds it here or there."""
        uploads.let_go(self._active[run_id].spec.task)
        del self._active[run_id], self._stopping[run_id], self._contexts[run_id]
        self._kept_at.pop(run_id, None)
        self._tell_places()
        self._changed.notify_all()

    def publish(self, record: RunRecord) -> None:
        """Take a newer record of an active run; it goes to disk with a new status, with a checkpoint, and every few seconds."""
        now = time.monotonic()
        with self._changed:
            before = self._active[record.run_id]
            # A worker counts from the record that it began with, which may be behind.
            record = replace(record, version=max(record.version, before.version + 1))
            changed = (before.status, before.saved) != (record.status, record.saved)
            due = now - self._kept_at.get(record.run_id, 0.0) > KEEP_SECONDS
            if (
                changed or due
            ):  # on disk first: nobody is told of an end that another reader of the folder cannot see yet
                self._kept_at[record.run_id] = now
                # The end is kept even if the disk is full; what comes between may be refused.
                (self.store.save if record.status.is_active else self.store.keep)(record)
            self._active[record.run_id] = record
            self._tell_places()

    def folder_of(self, run_id: str) -> Path:
        """Return the folder of a run, as RunStore.folder_of."""
        return self.store.folder_of(run_id)

    def _needs(self, run_id: str) -> bool:
        """Return whether a run trains or waits, or another that does learns or starts from it."""
        active = [(record.run_id, record.spec.teacher, record.spec.after) for record in list(self._active.values())]
        return any(run_id in needed for needed in active)

    def get(self, run_id: str) -> RunRecord:
        """Return the newest record, and note that the run was used. Raises BadInputError for a run that does not exist."""
        self._room.look(run_id)
        # From memory first: a run leaves memory only once the store has it.
        record = (self._active.get(run_id) if isinstance(run_id, str) else None) or self.store.find(run_id)
        if record is None:
            lost = (
                f" The list of runs was damaged and is set aside as {self.store.set_aside}."
                if self.store.set_aside
                else ""
            )
            raise BadInputError(
                f"No run is called {str(run_id)[:60]!r}: it may have been deleted, or be on another server.{lost}"
            )
        return record

    def list(self, owner: str) -> list[RunRecord]:
        """Return an owner's runs, newest first, then the bundled examples; everybody's for the lecturer."""
        active = dict(self._active)
        kept = self.store.owned_by(None if owner == LECTURER else owner)
        newest = (max(active.get(record.run_id, record), record, key=lambda one: one.version) for record in kept)
        return [*newest, *self.store.examples()]

    def is_lecturer(self, key: str) -> bool:
        """Return whether a key is the one that the server was started with."""
        return bool(self._settings.lecturer_key) and secrets.compare_digest(
            # compare_digest takes no str beyond ASCII, and a visitor may type a lone surrogate.
            key.encode("utf-8", "surrogatepass"),
            self._settings.lecturer_key.encode("utf-8", "surrogatepass"),
        )

    def _owned(self, run_id: str, owner: str) -> RunRecord:
        record = self.get(run_id)
        if record.owner == OWNER:
            raise BadInputError(
                "This run is a worked example of the app and not yours: nobody can stop, resume or delete it."
            )
        if owner not in (record.owner, LECTURER):
            raise BadInputError("This run is not yours: only who started it, or the lecturer, can stop or delete it.")
        return record

    def _settled(self, run_id: str, owner: str) -> RunRecord:
        """Return a run as _owned, once its lane has let it go if it has just ended. The caller holds the lock."""
        while not (record := self._owned(run_id, owner)).status.is_active and run_id in self._active:
            self._changed.wait()
        return record

    def stop(self, run_id: str, owner: str) -> None:
        """Take a waiting run out of the queue, or let a training one finish its step and keep what it has learned."""
        with self._changed:
            record = self._owned(run_id, owner)
            if self._queue.remove(run_id):
                # One that was stopped, resumed and stopped again before its turn has its earlier result still.
                status = RunStatus.STOPPED if record.outcome else RunStatus.CANCELLED
                self._active[run_id] = record.evolve(
                    status=status, place=0, seconds_left=None, message="Stopped while it waited."
                )
                self.store.keep(self._active[run_id])
                self._let_go(run_id)
            elif run_id in self._stopping and record.status.is_active:
                self._stopping[run_id].set()
                self._active[run_id] = record.evolve(message="Stopping after this step")
            elif record.status.is_active:
                raise BadInputError("This run trains on another server; stop it there.")

    def resume(self, run_id: str, owner: str) -> None:
        """Queue a run again that was stopped, interrupted or failed; it goes on from its last checkpoint."""
        with self._changed:
            record = self._settled(run_id, owner)
            if record.status is RunStatus.DAMAGED:
                raise BadInputError(f"This run cannot be resumed. {record.message}")
            if record.status.is_active or record.status in (RunStatus.DONE, RunStatus.IMPORTED):
                raise BadInputError(f"This run is {record.status}; only one that ended early can be resumed.")
            queued = record.evolve(status=RunStatus.QUEUED, message="", process=this_process())
            # A lecturer's Resume counts in the queue as the owner's.
            self._enqueue(queued, owner if owner == record.owner else record.owner)

    def delete(self, run_id: str, owner: str) -> None:
        """Remove a run and its weights."""
        with self._changed:
            if self._settled(run_id, owner).status.is_active:
                raise BadInputError("This run still trains: stop it first, then delete it.")
            self.store.delete(run_id)

    def import_adapter(self, path: str, owner: str) -> str:
        """Keep an adapter from a file as a run and return its id. Raises ExplorerError with what is wrong in the file."""
        self._room.require()
        record = replace(self._import(Adapter(Path(path), self.store.new_id(), str(owner))), created=self.store.now())
        try:
            self.store.save(record)
        except StorageError:
            remove(self.store.folder_of(record.run_id))
            raise
        self._room.look(record.run_id)
        quietly(self._room)
        return record.run_id

    def wait(self, run_id: str, seconds: float) -> RunRecord:
        """Return the record once the run has ended, or the current one when `seconds` are over."""
        deadline = time.monotonic() + seconds
        with self._changed:
            while run_id in self._active and (left := deadline - time.monotonic()) > 0:
                self._changed.wait(left)
        return self.get(run_id)


def failure(spec: RunSpec, error: BaseException) -> str:
    """Return why a run ended, for its record."""
    from explorer.models.loaded_model import is_out_of_memory

    return str(_no_memory(spec) if is_out_of_memory(error) else readable(error))


def _no_memory(spec: RunSpec) -> OutOfMemoryError:
    return OutOfMemoryError(
        f"The memory did not suffice for {spec.method} with batches of {spec.batch_size}. Take smaller batches, a smaller "
        "model, or a method that trains less of it, such as LoRA."
    )

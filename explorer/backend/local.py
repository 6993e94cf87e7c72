"""The executor of one machine: a lane of worker threads, the shared models, and a cache of answers.

torch is imported by the first job (or by warm_up), never when the server starts.
"""

from __future__ import annotations

import importlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from explorer.backend.executor import DownloadProgress, Job, ModelStatus
from explorer.backend.runs.manager import RunManager
from explorer.backend.runs.record import RunRecord
from explorer.backend.runs.store import RunStore
from explorer.backend.runs.turns import share_freed_memory
from explorer.errors import BadInputError, ExplorerError, OutOfMemoryError
from explorer.models.catalog import find_card
from explorer.settings import BUNDLED_RUNS, Settings

if TYPE_CHECKING:
    from explorer.backend.runs.open import OpenRuns
    from explorer.models.bundle import Bundle, ModelStore
    from explorer.models.tokenizer_store import TokenizerStore


class LocalExecutor:
    """Runs each job in this process; see explorer.backend.executor.Executor."""

    def __init__(self, settings: Settings) -> None:
        share_freed_memory()
        self._settings = settings
        self._lane = ThreadPoolExecutor(settings.workers, thread_name_prefix="job")
        self._answers: OrderedDict[tuple[Job, str, Any], Future[Any]] = OrderedDict()
        self._answers_lock = threading.Lock()
        self._store_lock = threading.Lock()
        self._made_store: ModelStore | None = None
        self._made_runs: RunManager | None = None
        self._made_open: OpenRuns | None = None
        self._made_tokenizers: TokenizerStore | None = None

    @property
    def store(self) -> ModelStore:
        """The loaded models; made, and torch imported, by whoever asks first."""
        with self._store_lock:
            if self._made_store is None:
                from explorer.models.bundle import ModelStore

                self._made_store = ModelStore(self._settings)
            return self._made_store

    @property
    def runs(self) -> RunManager:
        """The runs; their database is opened by whoever asks first."""
        with self._store_lock:
            if self._made_runs is None:
                store = RunStore(self._settings.data_folder, BUNDLED_RUNS)
                self._made_runs = RunManager(store, self._settings, self._train, lambda name: self.store.get(name))
            return self._made_runs

    def _train(self, record: RunRecord, publish: Callable[[RunRecord], None], stopping: threading.Event) -> None:
        from explorer.backend.runs.worker import Worker
        from explorer.tasks.sources import load

        data = load(record.spec.task, self._settings)
        bundle = self.store.get(record.spec.model)
        opened = self._opened_runs()
        Worker(record, data, bundle, self.runs.store.folder_of(record.run_id), publish, stopping, opened).work()

    def _bundle_of(self, model_id: str) -> Bundle:
        """A shared model for a job; loaded in the job's own inference mode, it could not be trained afterwards."""
        import torch

        with torch.inference_mode(False):
            return self.store.get(model_id)

    def submit_for_runs(self, job: Job, params: Any) -> Future[Any]:
        """As submit; the same question about the same state of the same runs is answered from the cache."""
        named = [getattr(params, field.name) for field in fields(params) if field.name.startswith("run")]
        runs = self.runs
        try:
            versions = tuple(runs.get(run_id).version for run_id in _flat(named) if run_id)
        except ExplorerError as error:
            failed: Future[Any] = Future()
            failed.set_exception(error)
            return failed
        return self._shared((job, "", (params, versions)), self._call_on_runs, job, params)

    def _call_on_runs(self, job: Job, params: Any) -> Any:
        import torch

        with torch.inference_mode():
            return _function(job)(self._opened_runs(), params)

    def _opened_runs(self) -> OpenRuns:
        from explorer.backend.runs.open import OpenRuns

        runs = self.runs
        with self._store_lock:
            if self._made_open is None:
                self._made_open = OpenRuns(runs.get, runs.store.folder_of, self._bundle_of)
            return self._made_open

    def submit_for_tokenizers(self, job: Job, params: Any) -> Future[Any]:
        """As submit; an answer that lacks a tokenizer which could not be opened is not kept."""
        key = (job, "", params)
        return self._shared(key, self._call_on_tokenizers, key)

    def _call_on_tokenizers(self, key: tuple[Job, str, Any]) -> Any:
        from explorer.models.tokenizer_store import Opening, TokenizerStore

        with self._store_lock:
            if self._made_tokenizers is None:
                self._made_tokenizers = TokenizerStore(self._settings)
            opening = Opening(self._made_tokenizers)
        job, _, params = key
        result = _function(job)(opening, params)
        if opening.refused:
            self._forget(key)
        return result

    def submit_alone(self, job: Job, params: Any) -> Future[Any]:
        """As submit, without a model."""
        return self._shared((job, "", params), lambda: _function(job)(params))

    def submit(self, job: Job, model_id: str, params: Any) -> Future[Any]:
        """Answer from the cache at once, join the same question while it is being worked on, or queue the job.

        A class that opens the same page at the same moment asks once. Failures are not kept.
        """
        return self._shared((job, model_id, params), self._with_memory, job, model_id, params)

    def _shared(self, key: tuple[Job, str, Any], work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        try:
            hash(key)
        except TypeError:
            raise BadInputError(_no_plain_values(key[2])) from None
        with self._answers_lock:
            shared = self._answers.get(key)
            if shared is None:
                shared = self._answers[key] = self._lane.submit(work, *arguments)
            self._answers.move_to_end(key)
            while len(self._answers) > self._settings.result_cache_entries:
                self._answers.popitem(last=False)
        shared.add_done_callback(lambda done: self._forget_failure(key, done))
        return _follower(shared)

    def _forget_failure(self, key: tuple[Job, str, Any], done: Future[Any]) -> None:
        if done.exception() is not None:
            with self._answers_lock:
                if self._answers.get(key) is done:
                    del self._answers[key]

    def _forget(self, key: tuple[Job, str, Any]) -> None:
        with self._answers_lock:
            self._answers.pop(key, None)

    def _with_memory(self, job: Job, model_id: str, params: Any) -> Any:
        """Run once; where memory runs out, let the other models go and run again, then say so."""
        from explorer.models.bundle import is_out_of_memory

        for attempt in (1, 2):
            try:
                return self._call(job, self.store.get(model_id), params)
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error):
                    raise
                if attempt == 2:
                    break
                self.store.release_others(model_id)
        raise OutOfMemoryError(
            f"There is not enough memory for {model_id} on this text. Take a shorter text or a smaller model."
        )

    @staticmethod
    def _call(job: Job, bundle: Bundle, params: Any) -> Any:
        import torch

        if job.needs is not None:
            bundle.require(job.needs)
        with torch.inference_mode():
            return _function(job)(bundle, params)

    def prepare(self, model_id: str) -> Iterator[DownloadProgress]:
        """Download where needed, then load; the last update comes when the model is in memory."""
        from explorer.models.hub import download, local_folder

        if local_folder(model_id, self._settings) is None:
            with closing(download(model_id, self._settings)) as updates:  # a visitor who leaves stops the download
                for progress in updates:
                    yield DownloadProgress(progress.done, progress.total)
        self.store.get(model_id)
        yield DownloadProgress(1, 1)

    def status(self, model_id: str) -> ModelStatus:
        """From memory where the model is loaded, else from the catalog."""
        from explorer.models.hub import local_folder

        card = find_card(model_id)
        bundle = self._made_store.find(model_id) if self._made_store else None
        if bundle is not None:
            heads = tuple(head for head in bundle.architecture.heads if head in bundle.capabilities)
            family, parameters = bundle.architecture.family, float(bundle.parameters)
            return ModelStatus(model_id, family, parameters, heads, True, True, str(bundle.device))
        here = local_folder(model_id, self._settings) is not None
        if card is None:
            return ModelStatus(model_id, None, None, (), here, False)
        return ModelStatus(model_id, card.family, card.millions * 1e6, card.capabilities, here, False)

    def warm_up(self, model_id: str) -> None:
        """Import torch and load the model in a thread of its own."""
        threading.Thread(target=lambda: self.store.get(model_id), daemon=True, name="warm-up").start()


def _no_plain_values(params: Any) -> str:
    """The sentence for parameters that hold a list or an object where one value is expected; it names them."""
    odd = [field.name for field in fields(params) if isinstance(getattr(params, field.name), list | dict | set)]
    return f"{' and '.join(odd) or 'A parameter'} must be one name or number; got a list or an object."


def _function(job: Job) -> Callable[..., Any]:
    module, name = job.function.split(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function


def _flat(names: list[Any]) -> list[str]:
    """Run ids from fields that hold one or several."""
    return [name for entry in names for name in (entry if isinstance(entry, (tuple, list)) else (entry,))]


def _follower(shared: Future[Any]) -> Future[Any]:
    """A future of one visitor's own: when they leave, and theirs is cancelled, the others' answer still comes."""
    own: Future[Any] = Future()

    def pass_on(done: Future[Any]) -> None:
        if not own.set_running_or_notify_cancel():
            return
        error = done.exception()
        if error is not None:
            own.set_exception(error)
        else:
            own.set_result(done.result())

    shared.add_done_callback(pass_on)
    return own

"""The engine of one machine: worker threads, the shared models, and a cache of answers.

torch is imported by the first job (or by warm_up), never when the server starts.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.engine.answers import Answers
from explorer.engine.computation import Computation, Subscription
from explorer.engine.protocol import DownloadProgress, Job, ModelStatus
from explorer.engine.resources import IMPORTING, Resources, able, begun, flat, inference, named, no_plain_values
from explorer.engine.workers import Line, Workers
from explorer.errors import BadInputError, ExplorerError, OutOfMemoryError
from explorer.lru_cache import LRUCache
from explorer.memory import trimmer
from explorer.models.catalog import find_card, made_by
from explorer.runs.checks import model_of
from explorer.runs.cpu_share import share_freed_memory
from explorer.runs.manager import RunManager
from explorer.runs.protocol import Adapter
from explorer.runs.record import RunRecord
from explorer.runs.store import RunStore
from explorer.scratch.spec import NOTHING, ScratchSpec
from explorer.settings import BUNDLED_RUNS, Settings

if TYPE_CHECKING:
    from explorer.models.loaded_model import LoadedModel, ModelStore
    from explorer.models.tokenizer_store import Opening, TokenizerStore
    from explorer.runs.open import OpenRuns

IMPORT = Job("explorer.runs.open:import_run", on="runs")

Question = tuple[Job, Any, str, tuple[int, ...]]
"""A job, its parameters, its model and the versions of its runs."""


class LocalEngine:
    """Runs each job in this process; see explorer.engine.protocol.Engine."""

    def __init__(self, settings: Settings, records: RunStore | None = None) -> None:
        """records: the records of the runs, if they are not those of this machine's database."""
        share_freed_memory()
        self._settings, self._records_of_runs = settings, records
        self._workers = Workers(settings.workers)
        self._answers = Answers(settings.result_cache_entries, settings.result_cache_bytes)
        self._remembered = LRUCache(settings.result_cache_entries, settings.result_cache_bytes)
        self._store_lock = threading.Lock()
        self._made_store: ModelStore | None = None
        self._made_runs: RunManager | None = None
        self._made_open: OpenRuns | None = None
        self._made_tokenizers: TokenizerStore | None = None

    @property
    def store(self) -> ModelStore:
        """The loaded models. The first to ask makes the store, and imports torch for it."""
        with self._store_lock:
            if self._made_store is None:
                with IMPORTING:
                    from explorer.models.loaded_model import ModelStore

                self._made_store = ModelStore(self._settings, self._load)
            return self._made_store

    def _load(self, model_id: str, settings: Settings) -> LoadedModel:
        """Load a model from its folder. The model of a fine-tuned run is first written to that folder if it is not
        there yet.
        """
        with IMPORTING:
            from explorer.models.catalog import own_folder, trained_folder
            from explorer.models.loaded_model import load_model
            from explorer.runs.open import keep_model

        record = self._maker(model_id)
        if record is not None and not record.from_nothing and trained_folder(model_id, settings) is None:
            keep_model(self._opened_runs()(record.run_id), own_folder(model_id, settings))
        return load_model(model_id, settings)

    def _maker(self, model_id: str) -> RunRecord | None:
        """Return the run that made the model of this name; None if it is another kind of model, or if the run is gone."""
        run_id = made_by(model_id)
        record = self.runs.store.find(run_id) if run_id else None
        return record if record is not None and model_of(record) == model_id else None

    @property
    def runs(self) -> RunManager:
        """The manager of the runs. The first to ask opens their database."""
        with self._store_lock:
            if self._made_runs is None:
                store = self._records_of_runs or RunStore(self._settings.data_folder, BUNDLED_RUNS)
                self._made_runs = RunManager(store, self._settings, self.train, self.import_adapter)
            return self._made_runs

    def train(self, record: RunRecord, publish: Callable[[RunRecord], None], stopping: threading.Event) -> None:
        """Train a run in this process, from its last checkpoint if there is one; `publish` is called with each newer record."""
        with IMPORTING:
            from explorer.runs.worker import Worker
            from explorer.tasks.sources import load

        folder = self.runs.store.folder_of(record.run_id)
        if isinstance(record.spec, ScratchSpec):
            self._train_from_nothing(record, record.spec, folder, publish, stopping)
            return
        data = load(record.spec.task, self._settings)
        loaded = self.store.get(record.spec.model)
        opened = self._opened_runs()
        Worker(record, folder, publish, stopping, data, loaded, opened).work()

    def _train_from_nothing(
        self,
        record: RunRecord,
        spec: ScratchSpec,
        folder: Path,
        publish: Callable[[RunRecord], None],
        stopping: threading.Event,
    ) -> None:
        with IMPORTING:
            from explorer.models.loaded_model import choose_device
            from explorer.runs.scratch import ScratchWorker
            from explorer.scratch.text import read_documents

        start = None if spec.model == NOTHING else self.store.get(spec.model)
        documents = read_documents(spec.task, self._settings)
        device = choose_device(self._settings.device)
        ScratchWorker(record, folder, publish, stopping, documents, device, start).work()

    def import_adapter(self, adapter: Adapter) -> RunRecord:
        """Check an adapter and keep its weights beside its model. Returns the record, which the caller has still to keep."""
        record: RunRecord = self.follow(IMPORT, adapter).last.result()
        return record

    def _loaded_of(self, model_id: str) -> LoadedModel:
        """Return a shared model for a job."""
        import torch

        # Parameters made in inference mode can never require gradients, and a run may train this model later.
        with torch.inference_mode(False):
            return self.store.get(model_id)

    def _opened_runs(self) -> OpenRuns:
        with IMPORTING:
            from explorer.runs.open import OpenRuns

        runs = self.runs
        with self._store_lock:
            if self._made_open is None:
                self._made_open = OpenRuns(runs.get, runs.store.folder_of, self._loaded_of)
            return self._made_open

    def _opening(self) -> Opening:
        with IMPORTING:
            from explorer.models.tokenizer_store import Opening, TokenizerStore

        with self._store_lock:
            if self._made_tokenizers is None:
                self._made_tokenizers = TokenizerStore(self._settings)
            return Opening(self._made_tokenizers)

    def follow(self, job: Job, params: Any, model: str = "") -> Subscription:
        """Join the same question if it is under way or answered already, else queue the job. Failures are not kept.

        A class that opens the same page at the same moment thus asks once. Raises BadInputError for parameters that are
        no plain values, and ExplorerError for a run that does not exist.
        """
        # The versions of the runs are part of the key, so an answer about a run that has changed since is not given
        # again.
        about = (model or getattr(params, "model", ""), self._versions(job, params))
        key = (job, params, *about)
        try:
            hash(key)
        except TypeError:
            raise BadInputError(no_plain_values(params)) from None
        resources = Resources(self._loaded_of, self._opened_runs, self._opening, self._remembered, about)
        together = self._together(job, about[0]) if job.together else None
        return self._answers.follow(
            key,
            lambda: self._computation(key, resources),
            lambda computation: computation.start((job, about[0]), together),
        )

    def _versions(self, job: Job, params: Any) -> tuple[int, ...]:
        """Return how often each run named in the parameters has changed. Raises ExplorerError for a run that does not exist."""
        if job.on not in ("runs", "resources"):
            return ()
        named = [getattr(params, field.name) for field in fields(params) if field.name.startswith("run")]
        return tuple(self.runs.get(run_id).version for run_id in flat(named) if run_id)

    def _computation(self, key: Question, resources: Resources) -> Computation:
        job, params, model, _ = key

        def mend(error: BaseException, attempt: int) -> BaseException | None:
            return self._with_memory(error, attempt, model)

        return Computation(
            params,
            lambda: begun(job, params, model, resources),
            self._workers,
            # Longer texts are of another kind: each doubling of their length is one.
            (job, model, len(repr(params)).bit_length()),
            nullcontext if job.on in ("nothing", "tokenizers") else inference,
            mend,
            self._forgetting(key, resources),
        )

    def _forgetting(self, key: Question, resources: Resources) -> Callable[[Computation, BaseException | None], None]:
        """Return the callback for a computation's end, which keeps the answer or forgets a failure."""

        def ended(computation: Computation, error: BaseException | None) -> None:
            lasts = resources.is_kept and not getattr(computation.state()[1], "is_busy", False)
            self._answers.ended(key, computation, error is None and lasts)
            trimmer()()

        return ended

    def _together(self, job: Job, model: str) -> Callable[[list[Any]], list[Any]] | None:
        """Return the function that answers several questions about a model as one batch."""

        def answers(asked: list[Any]) -> list[Any]:
            loaded = able(job, self._loaded_of(model))
            with IMPORTING:
                answer = named(job.together)
            found: list[Any] = answer(loaded, asked)
            return found

        return answers

    def _with_memory(self, error: BaseException, attempt: int, model: str) -> BaseException | None:
        """If memory ran out, unload the other models and return None to try again, the second time an error that says
        so. Other errors are returned as they are.
        """
        # Without a model and without torch no memory of a device can have run out; and the import below would bring
        # torch in.
        if isinstance(error, ExplorerError) or not (model or "torch" in sys.modules or isinstance(error, MemoryError)):
            return error
        with IMPORTING:
            from explorer.models.loaded_model import is_out_of_memory

        if not is_out_of_memory(error):
            return error
        if attempt == 1 and model:
            self.store.release_others(model)
            return None
        return OutOfMemoryError(
            f"There is not enough memory for {model or 'this'} on this text. Take a shorter text or a smaller model."
        )

    def line(self, ago: float) -> Line:
        """Return how many turns wait for this machine's workers before a question asked `ago` seconds ago."""
        return self._workers.line(ago)

    def prepare(self, model_id: str) -> Iterator[DownloadProgress]:
        """Download the model if needed, then load it; the last update comes when the model is in memory."""
        from explorer.models.folders import local_folder
        from explorer.models.hub import download

        if local_folder(model_id, self._settings) is None and not made_by(model_id):
            with closing(download(model_id, self._settings)) as updates:  # a visitor who leaves stops the download
                for progress in updates:
                    yield DownloadProgress(progress.done, progress.total)
        self.load_for(model_id)
        yield DownloadProgress(1, 1)

    def load_for(self, model_id: str) -> None:
        """Load a model into memory. Raises ExplorerError."""
        for attempt in (1, 2):
            try:
                self.store.get(model_id)
                return
            except Exception as error:
                mended = self._with_memory(error, attempt, model_id)
                if mended is not None:
                    raise mended from error

    def status(self, model_id: str) -> ModelStatus:
        """Describe a model from memory if it is loaded, else from the catalog or the run that made it."""
        from explorer.models.folders import local_folder

        card = find_card(model_id)
        # Not `store`, which would import torch to find that nothing is loaded.
        loaded = self._made_store.find(model_id) if self._made_store else None
        if loaded is not None:
            return status_of(loaded)
        here = local_folder(model_id, self._settings) is not None
        first = self._maker(model_id)
        if first is not None and not first.from_nothing:
            # A fine-tuned model has the family and size of the model it began with.
            return replace(self.status(first.spec.model), model_id=model_id, on_this_machine=True, in_memory=False)
        if card is None:
            return ModelStatus(model_id, None, None, (), here, False)
        return ModelStatus(model_id, card.family, card.millions * 1e6, card.capabilities, here, False)

    def warm_up(self, model_id: str) -> None:
        """Import torch and load the model in a thread of their own."""
        threading.Thread(target=lambda: self.store.get(model_id), daemon=True, name="warm-up").start()


def status_of(loaded: LoadedModel) -> ModelStatus:
    """Describe a model that is in memory."""
    heads = tuple(head for head in loaded.architecture.heads if head in loaded.capabilities)
    family, parameters = loaded.architecture.family, float(loaded.parameters)
    return ModelStatus(loaded.model_id, family, parameters, heads, True, True, str(loaded.device))

"""Opens finished runs: restored once and kept, merged into a model, or imported from an adapter's file."""

from __future__ import annotations

import copy
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

import torch
from transformers import PreTrainedModel

from explorer.errors import BadInputError, ModelUnavailableError, StorageError, storage_error
from explorer.lru_cache import LRUCache
from explorer.models.loaded_model import LoadedModel
from explorer.runs.checks import why_no_model
from explorer.runs.protocol import Adapter
from explorer.runs.record import RunRecord, RunStatus
from explorer.runs.store import WEIGHTS
from explorer.shelf import remove
from explorer.tuning.adapted import Adapted, adapt
from explorer.tuning.deltas import Delta, LowRank
from explorer.tuning.distilling import take_layers
from explorer.tuning.files.imports import Imported, base_name, import_adapter
from explorer.tuning.merging import merged
from explorer.tuning.snapshots import load_snapshot, load_tensors, mended_by, save_snapshot, save_tensors

MOST_OPEN = 8

_WHEN = {
    True: "It keeps the first one after its first step.",
    False: "Only LoRA's is kept while a run trains; wait until this one is done, or press Stop.",
}


@dataclass(frozen=True)
class OpenRun:
    """One run. `restore` returns its adapted model, shared by everybody who asks and never changed.

    begin: returns a new copy of that model as it was before the first step, which the caller may change.
    """

    record: RunRecord
    folder: Path
    loaded: Callable[[], LoadedModel]
    restore: Callable[[], Adapted]
    begin: Callable[[], Adapted]

    def require_weights(self) -> None:
        """Raise BadInputError if there is nothing trained to try yet, or not any more."""
        if self.record.status is RunStatus.DAMAGED:
            raise BadInputError(f"{self.record.name} cannot be asked. {self.record.message}")
        if not self.record.status.has_weights:
            raise BadInputError(
                f"{self.record.name} is {self.record.status}: there is nothing to try yet. "
                "Wait until it is done, or press Stop to keep what it has learned."
            )
        if not (self.folder / WEIGHTS).exists():
            raise BadInputError(" ".join((f"{self.record.name} cannot be asked.", *self.record.notes)))

    def kept_step(self, step: int | None) -> int | None:
        """Return the kept step nearest to `step`; the one that the run ended with for None; None if the run keeps no steps."""
        snapshots = self.record.snapshots
        if not snapshots:
            return None
        ended = self.record.kept if self.record.kept in snapshots else snapshots[-1]
        return ended if step is None else min(snapshots, key=lambda kept: abs(kept - step))

    def deltas(self, step: int | None = None) -> Mapping[tuple[int, str], Delta]:
        """Return ΔW by (layer, role), at the kept step nearest to `step`, or at the end. Raises BadInputError if W is
        not changed.
        """
        kept = self.kept_step(step)
        if kept is not None:
            return load_snapshot(self.folder, kept)
        if self.record.status.is_active:
            raise BadInputError(f"{self.record.name} has no ΔW to look into yet. {_WHEN[self.record.keeps_snapshots]}")
        self.require_weights()
        deltas = self.restore().deltas()
        if not deltas:
            raise BadInputError(
                f"{self.record.name} leaves the weight matrices as they are: there is no ΔW to look into. "
                "Choose a LoRA run or one of full fine-tuning."
            )
        return deltas


class OpenRuns:
    """Opens runs by id and keeps the adapted models that were used last."""

    def __init__(
        self, get: Callable[[str], RunRecord], folder_of: Callable[[str], Path], loaded_of: Callable[[str], LoadedModel]
    ):
        self._get, self.folder_of, self._loaded_of = get, folder_of, loaded_of
        self._restored = LRUCache(MOST_OPEN)

    def __call__(self, run_id: str) -> OpenRun:
        """Open a run. Raises BadInputError if it does not exist."""
        record = self._get(run_id)
        folder = self.folder_of(run_id)
        return OpenRun(
            record,
            folder,
            lambda: self._loaded_of(record.spec.model),
            lambda: self._restore(record, folder),
            lambda: self._begin(record),
        )

    def model(self, model_id: str) -> LoadedModel:
        """Return a model by its id, for a job that works on runs or on models."""
        return self._loaded_of(model_id)

    def _begin(self, record: RunRecord) -> Adapted:
        adapted = adapt(self._loaded_of(record.spec.model), len(record.labels) or 1, record.spec, record.kind)
        if adapted.method.needs_teacher and record.spec.start == "teacher":
            take_layers(adapted, merged(self(record.spec.teacher).restore()))
        return adapted

    def _restore(self, record: RunRecord, folder: Path) -> Adapted:
        def make() -> Adapted:
            with torch.inference_mode(False):  # some jobs ask for gradients, which such tensors do not have
                adapted = adapt(self._loaded_of(record.spec.model), len(record.labels) or 1, record.spec, record.kind)
                adapted.load_state(load_tensors(folder / WEIGHTS, mended_by(folder)))
                adapted.eval()
            return adapted

        # By version too: a resumed run has other weights.
        restored: Adapted = self._restored.get((record.run_id, record.version), make)
        return restored


# What a fine-tuned run has made, as a model: its update in the weights, beside the heads that the model had before.


@torch.no_grad()
def as_model(opened: OpenRun) -> PreTrainedModel:
    """Return the run's base model with the run's weights for every tensor of the same name and shape; its other heads
    are unchanged.

    Raises BadInputError for a run without weights, or one whose method leaves nothing to merge.
    """
    opened.require_weights()
    if reason := why_no_model(opened.record):
        raise BadInputError(reason)
    changed = merged(opened.restore()).state_dict()
    model = copy.deepcopy(opened.loaded().model)
    for name, parameter in model.named_parameters():
        if name in changed and changed[name].shape == parameter.shape:
            parameter.copy_(changed[name])
    return model


def keep_model(opened: OpenRun, folder: Path) -> None:
    """Write the model and its tokenizer into `folder`, which appears only once it is whole.

    Raises StorageError if the disk does not take it.
    """
    model = as_model(opened)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        making = Path(mkdtemp(dir=folder.parent, prefix="making-"))
        try:
            model.save_pretrained(making)
            opened.loaded().tokenizer.save_pretrained(making)
            making.rename(folder)
        finally:
            shutil.rmtree(making, ignore_errors=True)
    except OSError as error:
        if (folder / "config.json").is_file():  # another process was quicker
            return
        raise storage_error("the model of this run", error) from error


# An adapter from a file becomes a run: checked against its base model where that is here, drawn in any case.


def import_run(open_run: OpenRuns, params: Adapter) -> RunRecord:
    """Check an adapter and keep its weights. Returns the record, which the caller has still to keep.

    Raises BadInputError for a file that is no adapter or does not fit.
    """
    notes: list[str] = []
    with torch.inference_mode(False):
        try:
            loaded = open_run.model(base_name(params.file))
        except ModelUnavailableError:
            loaded = None
            notes.append("Choose its base model in the picker first and import it again, to ask the adapter something.")
        imported = import_adapter(params.file, loaded)
    folder = open_run.folder_of(params.name)
    try:
        save_snapshot(folder, 1, imported.deltas)
        if imported.state is not None:
            save_tensors(folder / WEIGHTS, imported.state)
    except StorageError:
        remove(folder)
        raise
    return _record(imported, params.owner, params.name, notes)


def _record(imported: Imported, owner: str, run_id: str, notes: list[str]) -> RunRecord:
    low_rank = [delta for delta in imported.deltas.values() if isinstance(delta, LowRank)]
    numbers = sum(delta.A.numel() + delta.B.numel() for delta in low_rank)
    labels = imported.labels
    if not labels and imported.outputs > 1:
        labels = tuple(f"class {number}" for number in range(imported.outputs))
    trainable = numbers + sum(tensor.numel() for tensor in imported.head.values())
    return RunRecord(
        run_id=run_id,
        owner=owner,
        spec=imported.spec,
        status=RunStatus.IMPORTED,
        created=time.time(),
        name=f"Imported LoRA r={imported.spec.rank} · {imported.base_model_name.split('/')[-1][:40]}",
        task_title="an imported adapter's task",
        labels=labels,
        columns=imported.columns or ("text",),
        step=1,
        steps=1,
        trainable=trainable,
        checkpoint_bytes=4 * trainable,  # float32
        snapshots=(1,),
        notes=(*imported.notes, *notes),
        scale=imported.scale,
    )

"""An adapter from a file becomes a run: checked against its base model where that is here, drawn in any case."""

from __future__ import annotations

import time

import torch

from explorer.errors import ModelUnavailableError, StorageError
from explorer.runs.open import OpenRuns
from explorer.runs.protocol import Adapter
from explorer.runs.record import RunRecord, RunStatus
from explorer.runs.store import WEIGHTS
from explorer.shelf import remove
from explorer.tuning.deltas import LowRank
from explorer.tuning.files.imports import Imported, base_name, import_adapter
from explorer.tuning.snapshots import save_snapshot, save_tensors


def import_run(open_run: OpenRuns, params: Adapter) -> RunRecord:
    """Check an adapter and keep its weights; the record, which is to be kept yet.

    Raises BadInputError for a file that is no adapter or does not fit.
    """
    notes: list[str] = []
    with torch.inference_mode(False):
        try:
            bundle = open_run.model(base_name(params.file))
        except ModelUnavailableError:
            bundle = None
            notes.append("Choose its base model in the picker first and import it again, to ask the adapter something.")
        imported = import_adapter(params.file, bundle)
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
        checkpoint_bytes=4 * trainable,
        snapshots=(1,),
        notes=(*imported.notes, *notes),
        scale=imported.scale,
    )

"""An adapter from a file becomes a run: checked against its base model where that is here, drawn in any case."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from explorer.errors import ModelUnavailableError, StorageError
from explorer.models.bundle import Bundle
from explorer.runs.record import RunRecord, RunStatus
from explorer.runs.store import WEIGHTS, RunStore
from explorer.shelf import remove
from explorer.tuning.deltas import LowRank
from explorer.tuning.files.imports import Imported, base_name, import_adapter
from explorer.tuning.snapshots import save_snapshot, save_tensors


def import_run(path: Path, owner: str, bundle_of: Callable[[str], Bundle], store: RunStore) -> RunRecord:
    """Read, check and keep an adapter; its record. Raises BadInputError for a file that is no adapter or does not fit."""
    notes: list[str] = []
    try:
        bundle = bundle_of(base_name(path))
    except ModelUnavailableError:
        bundle = None
        notes.append("Choose its base model in the picker first and import it again, to ask the adapter something.")
    imported = import_adapter(path, bundle)
    record = _record(imported, owner, store.new_id(), notes)
    folder = store.folder_of(record.run_id)
    try:
        save_snapshot(folder, 1, imported.deltas)
        if imported.state is not None:
            save_tensors(folder / WEIGHTS, imported.state)
        store.save(record)
    except StorageError:
        remove(folder)
        raise
    return record


def _record(imported: Imported, owner: str, run_id: str, notes: list[str]) -> RunRecord:
    low_rank = [delta for delta in imported.deltas.values() if isinstance(delta, LowRank)]
    numbers = sum(delta.A.numel() + delta.B.numel() for delta in low_rank)
    labels = imported.labels
    if not labels and imported.outputs > 1:
        labels = tuple(f"class {number}" for number in range(imported.outputs))
    trainable = numbers + sum(tensor.numel() for tensor in imported.head.values())
    return RunRecord(
        run_id=run_id,
        owner=str(owner),
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

"""A kept run as jobs receive it: its record, its folder, and, when asked for, its model and its ΔW."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch

from explorer.errors import BadInputError
from explorer.models.bundle import Bundle
from explorer.recent import Recent
from explorer.runs.record import RunRecord, RunStatus
from explorer.runs.store import WEIGHTS
from explorer.tuning.adapted import Adapted, adapt
from explorer.tuning.deltas import Delta
from explorer.tuning.distilling import take_layers
from explorer.tuning.merging import merged
from explorer.tuning.snapshots import load_snapshot, load_tensors, mended_by

MOST_OPEN = 8

_WHEN = {
    True: "It keeps the first one after its first step.",
    False: "Only LoRA's is kept while a run trains; wait until this one is done, or press Stop.",
}


@dataclass(frozen=True)
class OpenRun:
    """One run. `restore` gives its adapted model, shared by everybody who asks: it is never changed.

    begin: the same model as it was before its first step, the caller's own.
    """

    record: RunRecord
    folder: Path
    bundle: Callable[[], Bundle]
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
        """The kept step that is nearest, for None the one that the run ended with; None if the run keeps no steps."""
        snapshots = self.record.snapshots
        if not snapshots:
            return None
        ended = self.record.kept if self.record.kept in snapshots else snapshots[-1]
        return ended if step is None else min(snapshots, key=lambda kept: abs(kept - step))

    def deltas(self, step: int | None = None) -> Mapping[tuple[int, str], Delta]:
        """ΔW by (layer, role): at a kept step, the last one where None. Raises BadInputError where W is not changed."""
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
    """Opens runs by name and keeps the adapted models that were asked for last."""

    def __init__(
        self, get: Callable[[str], RunRecord], folder_of: Callable[[str], Path], bundle_of: Callable[[str], Bundle]
    ):
        self._get, self.folder_of, self._bundle_of = get, folder_of, bundle_of
        self._restored = Recent(MOST_OPEN)

    def __call__(self, run_id: str) -> OpenRun:
        """Open a run. Raises BadInputError for one that is not there."""
        record = self._get(run_id)
        folder = self.folder_of(run_id)
        return OpenRun(
            record,
            folder,
            lambda: self._bundle_of(record.spec.model),
            lambda: self._restore(record, folder),
            lambda: self._begin(record),
        )

    def model(self, model_id: str) -> Bundle:
        """A model of the picker, for a job that works on runs or on models."""
        return self._bundle_of(model_id)

    def _begin(self, record: RunRecord) -> Adapted:
        adapted = adapt(self._bundle_of(record.spec.model), len(record.labels) or 1, record.spec, record.kind)
        if adapted.method.needs_teacher and record.spec.start == "teacher":
            take_layers(adapted, merged(self(record.spec.teacher).restore()))
        return adapted

    def _restore(self, record: RunRecord, folder: Path) -> Adapted:
        def make() -> Adapted:
            with torch.inference_mode(False):  # some jobs ask for gradients, which such tensors do not have
                adapted = adapt(self._bundle_of(record.spec.model), len(record.labels) or 1, record.spec, record.kind)
                adapted.load_state(load_tensors(folder / WEIGHTS, mended_by(folder)))
                adapted.eval()
            return adapted

        restored: Adapted = self._restored.get((record.run_id, record.version), make)
        return restored

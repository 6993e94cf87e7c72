"""`python -m explorer.backend.runs`: train the worked examples again and put them into assets/runs."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from explorer.backend.local import LocalExecutor
from explorer.backend.runs.record import RunRecord, RunStatus
from explorer.backend.runs.store import WEIGHTS
from explorer.models.catalog import DEFAULT_MODEL
from explorer.settings import BUNDLED_RUNS, Settings, share_processor
from explorer.tuning.snapshots import FOLDER
from explorer.tuning.spec import RunSpec

NOTE = "A worked example: trained beforehand on two CPU cores with these settings, and bundled with the app."


@dataclass(frozen=True)
class Worked:
    """One example. run_id: its name in links. snapshots: how many moments of its training are kept."""

    run_id: str
    spec: RunSpec
    snapshots: int = 1


EXAMPLES = (
    Worked("example-lora-8", RunSpec(DEFAULT_MODEL, "sst2", "lora", rank=8), snapshots=10),
    Worked("example-lora-64", RunSpec(DEFAULT_MODEL, "sst2", "lora", rank=64, alpha=128)),
    Worked("example-lora-8-again", RunSpec(DEFAULT_MODEL, "sst2", "lora", rank=8, seed=1)),
)
"""For the first look at both pages: a run with its history, another rank and another seed to compare it with."""


def keep(worked: Worked, record: RunRecord, folder: Path) -> None:
    """Copy one run's weights and some of its snapshots, with a record that says what it is."""
    target = BUNDLED_RUNS / worked.run_id
    shutil.rmtree(target, ignore_errors=True)
    (target / FOLDER).mkdir(parents=True)
    stride = max(1, (len(record.snapshots) - 1) // max(1, worked.snapshots - 1))
    chosen = (
        sorted({*record.snapshots[::stride], record.snapshots[-1]}) if worked.snapshots > 1 else [record.snapshots[-1]]
    )
    for step in chosen:
        shutil.copy(folder / FOLDER / f"{step:06d}.safetensors", target / FOLDER)
    shutil.copy(folder / WEIGHTS, target)
    kept = record.but(
        run_id=worked.run_id, owner="example", snapshots=tuple(chosen), notes=(NOTE, *record.notes), process=(0, 0.0)
    )
    (target / "record.json").write_text(kept.to_json() + "\n", encoding="utf-8")


def main() -> None:
    """Train each example and keep it; prints what it reached."""
    share_processor()
    with tempfile.TemporaryDirectory() as data_folder:
        runs = LocalExecutor(Settings(data_folder=Path(data_folder))).runs
        for worked in EXAMPLES:
            record = runs.wait(runs.start(worked.spec, "example"), 3600)
            if record.status is not RunStatus.DONE:
                raise SystemExit(f"{worked.run_id}: {record.status} {record.message}")
            keep(worked, record, runs.store.folder_of(record.run_id))
            print(f"{worked.run_id}: {record.leading_metric} {record.score:.3f} in {record.seconds:.0f} s", flush=True)


if __name__ == "__main__":
    main()

"""`python -m explorer.backend.runs [NAME ...]`: train the worked examples again and put them into assets/runs."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from explorer.backend.local import LocalExecutor
from explorer.backend.runs.examples import EXAMPLES, OWNER, Worked
from explorer.backend.runs.record import RunRecord, RunStatus
from explorer.backend.runs.store import WEIGHTS
from explorer.settings import BUNDLED_RUNS, Settings
from explorer.tuning.snapshots import FOLDER

NOTE = "A worked example: trained beforehand on two CPU cores with these settings, and bundled with the app."
NO_WEIGHTS = "Its weights are as large as the model and are not bundled; train it here to try it."


def keep(worked: Worked, record: RunRecord, folder: Path) -> None:
    """Copy one run's weights and some of its snapshots, with a record that says what it is."""
    target = BUNDLED_RUNS / worked.run_id
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    chosen = _thinned(record.snapshots, worked.snapshots)
    for step in chosen:
        (target / FOLDER).mkdir(exist_ok=True)
        shutil.copy(folder / FOLDER / f"{step:06d}.safetensors", target / FOLDER)
    if worked.weights:
        shutil.copy(folder / WEIGHTS, target)
    notes = (NOTE, *([] if worked.weights else [NO_WEIGHTS]), *record.notes)
    kept = record.but(
        run_id=worked.run_id, owner=OWNER, snapshots=chosen, notes=notes, process=(0, 0.0), listed=worked.listed
    )
    (target / "record.json").write_text(kept.to_json() + "\n", encoding="utf-8")


def _thinned(steps: tuple[int, ...], most: int) -> tuple[int, ...]:
    """The last step, and others evenly before it."""
    if len(steps) <= most:
        return steps
    places = {round(place * (len(steps) - 1) / max(1, most - 1)) for place in range(most)} if most > 1 else {-1}
    return tuple(sorted(steps[place] for place in places))


def main() -> None:
    """Train each example and keep it; prints what it reached."""
    wanted = sys.argv[1:] or [worked.run_id for worked in EXAMPLES]
    with tempfile.TemporaryDirectory() as data_folder:
        runs = LocalExecutor(Settings(data_folder=Path(data_folder))).runs
        for worked in EXAMPLES:
            if worked.run_id not in wanted:
                continue
            record = runs.wait(runs.start(worked.spec, OWNER), 3600)
            if record.status is not RunStatus.DONE:
                raise SystemExit(f"{worked.run_id}: {record.status} {record.message}")
            keep(worked, record, runs.store.folder_of(record.run_id))
            print(f"{worked.run_id}: {record.leading_metric} {record.score:.3f} in {record.seconds:.0f} s", flush=True)


if __name__ == "__main__":
    main()

"""`python -m explorer.runs [NAME ...]`: train the worked examples again and put them into assets/runs.

With `--glue FOLDER` each is also measured on the real file of its task, where the folder, GLUE as it is distributed, has one;
with `--measure` as well, those that are bundled are measured and nothing is trained.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from explorer.engine.local import LocalEngine
from explorer.errors import BadInputError
from explorer.models.loaded_model import load_model
from explorer.runs.examples import EXAMPLES, OWNER, Worked
from explorer.runs.open import OpenRun, OpenRuns
from explorer.runs.record import OnRealTask, RunRecord, RunStatus
from explorer.runs.store import WEIGHTS
from explorer.settings import BUNDLED_RUNS, Settings
from explorer.tasks.formats.glue import read_glue
from explorer.tasks.glue_tasks import find_task
from explorer.tasks.metrics import scores
from explorer.tasks.task import Task
from explorer.tuning.adapted import Adapted
from explorer.tuning.reading import Scale, decide, predict
from explorer.tuning.rows import tokenise
from explorer.tuning.snapshots import FOLDER
from explorer.tuning.spec import LONGEST_ROW

NOTE = "A worked example: trained beforehand on two CPU cores with these settings, and bundled with the app."
NO_WEIGHTS = "Its weights are as large as the model and are not bundled; train it here to try it."


def keep(worked: Worked, record: RunRecord, folder: Path) -> None:
    """Copy one run's weights and some of its snapshots into assets/runs, with a record that says what the run is."""
    target = BUNDLED_RUNS / worked.run_id
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    chosen = _thinned(record.snapshots, worked.snapshots)
    for step in chosen:
        (target / FOLDER).mkdir(exist_ok=True)
        shutil.copy(folder / FOLDER / f"{step:06d}.safetensors", target / FOLDER)
    if record.from_nothing and worked.weights:
        for made in folder.glob(f"*-{record.step}"):
            shutil.copytree(made, target / made.name)
    elif worked.weights:
        shutil.copy(folder / WEIGHTS, target)
    notes = (NOTE, *([] if worked.weights else [NO_WEIGHTS]), *record.notes)
    kept = record.evolve(
        run_id=worked.run_id, owner=OWNER, snapshots=chosen, notes=notes, process=(0, 0.0), listed=worked.listed
    )
    (target / "record.json").write_text(kept.to_json() + "\n", encoding="utf-8")


def _thinned(steps: tuple[int, ...], most: int) -> tuple[int, ...]:
    """Choose at most `most` steps: the last one, and others evenly before it."""
    if len(steps) <= most:
        return steps
    places = {round(place * (len(steps) - 1) / max(1, most - 1)) for place in range(most)} if most > 1 else {-1}
    return tuple(sorted(steps[place] for place in places))


# A run of a bundled task on the real task's file, whose sentences are not the bundled ones; nothing of the file is kept.


def real_file(record: RunRecord, glue: Path) -> Path | None:
    """Return the validation file of a run's task in a folder of GLUE, unpacked as it is distributed; None without one."""
    task = _task_of(record)
    if task is None:
        return None
    names = ("dev.tsv", "dev_matched.tsv")
    return next((path for name in names if (path := glue / _name(task) / name).is_file()), None)


def on_real_task(record: RunRecord, adapted: Adapted, path: Path, date: str, command: str) -> OnRealTask:
    """Measure a run on every row of a file in GLUE's own layout, none of which the run has seen.

    Raises BadInputError for a run of another task than a bundled one, and for a file of another layout.
    """
    task = _task_of(record)
    if task is None:
        raise BadInputError(f"{record.name} has learned none of the bundled tasks, so GLUE has no file of its task.")
    examples = read_glue(path, task.slug).examples
    rows = tokenise(adapted.loaded, examples, min(LONGEST_ROW, adapted.longest))
    device = next(iter(adapted.model.parameters())).device
    predicted = decide(task, predict(adapted, rows, device), Scale(*record.scale))
    found = scores(task, rows.labels.tolist(), predicted)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return OnRealTask(_name(task), path.name, digest, len(rows), found, date, command)


def _task_of(record: RunRecord) -> Task | None:
    try:
        task = find_task(record.spec.task)
    except BadInputError:
        return None
    return task if task.labels == record.labels else None


def _name(task: Task) -> str:
    return task.title.split(" · ")[0]


def measured(record: RunRecord, opened: OpenRun, glue: Path) -> RunRecord:
    """Return the record with the run's scores on the real file of its task; unchanged if the folder has none."""
    path = real_file(record, glue)
    if path is None:
        return record
    command = f"python -m explorer.runs --measure --glue FOLDER {record.run_id}"
    real = on_real_task(record, opened.restore(), path, datetime.date.today().isoformat(), command)
    print(f"{record.run_id}: {real.title}, {real.rows} rows of {real.file}: {real.metrics}", flush=True)
    return record.evolve(real=(real,))


def measure_bundled(wanted: Sequence[str], glue: Path, open_run: OpenRuns) -> None:
    """Measure the bundled runs that have weights, and write the result into their records."""
    for run_id in wanted:
        opened = open_run(run_id)
        if (opened.folder / WEIGHTS).exists():
            found = measured(opened.record, opened, glue)
            (opened.folder / "record.json").write_text(found.to_json() + "\n", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    """Train each example and keep it, or measure those that are bundled; prints the scores."""
    parser = argparse.ArgumentParser(prog="python -m explorer.runs", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="which examples (all)")
    parser.add_argument("--glue", type=Path, help="a folder of GLUE with SST-2/dev.tsv and so on")
    parser.add_argument("--measure", action="store_true", help="train nothing")
    chosen = parser.parse_args(arguments)
    if chosen.measure and chosen.glue is None:
        parser.error("--measure needs --glue FOLDER")
    wanted = chosen.names or [worked.run_id for worked in EXAMPLES]
    with tempfile.TemporaryDirectory() as data_folder:
        settings = Settings(data_folder=Path(data_folder))
        runs = LocalEngine(settings).runs
        open_run = OpenRuns(runs.get, runs.store.folder_of, lambda model: load_model(model, settings))
        if chosen.measure:
            measure_bundled(wanted, chosen.glue, open_run)
            return
        for worked in EXAMPLES:
            if worked.run_id not in wanted:
                continue
            record = runs.wait(runs.start(worked.spec, OWNER), 3600)
            if record.status is not RunStatus.DONE:
                raise SystemExit(f"{worked.run_id}: {record.status} {record.message}")
            folder = runs.store.folder_of(record.run_id)
            if chosen.glue is not None:
                record = measured(record, open_run(record.run_id), chosen.glue)
            keep(worked, record, folder)
            print(f"{worked.run_id}: {record.leading_metric} {record.score:.3f} in {record.seconds:.0f} s", flush=True)


if __name__ == "__main__":
    main()

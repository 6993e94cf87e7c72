"""What only a cluster has to do: lose a worker, a machine or its patience without losing an answer; share no folder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from explorer.engine.protocol import Job
from explorer.engine.resources import Resources
from explorer.labs.finetune.schema import ExportParams
from explorer.labs.masking import FILL_MASKS
from explorer.labs.masking.schema import FillParams
from explorer.runs.record import RunRecord, RunStatus
from explorer.runs.store import RESUME, WEIGHTS
from explorer.settings import ROOT, Settings
from explorer.settings import settings as current
from explorer.tasks.sources import keep_upload
from explorer.tuning.files.zips import EXPORTS
from explorer.tuning.spec import RunSpec
from tests.engine.conftest import Machines
from tests.engine.test_engines import ASK, EXPORT
from tests.engine.traced import WAIT, until
from tests.models import tiny
from tests.runs.test_local import Ask
from tests.tuning.small import CATS, examples

pytest.importorskip("ray", reason="ray is not installed: pip install -r requirements-ray.txt")


@dataclass(frozen=True)
class Slow:
    """Parameters. folder: where each worker notes its process."""

    folder: str
    to: int = 6


def slow(resources: Resources, params: Slow) -> Iterator[Any]:
    """The numbers 1 to `to`, half a second each."""
    for number in range(1, params.to + 1):
        (Path(params.folder) / f"{number}-{os.getpid()}").touch()
        time.sleep(0.5)
        yield number


def where(params: Slow) -> str:
    """The data folder that a job finds by itself."""
    return str(current().data_folder)


SLOW = Job("tests.engine.test_cluster:slow", on="resources")
WHERE = Job("tests.engine.test_cluster:where", on="nothing")


def trainer() -> psutil.Process:
    """The process of the one run that trains."""
    [found] = [
        process
        for process in psutil.process_iter(["cmdline", "status"])
        if "ray::Trainer" in "".join(process.info["cmdline"] or ()) and process.info["status"] != psutil.STATUS_STOPPED
    ]
    return found


def long(model: str, **changes: Any) -> RunSpec:
    return RunSpec(model, rank=4, examples=64, epochs=25, batch_size=2, **changes)


def under_way(engine: Any, spec: RunSpec, step: int = 5) -> str:
    """A run that has come so far."""
    run: str = engine.runs.start(spec, "ada")
    until(lambda: engine.runs.get(run).step >= step or not engine.runs.get(run).status.is_active)
    assert engine.runs.get(run).status is RunStatus.RUNNING, engine.runs.get(run).message
    return run


def shown_once(record: RunRecord) -> None:
    assert record.status is RunStatus.DONE, record.message
    steps = [step for step, _ in record.losses]
    assert steps == sorted(set(steps)), "no step twice"
    assert steps[-1] == record.steps


def test_the_front_never_imports_torch(on_ray: Any, machines: Machines, tiny_id: str) -> None:
    script = f"""
import sys
from pathlib import Path
from explorer.engine.cluster import front
from explorer.engine.protocol import Job
from explorer.labs.finetune.schema import ExportParams
from explorer.labs.masking import FILL_MASKS
from explorer.labs.masking.schema import FillParams
from explorer.settings import Settings
from explorer.tuning.spec import RunSpec
front.NAME = "another"
folder = Path({str(on_ray._settings.data_folder)!r})
engine = front.RayEngine(Settings(offline=True, data_folder=folder, ray_address={machines.address!r}, ray_replicas=1))
found = engine.follow(FILL_MASKS.job, FillParams("the [MASK] sat"), {tiny_id!r}).last.result({WAIT})
run_id = engine.runs.start(RunSpec({tiny_id!r}, rank=4, examples=16, epochs=1, batch_size=8), "ada")
record = engine.runs.wait(run_id, {WAIT})
assert record.status.value == "done", record
export = Job("explorer.labs.finetune.jobs:export_run", on="runs")
zipped = engine.follow(export, ExportParams(run_id, "adapter")).last.result({WAIT})
assert engine.runs.get(engine.runs.import_adapter(zipped, "ada")).status.value == "imported"
engine.close()
assert found and not {{"torch", "ray"}} & set(sys.modules), "what may end this process is here"
"""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=WAIT)
    assert done.returncode == 0, done.stderr[-2000:]


def test_a_job_goes_by_the_fronts_settings(on_ray: Any) -> None:
    assert on_ray.follow(WHERE, Slow("")).last.result(WAIT) == str(on_ray._settings.data_folder)


def test_a_question_whose_worker_is_killed_is_asked_again_and_shown_once(on_ray: Any, tmp_path: Path) -> None:
    shown, follow, killed = list[int](), on_ray.follow(SLOW, Slow(str(tmp_path))), False
    end = time.monotonic() + WAIT
    for result in follow:
        assert time.monotonic() < end
        if result is None:
            time.sleep(0.02)
            continue
        shown.append(result)
        if result == 2 and not killed:
            killed = True
            [worker] = {int(path.name.split("-")[1]) for path in tmp_path.iterdir()}
            os.kill(worker, signal.SIGKILL)
    assert shown == [1, 2, 3, 4, 5, 6]
    assert len({path.name.split("-")[1] for path in tmp_path.iterdir()}) == 2


def test_a_run_whose_machine_is_lost_goes_on_elsewhere(on_ray: Any, machines: Machines, tiny_id: str) -> None:
    run = under_way(on_ray, long(tiny_id))
    machines.lose(trainer().pid)
    shown_once(on_ray.runs.wait(run, WAIT))


def test_a_run_whose_machine_hangs_says_so_and_goes_on_elsewhere(
    on_ray: Any, tiny_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from explorer.engine.cluster import front

    monkeypatch.setattr(front, "SILENT_SECONDS", 2.0)
    monkeypatch.setattr(front, "HUNG_SECONDS", 6.0)
    run = under_way(on_ray, long(tiny_id))
    heard = on_ray.runs.get(run).heard
    assert abs(time.time() - heard) < WAIT
    hung = trainer()
    hung.suspend()
    try:
        until(lambda: on_ray.runs.get(run).message.startswith("No word from its machine for "))
        assert on_ray.runs.get(run).status is RunStatus.RUNNING
        silent = on_ray.runs.get(run).heard
        shown_once(ended := on_ray.runs.wait(run, WAIT))
        assert heard <= silent < ended.heard
    finally:
        with suppress(psutil.NoSuchProcess):
            hung.kill()


@pytest.fixture(scope="module")
def apart(machines: Machines, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The engine of a cluster whose machines share no folder but the one in which they hand on files."""
    from explorer.engine.cluster import front

    folder = tmp_path_factory.mktemp("apart")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(front, "NAME", "apart")
        settings = Settings(
            device="cpu", offline=True, data_folder=folder / "data", hub_cache=folder / "hub",
            files=f"file://{folder}/handed", ray_address=machines.address, ray_replicas=1,
        )  # fmt: skip
        engine = front.RayEngine(settings)
        yield engine
        engine.close()


@pytest.fixture(scope="module")
def carried(apart: Any, machines: Machines, tiny_id: str, tmp_path_factory: pytest.TempPathFactory) -> RunRecord:
    """A run of a visitor's file, whose machine was lost after a checkpoint; it took its steps without going back."""
    path = tmp_path_factory.mktemp("brought") / "cats.tsv"
    rows = [f"{one.text}\t{('none', 'some')[int(one.label)]}" for one in examples(CATS, 60)]
    path.write_text("\n".join(["sentence\tlabel", *rows]), encoding="utf-8")
    took: list[int] = []
    publish = apart.runs.publish

    def noted(record: RunRecord) -> None:
        took.append(record.step)
        publish(record)

    apart.runs.publish = noted
    run = under_way(apart, long(tiny_id, task=keep_upload(path, apart._settings).name))
    until((apart.runs.folder_of(run) / RESUME).exists)
    machines.lose(trainer().pid)
    ended: RunRecord = apart.runs.wait(run, WAIT)
    shown_once(ended)
    began = next(place for place, step in enumerate(took) if step > 5)
    assert min(took[began:]) >= 5, "it went on from its checkpoint"
    return ended


def of_machines(machines: Machines, pattern: str) -> list[Path]:
    return [path for path in machines.folder.glob(f"machine-*/{pattern}") if path.is_file()]


def test_without_a_common_folder_a_run_is_carried_to_another_machine(
    apart: Any, machines: Machines, carried: RunRecord
) -> None:
    assert apart.follow(WHERE, Slow("")).last.result(WAIT).startswith(str(machines.folder))
    folder = apart.runs.folder_of(carried.run_id)
    assert (folder / WEIGHTS).is_file()
    assert not (folder / RESUME).exists()
    assert len(list((folder / "snapshots").iterdir())) == len(carried.snapshots)
    assert len(apart.follow(ASK, Ask(carried.run_id)).last.result(WAIT)) == 2
    assert of_machines(machines, f"data/brought/runs/{carried.run_id}/{WEIGHTS}"), "it was asked over there"


def test_without_a_common_folder_it_is_taken_home_and_brought_back(
    apart: Any, machines: Machines, carried: RunRecord
) -> None:
    zipped = Path(apart.follow(EXPORT, ExportParams(carried.run_id, "adapter")).last.result(WAIT))
    assert zipped.is_relative_to(EXPORTS)
    assert zipped.is_file()
    assert of_machines(machines, f"tmp/**/{zipped.name}")
    back = apart.runs.import_adapter(str(zipped), "ada")
    first, second = (apart.follow(ASK, Ask(run)).last.result(WAIT) for run in (carried.run_id, back))
    assert first == pytest.approx(second, abs=1e-5)


def test_without_a_common_folder_a_run_is_a_model(apart: Any, tiny_id: str, carried: RunRecord) -> None:
    made = f"{carried.run_id}@{carried.step}"
    list(apart.prepare(made))
    assert apart.status(made).family == "BERT"
    run = apart.runs.start(RunSpec(tiny_id, rank=4, examples=16, epochs=1, batch_size=8, after=carried.run_id), "ada")
    assert apart.runs.wait(run, WAIT).status is RunStatus.DONE
    assert len(apart.follow(ASK, Ask(run)).last.result(WAIT)) == 2


def test_without_a_common_folder_a_model_of_the_hub_is_carried(apart: Any, machines: Machines) -> None:
    model = apart._settings.hub_cache / "models--someone--tiny"
    tiny.save(model / "snapshots" / "0123abcd")
    (model / "refs").mkdir()
    (model / "refs" / "main").write_text("0123abcd", encoding="utf-8")
    assert apart.follow(FILL_MASKS.job, FillParams("the [MASK] sat"), "someone/tiny").last.result(WAIT)
    assert of_machines(machines, "hub/hub/models--someone--tiny/snapshots/0123abcd/model.safetensors")


def test_what_was_tidied_away_between_the_machines_is_handed_on_again(
    apart: Any, carried: RunRecord, machines: Machines
) -> None:
    for digest in {path.rsplit("/", 1)[1] for path in apart._sender.files._found()}:
        apart._sender.files._system.rm_file(apart._sender.files._place(digest))
    for path in of_machines(machines, f"data/brought/runs/{carried.run_id}/**/*"):
        path.unlink()
    assert len(apart.follow(ASK, Ask(carried.run_id, "a mat")).last.result(WAIT)) == 2

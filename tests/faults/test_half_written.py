"""A process that is killed while it writes a checkpoint: the whole one before it is there, and the run goes on from it."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from safetensors.torch import load_file

from explorer.engine.local import LocalEngine
from explorer.runs.record import RunStatus
from explorer.runs.store import RESUME
from explorer.runs.working import CHECKPOINT_STEPS
from explorer.settings import ROOT, Settings
from tests.faults.serving import PATIENCE, environment

TRAINS = """
import os, signal, sys
from pathlib import Path
from explorer.engine.local import LocalEngine
from explorer.runs.store import RESUME
from explorer.settings import Settings
from explorer.tuning import snapshots
from explorer.tuning.spec import RunSpec

whole, written = snapshots.save_file, []

def killed_in_the_second(tensors, path):
    whole(tensors, path)
    if Path(path).name.startswith(RESUME):
        written.append(path)
        if len(written) == 2:
            os.truncate(path, os.path.getsize(path) // 2)  # as much as had come to the disk
            os.kill(os.getpid(), signal.SIGKILL)

snapshots.save_file = killed_in_the_second
engine = LocalEngine(Settings(device="cpu", offline=True, data_folder=Path(sys.argv[1])))
run = engine.runs.start(RunSpec(sys.argv[2], rank=4, examples=200, epochs=1, batch_size=1), "ada")
print(run, flush=True)
engine.runs.wait(run, 600)
"""


def test_the_checkpoint_before_is_whole_and_resumed_from(tmp_path: Path, tiny_model: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", TRAINS, str(tmp_path), tiny_model],
        cwd=ROOT,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ran.returncode == -signal.SIGKILL, ran.stderr[-2000:]
    engine = LocalEngine(Settings(device="cpu", offline=True, data_folder=tmp_path))
    run = ran.stdout.strip()
    left = engine.runs.get(run)
    assert left.status is RunStatus.INTERRUPTED
    assert "press Resume to go on from the last checkpoint" in left.message
    folder = engine.runs.folder_of(run)
    assert (folder / f"{RESUME}.part").exists(), "the half one"
    kept = int(load_file(folder / RESUME)["progress"][0])
    assert 0 < kept < left.saved, "the record knows of the one that was never whole"
    engine.runs.resume(run, "ada")
    ended = engine.runs.wait(run, PATIENCE)
    assert (ended.status, ended.step) == (RunStatus.DONE, ended.steps), ended.message
    steps = [step for step, _ in ended.losses]
    assert steps == sorted(set(steps)), "no step is shown twice"
    assert any(kept < step <= kept + CHECKPOINT_STEPS for step in steps), "what was lost is trained again"
    assert not list(folder.glob("*.part"))

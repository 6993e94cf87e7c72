"""Peak memory of eight LoRA runs at once over one base, against that of one run; a fresh process each."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from explorer.settings import ROOT, Settings
from explorer.tuning.spec import RunSpec

MODEL = "bert-small"
MANY = 8
SPEC = RunSpec(MODEL, "sst2", "lora", epochs=2)
LONGEST_SECONDS = 60.0
LOOK_SECONDS = 0.1
PEAK = Path("/proc/self/status")


@dataclass(frozen=True)
class Peak:
    """Bytes of the whole process: with the model loaded and nothing training, and at most while the runs trained.

    together: how many runs were seen training at one moment.
    """

    loaded: int
    training: int
    together: int


def peak(runs: int) -> Peak:
    """Train so many runs at once in this process and see how far it grew."""
    from explorer.engine.local import LocalEngine
    from explorer.runs.comparing import follow_all
    from explorer.runs.record import RunStatus
    from explorer.tasks.sources import load

    with tempfile.TemporaryDirectory() as folder:
        engine = LocalEngine(Settings(device="cpu", data_folder=Path(folder), training_lanes=MANY))
        engine.store.get(MODEL)
        load(SPEC.task, Settings())
        loaded = _most_bytes()
        started = tuple(engine.runs.start(RunSpec(**{**asdict(SPEC), "seed": seed}), "me") for seed in range(runs))
        together = 0
        for compared in follow_all(engine.runs, started):
            if compared is not None:
                together = max(together, sum(0 < record.step < record.steps for record in compared.records))
            time.sleep(LOOK_SECONDS)
        statuses = {engine.runs.wait(run, LONGEST_SECONDS).status for run in started}
        assert statuses == {RunStatus.DONE}, statuses
        return Peak(loaded, _most_bytes(), together)


def _most_bytes() -> int:
    """The process's peak. Linux's ru_maxrss begins at what the parent had, so its own count is read there."""
    if PEAK.exists():
        return 1024 * int(next(line for line in PEAK.read_text().splitlines() if line.startswith("VmHWM")).split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def measured(runs: int) -> Peak:
    """`peak` in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.runs_memory", str(runs)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return Peak(**json.loads(done.stdout.splitlines()[-1]))


def measure() -> str:
    """One line: both peaks and their ratio, and what each run adds to the loaded server."""
    one, many = measured(1), measured(MANY)
    mega = 2**20
    return (
        f"memory of {many.together} LoRA runs at once over one {MODEL}: {many.training / mega:.0f} MB against "
        f"{one.training / mega:.0f} MB for one, ratio {many.training / one.training:.2f} (wanted: at most 1.6); before "
        f"training the server takes {one.loaded / mega:.0f} MB, one run adds {(one.training - one.loaded) / mega:.0f} MB "
        f"and each further one {(many.training - one.training) / (MANY - 1) / mega:.0f} MB"
    )


if __name__ == "__main__":
    print(json.dumps(asdict(peak(int(sys.argv[1])))))

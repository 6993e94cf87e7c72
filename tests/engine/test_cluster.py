"""The engine of a cluster: the same answers as on one machine, and nothing lost when a worker or a whole machine is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from explorer.engine.local import LocalEngine
from explorer.engine.protocol import Job
from explorer.engine.resources import Resources
from explorer.errors import BadInputError, MissingCapabilityError
from explorer.labs.masking import FILL_MASKS
from explorer.labs.masking.schema import FillParams
from explorer.labs.pairs import SCORE_PAIR
from explorer.labs.pairs.schema import PairParams
from explorer.models.families import Capability
from explorer.runs.record import RunStatus
from explorer.settings import ROOT, Settings
from explorer.tuning.spec import RunSpec
from tests.engine.test_workers import nearly
from tests.models import tiny

ray = pytest.importorskip("ray", reason="ray is not installed: pip install -r requirements-ray.txt")

WAIT = 120
MEMORY = 100 * 2**20


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


SLOW = Job("tests.engine.test_cluster:slow", on="resources")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two machines that work, as Ray takes them, and one that keeps their list."""
    from ray.cluster_utils import Cluster

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    node = {"num_cpus": 2, "object_store_memory": MEMORY}
    made = Cluster(initialize_head=True, head_node_args={**node, "num_cpus": 0, "include_dashboard": False})
    ray.init(
        made.address, log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": str(ROOT)}}
    )  # while it is alone
    for _ in range(2):
        made.add_node(**node)
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture(scope="module")
def model_id(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny.save(tmp_path_factory.mktemp("bert")))


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory, cluster: Any) -> Settings:
    folder = tmp_path_factory.mktemp("data")
    return Settings(
        device="cpu", offline=True, data_folder=folder, backend="ray", ray_address=cluster.address, ray_replicas=2
    )


@pytest.fixture(scope="module")
def engine(settings: Settings) -> Iterator[Any]:
    from explorer.engine.cluster.front import RayEngine

    engine = RayEngine(settings)
    yield engine
    engine.close()


@pytest.mark.parametrize(
    ("job", "params"),
    [
        (FILL_MASKS.job, FillParams("the [MASK] sat")),
        (SCORE_PAIR.job, PairParams("the cat", "a mat")),
    ],
)
def test_a_question_is_answered_as_on_one_machine(
    engine: Any, model_id: str, tmp_path: Path, job: Job, params: Any
) -> None:
    local = LocalEngine(Settings(device="cpu", offline=True, data_folder=tmp_path))
    theirs = local.follow(job, params, model_id).last.result(WAIT)
    assert nearly(engine.follow(job, params, model_id).last.result(WAIT), theirs)


def test_errors_are_the_same(engine: Any, model_id: str) -> None:
    def refused(job: Job, params: Any, model: str) -> BaseException | None:
        return engine.follow(job, params, model).last.exception(WAIT)  # type: ignore[no-any-return]

    assert isinstance(refused(FILL_MASKS.job, FillParams("the cat " * 2000), model_id), BadInputError)
    lacking = Job(FILL_MASKS.job.function, Capability.CAUSAL)
    assert isinstance(refused(lacking, FillParams("the [MASK]"), model_id), MissingCapabilityError)
    assert "no-such-model" in str(refused(FILL_MASKS.job, FillParams("the [MASK]"), "no-such-model"))


def test_the_front_never_imports_torch(settings: Settings, model_id: str, engine: Any) -> None:
    script = f"""
import sys
from pathlib import Path
from explorer.engine.cluster import front
from explorer.labs.masking import FILL_MASKS
from explorer.labs.masking.schema import FillParams
from explorer.settings import Settings
from explorer.tuning.spec import RunSpec
front.NAME = "another"
folder, address = Path({str(settings.data_folder)!r}), {settings.ray_address!r}
engine = front.RayEngine(Settings(offline=True, data_folder=folder, ray_address=address, ray_replicas=1))
found = engine.follow(FILL_MASKS.job, FillParams("the [MASK] sat"), {model_id!r}).last.result({WAIT})
run_id = engine.runs.start(RunSpec({model_id!r}, rank=4, examples=16, epochs=1, batch_size=8), "ada")
record = engine.runs.wait(run_id, {WAIT})
engine.close()
assert record.status.value == "done", record
assert found and "torch" not in sys.modules, "torch is here"
"""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=WAIT)
    assert done.returncode == 0, done.stderr[-2000:]


def test_a_question_whose_worker_is_killed_is_asked_again_and_shown_once(engine: Any, tmp_path: Path) -> None:
    shown, follow, killed = list[int](), engine.follow(SLOW, Slow(str(tmp_path))), False
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


def _raylet(node: Any) -> int:
    """The process below which a machine's workers run."""
    return node.all_processes["raylet"][0].process.pid  # type: ignore[no-any-return]


def test_a_run_whose_machine_is_lost_goes_on_elsewhere(engine: Any, cluster: Any, model_id: str) -> None:
    run_id = engine.runs.start(RunSpec(model_id, rank=4, examples=64, epochs=40, batch_size=2), "ada")
    end = time.monotonic() + WAIT
    while engine.runs.get(run_id).step < 5:
        assert time.monotonic() < end, engine.runs.get(run_id)
        time.sleep(0.05)
    [trains] = [
        process
        for process in psutil.process_iter(["cmdline"])
        if "ray::Trainer" in "".join(process.info["cmdline"] or ())
    ]
    machine = next(node for node in cluster.list_all_nodes() if _raylet(node) == trains.ppid())
    cluster.remove_node(machine, allow_graceful=False)
    record = engine.runs.wait(run_id, WAIT)
    assert record.status is RunStatus.DONE, record.message
    steps = [step for step, _ in record.losses]
    assert steps == sorted(set(steps)), "no step twice"

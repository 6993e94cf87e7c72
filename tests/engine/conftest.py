"""One Ray cluster for all tests of a session, where ray is installed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from explorer.settings import ROOT, Settings
from tests.models import tiny

MEMORY = 100 * 2**20


class Machines:
    """Two machines that work, as Ray takes them, each with folders of its own, and one that keeps their list."""

    def __init__(self, folder: Path) -> None:
        import ray
        from ray.cluster_utils import Cluster

        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        self.folder, self._made = folder, 0
        head = {"num_cpus": 0, "object_store_memory": MEMORY, "include_dashboard": False}
        self.cluster = Cluster(initialize_head=True, head_node_args=head)
        self.address = self.cluster.address
        environment = {"env_vars": {"PYTHONPATH": str(ROOT)}}
        ray.init(self.address, log_to_driver=False, runtime_env=environment)  # while it is alone
        for _ in range(2):
            self.add()

    def add(self) -> None:
        """One more that works."""
        self._made += 1
        own = self.folder / f"machine-{self._made}"
        (own / "tmp").mkdir(parents=True)
        places = {"EXPLORER_DATA": str(own / "data"), "HF_HOME": str(own / "hub"), "TMPDIR": str(own / "tmp")}
        self.cluster.add_node(num_cpus=2, object_store_memory=MEMORY, env_vars=places)

    def lose(self, worker: int) -> None:
        """Have the machine gone on which a process works, and another one come."""
        import psutil

        parent = psutil.Process(worker).ppid()
        nodes = self.cluster.list_all_nodes()
        lost = next(node for node in nodes if node.all_processes["raylet"][0].process.pid == parent)
        self.cluster.remove_node(lost, allow_graceful=False)
        self.add()

    def close(self) -> None:
        import ray

        ray.shutdown()
        self.cluster.shutdown()


@pytest.fixture(scope="session")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    pytest.importorskip("ray", reason="ray is not installed: pip install -r requirements-ray.txt")
    made = Machines(tmp_path_factory.mktemp("machines"))
    yield made
    made.close()


@pytest.fixture(scope="session")
def on_ray(machines: Machines, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The engine of a cluster whose machines all see one data folder."""
    from explorer.engine.cluster.front import RayEngine

    folder = tmp_path_factory.mktemp("data")
    engine = RayEngine(
        Settings(device="cpu", offline=True, data_folder=folder, ray_address=machines.address, ray_replicas=2)
    )
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def tiny_id(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A tiny BERT's folder, which is its id."""
    return str(tiny.save(tmp_path_factory.mktemp("bert")))

"""What a Ray cluster costs and gains: a question through it against the same one here, and questions with one and two replicas.

Needs requirements-ray.txt; says so where it is not there. Both replicas share this machine's cores, so that two are no faster
than one where a single pass uses all of them: on machines of their own they are.
"""

from __future__ import annotations

import importlib.util
import os
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

from explorer.engine.local import LocalEngine
from explorer.labs.masking import FILL_MASKS
from explorer.labs.masking.schema import FillParams
from explorer.settings import Settings

MODEL = "bert-mini"
QUESTIONS = 100
ASKING = 16
_number = count()


def measure() -> str:
    """Three lines: milliseconds more for a question, questions a second with one replica and with two."""
    if importlib.util.find_spec("ray") is None:
        return "cluster: ray is not installed (pip install -r requirements-ray.txt)"
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    import ray
    from ray.cluster_utils import Cluster

    from explorer.engine.cluster.front import RayEngine

    node = {"num_cpus": 2, "object_store_memory": 100 * 2**20}
    cluster = Cluster(initialize_head=True, head_node_args={**node, "num_cpus": 0, "include_dashboard": False})
    for _ in range(2):
        cluster.add_node(**node)
    lines = []
    try:
        with tempfile.TemporaryDirectory() as folder:
            here = Settings(device="cpu", offline=True, data_folder=Path(folder))
            local = _alone(LocalEngine(here))
            for replicas in (1, 2):
                settings = Settings(**{**vars(here), "ray_address": cluster.address, "ray_replicas": replicas})
                engine = RayEngine(settings)
                try:
                    if replicas == 1:
                        far = _alone(engine)
                        lines.append(
                            f"a question of 12 tokens to {MODEL}: {1000 * local:.1f} ms here, {1000 * far:.1f} ms through Ray, "
                            f"{1000 * (far - local):+.1f} ms"
                        )
                    lines.append(f"{replicas} replica{'s' * (replicas > 1)}: {_many(engine):.0f} questions a second")
                finally:
                    engine.close()
    finally:
        ray.shutdown()
        cluster.shutdown()
    return "cluster: " + "; ".join(lines)


def _ask(engine: Any) -> None:
    text = f"Number {next(_number)}: the capital of France is [MASK]."
    engine.follow(FILL_MASKS.job, FillParams(text), MODEL).last.result(120)


def _alone(engine: Any) -> float:
    """Median seconds of a question, one after the other."""
    return median([_timed(lambda: _ask(engine)) for _ in range(QUESTIONS + 10)][10:])


def _many(engine: Any) -> float:
    """Questions a second, so many asked at the same time."""
    with ThreadPoolExecutor(ASKING) as asking:
        list(asking.map(lambda _: _ask(engine), range(2 * ASKING)))
        return 4 * QUESTIONS / _timed(lambda: list(asking.map(lambda _: _ask(engine), range(4 * QUESTIONS))))


def _timed(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


if __name__ == "__main__":
    print(measure())

"""The engine that the settings name."""

from __future__ import annotations

import importlib.util

from explorer.engine.local import LocalEngine
from explorer.errors import ExplorerError
from explorer.settings import Settings


def engine_of(settings: Settings) -> LocalEngine:
    """This machine's engine, or a cluster's. Raises ExplorerError where the cluster's library or the cluster is missing."""
    if settings.backend == "local":
        return LocalEngine(settings)
    if importlib.util.find_spec("ray") is None:
        raise ExplorerError("EXPLORER_BACKEND=ray needs the package ray: pip install -r requirements-ray.txt")
    from explorer.engine.cluster.front import RayEngine

    try:
        return RayEngine(settings)
    except ConnectionError as error:
        raise ExplorerError(
            f"There is no Ray cluster at {settings.ray_address}. Start one by `ray start --head`, and name it in RAY_ADDRESS. "
            f"({error})"
        ) from error

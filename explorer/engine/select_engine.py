"""Selects the engine that the settings name."""

from __future__ import annotations

import importlib.util

from explorer.engine.local import LocalEngine
from explorer.errors import ExplorerError
from explorer.settings import Settings


def engine_of(settings: Settings) -> LocalEngine:
    """Return this machine's engine, that of a ZeroGPU Space, or that of a cluster.

    Raises ExplorerError if the library of one of these is missing, or if the cluster cannot be joined.
    """
    if settings.backend == "local":
        return _zero(settings) if settings.zero_gpu else LocalEngine(settings)
    if importlib.util.find_spec("ray") is None:
        raise ExplorerError("EXPLORER_BACKEND=ray needs the package ray: pip install -r requirements-ray.txt")
    from explorer.engine.cluster.front import RayEngine

    return RayEngine(settings)


def _zero(settings: Settings) -> LocalEngine:
    if importlib.util.find_spec("spaces") is None:
        raise ExplorerError("SPACES_ZERO_GPU is set, and ZeroGPU needs the package spaces: pip install spaces")
    from explorer.engine.zerogpu import ZeroEngine

    return ZeroEngine(settings)

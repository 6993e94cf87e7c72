"""The only place that reads the environment; everything else is handed a Settings."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUNDLED_MODELS = ROOT / "assets" / "models"
GIBIBYTE = 2**30

BUNDLED_TASKS = ROOT / "assets" / "tasks"
BUNDLED_RUNS = ROOT / "assets" / "runs"
BUNDLED_TOKENIZERS = ROOT / "assets" / "tokenizers"


def default_data_folder() -> Path:
    """Where runs and uploaded files are kept unless EXPLORER_DATA says otherwise."""
    return Path.home() / ".local" / "share" / "bert-explorer"


def default_hub_cache() -> Path:
    """Where downloaded models are kept unless HF_HUB_CACHE or HF_HOME say otherwise."""
    return Path.home() / ".cache" / "huggingface" / "hub"


@dataclass(frozen=True)
class Settings:
    """How this installation runs. Each field's environment variable stands beside it."""

    server_name: str = "127.0.0.1"  # GRADIO_SERVER_NAME
    server_port: int = 7860  # GRADIO_SERVER_PORT
    device: str = "auto"  # EXPLORER_DEVICE: auto, cuda, mps or cpu
    model_cache_bytes: int = 4 * GIBIBYTE  # EXPLORER_MODEL_CACHE_GB
    workers: int = 2  # EXPLORER_WORKERS: jobs that run at the same time
    result_cache_entries: int = 512  # EXPLORER_RESULT_CACHE: answers kept for visitors who ask the same
    hub_endpoint: str = "https://huggingface.co"  # HF_ENDPOINT
    hub_cache: Path = field(default_factory=default_hub_cache)  # HF_HUB_CACHE, or HF_HOME/hub
    hub_timeout: float = 10.0  # HF_HUB_DOWNLOAD_TIMEOUT, seconds without a byte
    offline: bool = False  # HF_HUB_OFFLINE: never ask the hub
    local_folders: bool = True  # EXPLORER_LOCAL_FOLDERS: may a visitor name a folder of this machine?
    largest_download_bytes: int = 4 * GIBIBYTE  # EXPLORER_LARGEST_DOWNLOAD_GB
    data_folder: Path = field(default_factory=default_data_folder)  # EXPLORER_DATA: runs and uploaded files
    training_lanes: int = 1  # EXPLORER_TRAINING_LANES: runs that train at the same time
    lecturer_key: str = ""  # EXPLORER_LECTURER_KEY: who opens a page with ?lecturer=KEY sees everybody's runs

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """Read the environment; raise ValueError naming the variable that cannot be read."""
        home = environment.get("HF_HOME")
        cache_folder = environment.get("HF_HUB_CACHE") or (f"{home}/hub" if home else None)
        standard = cls()
        return cls(
            server_name=environment.get("GRADIO_SERVER_NAME") or standard.server_name,
            server_port=int(_number(environment, "GRADIO_SERVER_PORT", standard.server_port)),
            device=environment.get("EXPLORER_DEVICE") or standard.device,
            model_cache_bytes=int(
                _number(environment, "EXPLORER_MODEL_CACHE_GB", standard.model_cache_bytes / GIBIBYTE) * GIBIBYTE
            ),
            workers=int(_number(environment, "EXPLORER_WORKERS", standard.workers, least=1)),
            result_cache_entries=int(_number(environment, "EXPLORER_RESULT_CACHE", standard.result_cache_entries)),
            hub_endpoint=(environment.get("HF_ENDPOINT") or standard.hub_endpoint).rstrip("/"),
            hub_cache=Path(cache_folder).expanduser() if cache_folder else standard.hub_cache,
            hub_timeout=_number(environment, "HF_HUB_DOWNLOAD_TIMEOUT", standard.hub_timeout),
            offline=_switch(environment, "HF_HUB_OFFLINE", standard.offline),
            local_folders=_switch(environment, "EXPLORER_LOCAL_FOLDERS", standard.local_folders),
            largest_download_bytes=int(
                _number(environment, "EXPLORER_LARGEST_DOWNLOAD_GB", standard.largest_download_bytes / GIBIBYTE)
                * GIBIBYTE
            ),
            data_folder=Path(environment.get("EXPLORER_DATA") or standard.data_folder).expanduser(),
            training_lanes=int(_number(environment, "EXPLORER_TRAINING_LANES", standard.training_lanes, least=1)),
            lecturer_key=environment.get("EXPLORER_LECTURER_KEY", "").strip(),
        )


def _number(environment: Mapping[str, str], name: str, standard: float, least: float = 0) -> float:
    text = environment.get(name, "").strip()
    if not text:
        return standard
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not least <= number < math.inf:
        raise ValueError(f"{name} must be a number, {least:g} or more, and is {text!r}")
    return number


def _switch(environment: Mapping[str, str], name: str, standard: bool) -> bool:
    text = environment.get(name, "").strip().lower()
    return text in ("1", "true", "yes", "on") if text else standard


def share_processor(environment: MutableMapping[str, str] = os.environ) -> None:
    """Let idle threads of torch sleep rather than spin, which must be said before torch is imported.

    A server whose visitors ask while a run trains has more threads than cores: on two cores a run then took 14 s, and 32 s
    with spinning threads.
    """
    environment.setdefault("OMP_WAIT_POLICY", "PASSIVE")


@cache
def settings() -> Settings:
    """This process's settings, read once."""
    return Settings.from_environment()

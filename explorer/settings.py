"""The only place that reads the environment; all other code receives a Settings."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BUNDLED_MODELS = ROOT / "assets" / "models"
GIBIBYTE = 2**30
BACKENDS = ("local", "ray")
MEBIBYTE = 2**20
LAST_PORT = 65535

SPACES = "https://huggingface.co https://*.huggingface.co"
"""The sites on which Spaces show an app in a frame."""

BUNDLED_TASKS = ROOT / "assets" / "tasks"
PROBES = ROOT / "assets" / "probes"
BUNDLED_STORIES = ROOT / "assets" / "stories"
BUNDLED_E2E = ROOT / "assets" / "e2e"
BUNDLED_SQUAD = ROOT / "assets" / "squad"
BUNDLED_RUNS = ROOT / "assets" / "runs"
BUNDLED_TOKENIZERS = ROOT / "assets" / "tokenizers"


def default_data_folder() -> Path:
    """Return where runs and uploaded files are kept unless EXPLORER_DATA is set."""
    return Path.home() / ".local" / "share" / "bert-explorer"


def default_hub_cache() -> Path:
    """Return where downloaded models are kept unless HF_HUB_CACHE or HF_HOME is set."""
    return Path.home() / ".cache" / "huggingface" / "hub"


@dataclass(frozen=True)
class Settings:
    """The settings of this installation. Each field's environment variable stands beside it."""

    server_name: str = "127.0.0.1"  # GRADIO_SERVER_NAME
    server_port: int = 7860  # GRADIO_SERVER_PORT
    device: str = "auto"  # EXPLORER_DEVICE: auto, cuda, mps or cpu
    model_cache_bytes: int = 4 * GIBIBYTE  # EXPLORER_MODEL_CACHE_GB
    workers: int = 2  # EXPLORER_WORKERS: jobs that run at the same time
    result_cache_entries: int = 512  # EXPLORER_RESULT_CACHE: answers kept for visitors who ask the same
    result_cache_bytes: int = 64 * MEBIBYTE  # EXPLORER_RESULT_CACHE_MB: all of them together, as pickle writes them
    hub_endpoint: str = "https://huggingface.co"  # HF_ENDPOINT
    hub_cache: Path = field(default_factory=default_hub_cache)  # HF_HUB_CACHE, or HF_HOME/hub
    hub_timeout: float = 10.0  # HF_HUB_DOWNLOAD_TIMEOUT, seconds without a byte
    offline: bool = False  # HF_HUB_OFFLINE: never ask the hub
    local_folders: bool = (
        True  # EXPLORER_LOCAL_FOLDERS: may a visitor name a folder of this machine? Unset: on 127.0.0.1
    )
    largest_download_bytes: int = 4 * GIBIBYTE  # EXPLORER_LARGEST_DOWNLOAD_GB
    data_folder: Path = field(default_factory=default_data_folder)  # EXPLORER_DATA: runs and uploaded files
    runs_bytes: int = 8 * GIBIBYTE  # EXPLORER_RUNS_GB: weights of all runs; the oldest are removed beyond
    visitor_runs_bytes: int = 2 * GIBIBYTE  # EXPLORER_VISITOR_RUNS_GB: of one visitor's
    most_runs: int = 3000  # EXPLORER_MOST_RUNS: runs in the list, with or without weights
    uploads_bytes: int = 2 * GIBIBYTE  # EXPLORER_UPLOADS_GB: uploaded tables and texts
    visitor_uploads_bytes: int = GIBIBYTE  # EXPLORER_VISITOR_UPLOADS_GB: from one address
    exports_bytes: int = 2 * GIBIBYTE  # EXPLORER_EXPORTS_GB: zips to take home, before they are handed over
    visitor_exports_bytes: int = GIBIBYTE  # EXPLORER_VISITOR_EXPORTS_GB: of one visitor's runs
    training_lanes: int = 1  # EXPLORER_TRAINING_LANES: runs that train at the same time
    run_niceness: int = (
        10  # EXPLORER_RUN_NICENESS: training gives way to visitors, and runs on the time that they leave
    )
    backend: str = "local"  # EXPLORER_BACKEND: local, or ray for a cluster
    ray_address: str = ""  # RAY_ADDRESS: of a cluster; empty for one on this machine
    ray_replicas: int = 0  # EXPLORER_RAY_REPLICAS: processes that answer; 0 for up to one a machine
    ray_gpus: float = 0.0  # EXPLORER_RAY_GPUS: of each such process and each run, such as 0.25
    files: str = (
        ""  # EXPLORER_FILES: where machines without a common data folder hand on files: a mount or a bucket's URL
    )
    zero_gpu: bool = False  # SPACES_ZERO_GPU, set by a Space that has a GPU only while it is needed
    in_space: bool = False  # SPACE_ID, set by every Space, which shows the app in a frame of another site
    has_login: bool = False  # OAUTH_CLIENT_ID, set by a Space whose visitors may sign in
    lecturer_key: str = ""  # EXPLORER_LECTURER_KEY: who opens a page with ?lecturer=KEY sees everybody's runs
    class_password: str = ""  # EXPLORER_CLASS_PASSWORD: without it nothing is answered; empty: the app is open
    hub_allowed: tuple[str, ...] = ()  # EXPLORER_HUB_ALLOW: hub ids and patterns such as google-bert/*; none: any
    frame_ancestors: str = SPACES  # EXPLORER_FRAMES: sites that may show the app in a frame, beside itself
    hosts: tuple[str, ...] = ()  # EXPLORER_HOSTS: names by which the server may be asked; none: any
    question_bytes: int = 8 * MEBIBYTE  # EXPLORER_QUESTION_MB: one request, but for an upload
    upload_bytes: int = 100 * MEBIBYTE  # EXPLORER_UPLOAD_MB: one file
    links: bool = False  # EXPLORER_LINKS: may a visitor bring a file by a link, which the server then fetches?
    free_disk_bytes: int = GIBIBYTE  # EXPLORER_FREE_DISK_GB: with less, no upload is taken
    questions_a_minute: int = 0  # EXPLORER_QUESTIONS_A_MINUTE: of one visitor; 0: no limit. Unset: on 127.0.0.1
    address_questions_a_minute: int = 0  # EXPLORER_ADDRESS_QUESTIONS_A_MINUTE: of all who come from one address
    uploads_an_hour: int = 0  # EXPLORER_UPLOADS_AN_HOUR: of one visitor, and so on as above
    address_uploads_an_hour: int = 0  # EXPLORER_ADDRESS_UPLOADS_AN_HOUR

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """Read the environment. Raises ValueError naming the variable that cannot be read."""
        home = environment.get("HF_HOME")
        cache_folder = environment.get("HF_HUB_CACHE") or (f"{home}/hub" if home else None)
        standard = cls()
        return cls(
            server_name=environment.get("GRADIO_SERVER_NAME") or standard.server_name,
            server_port=int(_number(environment, "GRADIO_SERVER_PORT", standard.server_port, 1, LAST_PORT)),
            device=environment.get("EXPLORER_DEVICE") or standard.device,
            model_cache_bytes=_gigabytes(environment, "EXPLORER_MODEL_CACHE_GB", standard.model_cache_bytes),
            workers=int(_number(environment, "EXPLORER_WORKERS", standard.workers, least=1)),
            result_cache_entries=int(_number(environment, "EXPLORER_RESULT_CACHE", standard.result_cache_entries)),
            result_cache_bytes=_megabytes(environment, "EXPLORER_RESULT_CACHE_MB", standard.result_cache_bytes),
            hub_endpoint=(environment.get("HF_ENDPOINT") or standard.hub_endpoint).rstrip("/"),
            hub_cache=Path(cache_folder).expanduser() if cache_folder else standard.hub_cache,
            hub_timeout=_number(environment, "HF_HUB_DOWNLOAD_TIMEOUT", standard.hub_timeout),
            offline=_switch(environment, "HF_HUB_OFFLINE", standard.offline),
            local_folders=_switch(environment, "EXPLORER_LOCAL_FOLDERS", _asks_itself(environment, standard)),
            largest_download_bytes=_gigabytes(
                environment, "EXPLORER_LARGEST_DOWNLOAD_GB", standard.largest_download_bytes
            ),
            data_folder=Path(environment.get("EXPLORER_DATA") or standard.data_folder).expanduser(),
            runs_bytes=_gigabytes(environment, "EXPLORER_RUNS_GB", standard.runs_bytes),
            visitor_runs_bytes=_gigabytes(environment, "EXPLORER_VISITOR_RUNS_GB", standard.visitor_runs_bytes),
            most_runs=int(_number(environment, "EXPLORER_MOST_RUNS", standard.most_runs, least=1)),
            uploads_bytes=_gigabytes(environment, "EXPLORER_UPLOADS_GB", standard.uploads_bytes),
            visitor_uploads_bytes=_gigabytes(
                environment, "EXPLORER_VISITOR_UPLOADS_GB", standard.visitor_uploads_bytes
            ),
            exports_bytes=_gigabytes(environment, "EXPLORER_EXPORTS_GB", standard.exports_bytes),
            visitor_exports_bytes=_gigabytes(
                environment, "EXPLORER_VISITOR_EXPORTS_GB", standard.visitor_exports_bytes
            ),
            training_lanes=int(_number(environment, "EXPLORER_TRAINING_LANES", standard.training_lanes, least=1)),
            run_niceness=int(_number(environment, "EXPLORER_RUN_NICENESS", standard.run_niceness)),
            backend=_one_of(environment, "EXPLORER_BACKEND", BACKENDS),
            ray_address=environment.get("RAY_ADDRESS", ""),
            ray_replicas=int(_number(environment, "EXPLORER_RAY_REPLICAS", standard.ray_replicas)),
            ray_gpus=_number(environment, "EXPLORER_RAY_GPUS", standard.ray_gpus),
            files=environment.get("EXPLORER_FILES", "").strip(),
            zero_gpu=_switch(environment, "SPACES_ZERO_GPU", standard.zero_gpu),
            in_space=bool(environment.get("SPACE_ID")),
            has_login=bool(environment.get("OAUTH_CLIENT_ID")),
            lecturer_key=environment.get("EXPLORER_LECTURER_KEY", "").strip(),
            class_password=environment.get("EXPLORER_CLASS_PASSWORD", "").strip(),
            hub_allowed=tuple(environment.get("EXPLORER_HUB_ALLOW", "").replace(",", " ").split()),
            frame_ancestors=_sources(environment, "EXPLORER_FRAMES", standard.frame_ancestors),
            hosts=tuple(environment.get("EXPLORER_HOSTS", "").replace(",", " ").split()),
            question_bytes=_megabytes(environment, "EXPLORER_QUESTION_MB", standard.question_bytes),
            upload_bytes=_megabytes(environment, "EXPLORER_UPLOAD_MB", standard.upload_bytes),
            links=_switch(environment, "EXPLORER_LINKS", standard.links),
            free_disk_bytes=_gigabytes(environment, "EXPLORER_FREE_DISK_GB", standard.free_disk_bytes),
            **_rates(environment, standard),
        )


def _number(
    environment: Mapping[str, str], name: str, standard: float, least: float = 0, most: float = math.inf
) -> float:
    text = environment.get(name, "").strip()
    if not text:
        return standard
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and least <= number <= most):
        bounds = f"{least:g} or more" if most == math.inf else f"{least:g} to {most:g}"
        raise ValueError(f"{name} must be a number, {bounds}, and is {text!r}.")
    return number


def _one_of(environment: Mapping[str, str], name: str, choices: tuple[str, ...]) -> str:
    """Return a choice, the first one if the variable is not set. Raises ValueError."""
    text = environment.get(name, "").strip().lower() or choices[0]
    if text not in choices:
        raise ValueError(f"{name} must be {' or '.join(choices)}, and is {text!r}.")
    return text


def _gigabytes(environment: Mapping[str, str], name: str, standard: int) -> int:
    return int(_number(environment, name, standard / GIBIBYTE) * GIBIBYTE)


def _megabytes(environment: Mapping[str, str], name: str, standard: int) -> int:
    return int(_number(environment, name, standard / MEBIBYTE) * MEBIBYTE)


def _sources(environment: Mapping[str, str], name: str, standard: str) -> str:
    """Return sites with spaces between them, none of which can end the header that they go into; "none" for none."""
    text = " ".join(environment.get(name, "").split()) or standard
    if text == "none":
        return ""
    if not re.fullmatch(r"[\w:/.*' -]*", text, re.ASCII):
        raise ValueError(f"{name} must be sites such as https://school.example, with spaces between, and is {text!r}.")
    return text


RATES = {
    "questions_a_minute": 600,
    "address_questions_a_minute": 12_000,
    "uploads_an_hour": 60,
    "address_uploads_an_hour": 1200,
}
"""Limits for a server that others can reach: a page asks some ten questions when it opens, and a slider some twenty a
second.
"""


def _rates(environment: Mapping[str, str], standard: Settings) -> dict[str, Any]:
    alone = _asks_itself(environment, standard)
    return {
        name: int(_number(environment, f"EXPLORER_{name.upper()}", 0 if alone else rate))
        for name, rate in RATES.items()
    }


def _asks_itself(environment: Mapping[str, str], standard: Settings) -> bool:
    """Return whether only this machine can reach the server: it listens on an address of its own and is not shared by
    Gradio.
    """
    host = environment.get("GRADIO_SERVER_NAME") or standard.server_name
    own = host in ("localhost", "::1", "[::1]") or bool(re.fullmatch(r"127(\.\d+){3}", host))
    return own and not _switch(environment, "GRADIO_SHARE", False)


def _switch(environment: Mapping[str, str], name: str, standard: bool) -> bool:
    text = environment.get(name, "").strip().lower()
    return text in ("1", "true", "yes", "on") if text else standard


def share_processor(environment: MutableMapping[str, str] = os.environ) -> None:
    """Let idle threads of torch sleep rather than spin; must be called before torch is imported."""
    # A server whose visitors ask while a run trains has more threads than cores: on two cores a run then took 14 s,
    # and 32 s with spinning threads.
    environment.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def no_usage_statistics(environment: MutableMapping[str, str] = os.environ) -> None:
    """Have Ray report to nobody that it is used; must be called before it is imported. What the operator has set is kept."""
    environment.setdefault("RAY_USAGE_STATS_ENABLED", "0")


def start_no_cluster_unasked(environment: MutableMapping[str, str] = os.environ) -> None:
    """Keep Ray from starting a cluster by itself, as a thread's last word to an actor would after this process has left
    its cluster.
    """
    environment["RAY_ENABLE_AUTO_CONNECT"] = "0"


def listen_on(host: str) -> Settings:
    """Return this process's settings once its server listens on `host`, which the command line may have named."""
    os.environ["GRADIO_SERVER_NAME"] = host
    settings.cache_clear()
    return settings()


@cache
def settings() -> Settings:
    """Return the settings of this process, which are read once."""
    return _sent or Settings.from_environment()


_sent: Settings | None = None


def adopt(sent: Settings) -> None:
    """Adopt the settings of another process: on a machine of a cluster those of the front count, not those that are set
    there.
    """
    global _sent
    _sent = sent
    settings.cache_clear()

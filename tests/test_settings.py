"""The settings and the environment variables that set them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from explorer.settings import GIBIBYTE, RATES, ROOT, Settings, listen_on, settings
from tests.rows import each_row

VARIABLES = (
    ("GRADIO_SERVER_NAME", "127.0.0.2", "server_name", "127.0.0.2"),
    ("GRADIO_SERVER_PORT", "8080", "server_port", 8080),
    ("EXPLORER_DEVICE", "cpu", "device", "cpu"),
    ("EXPLORER_MODEL_CACHE_GB", "1.5", "model_cache_bytes", int(1.5 * GIBIBYTE)),
    ("EXPLORER_WORKERS", " 3 ", "workers", 3),
    ("EXPLORER_RESULT_CACHE", "0", "result_cache_entries", 0),
    ("EXPLORER_RESULT_CACHE_MB", "1.5", "result_cache_bytes", 3 * 2**19),
    ("HF_ENDPOINT", "https://mirror.example/", "hub_endpoint", "https://mirror.example"),
    ("HF_HUB_CACHE", "/data/hub", "hub_cache", Path("/data/hub")),
    ("HF_HUB_CACHE", "~/hub", "hub_cache", Path.home() / "hub"),
    ("HF_HOME", "/data/hf", "hub_cache", Path("/data/hf/hub")),
    ("HF_HUB_DOWNLOAD_TIMEOUT", "2.5", "hub_timeout", 2.5),
    ("HF_HUB_OFFLINE", "1", "offline", True),
    ("HF_HUB_OFFLINE", "TRUE", "offline", True),
    ("HF_HUB_OFFLINE", "0", "offline", False),
    ("EXPLORER_LOCAL_FOLDERS", "off", "local_folders", False),
    ("EXPLORER_LOCAL_FOLDERS", "yes", "local_folders", True),
    ("EXPLORER_LARGEST_DOWNLOAD_GB", "0.5", "largest_download_bytes", GIBIBYTE // 2),
    ("EXPLORER_DATA", "/data/explorer", "data_folder", Path("/data/explorer")),
    ("EXPLORER_DATA", "~/explorer", "data_folder", Path.home() / "explorer"),
    ("EXPLORER_RUNS_GB", "0.5", "runs_bytes", GIBIBYTE // 2),
    ("EXPLORER_VISITOR_RUNS_GB", "0.5", "visitor_runs_bytes", GIBIBYTE // 2),
    ("EXPLORER_MOST_RUNS", "50", "most_runs", 50),
    ("EXPLORER_UPLOADS_GB", "0.5", "uploads_bytes", GIBIBYTE // 2),
    ("EXPLORER_VISITOR_UPLOADS_GB", "0.5", "visitor_uploads_bytes", GIBIBYTE // 2),
    ("EXPLORER_EXPORTS_GB", "0.5", "exports_bytes", GIBIBYTE // 2),
    ("EXPLORER_VISITOR_EXPORTS_GB", "0.5", "visitor_exports_bytes", GIBIBYTE // 2),
    ("EXPLORER_TRAINING_LANES", "2", "training_lanes", 2),
    ("EXPLORER_RUN_NICENESS", "0", "run_niceness", 0),
    ("EXPLORER_BACKEND", "Ray", "backend", "ray"),
    ("RAY_ADDRESS", "head:6379", "ray_address", "head:6379"),
    ("EXPLORER_RAY_REPLICAS", "3", "ray_replicas", 3),
    ("EXPLORER_RAY_GPUS", "0.25", "ray_gpus", 0.25),
    ("EXPLORER_FILES", " s3://bucket/explorer ", "files", "s3://bucket/explorer"),
    ("EXPLORER_LECTURER_KEY", " open sesame ", "lecturer_key", "open sesame"),
    ("EXPLORER_CLASS_PASSWORD", " winter 26 ", "class_password", "winter 26"),
    (
        "EXPLORER_HUB_ALLOW",
        "google-bert/*, prajjwal1/bert-tiny",
        "hub_allowed",
        ("google-bert/*", "prajjwal1/bert-tiny"),
    ),
    (
        "EXPLORER_FRAMES",
        " https://a.example  https://b.example",
        "frame_ancestors",
        "https://a.example https://b.example",
    ),
    ("EXPLORER_FRAMES", "none", "frame_ancestors", ""),
    ("EXPLORER_QUESTION_MB", "0.5", "question_bytes", 2**19),
    ("EXPLORER_UPLOAD_MB", "20", "upload_bytes", 20 * 2**20),
    ("EXPLORER_LINKS", "1", "links", True),
    ("EXPLORER_FREE_DISK_GB", "0.5", "free_disk_bytes", GIBIBYTE // 2),
    ("EXPLORER_QUESTIONS_A_MINUTE", "30", "questions_a_minute", 30),
    ("EXPLORER_ADDRESS_QUESTIONS_A_MINUTE", "90", "address_questions_a_minute", 90),
    ("EXPLORER_UPLOADS_AN_HOUR", "5", "uploads_an_hour", 5),
    ("EXPLORER_ADDRESS_UPLOADS_AN_HOUR", "50", "address_uploads_an_hour", 50),
)
NUMBERS = (
    "EXPLORER_QUESTION_MB",
    "EXPLORER_QUESTIONS_A_MINUTE",
    "GRADIO_SERVER_PORT",
    "EXPLORER_MODEL_CACHE_GB",
    "EXPLORER_WORKERS",
    "EXPLORER_RESULT_CACHE",
    "EXPLORER_RESULT_CACHE_MB",
    "HF_HUB_DOWNLOAD_TIMEOUT",
    "EXPLORER_LARGEST_DOWNLOAD_GB",
    "EXPLORER_RUNS_GB",
    "EXPLORER_UPLOADS_GB",
    "EXPLORER_EXPORTS_GB",
    "EXPLORER_RAY_GPUS",
)


def test_an_empty_environment_gives_the_defaults() -> None:
    assert Settings.from_environment({}) == Settings()


@each_row(("name", "text", "field", "value"), VARIABLES)
def test_each_variable_sets_its_field_and_no_other(name: str, text: str, field: str, value: Any) -> None:
    made = Settings.from_environment({name: text})
    assert getattr(made, field) == value
    assert type(getattr(made, field)) is type(getattr(Settings(), field))
    differing = {key for key in vars(made) if getattr(made, key) != getattr(Settings(), key)}
    assert differing <= {field}


@each_row("name", sorted({name for name, *_ in VARIABLES}))
def test_an_empty_variable_counts_as_not_set(name: str) -> None:
    """A compose file that passes on what the shell lacks passes on an empty text."""
    assert Settings.from_environment({name: ""}) == Settings()


@each_row("name", NUMBERS)
@each_row("text", ["many", "1,5", "nan", "inf", "-1"])
def test_a_bad_number_names_its_variable(name: str, text: str) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be a number.*{text}"):
        Settings.from_environment({name: text})


def test_no_workers_are_too_few() -> None:
    with pytest.raises(ValueError, match="EXPLORER_WORKERS must be"):
        Settings.from_environment({"EXPLORER_WORKERS": "0"})


def test_the_hub_s_cache_folder_goes_before_its_home() -> None:
    made = Settings.from_environment({"HF_HUB_CACHE": "/cache", "HF_HOME": "/home"})
    assert made.hub_cache == Path("/cache")


def test_no_training_lane_is_too_few() -> None:
    with pytest.raises(ValueError, match="EXPLORER_TRAINING_LANES must be"):
        Settings.from_environment({"EXPLORER_TRAINING_LANES": "0"})


def test_the_tests_keep_nothing_in_the_home_folder(data_folder: Path) -> None:
    assert settings().data_folder == data_folder
    assert Settings().data_folder != data_folder


@each_row(
    ("environment", "open_to_all"),
    [
        ({}, False),
        ({"GRADIO_SERVER_NAME": "localhost"}, False),
        ({"GRADIO_SERVER_NAME": "::1"}, False),
        ({"GRADIO_SERVER_NAME": "0.0.0.0"}, True),
        ({"GRADIO_SERVER_NAME": "::"}, True),
        ({"GRADIO_SERVER_NAME": "192.168.1.5"}, True),
        ({"GRADIO_SERVER_NAME": "127.example.org"}, True),
        ({"GRADIO_SHARE": "True"}, True),
    ],
)
def test_folders_are_models_only_where_nobody_else_can_ask_or_the_owner_says_so(
    environment: dict[str, str], open_to_all: bool
) -> None:
    assert Settings.from_environment(environment).local_folders is not open_to_all
    for text, allowed in (("1", True), ("0", False)):
        made = Settings.from_environment({**environment, "EXPLORER_LOCAL_FOLDERS": text})
        assert made.local_folders is allowed


def test_the_host_of_the_command_line_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADIO_SERVER_NAME", "")
    monkeypatch.delenv("EXPLORER_LOCAL_FOLDERS", raising=False)
    settings.cache_clear()
    assert settings().local_folders
    made = listen_on("0.0.0.0")
    assert (made.server_name, made.local_folders) == ("0.0.0.0", False)
    assert settings() is made
    monkeypatch.setenv("EXPLORER_LOCAL_FOLDERS", "1")
    assert listen_on("0.0.0.0").local_folders
    monkeypatch.undo()
    settings.cache_clear()


def test_rates_are_limited_where_others_can_reach_the_server() -> None:
    alone, shared = (Settings.from_environment({"GRADIO_SERVER_NAME": host}) for host in ("127.0.0.1", "0.0.0.0"))
    for name, rate in RATES.items():
        assert getattr(alone, name) == 0
        assert getattr(shared, name) == rate > 0
    unlimited = {"GRADIO_SERVER_NAME": "0.0.0.0", "EXPLORER_QUESTIONS_A_MINUTE": "0"}
    assert Settings.from_environment(unlimited).questions_a_minute == 0


@pytest.mark.parametrize("sites", ["https://a.example; script-src *", "https://ä.example", 'x"y'])
def test_sites_that_would_end_the_policy_are_refused(sites: str) -> None:
    with pytest.raises(ValueError, match="EXPLORER_FRAMES"):
        Settings.from_environment({"EXPLORER_FRAMES": sites})


def test_an_unknown_backend_is_named() -> None:
    with pytest.raises(ValueError, match="EXPLORER_BACKEND must be local or ray, and is 'spark'"):
        Settings.from_environment({"EXPLORER_BACKEND": "spark"})


def test_a_space_says_what_it_has() -> None:
    assert not Settings.from_environment({}).zero_gpu
    assert not Settings.from_environment({}).has_login
    assert not Settings.from_environment({"SPACE_ID": ""}).in_space
    told = {"SPACES_ZERO_GPU": "true", "OAUTH_CLIENT_ID": "0123", "SPACE_ID": "user/name"}
    space = Settings.from_environment(told)
    assert (space.zero_gpu, space.has_login, space.in_space) == (True, True, True)


@pytest.mark.parametrize(("operator", "wanted"), [(None, "0"), ("1", "1"), ("0", "0")])
def test_ray_reports_to_nobody_unless_the_operator_says_so(operator: str | None, wanted: str) -> None:
    """Once the package is imported that imports ray; in a process of its own, since it is said once."""
    asked = "import os, explorer.engine.cluster; print(os.environ['RAY_USAGE_STATS_ENABLED'])"
    environment = {name: value for name, value in os.environ.items() if name != "RAY_USAGE_STATS_ENABLED"}
    given = {} if operator is None else {"RAY_USAGE_STATS_ENABLED": operator}
    told = subprocess.run(
        [sys.executable, "-c", asked], cwd=ROOT, env=environment | given, capture_output=True, text=True
    )
    assert told.stdout.strip() == wanted, told.stderr

"""What the files for Docker and the commands for a cluster promise; nothing is built here."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

ROOT = Path(__file__).resolve().parent.parent
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
SERVICES: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_a_service_comes_back_and_reports_nothing_to_ray(name: str) -> None:
    assert SERVICES[name]["restart"] == "unless-stopped"
    assert SERVICES[name]["environment"]["RAY_USAGE_STATS_ENABLED"] == "0"


def test_only_the_front_is_asked_for_a_page() -> None:
    asked = {name for name, service in SERVICES.items() if not service.get("healthcheck", {}).get("disable")}
    assert asked == {"front"}


def test_the_front_gets_the_signal_to_end_itself() -> None:
    assert "exec python app.py" in SERVICES["front"]["command"]


def test_the_health_check_is_a_program() -> None:
    found = re.search(r"^HEALTHCHECK .* CMD (\[.*?\])$", DOCKERFILE.replace("\\\n", ""), re.MULTILINE)
    assert found
    program, option, text = json.loads(found[1])
    assert (program, option) == ("python", "-c")
    compile(text, "HEALTHCHECK", "exec")


def test_the_commands_for_a_cluster_turn_reports_off_first() -> None:
    commands = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
    off, first = commands.index("export RAY_USAGE_STATS_ENABLED=0"), commands.index("ray start --head")
    assert off < first

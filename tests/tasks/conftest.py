"""Settings with a data folder of their own, a stand-in hub, and a way to write small files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import huggingface_hub
import pytest
from huggingface_hub import constants

from explorer.settings import Settings
from tests.models.fake_hub import FakeHub

Write = Callable[..., Path]


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    """An empty hub, whatever this machine says about the real one."""
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    huggingface_hub.close_session()
    server = FakeHub()
    yield server
    server.close()
    huggingface_hub.close_session()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings that keep everything in the test's folder, and know a hub at which nobody answers."""
    return Settings(
        hub_endpoint="http://127.0.0.1:9", hub_cache=tmp_path / "hub", hub_timeout=5.0, data_folder=tmp_path / "data"
    )


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """write(content, name) makes a file of text or bytes and returns its path."""

    def write_file(content: str | bytes, name: str = "reviews.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file

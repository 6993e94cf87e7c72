"""The stand-in hub, and tiny models saved once for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import huggingface_hub
import pytest
from huggingface_hub import constants

from explorer.models import hub as hub_module
from explorer.models.loaded_model import LoadedModel, load_model
from explorer.settings import Settings
from tests.models import tiny
from tests.models.fake_hub import FakeHub


@pytest.fixture(scope="session")
def bert_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT with both heads; tests only read it."""
    return tiny.save(tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="session")
def bert(bert_folder: Path) -> LoadedModel:
    return load_model(str(bert_folder), Settings(device="cpu"))


@pytest.fixture(scope="session")
def roberta(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    """Its tokenizer works on bytes."""
    folder = tiny.save_byte_level(tmp_path_factory.mktemp("roberta"))
    return load_model(str(folder), Settings(device="cpu"))


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    """An empty hub, whatever this machine says about the real one; every chunk is told, and no wait is long."""
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(hub_module, "PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(hub_module, "UPDATE_SECONDS", 0.0)
    huggingface_hub.close_session()
    server = FakeHub()
    yield server
    server.close()
    huggingface_hub.close_session()


@pytest.fixture
def settings(hub: FakeHub, tmp_path: Path) -> Settings:
    """Settings that know no hub but the stand-in."""
    return Settings(device="cpu", hub_endpoint=hub.url, hub_cache=tmp_path / "hub", hub_timeout=20.0)

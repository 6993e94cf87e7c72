"""A small model of each family that the lab's jobs are tried on."""

from __future__ import annotations

import pytest

from explorer.models.families import ARCHITECTURES
from explorer.models.loaded_model import LoadedModel, load_model
from explorer.settings import Settings
from tests.models.tiny import save


@pytest.fixture(scope="package", params=[entry.family for entry in ARCHITECTURES])
def opened(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    folder = save(tmp_path_factory.mktemp("attention") / "model", request.param, initializer_range=0.3)
    return load_model(str(folder), Settings(device="cpu"))


@pytest.fixture(scope="package")
def albert(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    folder = save(tmp_path_factory.mktemp("attention") / "albert", "ALBERT", num_hidden_layers=3)
    return load_model(str(folder), Settings(device="cpu"))

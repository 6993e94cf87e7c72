"""Models that many tests read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from explorer.models.loaded_model import LoadedModel
from tests.labs.attribution.bench import tiny


@pytest.fixture(scope="package")
def family(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], LoadedModel]:
    """A tiny model of a family, made once."""
    made: dict[str, LoadedModel] = {}
    folder: Path = tmp_path_factory.mktemp("families")

    def get(name: str) -> LoadedModel:
        if name not in made:
            made[name] = tiny(folder, name)
        return made[name]

    return get


@pytest.fixture(scope="package")
def bert(family: Callable[[str], LoadedModel]) -> LoadedModel:
    return family("BERT")

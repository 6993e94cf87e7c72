"""Models that many tests read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from explorer.models.bundle import Bundle
from tests.labs.attribution.bench import tiny


@pytest.fixture(scope="package")
def family(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Bundle]:
    """A tiny model of a family, made once."""
    made: dict[str, Bundle] = {}
    folder: Path = tmp_path_factory.mktemp("families")

    def get(name: str) -> Bundle:
        if name not in made:
            made[name] = tiny(folder, name)
        return made[name]

    return get


@pytest.fixture(scope="package")
def bert(family: Callable[[str], Bundle]) -> Bundle:
    return family("BERT")

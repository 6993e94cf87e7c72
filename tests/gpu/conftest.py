"""Engines on a GPU and on the processor, where torch finds a GPU.

`EXPLORER_GPU_TESTS=cpu` tries the tests themselves on a machine without one.
"""

from __future__ import annotations

import os
from typing import Any
from unittest import mock

import pytest

import explorer
from explorer.engine.local import LocalEngine
from explorer.settings import Settings

DEVICE = os.environ.get("EXPLORER_GPU_TESTS", "cuda")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.startswith("tests/gpu/"):
            item.add_marker(pytest.mark.gpu)


@pytest.fixture(scope="session", autouse=True)
def has_gpu() -> None:
    import torch

    if DEVICE == "cuda" and not torch.cuda.is_available():
        pytest.skip("torch finds no GPU here")


class On:
    """Everything that the app computes, on one device."""

    def __init__(self, device: str, folder: Any, **settings: Any) -> None:
        self.engine = LocalEngine(Settings(device=device, offline=True, data_folder=folder, **settings))

    def run(self, action: str, **parameters: Any) -> Any:
        """An action's result, or the sentence by which it is refused."""
        with mock.patch("explorer._engine", return_value=self.engine):
            try:
                return explorer.run(action, **parameters).result
            except explorer.errors.ExplorerError as error:
                return str(error)


@pytest.fixture(scope="session")
def gpu(tmp_path_factory: pytest.TempPathFactory, has_gpu: None) -> On:
    return On(DEVICE, tmp_path_factory.mktemp("gpu"))


@pytest.fixture(scope="session")
def cpu(tmp_path_factory: pytest.TempPathFactory, has_gpu: None) -> On:
    return On("cpu", tmp_path_factory.mktemp("cpu"))

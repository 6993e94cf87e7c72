"""What many tests share: the bundled model, loaded once, and the same weights as transformers loads them."""
# ruff: noqa: E402 (torch reads how its threads wait when it is imported)

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from explorer.settings import settings, share_processor

share_processor()

import torch
from transformers import AutoTokenizer, BertForMaskedLM, PreTrainedTokenizerBase

from explorer.models.bundle import Bundle, load_bundle
from explorer.settings import BUNDLED_MODELS, Settings
from tests.models.tiny import save_reader

torch.set_num_threads(1)
"""On a busy machine two threads wait for each other: five times slower than one for models this small."""


IN_BROWSER = "tests/e2e/"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests begin: together they take the longest."""
    items.sort(key=lambda item: not item.nodeid.startswith(IN_BROWSER))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """How workers share the tests: whole files, so that what a file's tests share is made once, and one browser for all.

    Browser tests wait half of their time, which the other worker uses; two browsers at once would wait for each other.
    """
    from xdist.scheduler import LoadFileScheduling

    class OneBrowser(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return IN_BROWSER if nodeid.startswith(IN_BROWSER) else str(super()._split_scope(nodeid))

    return OneBrowser(config, log)


@pytest.fixture(scope="session", autouse=True)
def data_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where this process and those that it starts keep runs and uploads: never in the developer's home."""
    folder = tmp_path_factory.mktemp("data")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("EXPLORER_DATA", str(folder))
        settings.cache_clear()
        yield folder
    settings.cache_clear()


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model with both heads and random weights, as a folder of this machine; quick, and good for nothing else."""
    return save_reader("BertForPreTraining", tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="session")
def model_folder() -> Path:
    """The bundled model's folder."""
    return BUNDLED_MODELS / "bert-small"


@pytest.fixture(scope="session")
def bundle() -> Bundle:
    """The bundled model as jobs receive it; jobs never change it, and neither may a test."""
    return load_bundle("bert-small", Settings(device="cpu"))


@pytest.fixture(scope="session")
def tokenizer(model_folder: Path) -> PreTrainedTokenizerBase:
    """The bundled model's tokenizer, loaded without the app."""
    return AutoTokenizer.from_pretrained(model_folder)


@pytest.fixture(scope="session")
def masked_lm(model_folder: Path) -> BertForMaskedLM:
    """The same weights in another class of transformers, loaded without the app: an independent answer."""
    model = BertForMaskedLM.from_pretrained(model_folder, dtype=torch.float32)
    return model.eval().requires_grad_(False)

"""What many tests share: the bundled model, loaded once, and the same weights as transformers loads them.

What is imported here is little: with workers the process that only deals out the tests reads it too, before they begin.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from explorer.serving.no_stubs import no_stubs
from explorer.settings import BUNDLED_MODELS, Settings, settings, share_processor

if TYPE_CHECKING:
    from transformers import BertForMaskedLM, PreTrainedTokenizerBase

    from explorer.models.loaded_model import LoadedModel

share_processor()  # torch reads how its threads wait when it is imported
# So does scikit-learn's algebra how many it has, of which each that has nothing to do waits busily.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

IN_BROWSER = "tests/e2e/"
LONG_FIRST = (IN_BROWSER, "tests/ui/", "tests/test_run.py")
"""What takes longest begins, so that no worker has much left when the others are done."""

RECIPES = "tests/pretraining"
"""How the bundled models were made, which matters before one is made again. `make check` tests it, and whoever names it."""

BROWSERS = 2
"""At once, at most: of the workers one or more are to have a browser's waiting filled with other tests."""


def pytest_collection(session: pytest.Session) -> None:
    """Nothing of what is imported goes away, and looking for what does took a third of the collecting."""
    gc.disable()
    if hasattr(session.config, "workerinput") or not session.config.getoption("numprocesses", None):  # it runs tests
        with no_stubs():
            import gradio  # noqa: F401


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    def turn(item: pytest.Item) -> int:
        return next((turn for turn, start in enumerate(LONG_FIRST) if item.nodeid.startswith(start)), len(LONG_FIRST))

    if not any(RECIPES in argument for argument in config.args):
        recipes = [item for item in items if item.nodeid.startswith(RECIPES)]
        config.hook.pytest_deselected(items=recipes)
        items[:] = [item for item in items if not item.nodeid.startswith(RECIPES)]
    items.sort(key=turn)
    for item in items:
        if item.nodeid.startswith(
            IN_BROWSER
        ):  # once more, and the report says so: a busy machine loses a key or a click
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """How workers share the tests: whole files, so that what a file's tests share is made once.

    The first workers begin with the browser tests, each with a server and a browser of its own, the others with the rest;
    whoever is done helps the others. A browser test waits half of its time, which a worker more than processors uses.
    """
    from xdist.scheduler import LoadFileScheduling

    class FewBrowsers(LoadFileScheduling):
        def _assign_work_unit(self, node: Any) -> None:
            browsers = self.nodes[: max(1, min(BROWSERS, self.numnodes - 1))]
            own = [scope for scope in self.workqueue if scope.startswith(IN_BROWSER) == (node in browsers)]
            if own:
                self.workqueue.move_to_end(own[0], last=False)
            super()._assign_work_unit(node)

    return FewBrowsers(config, log)


@pytest.fixture(scope="session", autouse=True)
def data_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where this process and those that it starts keep runs and uploads: never in the developer's home."""
    folder = tmp_path_factory.mktemp("data")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("EXPLORER_DATA", str(folder))
        environment.setenv("EXPLORER_RUN_NICENESS", "0")  # or runs would wait for the other workers, and tests for runs
        environment.setattr(os, "setpriority", lambda *which: None)
        settings.cache_clear()
        yield folder
    settings.cache_clear()


@pytest.fixture(scope="session", autouse=True)
def one_authority(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Every question of a Gradio client reads the certificates of all authorities, several times: 22 ms for each time.

    No test asks a server that needs one.
    """
    import certifi

    of_all = Path(certifi.where()).read_text(encoding="utf-8")
    first = of_all[of_all.index("-----BEGIN") : of_all.index("-----END")]
    file = tmp_path_factory.mktemp("certificates") / "one.pem"
    file.write_text(f"{first}-----END CERTIFICATE-----\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SSL_CERT_FILE", str(file))
        yield


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """On a busy machine two threads wait for each other: five times slower than one for models this small."""
    import torch

    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model with both heads and random weights, as a folder of this machine; quick, and good for nothing else."""
    from tests.models.tiny import save_reader

    return save_reader("BertForPreTraining", tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="session")
def model_folder() -> Path:
    """The bundled model's folder."""
    return BUNDLED_MODELS / "bert-small"


@pytest.fixture(scope="session")
def loaded() -> LoadedModel:
    """The bundled model as jobs receive it; jobs never change it, and neither may a test."""
    from explorer.models.loaded_model import load_model

    return load_model("bert-small", Settings(device="cpu"))


@pytest.fixture(scope="session")
def tokenizer(model_folder: Path) -> PreTrainedTokenizerBase:
    """The bundled model's tokenizer, loaded without the app."""
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(model_folder)


@pytest.fixture(scope="session")
def masked_lm(model_folder: Path) -> BertForMaskedLM:
    """The same weights in another class of transformers, loaded without the app: an independent answer."""
    import torch
    from transformers import BertForMaskedLM

    model = BertForMaskedLM.from_pretrained(model_folder, dtype=torch.float32)
    return model.eval().requires_grad_(False)

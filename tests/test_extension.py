"""docs/developers.md keeps its word: what it says to add in one place is added there to a copy of the app, and works."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gradio_client import Client

from tests.models.tiny import WORDS, wordpiece
from tests.ports import free_port
from tests.ui.conftest import QUICK, newest, refusal, rows

ROOT = Path(__file__).resolve().parents[1]
BROUGHT = ROOT / "tests" / "extension"
START_SECONDS = 300
"""Far more than it takes, so that a busy machine fails no test."""

LAB_LINES = 60

FILES = {
    "toy.py": "explorer/labs/toy.py",
    "data2vec.py": "explorer/models/families/data2vec.py",
    "layernorm.py": "explorer/tuning/methods/layernorm.py",
}
ENTRIES = {
    "explorer/labs/__init__.py": ('    )\n)\n"""To add a lab', '        "toy",\n'),
    "explorer/models/families/__init__.py": (')\n)\n"""The families in the order', ', "data2vec"'),
    "explorer/tuning/methods/__init__.py": (')\n)\n"""The methods in the order', ', "layernorm"'),
    "explorer/maths/schemes.py": (
        ')\n"""The schemes in the order',
        "    Scheme(\n"
        '        "leading", "leading tokens", "**leading** masks a text\'s first pieces",\n'
        "        lambda words, budget, draw: [at for at, word in enumerate(words) if word is not None][:budget],\n"
        "    ),\n",
    ),
    "explorer/maths/importance.py": (
        ')\n"""The scores in the order',
        "    Score(\n"
        '        "fisher", "Fisher information", "**fisher** is the mean of squares", ("head", "neuron", "weight"),\n'
        "        of_units=lambda of: (of.squares / of.count, of.squares * 0),\n"
        "        of_gradients=lambda weight, gradient: gradient.square(),\n"
        "    ),\n",
    ),
}
"""What is added to a file, and before what: one entry each."""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A copy of the app with all additions, served by a process of its own."""
    folder = tmp_path_factory.mktemp("extended")
    shutil.copytree(ROOT / "explorer", folder / "explorer", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "app.py", folder)
    (folder / "assets").symlink_to(ROOT / "assets")
    for name, place in FILES.items():
        shutil.copy(BROUGHT / name, folder / place)
    for place, (before, entry) in ENTRIES.items():
        text = (folder / place).read_text(encoding="utf-8")
        assert text.count(before) == 1, place
        (folder / place).write_text(text.replace(before, entry + before), encoding="utf-8")
    port = free_port()
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "EXPLORER_DATA": str(folder / "data"), "NO_PROXY": "127.0.0.1"}
    command = [sys.executable, "app.py", "--host", "127.0.0.1", "--port", str(port)]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
        try:
            url = f"http://127.0.0.1:{port}"
            wait_for(url, process, folder / "log")
            yield url
        finally:
            process.terminate()
            process.wait(timeout=120)


def wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            urllib.request.urlopen(url, timeout=5).read()
            return
        except OSError:
            time.sleep(0.2)
    pytest.fail(f"The app did not start:\n{log.read_text()}")


@pytest.fixture(scope="module")
def client(address: str) -> Client:
    return Client(address, verbose=False, httpx_kwargs={"timeout": 300})


@pytest.fixture(scope="module")
def config(address: str) -> Any:
    """What the app says of all its components."""
    return json.loads(urllib.request.urlopen(f"{address}/config", timeout=60).read())


@pytest.fixture(scope="module")
def trained(client: Client, tiny_model: str) -> str:
    """A run of the new method, two steps long."""
    client.predict(model=tiny_model, method="layernorm", **QUICK, api_name="/train")
    return newest(client)["run"]


@pytest.fixture(scope="module")
def data2vec(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A checkpoint of the new family with random weights."""
    import torch
    from transformers import Data2VecTextConfig, Data2VecTextForMaskedLM

    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("models") / "tiny-data2vec"
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    tokens = {"vocab_size": len(WORDS), "pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3, "type_vocab_size": 1}
    Data2VecTextForMaskedLM(Data2VecTextConfig(**sizes, **tokens, max_position_embeddings=26)).save_pretrained(folder)
    wordpiece().save_pretrained(folder)
    return str(folder)


def choices(config: Any, label: str) -> list[set[str]]:
    """The values that each component with this label offers."""
    found = [
        part["props"]
        for part in config["components"]
        if part["props"].get("label") == label and "choices" in part["props"]
    ]
    assert found
    return [{value for _, value in props["choices"]} for props in found]


class TestLab:
    def test_it_is_short(self) -> None:
        assert len((BROUGHT / "toy.py").read_text(encoding="utf-8").splitlines()) <= LAB_LINES

    def test_it_has_a_page_and_stands_in_every_navigation(self, address: str) -> None:
        assert "How long are the tokens?" in urllib.request.urlopen(f"{address}/toy", timeout=60).read().decode()
        assert "Toy" in urllib.request.urlopen(address, timeout=60).read().decode()

    def test_it_answers(self, client: Client, tiny_model: str) -> None:
        found = rows(client.predict(model=tiny_model, text="A cat.", api_name="/toy_lengths"))
        assert found[0] == {"token": "[CLS]", "letters": 5}
        assert [row["token"] for row in found][-2:] == [".", "[SEP]"]
        assert "Type a sentence" in refusal(client, "/toy_lengths", model=tiny_model, text="")


class TestFamily:
    TEXT = "the cat sat on the [MASK]"

    def test_it_answers_wherever_a_head_is_asked(self, client: Client, data2vec: str) -> None:
        filled = rows(client.predict(model=data2vec, text=self.TEXT, top_k=2, api_name="/fill_masks"))
        assert [row["rank"] for row in filled] == [1, 2]
        lens = rows(client.predict(model=data2vec, text=self.TEXT, api_name="/logit_lens"))
        assert {row["layer"] for row in lens} == {0, 1, 2}

    def test_its_inside_is_seen(self, client: Client, data2vec: str) -> None:
        assert rows(client.predict(model=data2vec, sentence_a="the cat", api_name="/embedding_parts"))
        seen = rows(client.predict(model=data2vec, sentence_a="the cat", layer=1, head=0, api_name="/attention"))
        assert len(seen) == 16
        asked = {"model": data2vec, "text": self.TEXT}
        assert len(rows(client.predict(**asked, api_name="/ablate_each_head"))) == 4
        assert rows(client.predict(**asked, steps=4, api_name="/attribute"))

    def test_its_parts_are_taken_out(self, client: Client, data2vec: str) -> None:
        few = {"model": data2vec, "examples": 8, "held_out": 8}
        assert len(rows(client.predict(**few, api_name="/importance"))) == 4
        pruned = rows(client.predict(**few, unit="head", share=0.5, api_name="/prune"))
        assert pruned[-1]["parameters"] < pruned[0]["parameters"]

    def test_it_is_fine_tuned(self, client: Client, data2vec: str) -> None:
        client.predict(model=data2vec, method="lora", **QUICK, api_name="/train")
        assert newest(client)["status"] == "done"

    def test_it_is_named_among_those_that_can_be_had(self, config: Any) -> None:
        assert "data2vec" in json.dumps(config)


class TestMethod:
    def test_it_is_offered(self, config: Any) -> None:
        assert all("layernorm" in values for values in choices(config, "Method"))
        assert "layernorm" in choices(config, "Methods")[0]

    def test_it_trains(self, client: Client, trained: str) -> None:
        found = next(row for row in rows(client.predict(api_name="/runs")) if row["run"] == trained)
        assert found["status"] == "done"

    def test_its_run_is_opened_again(self, client: Client, trained: str) -> None:
        answered = rows(client.predict(run=trained, sentence_a="A warm film.", api_name="/predict_run"))
        assert {row["model"] for row in answered} == {"base", "adapted"}
        assert len(rows(client.predict(run=trained, examples=8, held_out=8, api_name="/importance"))) == 4

    def test_it_is_planned_and_compared_with_others(self, client: Client, tiny_model: str) -> None:
        planned = client.predict(model=tiny_model, method="layernorm", api_name="/plan_run")
        assert "LayerNorm.weight" in str(planned), "what train.py is told to train"
        asked = {"model": tiny_model, "methods": ["head", "layernorm"], **QUICK}
        compared = rows(client.predict(**asked, api_name="/compare_methods"))
        assert {row["method"] for row in compared} == {"head", "layernorm", "tfidf"}

    def test_its_run_goes_home(self, client: Client, trained: str) -> None:
        with zipfile.ZipFile(client.predict(run=trained, api_name="/export_run")) as archive:
            assert "LayerNorm tuning" in archive.read("README.md").decode()
            assert "LayerNorm.weight" in archive.read("train.py").decode()


class TestScheme:
    def test_it_is_offered(self, config: Any) -> None:
        assert all({"token", "leading"} <= values for values in choices(config, "Scheme"))

    def test_it_draws(self, client: Client, tiny_model: str) -> None:
        asked = {"model": tiny_model, "text": "One two three four five.", "rate": 0.5, "scheme": "leading"}
        found = rows(client.predict(**asked, api_name="/corrupt"))
        assert [row["fate"] != "untouched" for row in found] == [False, True, True, True, False, False, False, False]
        answer = client.predict(**asked, draws=3, api_name="/count_fates")
        assert rows(answer)[-1]["draws"] == 3
        texts = [part for part in answer if isinstance(part, str)]
        assert any("scheme='leading'" in text for text in texts)
        assert not any("SCHEME = " in text for text in texts), "the scripts without the package don't know it"
        assert rows(client.predict(**asked, epochs=2, duplicates=1, api_name="/draw_epochs"))


class TestScore:
    def test_it_is_offered_for_its_units(self, config: Any) -> None:
        assert all("fisher" in values for values in choices(config, "By which score"))
        fitting = [one["js"] for one in config["dependencies"] if one.get("js") and "fisher" in one["js"]]
        assert fitting
        for script in fitting:  # which of them a unit has the page knows
            by_unit = json.loads(script.partition("const choices = ")[2].partition("[unit];")[0])
            has = {unit: {score for _, score in pairs} for unit, pairs in by_unit.items()}
            assert {unit for unit, scores in has.items() if "fisher" in scores} >= {"head", "weight"}
            assert "fisher" not in has["layer"]

    @pytest.mark.parametrize("unit", ["head", "weight"])
    def test_it_ranks(self, client: Client, tiny_model: str, unit: str) -> None:
        asked = {"model": tiny_model, "unit": unit, "score": "fisher", "examples": 16, "held_out": 16}
        found = rows(client.predict(**asked, api_name="/importance"))
        assert all(row["importance"] > 0 for row in found)
        pruned = rows(client.predict(**asked, share=0.5, api_name="/prune"))
        assert pruned[-1]["share"] == 0.5
        orders = rows(client.predict(**asked, draws=0, api_name="/compare_orders"))
        assert {row["order"] for row in orders} == {"least", "most"}

    def test_it_is_refused_for_other_units(self, client: Client, tiny_model: str) -> None:
        said = refusal(client, "/importance", model=tiny_model, unit="layer", score="fisher")
        assert "takes gradient" in said

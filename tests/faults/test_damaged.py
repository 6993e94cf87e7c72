"""What is bundled, and the list of runs of a server that is up, damaged on the disk: it is named, and the rest works."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from explorer.engine.local import LocalEngine
from explorer.errors import ExplorerError, ModelUnavailableError, StorageError
from explorer.labs.masking import FILL_MASKS
from explorer.models import folders, hub
from explorer.models.catalog import CATALOG
from explorer.models.folders import LOADED, SUMS, check_sums, write_sums
from explorer.models.loaded_model import load_model
from explorer.models.tokenizer_store import load_tokenizer
from explorer.runs.database import FILE
from explorer.runs.examples import FIRST, OTHER_RANK
from explorer.runs.manager import RunManager
from explorer.runs.record import RunStatus
from explorer.runs.store import RunStore
from explorer.settings import BUNDLED_MODELS, BUNDLED_RUNS, BUNDLED_TASKS, Settings
from explorer.tasks import sources
from explorer.tasks.places import bundled as bundled_tasks
from explorer.tuning import snapshots
from tests.engine.lanes import no_model
from tests.engine.records import record
from tests.rows import each_row

DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda content: content[: len(content) // 2],
    "empty": lambda content: b"",
    "overwritten": lambda content: bytes(byte ^ 0x5A for byte in content[:4096]) + content[4096:],
    "wrong JSON": lambda content: b'{"a": [1, 2',
    "another's JSON": lambda content: b"[]",
}
BUNDLED = [card.model_id for card in CATALOG if card.bundled]
DAMAGED = pytest.mark.parametrize("how", DAMAGES)


def damage(file: Path, how: str) -> None:
    file.write_bytes(DAMAGES[how](file.read_bytes()))


@pytest.fixture
def bundled(tmp_path: Path, tiny_model: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two bundled models, both of them tiny; the folder of bert-mini."""
    for name in ("bert-small", "bert-mini"):
        shutil.copytree(tiny_model, tmp_path / "models" / name)
    for module in (folders, hub):
        monkeypatch.setattr(module, "BUNDLED_MODELS", tmp_path / "models")
    return tmp_path / "models" / "bert-mini"


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
@DAMAGED
def test_a_bundled_model_is_named_with_what_to_do_and_another_answers(
    bundled: Path, tmp_path: Path, name: str, how: str
) -> None:
    damage(bundled / name, how)
    engine = LocalEngine(Settings(device="cpu", offline=True, data_folder=tmp_path))
    asked = FILL_MASKS.params(text="Paris is in [MASK].")
    with pytest.raises(ModelUnavailableError) as said:
        engine.follow(FILL_MASKS.job, asked, "bert-mini").last.result()
    assert "bert-mini" in str(said.value)
    assert "restore assets/models/bert-mini from the repository" in str(said.value)
    assert engine.follow(FILL_MASKS.job, asked, "bert-small").last.result()


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_one_byte_that_has_changed_is_found_when_a_bundled_model_is_loaded(
    bundled: Path, tmp_path: Path, name: str
) -> None:
    for folder in (bundled, bundled.with_name("bert-small")):
        write_sums(folder)
    flip(bundled / name)
    settings = Settings(device="cpu", offline=True, data_folder=tmp_path)
    with pytest.raises(ModelUnavailableError) as said:
        load_model("bert-mini", settings)
    assert str(said.value).startswith(f"{name} of bert-mini is damaged")
    assert "restore assets/models/bert-mini from the repository" in str(said.value)
    assert load_model("bert-small", settings)
    if name == "tokenizer.json":
        with pytest.raises(ModelUnavailableError, match=r"tokenizer\.json of bert-mini is damaged"):
            load_tokenizer("bert-mini", settings)
    flip(bundled / name)
    assert load_model("bert-mini", settings)


def flip(file: Path) -> None:
    """One bit of the byte in the middle."""
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def test_a_file_that_the_sums_name_and_that_is_gone_is_named(bundled: Path, tmp_path: Path) -> None:
    write_sums(bundled)
    (bundled / "tokenizer_config.json").unlink()
    with pytest.raises(ModelUnavailableError, match=r"tokenizer_config\.json.*restore assets/models/bert-mini"):
        load_model("bert-mini", Settings(device="cpu", offline=True, data_folder=tmp_path))


@each_row("model", BUNDLED)
def test_the_sums_of_the_bundled_models_are_true(model: str) -> None:
    folder = BUNDLED_MODELS / model
    check_sums(model, folder)
    listed = {line.split("  ")[1] for line in (folder / SUMS).read_text(encoding="ascii").splitlines()}
    assert listed == {file.name for pattern in LOADED for file in folder.glob(pattern)}


@DAMAGED
def test_a_worked_example_says_that_it_is_damaged_among_the_others(tmp_path: Path, how: str) -> None:
    examples = tmp_path / "examples"
    for name in (FIRST, OTHER_RANK):
        (examples / name).mkdir(parents=True)
        shutil.copy(BUNDLED_RUNS / name / "record.json", examples / name)
    damage(examples / FIRST / "record.json", how)
    runs = RunManager(RunStore(tmp_path, examples), Settings(), lambda *_: None, no_model)
    runs.store.save(record(status=RunStatus.DONE))
    listed = {one.run_id: one for one in runs.list("ada")}
    assert listed.keys() == {"r0123456789ab", FIRST, OTHER_RANK}
    assert [one.status for one in listed.values()] == [RunStatus.DONE, RunStatus.DAMAGED, RunStatus.DONE]
    assert f"assets/runs/{FIRST}/record.json cannot be read" in listed[FIRST].message


@DAMAGED
def test_a_worked_examples_update_is_named_with_who_can_mend_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Nobody can delete or train a worked example: whoever runs the server restores it."""
    monkeypatch.setattr(snapshots, "BUNDLED_RUNS", tmp_path)
    shutil.copytree(BUNDLED_RUNS / FIRST, tmp_path / FIRST)
    file = max((tmp_path / FIRST / snapshots.FOLDER).glob("*.safetensors"))
    step = int(file.stem)
    assert snapshots.load_snapshot(tmp_path / FIRST, step)
    damage(file, how)
    with pytest.raises(
        StorageError, match=rf"{file.name} of this run is damaged .* whoever runs the server has to restore"
    ):
        snapshots.load_snapshot(tmp_path / FIRST, step)


@pytest.mark.parametrize("how", ["empty", "overwritten", "wrong JSON"])
def test_a_bundled_task_is_named_and_the_others_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    for name in ("sst2", "rte"):
        shutil.copytree(BUNDLED_TASKS / name, tmp_path / name)
    monkeypatch.setattr(bundled_tasks, "BUNDLED_TASKS", tmp_path)
    file = tmp_path / "sst2" / "train.tsv"
    damage(file, how)
    settings = Settings(offline=True, data_folder=tmp_path / "data")
    with pytest.raises(ExplorerError, match=r"train\.tsv"):
        sources.load("sst2", settings)
    assert sources.load("rte", settings).train


@pytest.mark.parametrize("ending", ["", "-wal"])
def test_a_list_that_is_overwritten_while_it_is_open_costs_no_restart(tmp_path: Path, ending: str) -> None:
    runs = RunManager(RunStore(tmp_path, BUNDLED_RUNS), Settings(), lambda *_: None, no_model)
    for number in range(40):
        runs.store.save(record(f"r-{number:06d}", status=RunStatus.DONE))
    with (tmp_path / "runs" / (FILE + ending)).open("r+b") as file:
        file.write(b"\xa5" * 4096)
    with closing(RunStore(tmp_path)) as other:  # the server's own connection may know the pages still
        other.owned_by(None)
    assert {one.run_id for one in runs.list("ada")} >= {FIRST, *(f"r-{number:06d}" for number in range(40))}
    runs.store.save(record("r-after", status=RunStatus.DONE))
    assert runs.get("r-after").status is RunStatus.DONE
    runs.store.close()
    with closing(sqlite3.connect(tmp_path / "runs" / FILE)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    with closing(RunStore(tmp_path)) as again:
        assert again.find("r-after") is not None

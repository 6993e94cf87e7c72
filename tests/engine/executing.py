"""An engine with a tiny model and a visitor's file to train it on; its runs take a fraction of a second."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.engine import local
from explorer.engine.local import LocalEngine
from explorer.runs.record import RunRecord
from explorer.settings import Settings
from explorer.tasks.sources import keep_upload
from explorer.tuning.spec import RunSpec
from tests.models import tiny
from tests.tuning.small import CATS, examples

WAIT = 180


@pytest.fixture(scope="module")
def model_id(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A tiny BERT's folder, which is its id."""
    return str(tiny.save(tmp_path_factory.mktemp("bert")))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(device="cpu", hub_cache=tmp_path / "hub", offline=True, data_folder=tmp_path / "data")


@pytest.fixture
def task(settings: Settings, tmp_path: Path) -> str:
    """A visitor's file of 60 rows, 12 of them held out."""
    labels = ("none", "some")
    rows = [f"{one.text}\t{labels[int(one.label)]}" for one in examples(CATS, 60)]
    path = tmp_path / "cats.tsv"
    path.write_text("\n".join(["sentence\tlabel", *rows]), encoding="utf-8")
    return keep_upload(path, settings).name


@pytest.fixture
def spec(model_id: str, task: str) -> RunSpec:
    return RunSpec(model_id, task, rank=4, epochs=2, learning_rate=5e-3)


@pytest.fixture
def engine(settings: Settings) -> LocalEngine:
    return LocalEngine(settings)


@pytest.fixture(autouse=True)
def no_examples(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The bundled runs are not among those that a test lists."""
    monkeypatch.setattr(local, "BUNDLED_RUNS", tmp_path / "no runs")


def finished(engine: LocalEngine, spec: RunSpec) -> RunRecord:
    record = engine.runs.wait(engine.runs.start(spec, "ada"), WAIT)
    assert not record.status.is_active
    return record

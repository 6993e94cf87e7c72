"""A run of a bundled task on a file in the real task's layout, made up for the purpose."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from explorer.errors import BadInputError
from explorer.runs.__main__ import measure_bundled, on_real_task, real_file
from explorer.runs.open import OpenRun
from explorer.runs.record import RunRecord, RunStatus
from explorer.runs.store import WEIGHTS
from explorer.tuning.spec import RunSpec
from tests.engine.records import record
from tests.tuning.samples import moved, tiny_loaded

SENTENCES = (("the cat sat", 1), ("a mat", 0), ("the dog ran on the mat", 1), ("cat", 0), ("dog", 1))


@pytest.fixture
def glue(tmp_path: Path) -> Path:
    folder = tmp_path / "glue" / "SST-2"
    folder.mkdir(parents=True)
    lines = ["sentence\tlabel", *(f"{text}\t{label}" for text, label in SENTENCES)]
    (folder / "dev.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder.parent


@pytest.fixture(autouse=True)
def without_gradients() -> Iterator[None]:
    with torch.no_grad():
        yield


def run(**changes: object) -> RunRecord:
    values = {"status": RunStatus.DONE, "labels": ("negative", "positive"), "metrics": ("accuracy",), **changes}
    return record("example-one", spec=RunSpec("tiny", "sst2"), **values)


def test_every_row_of_the_file_is_measured(glue: Path) -> None:
    adapted = moved(tiny_loaded("BERT"))
    path = real_file(run(), glue)
    assert path is not None
    found = on_real_task(run(), adapted, path, "2026-01-02", "the command")
    hits = [
        int(adapted.logits(adapted.loaded.tokenizer(text, return_tensors="pt"))[0].argmax()) == label
        for text, label in SENTENCES
    ]
    assert found.metrics == {"accuracy": sum(hits) / len(hits)}
    assert (found.title, found.file, found.rows, found.date) == ("SST-2", "dev.tsv", 5, "2026-01-02")
    assert found.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_only_a_bundled_tasks_run_has_a_real_file(glue: Path) -> None:
    assert real_file(record("r0", spec=RunSpec("tiny", "rte"), labels=("entailment", "not entailment")), glue) is None
    for other in (
        record("r0", spec=RunSpec("tiny", "file-0123456789ab"), labels=("negative", "positive")),
        record("r0", spec=RunSpec("tiny", "sst2"), labels=("bad", "good")),
    ):
        assert real_file(other, glue) is None
        with pytest.raises(BadInputError, match="none of the bundled tasks"):
            on_real_task(other, moved(tiny_loaded("BERT")), glue / "SST-2" / "dev.tsv", "", "")


def test_the_command_writes_it_into_the_bundled_record_and_skips_what_has_no_weights(
    glue: Path, tmp_path: Path
) -> None:
    adapted = moved(tiny_loaded("BERT"))
    for name, weights in (("with", True), ("without", False)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "record.json").write_text(run().to_json(), encoding="utf-8")
        if weights:
            (folder / WEIGHTS).touch()

    def open_run(name: str) -> OpenRun:
        return OpenRun(run(), tmp_path / name, lambda: adapted.loaded, lambda: adapted, lambda: adapted)

    measure_bundled(["with", "without"], glue, open_run)  # type: ignore[arg-type]
    kept = RunRecord.from_json((tmp_path / "with" / "record.json").read_text(encoding="utf-8"))
    assert kept.real[0].rows == 5
    assert "--measure" in kept.real[0].command
    assert str(glue) not in json.dumps(kept.to_json()), "where the file lay on this machine is nobody's business"
    assert RunRecord.from_json((tmp_path / "without" / "record.json").read_text(encoding="utf-8")).real == ()

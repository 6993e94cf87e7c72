"""A run's settings, as the controls of Train take them up."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from explorer.engine.local import LocalEngine
from explorer.labs.finetune.train_page import NAMES, Controls, _can_be_asked_for, run_settings
from explorer.runs.examples import EARLIER
from explorer.runs.record import RunRecord, RunStatus
from explorer.settings import Settings
from explorer.tuning.methods import find_method


@pytest.fixture
def record(tmp_path: Path) -> RunRecord:
    return LocalEngine(Settings(data_folder=tmp_path, device="cpu", offline=True)).runs.get(EARLIER)


def test_every_control_gets_the_runs_value_and_the_rate_is_a_number(record: RunRecord) -> None:
    taken = run_settings(record)
    assert tuple(taken) == NAMES
    assert (taken["task"], taken["epochs"], taken["targets"]) == ("mnli", 5, ["query", "value"])
    assert taken["learning_rate"] == find_method("lora").learning_rate
    own = replace(record, spec=replace(record.spec, learning_rate=0.02))
    assert run_settings(own)["learning_rate"] == 0.02


def test_a_runs_rate_stands_as_long_as_method_and_task_are_its_own(record: RunRecord) -> None:
    taken = run_settings(replace(record, spec=replace(record.spec, learning_rate=0.02)))
    usual = find_method("lora").learning_rate
    assert Controls._rate("lora", "mnli", taken)["value"] == 0.02
    assert Controls._rate("lora", "sst2", taken)["value"] == usual
    assert Controls._rate("bitfit", "mnli", taken)["value"] == find_method("bitfit").learning_rate
    assert Controls._rate("lora", "mnli", None)["value"] == usual
    assert f"{usual:g}" in Controls._rate("lora", "mnli", taken)["info"]


def test_students_and_files_have_settings_that_are_not_these(record: RunRecord) -> None:
    assert _can_be_asked_for(record)
    assert not _can_be_asked_for(replace(record, spec=replace(record.spec, teacher="example-lora-8")))
    assert not _can_be_asked_for(replace(record, status=RunStatus.IMPORTED))

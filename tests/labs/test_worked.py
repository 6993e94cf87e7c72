"""What tabs open with is the answer to their own question, of the weights that are here, or nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from explorer import worked
from explorer.action import Action, LiveAction
from explorer.labs import LABS
from explorer.worked import Opening, file_of, keep, known
from tests.rows import each_row

OPENINGS = [
    pytest.param(action, number, opening, id=f"{action.name}-{number}")
    for lab in LABS
    for action in lab.actions
    for number, opening in enumerate(action.openings)
]
BY_NAME = {action.name: action for lab in LABS for action in lab.actions if action.openings}
FIRST = BY_NAME["importance"]


@each_row(("action", "number", "opening"), OPENINGS)
def test_it_is_there_and_belongs_to_the_bundled_weights(
    action: Action | LiveAction, number: int, opening: Opening
) -> None:
    found = known(action.name, action.openings, opening.model, opening.params)
    assert found is not None, f"the weights have changed: python -m explorer.labs {action.name}"
    assert action.table(found.result).rows


def test_no_file_answers_a_question_that_no_tab_asks() -> None:
    kept = {path.name for path in worked.FOLDER.glob("*.json")}
    assert kept == {file_of(name, number).name for name, one in BY_NAME.items() for number in range(len(one.openings))}


def _asked(**changes: Any) -> Any:
    return replace(FIRST.openings[0].params, **changes)


def test_the_model_in_the_picker_has_no_say_over_a_run() -> None:
    assert known("importance", FIRST.openings, "", _asked(model="gpt2-mini")) is not None


def test_it_has_over_what_is_asked_of_a_model() -> None:
    latency = BY_NAME["latency"].openings
    assert known("latency", latency, "", latency[0].params) is not None
    assert known("latency", latency, "", replace(latency[0].params, model="bert-mini")) is None


@each_row("change", [{"examples": 64}, {"run": "another"}, {"unit": "neuron"}, {"held_out": 40}])
def test_another_question_is_not_answered_beforehand(change: dict[str, object]) -> None:
    assert known("importance", FIRST.openings, "", _asked(**change)) is None


def test_other_weights_have_other_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worked, "digest", lambda opening: "other weights")
    assert known("importance", FIRST.openings, "", _asked()) is None


def test_the_digest_changes_with_the_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opening = FIRST.openings[0]
    before = worked.digest(opening)
    run = tmp_path / opening.params.run
    run.mkdir()
    (run / "record.json").write_bytes((worked.BUNDLED_RUNS / opening.params.run / "record.json").read_bytes())
    (run / "weights.safetensors").write_bytes(b"others")
    monkeypatch.setattr(worked, "BUNDLED_RUNS", tmp_path)
    assert worked.digest(opening) != before


def test_the_digest_is_of_all_that_an_answer_reads() -> None:
    fifty = BY_NAME["directions_of_fifty"].openings[0]
    assert worked.digest(fifty) != worked.digest(replace(fifty, reads=fifty.reads[:1]))
    pairs = BY_NAME["score_minimal_pairs"].openings
    assert len({worked.digest(opening) for opening in pairs}) == len(pairs)


def test_what_is_kept_is_read_again_and_a_damaged_file_is_as_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opening = FIRST.openings[0]
    found = known("importance", FIRST.openings, "", opening.params)
    assert found is not None
    monkeypatch.setattr(worked, "FOLDER", tmp_path / "new")
    path = keep("importance", 0, opening, found.result, "today")
    again = known("importance", FIRST.openings, "", opening.params)
    assert again is not None
    assert (again.result, again.made) == (found.result, "today")
    assert json.loads(path.read_text(encoding="utf-8"))["command"] == "python -m explorer.labs importance"
    path.write_text(path.read_text(encoding="utf-8")[:100], encoding="utf-8")
    assert known("importance", FIRST.openings, "", opening.params) is None


def test_a_pruned_model_s_times_were_taken_in_turns_with_the_whole_one_s() -> None:
    pruned, by_hand = (json.loads(file_of(name, 0).read_text())["result"] for name in ("prune", "prune_heads"))
    turns = next(speed for speed in pruned["speeds"] if speed["batch"] == 16)
    ends = [step["measured"]["milliseconds"] for step in (pruned["steps"][0], pruned["steps"][-1])]
    assert ends == [turns["before"], turns["after"]]
    assert by_hand["before"] == by_hand["after"], "no head is gone: a model is not compared with itself"

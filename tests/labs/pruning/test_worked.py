"""What the page opens with is the answer to its own question, of the weights that are here, or nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from explorer.labs.pruning import worked
from explorer.labs.pruning.importance import figures as importance_figures
from explorer.labs.pruning.params import ImportanceParams
from explorer.labs.pruning.schema import ImportanceResult
from explorer.labs.pruning.worked import OPENINGS, KnownParams, keep, known

KEPT = [action for action in OPENINGS if (worked.FOLDER / f"{action}.json").exists()]


def test_what_most_visitors_see_first_is_there() -> None:
    assert {"importance", "compare_orders"} <= set(KEPT)


@pytest.mark.parametrize("action", KEPT)
def test_it_belongs_to_the_bundled_weights(action: str) -> None:
    found = known(KnownParams(action, OPENINGS[action].params))
    assert found is not None, f"the weights have changed: python -m explorer.labs.pruning {action}"
    assert isinstance(found.result, OPENINGS[action].result)
    assert found.result.about.name.startswith("LoRA r=8")


@pytest.fixture
def same_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the weights were those that the first file was computed from."""
    kept = json.loads((worked.FOLDER / "importance.json").read_text(encoding="utf-8"))
    monkeypatch.setattr(worked, "digest", lambda: kept["belongs_to"])


@pytest.mark.usefixtures("same_weights")
def test_the_model_in_the_picker_has_no_say_over_a_run() -> None:
    assert known(KnownParams("importance", replace(OPENINGS["importance"].params, model="gpt2-mini"))) is not None


@pytest.mark.usefixtures("same_weights")
@pytest.mark.parametrize("change", [{"examples": 64}, {"run": "another"}, {"unit": "neuron"}, {"held_out": 40}])
def test_another_question_is_not_answered_beforehand(change: dict[str, object]) -> None:
    asked = replace(OPENINGS["importance"].params, **change)  # type: ignore[arg-type]
    assert known(KnownParams("importance", asked)) is None


def test_other_weights_have_other_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worked, "digest", lambda: "other weights")
    assert all(known(KnownParams(action, opening.params)) is None for action, opening in OPENINGS.items())


def test_the_digest_changes_with_the_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = worked.digest()
    run = tmp_path / worked.FIRST
    run.mkdir()
    (run / "record.json").write_bytes((worked.BUNDLED_RUNS / worked.FIRST / "record.json").read_bytes())
    (run / "weights.safetensors").write_bytes(b"others")
    monkeypatch.setattr(worked, "BUNDLED_RUNS", tmp_path)
    assert worked.digest() != before


@pytest.mark.usefixtures("same_weights")
def test_what_is_kept_is_read_again_and_a_damaged_file_is_as_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opening = KnownParams("importance", OPENINGS["importance"].params)
    found = known(opening)
    assert found is not None
    monkeypatch.setattr(worked, "FOLDER", tmp_path / "new")
    path = keep("importance", found.result, "today")
    again = known(opening)
    assert again is not None
    assert (again.result, again.made) == (found.result, "today")
    path.write_text(path.read_text(encoding="utf-8")[:100], encoding="utf-8")
    assert known(opening) is None


@pytest.mark.usefixtures("same_weights")
def test_the_sentence_is_of_every_example_that_was_asked_for() -> None:
    found = known(KnownParams("importance", OPENINGS["importance"].params))
    assert found is not None
    assert isinstance(found.result, ImportanceResult)
    assert found.result.done
    said = importance_figures.importance_sentence(found.result).striptags()
    assert "matters most" in said
    assert f"{worked.READ // 2} of the {worked.READ} examples" in said
    assert ImportanceParams().examples < found.result.total == worked.READ

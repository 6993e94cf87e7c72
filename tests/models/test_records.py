"""What stands beside a bundled model is read as it was written, and a broken file is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from explorer.errors import ExplorerError
from explorer.models.catalog import bundled
from explorer.models.records import COUNTERS, FURTHER, harder_from, read_curve, read_further, read_scores
from explorer.settings import BUNDLED_MODELS
from tests.rows import each_row


@each_row("name", bundled())
def test_every_bundled_model_was_measured_and_says_how(name: str) -> None:
    scores = read_scores(BUNDLED_MODELS / name)
    assert scores is not None
    assert scores.command.endswith(f"assets/models/{name}")
    assert scores.text == "wikitext-valid.txt"
    assert all(measure.shown for measure in scores.measures)
    assert scores.find(scores.measures[0].name) == scores.measures[0]
    assert scores.find("nothing") is None


@each_row("name", [name for name in bundled() if name != "bert-small"])
def test_every_bundled_model_but_the_first_has_its_log(name: str) -> None:
    points = read_curve(BUNDLED_MODELS / name)
    assert len(points) >= 25
    for counter in COUNTERS:
        counted = [point[counter] for point in points]
        assert counted == sorted(counted)
    kept = json.loads((BUNDLED_MODELS / name / "training.json").read_text(encoding="utf-8"))
    assert points[-1]["step"] == kept["steps"] + sum(more["steps"] for more in read_further(BUNDLED_MODELS / name))


def test_what_is_not_kept_is_nothing(tmp_path: Path) -> None:
    assert read_scores(tmp_path) is None
    assert read_curve(tmp_path) == ()


@pytest.mark.parametrize("content", ["{", '{"measures": 3}', '{"measures": [{"name": "x"}], "date": "", "text": ""}'])
def test_a_broken_file_is_named(content: str, tmp_path: Path) -> None:
    (tmp_path / "scores.json").write_text(content)
    with pytest.raises(ExplorerError, match=r"scores\.json"):
        read_scores(tmp_path)


def test_rows_are_harder_from_the_first_stage_that_says_so(tmp_path: Path) -> None:
    assert read_further(tmp_path) == []
    assert harder_from(tmp_path) is None
    (tmp_path / "training.json").write_text('{"steps": 100}')
    plain = {"steps": 50, "stages": [{"share": 1.0}]}
    harder = {"steps": 200, "stages": [{"share": 0.25, "dropout": 0.0}, {"share": 0.75, "new_names": 0.4}]}
    (tmp_path / FURTHER).write_text(json.dumps([plain]))
    assert harder_from(tmp_path) is None
    (tmp_path / FURTHER).write_text(json.dumps([plain, harder]))
    assert harder_from(tmp_path) == 100 + 50 + 50
    assert read_further(tmp_path) == [plain, harder]

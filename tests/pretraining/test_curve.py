"""A log thinned to a figure's points: nothing before or after it, means in between."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pretraining.curve import gone_on, thinned, write_curve


def log_of(path: Path, count: int) -> Path:
    entries = [
        {"step": 20 * n, "tokens": 1000 * n, "seconds": 1.5 * n, "tokens_per_second": 7, "mlm_loss": float(n)}
        | ({"pair_loss": 1.0} if n % 2 else {})
        for n in range(1, count + 1)
    ]
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return path


def test_a_long_log_becomes_two_hundred_points_with_the_mean_of_each_stretch(tmp_path: Path) -> None:
    points = thinned(log_of(tmp_path / "log.jsonl", 1000))
    assert len(points) == 200
    assert points[0] == {"step": 100, "tokens": 5000, "seconds": 7.5, "mlm_loss": 3.0, "pair_loss": 1.0}
    assert points[-1]["step"] == 20_000
    assert sum(point["mlm_loss"] for point in points) / 200 == pytest.approx(500.5)


def test_a_short_log_is_kept_whole_and_a_step_told_twice_counts_once(tmp_path: Path) -> None:
    path = log_of(tmp_path / "log.jsonl", 3)
    with path.open("a") as file:
        file.write(json.dumps({"step": 40, "tokens": 2000, "seconds": 9.0, "mlm_loss": 7.0}) + "\n")
    assert [(point["step"], point["mlm_loss"]) for point in thinned(path)] == [(20, 1.0), (40, 7.0), (60, 3.0)]
    path.write_text("")
    assert thinned(path) == []


def test_the_written_curve_is_json_and_small(tmp_path: Path) -> None:
    write_curve(thinned(log_of(tmp_path / "log.jsonl", 1000)), tmp_path / "curve.json", "tiny")
    read = json.loads((tmp_path / "curve.json").read_text())
    assert read["name"] == "tiny"
    assert len(read["points"]) == 200
    assert (tmp_path / "curve.json").stat().st_size < 60_000


def test_a_further_training_goes_on_where_the_first_one_ended(tmp_path: Path) -> None:
    first, log = thinned(log_of(tmp_path / "first.jsonl", 3)), log_of(tmp_path / "log.jsonl", 2)
    points = gone_on(first, log)
    assert points[:3] == first
    assert [(point["step"], point["tokens"], point["seconds"]) for point in points[3:]] == [
        (80, 4000, 6.0),
        (100, 5000, 7.5),
    ]
    assert [point["mlm_loss"] for point in points[3:]] == [1.0, 2.0]
    assert gone_on([], log) == thinned(log)

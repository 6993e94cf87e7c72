"""Times of a batch: nobody waits for all of them, and what a busy machine has measured is measured again for who asks again."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from explorer.engine.local import LocalEngine
from explorer.labs.finetune import latency_jobs
from explorer.labs.finetune.latency import (
    LATENCY,
    LatencyParams,
    LatencyResult,
    Timed,
    latency_bar,
    latency_figure,
    latency_sentence,
)
from explorer.maths.intervals import Ratio, Spent
from explorer.models import timing
from explorer.models.loaded_model import load_model
from explorer.settings import Settings
from tests.labs.drawing import assert_draws

AT_REST, BUSY = [10.0, 10.1, 10.2, 10.1, 10.2, 10.1], [10.0, 20.0, 30.0, 40.0, 30.0, 20.0]
ASKED: dict[str, Any] = {"batch": 1, "length": 4}


@pytest.mark.parametrize(("times", "busy"), [(AT_REST, False), (BUSY, True)])
def test_an_answer_is_kept_unless_the_machine_was_busy(
    times: list[float], busy: bool, tiny_model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = []

    def one_by_one(
        calls: Sequence[Callable[[], object]], device: torch.device, count: int
    ) -> Iterator[tuple[int, float]]:
        measured.append(count)
        yield from ((place, one) for one in times[:count] for place in range(len(calls)))

    monkeypatch.setattr(timing, "one_by_one", one_by_one)
    engine = LocalEngine(Settings(device="cpu", offline=True, data_folder=tmp_path))
    params = LatencyParams(tiny_model, ("head",), repeats=6, **ASKED)
    first, again = (list(filter(None, LATENCY.follow(engine, params, "anyone")))[-1] for _ in range(2))
    assert ("Measure again when it is at rest" in latency_sentence(first)) is busy
    assert (first is again) is not busy
    assert len(measured) == 1 + busy


@pytest.mark.parametrize(("seconds", "rounds"), [(0.0, [1, 2, 3, 4, 5, 6, 7]), (1e9, [1, 7])])
def test_other_questions_come_in_between_two_calls_and_the_first_result_after_a_round(
    seconds: float, rounds: list[int], tiny_model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(latency_jobs, "SECONDS", seconds)
    resources: Any = SimpleNamespace(model=lambda name: load_model(name, Settings(device="cpu")))
    found = list(latency_jobs.latency(resources, LatencyParams(tiny_model, ("head", "lora"), repeats=7, **ASKED)))
    results = [result for result in found if result]
    assert [result.rounds for result in results] == rounds
    assert [result.is_done for result in results] == [False] * (len(rounds) - 1) + [True]
    forms = 1 + len(results[-1].timed)
    assert forms == 4, "plain, head alone, LoRA attached and merged"
    assert len(found) == forms * (1 + 7), "each call ends a turn, those of the first round too"


def test_a_result_amid_a_round_is_of_the_whole_ones(tiny_model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Every look at this clock takes a while, so that the next result is due between two calls.
    monkeypatch.setattr(latency_jobs, "time", SimpleNamespace(monotonic=itertools.count(0, 0.3).__next__))
    resources: Any = SimpleNamespace(model=lambda name: load_model(name, Settings(device="cpu")))
    found = list(latency_jobs.latency(resources, LatencyParams(tiny_model, ("head", "lora"), repeats=4, **ASKED)))
    places = [place for place, result in enumerate(found) if result]
    assert any(place % 4 != 3 for place in places), "four calls a round"
    assert [result.rounds for result in found if result] == [(place + 1) // 4 - 1 for place in places]


@pytest.mark.parametrize(("rounds", "told"), [(1, False), (5, False), (6, True)])
def test_of_fewer_than_six_rounds_nothing_is_told_apart(rounds: int, told: bool) -> None:
    slower = Timed("lora", "LoRA", "attached", 9000, Spent(12.0, 11.9, 12.1), Ratio(1.2, 1.1, 1.3))
    result = LatencyResult("bert-mini", "cpu", 1, 64, rounds, 40, Spent(10.0, 9.9, 10.1), (slower,))
    assert ("Slower than the plain model: LoRA" in latency_sentence(result).striptags()) is told
    assert ("Nothing can be told apart yet" in latency_sentence(result).striptags()) is not told
    assert [trace.error_x.array[0] > 0 for trace in assert_draws(latency_figure(result)).data] == [told]


@pytest.mark.parametrize("rounds", [2, 39, 40])
def test_the_bar_tells_the_rounds_and_the_time_left(rounds: int) -> None:
    result = LatencyResult("bert-mini", "cpu", 1, 64, rounds, 40, Spent(10.0, 9.5, 10.5), ())
    left = {2: "2 of 40 rounds, about 38 s left", 39: "39 of 40 rounds, about 1.0 s left", 40: ""}
    # One round warms up, and counts among those that have gone by.
    assert latency_bar(result, seconds=rounds + 1.0).striptags() == left[rounds]

"""Times of a batch: nobody waits for all of them, and what a busy machine has measured is measured again for who asks again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
import torch

from explorer.engine.local import LocalEngine
from explorer.labs.finetune.latency import LATENCY, LatencyParams, latency_sentence
from explorer.labs.finetune.latency_jobs import latency
from explorer.models import timing
from explorer.models.loaded_model import load_model
from explorer.settings import Settings

WAIT = 120
AT_REST, BUSY = [10.0, 10.1, 10.2, 10.1], [10.0, 20.0, 30.0, 40.0]
PARAMS = LatencyParams(methods=("head",), batch=1, length=4, repeats=4)


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
    first, again = (engine.follow(LATENCY.job, PARAMS, tiny_model).last.result(WAIT) for _ in range(2))
    assert ("Measure again when it is at rest" in latency_sentence(first)) is busy
    assert (first is again) is not busy
    assert len(measured) == 1 + busy


def test_other_questions_come_in_between_two_calls_and_the_first_result_after_two_rounds(tiny_model: str) -> None:
    asked = LatencyParams(methods=("head", "lora"), batch=1, length=4, repeats=7)
    found = list(latency(load_model(tiny_model, Settings(device="cpu")), asked))
    assert [result.rounds for result in found if result] == [2, 5, 7]
    forms = 1 + len(found[-1].timed)
    assert forms == 4, "plain, head alone, LoRA attached and merged"
    assert found.count(None) == forms * (1 + asked.repeats) - 3, "each call ends a turn, those of the first round too"

"""Times of a batch: what a busy machine has measured is measured again for whoever asks again, as the sentence advises."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import torch

from explorer.engine.local import LocalEngine
from explorer.labs.finetune.latency import LATENCY, LatencyParams, latency_sentence
from explorer.models import timing
from explorer.settings import Settings

WAIT = 120
AT_REST, BUSY = [10.0, 10.1, 10.2, 10.1], [10.0, 20.0, 30.0, 40.0]
PARAMS = LatencyParams(methods=("head",), batch=1, length=4, repeats=4)


@pytest.mark.parametrize(("times", "busy"), [(AT_REST, False), (BUSY, True)])
def test_an_answer_is_kept_unless_the_machine_was_busy(
    times: list[float], busy: bool, tiny_model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = []

    def in_turns(calls: Sequence[Callable[[], object]], device: torch.device, count: int) -> list[list[float]]:
        measured.append(count)
        return [times[:count] for _ in calls]

    monkeypatch.setattr(timing, "in_turns", in_turns)
    engine = LocalEngine(Settings(device="cpu", offline=True, data_folder=tmp_path))
    first, again = (engine.follow(LATENCY.job, PARAMS, tiny_model).last.result(WAIT) for _ in range(2))
    assert ("Measure again when it is at rest" in latency_sentence(first)) is busy
    assert (first is again) is not busy
    assert len(measured) == 1 + busy

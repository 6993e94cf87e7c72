"""The ledger's times: those of a busy machine say so, and are not taken for others."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.labs.finetune.latency import LatencyResult, Timed
from explorer.ledger import BATCH, CELLS, LENGTH, ROUNDS
from explorer.maths.intervals import Ratio, Spent
from tests.loops import run


@pytest.mark.parametrize(("high", "busy"), [(10.4, False), (12.0, True)])
def test_a_time_says_whether_the_machine_was_busy(high: float, busy: bool) -> None:
    plain = Spent(10.0, 9.9, high)
    full = Timed("full", "Full fine-tuning", "plain", 0, plain, Ratio(1.0, 0.9, 1.1))
    result = LatencyResult("bert-mini", "cpu", BATCH, LENGTH, ROUNDS, ROUNDS, plain, (full,))

    async def ask(name: str, model: str, **given: Any) -> LatencyResult:
        assert (name, model, given["repeats"]) == ("latency", "bert-mini", ROUNDS)
        return result

    measured = run(CELLS["bert.time"].measure(ask, ""))  # type: ignore[arg-type]
    assert (measured.said, measured.busy) == ("10 ms", busy)
    assert ("on a busy machine" in measured.source) is busy

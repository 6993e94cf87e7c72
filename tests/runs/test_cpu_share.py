"""Training's share: a part of the time beside questions without end, nothing taken where they leave it enough."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack

import pytest

from explorer.runs.cpu_share import HEAVY_PATIENCE, MOST_OWED, MOST_SAVED, OWED_A_SECOND, PATIENCE, PAYMENT, Share

WAIT = 60


class Clock:
    """Time that passes when a test says so."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def waits(share: Share) -> bool:
    """Whether a short question would wait now."""
    with share._changed:
        share._count()
        return share._all_wait


def shared(share: Share, clock: Clock, waiting: Callable[[], bool]) -> float:
    """Of ten minutes of questions without end, the part in which training has the machine for itself."""
    alone = 0
    with share.training():
        for _ in range(60_000):
            if waiting():
                alone += 1
                clock.now += 0.01
            else:
                with share.asking():
                    clock.now += 0.01
    return alone / 60_000


def test_questions_without_end_leave_training_its_part() -> None:
    clock = Clock()
    share = Share(clock)
    part = OWED_A_SECOND / (1 + OWED_A_SECOND)
    assert shared(share, clock, lambda: waits(share)) == pytest.approx(part, abs=0.02)
    assert shared(share, clock, lambda: share.hold() > 0) == pytest.approx(part, abs=0.02)


def test_nothing_waits_while_nothing_trains_or_questions_leave_it_enough() -> None:
    clock = Clock()
    share = Share(clock)
    with share.asking():
        clock.now += 100
    assert not waits(share)
    assert share.hold() == 0
    with share.training():
        for _ in range(100):
            clock.now += 0.06
            with share.asking():
                clock.now += 0.1
            assert share.hold() == 0
        clock.now += 10 * MOST_SAVED
        with share.asking():
            clock.now += (MOST_SAVED + HEAVY_PATIENCE / 2) / OWED_A_SECOND
        assert share.hold() == 0, "what training was left is given back"


def test_heavy_work_waits_before_what_is_short() -> None:
    clock = Clock()
    share = Share(clock)
    with share.training():
        with share.asking():
            clock.now += 0.5 * PATIENCE / OWED_A_SECOND
        assert not waits(share)
        assert share.hold() == pytest.approx(0.5 * PATIENCE)
        with share.asking():
            clock.now += 100
        assert waits(share)
        clock.now += MOST_OWED - PATIENCE + 2 * PAYMENT
        assert not waits(share), "one long question is not paid for by all that follow"
        assert share.hold() > 0
        clock.now += PATIENCE
        assert share.hold() == 0


def test_who_waits_goes_on_when_training_ends() -> None:
    clock, began = Clock(), threading.Event()
    share = Share(clock)

    def ask() -> None:
        with share.asking():
            began.set()

    with ExitStack() as training:
        training.enter_context(share.training())
        with share.asking():
            clock.now += 100
        asker = threading.Thread(target=ask)
        asker.start()
        time.sleep(4 * PAYMENT)
        assert not began.is_set(), "its clock stands still"
    assert began.wait(WAIT)
    asker.join(WAIT)

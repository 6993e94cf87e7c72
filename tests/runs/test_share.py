"""Training's share: half of the time beside questions without end, nothing taken where they leave it enough."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack

from explorer.runs.share import MOST_OWED, MOST_SAVED, PATIENCE, Share

WAIT = 60


class Clock:
    """Time that passes when a test says so."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def waits(share: Share) -> bool:
    """Whether a question would wait now."""
    with share._changed:
        share._count()
        return share._paying


def test_questions_without_end_leave_training_half_of_the_time() -> None:
    clock, had = Clock(), {"training": 0, "questions": 0}
    share = Share(clock)
    with share.training():
        for _ in range(4000):
            if waits(share):
                clock.now += 0.01
                had["training"] += 1
            else:
                with share.asking():
                    clock.now += 0.01
                had["questions"] += 1
    assert 0.9 < had["questions"] / had["training"] < 1.1


def test_nothing_waits_while_nothing_trains_or_questions_leave_it_half() -> None:
    clock = Clock()
    share = Share(clock)
    with share.asking():
        clock.now += 100
    assert not waits(share)
    with share.training():
        for _ in range(100):
            clock.now += 0.06
            with share.asking():
                clock.now += 0.05
            assert not waits(share)
        clock.now += 10 * MOST_SAVED
        with share.asking():
            clock.now += MOST_SAVED + PATIENCE / 2
        assert not waits(share), "what training was left is given back"
        with share.asking():
            clock.now += 100
        clock.now += MOST_OWED / 2
        assert waits(share)
        clock.now += MOST_OWED
        assert not waits(share), "one long question is not paid for by all that follow"


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
        time.sleep(2 * MOST_OWED)
        assert not began.is_set(), "its clock stands still"
    assert began.wait(WAIT)
    asker.join(WAIT)

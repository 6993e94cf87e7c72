"""Freed memory goes back to the system now and then, and not at each answer."""

from __future__ import annotations

import sys

import pytest

from explorer.memory import PAUSE, Trimmer, trimmer


def test_it_gives_back_at_most_once_in_a_pause() -> None:
    now, trimmed = [0.0], list[float]()
    trim = Trimmer(lambda: trimmed.append(now[0]), lambda: now[0])
    for moment in (0.0, PAUSE - 1, PAUSE, PAUSE + 1, 2 * PAUSE, 5 * PAUSE, 5 * PAUSE):
        now[0] = moment
        trim()
    assert trimmed == [PAUSE, 2 * PAUSE, 5 * PAUSE]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc's own call")
def test_here_it_is_the_c_librarys_call() -> None:
    assert trimmer()._trim() in (0, 1), "0: nothing to give back, 1: something was"

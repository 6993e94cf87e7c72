"""Turns: one at a time, in the order of asking, and handed on whatever happens."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import pytest

import explorer.runs.cpu_share as turns_module
from explorer.runs.cpu_share import M_ARENA_MAX, Turns, share_freed_memory

WAIT = 180


def test_one_at_a_time_and_nobody_is_left_waiting() -> None:
    turns, inside, most = Turns(), [0], [0]

    def work() -> None:
        for _ in range(300):
            with turns:
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                time.sleep(0)
                inside[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT)
        assert not thread.is_alive()
    assert most == [1]


def test_who_has_waited_longest_is_next_though_the_last_one_asks_again_at_once() -> None:
    turns, order = Turns(), []

    def work(name: str) -> None:
        for _ in range(5):
            with turns:
                order.append(name)

    threads = []
    with turns:
        for name in "abc":
            threads.append(threading.Thread(target=work, args=(name,)))
            threads[-1].start()
            while len(turns._waiting) < len(threads):
                time.sleep(0.001)
    for thread in threads:
        thread.join(WAIT)
    assert "".join(order)[:3] == "abc"
    assert sorted(order) == sorted("abc" * 5)


def test_an_error_hands_the_turn_on() -> None:
    turns = Turns()
    with pytest.raises(ZeroDivisionError), turns:
        raise ZeroDivisionError
    with turns:
        pass


def test_threads_share_one_heap_where_the_system_has_glibc_and_elsewhere_nothing_happens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What that saves eight runs is measured by benchmarks/runs_memory.py."""
    told: list[tuple[int, int]] = []
    glibc = SimpleNamespace(mallopt=lambda option, value: told.append((option, value)))
    monkeypatch.setattr(turns_module.ctypes, "CDLL", lambda _: glibc)
    share_freed_memory()
    assert told == [(M_ARENA_MAX, 1)]
    monkeypatch.setattr(turns_module.ctypes, "CDLL", lambda _: SimpleNamespace())
    share_freed_memory()

"""Turns: one at a time, in the order of asking, and handed on whatever happens."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest

from explorer.runs.turns import Turns
from explorer.settings import ROOT

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


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's heaps")
def test_eight_threads_leave_no_more_behind_than_one() -> None:
    """In processes of their own: the heaps of this one are there already."""
    program = """
import sys, threading, psutil
from explorer.runs.turns import Turns, share_freed_memory
share_freed_memory()
turns, together, ended = Turns(), threading.Barrier(int(sys.argv[1]) + 1), threading.Event()
def compute():
    return [bytearray(b'x') * 50_000 for _ in range(1_000)][-1]
def work():
    with turns:
        kept = compute()  # the last of what was allocated, so that the heap cannot shrink
    together.wait()
    ended.wait()
before = psutil.Process().memory_info().rss
threads = [threading.Thread(target=work) for _ in range(together.parties - 1)]
[thread.start() for thread in threads]
together.wait()
print(psutil.Process().memory_info().rss - before)
ended.set()
"""
    one, eight = (
        int(
            subprocess.run(
                [sys.executable, "-c", program, str(count)], cwd=ROOT, capture_output=True, check=True
            ).stdout
        )
        for count in (1, 8)
    )
    assert one > 40e6
    assert eight < 1.5 * one

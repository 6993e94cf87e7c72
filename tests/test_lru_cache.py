"""What was made last is kept, made once, and bounded."""

from __future__ import annotations

import threading

import pytest

from explorer.lru_cache import LRUCache


def test_the_ones_used_least_recently_go_first() -> None:
    recent, made = LRUCache(2), list[str]()

    def ask(key: str) -> str:
        return str(recent.get(key, lambda: made.append(key) or key.upper()))

    assert [ask(key) for key in "abacab"] == list("ABACAB")
    assert made == list("abcb")


def test_large_values_go_before_many_are_kept() -> None:
    recent, made = LRUCache(10, most_bytes=250), list[str]()

    def ask(key: str) -> str:
        return str(recent.get(key, lambda: made.append(key) or 100 * key))

    assert [len(ask(key)) for key in "abcca"] == 5 * [100]
    assert made == list("abca")


def test_it_is_made_once_however_many_ask() -> None:
    recent, made, gate = LRUCache(4), list[int](), threading.Event()

    def make() -> int:
        assert gate.wait(60)
        made.append(1)
        return len(made)

    found = list[int]()
    threads = [threading.Thread(target=lambda: found.append(recent.get("key", make))) for _ in range(8)]
    for thread in threads:
        thread.start()
    assert recent.get("another", lambda: "at once") == "at once", "other keys don't wait"
    gate.set()
    for thread in threads:
        thread.join(60)
    assert found == [1] * 8


def test_a_failure_is_not_kept() -> None:
    recent = LRUCache(4)
    with pytest.raises(ZeroDivisionError):
        recent.get("key", lambda: 1 / 0)
    assert recent.get("key", lambda: "fine") == "fine"

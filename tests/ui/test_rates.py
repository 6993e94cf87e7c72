"""How often somebody may ask: at once, again later, and who is forgotten."""

from __future__ import annotations

import pytest
from starlette.requests import Request

from explorer.serving import rates
from explorer.serving.rates import Rate, Tries, host_of
from tests.rows import each_row


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_as_many_as_allowed_at_once_and_then_as_they_come_back() -> None:
    clock = Clock()
    rate = Rate(3, 60, clock)
    assert [rate.take("ada") for _ in range(5)] == [True, True, True, False, False]
    assert rate.take("bob"), "somebody else"
    clock.now += 19
    assert not rate.take("ada")
    clock.now += 1.1
    assert [rate.take("ada"), rate.take("ada")] == [True, False]
    clock.now += 1e6
    assert rate.left("ada") == 3


def test_none_is_no_limit() -> None:
    rate = Rate(0, 60)
    assert all(rate.take("ada") for _ in range(1000))


def test_names_that_are_invented_take_no_more_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rates, "MOST_KEYS", 3)
    rate = Rate(1, 60, Clock())
    for name in "abcda":
        rate.take(name)
    assert list(rate._left) == ["c", "d", "a"]


def test_only_wrong_tries_count() -> None:
    tries = Tries(2)
    assert all(tries.left("here") for _ in range(10))
    tries.count("here")
    tries.count("here")
    assert not tries.left("here")
    assert tries.left("there")


@each_row(
    ("client", "host"),
    [
        (("10.0.0.7", 1), "10.0.0.7"),
        (("2001:db8:1:2:3:4:5:6", 1), "2001:db8:1:2::/64"),
        (("testclient", 1), "testclient"),
        (None, ""),
    ],
)
def test_an_address_is_that_of_the_network(client: tuple[str, int] | None, host: str) -> None:
    assert host_of(Request({"type": "http", "headers": [], "client": client})) == host

"""How a computation is shared and done side by side; what any engine does with one is in test_engines."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from explorer.engine.computation import Computation, Subscription, Together
from explorer.engine.local import LocalEngine
from explorer.engine.protocol import Job
from explorer.engine.resources import Resources
from explorer.settings import Settings
from explorer.wanted import go_on

WAIT = 60


@dataclass(frozen=True)
class Count:
    """Parameters. to: how many results there are."""

    to: int = 3
    name: str = ""


@dataclass
class Trace:
    """What the jobs below did, in order; a test begins with an empty one."""

    events: list[Any] = field(default_factory=list)
    gate: threading.Event = field(default_factory=threading.Event)
    most_at_once: int = 0


TRACE = Trace()


def count(resources: Resources, params: Count) -> Iterator[int | None]:
    """Results 1 to `to`; none begins before the gate is open."""
    trace = TRACE
    try:
        for number in range(1, params.to + 1):
            assert trace.gate.wait(WAIT)
            time.sleep(0.001)
            trace.events.append((params.name, number))
            yield number
            yield None
    finally:
        trace.events.append((params.name, "closed"))


def quick(params: Count) -> str:
    TRACE.events.append("quick")
    return "quick"


def side_by_side(resources: Resources, params: Count) -> Iterator[Any]:
    working = []
    lock = threading.Lock()

    def square(number: int) -> int:
        with lock:
            working.append(number)
            TRACE.most_at_once = max(TRACE.most_at_once, len(working))
        time.sleep(0.02 / (number + 1))
        with lock:
            working.remove(number)
        return number * number

    yield (yield Together(square, range(params.to)))


def remembered(resources: Resources, params: Count) -> Any:
    resources.is_kept = params.name != "forgotten"
    return resources.once("part", lambda: TRACE.events.append("made") or object())


def passes(params: Count) -> int:
    for number in range(params.to):
        go_on()
        TRACE.events.append(number)
        time.sleep(0.001)
    return params.to


def in_one_turn(resources: Resources, params: Count) -> Iterator[int]:
    yield passes(params)


def in_pieces(resources: Resources, params: Count) -> Iterator[Any]:
    yield max((yield Together(lambda _: passes(params), range(3))))


JOBS = {
    name: Job(f"tests.engine.test_computation:{name}", on="nothing" if name == "quick" else "resources")
    for name in ("count", "quick", "side_by_side", "remembered", "in_one_turn", "in_pieces")
}


@pytest.fixture
def engine(tmp_path: Path) -> LocalEngine:
    global TRACE
    TRACE = Trace()
    return LocalEngine(Settings(device="cpu", offline=True, workers=2, data_folder=tmp_path))


def until(met: Callable[[], bool]) -> None:
    end = time.monotonic() + WAIT
    while not met():
        assert time.monotonic() < end
        time.sleep(0.005)


def results(following: Subscription) -> list[Any]:
    found = []
    for result in following:
        if result is None:
            time.sleep(0.001)
        else:
            found.append(result)
    return found


def test_all_who_ask_the_same_share_one_computation_and_one_who_leaves_ends_nothing(engine: LocalEngine) -> None:
    class_ = [engine.follow(JOBS["count"], Count(50)) for _ in range(30)]
    class_[0].close()
    TRACE.gate.set()
    assert [following.last.result(WAIT) for following in class_[1:]] == [50] * 29
    assert len(TRACE.events) == 51


def test_what_nobody_waits_for_any_more_is_not_begun(engine: LocalEngine) -> None:
    busy = [engine.follow(JOBS["count"], Count(1, name)) for name in "ab"]  # both workers wait at the gate
    engine.follow(JOBS["count"], Count(1, "left")).close()
    TRACE.gate.set()
    for following in busy:
        following.last.result(WAIT)
    assert engine.follow(JOBS["quick"], Count()).last.result(WAIT) == "quick"
    assert not any(event[0] == "left" for event in TRACE.events)


@pytest.mark.parametrize("name", ["in_one_turn", "in_pieces"])
def test_a_long_turn_ends_once_nobody_waits_for_it(engine: LocalEngine, name: str) -> None:
    asked = Count(10**6)
    following = engine.follow(JOBS[name], asked)
    until(lambda: bool(TRACE.events))
    following.close()
    until(lambda: len(TRACE.events) == (time.sleep(0.1) or len(TRACE.events)))
    assert engine.follow(JOBS[name], Count(3)).last.result(WAIT) == 3, "the workers are free"


@pytest.mark.parametrize("name", ["in_one_turn", "in_pieces"])
def test_it_goes_on_for_whoever_comes_as_it_ends(
    engine: LocalEngine, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    back: list[Subscription] = []
    left = threading.Event()
    given_up = Computation.is_given_up

    def comes_back(computation: Computation) -> bool:
        if left.is_set() and not back:
            back.append(engine.follow(JOBS[name], Count(300)))
        return given_up(computation)

    monkeypatch.setattr(Computation, "is_given_up", comes_back)
    following = engine.follow(JOBS[name], Count(300))
    until(lambda: bool(TRACE.events))
    following.close()
    left.set()
    until(lambda: bool(back))
    assert back[0].last.result(WAIT) == 300
    assert TRACE.events.count(0) > (1 if name == "in_one_turn" else 3), "what was left is begun again"


def test_pieces_are_done_two_at_a_time_and_their_answers_stay_in_order(engine: LocalEngine) -> None:
    assert results(engine.follow(JOBS["side_by_side"], Count(9))) == [[number * number for number in range(9)]]
    assert TRACE.most_at_once == 2
    assert results(engine.follow(JOBS["side_by_side"], Count(0))) == [[]], "nothing to do is no reason to wait"


def test_parts_are_remembered_for_other_questions_and_an_answer_may_ask_not_to_be(engine: LocalEngine) -> None:
    parts = [engine.follow(JOBS["remembered"], Count(name=name)).last.result(WAIT) for name in "ab"]
    assert parts[0] is parts[1]
    assert TRACE.events == ["made"]
    for _ in range(2):
        engine.follow(JOBS["remembered"], Count(name="forgotten")).last.result(WAIT)
    assert not any(key[1].name == "forgotten" for key in engine._answers._kept)

"""One verb for all that is computed: shared, in turns, side by side, and ended when nobody looks."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from explorer.engine.computation import Following, Together
from explorer.engine.local import LocalEngine
from explorer.engine.protocol import Job, answer
from explorer.engine.resources import Resources
from explorer.errors import BadInputError
from explorer.settings import Settings

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
    failures: int = 0
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
        if number < TRACE.failures:
            raise BadInputError(f"{number} is too small")
        return number * number

    yield (yield Together(square, range(params.to)))


def remembered(resources: Resources, params: Count) -> Any:
    resources.is_kept = params.name != "forgotten"
    return resources.once("part", lambda: TRACE.events.append("made") or object())


def breaks(resources: Resources, params: Count) -> Iterator[int]:
    TRACE.events.append("begun")
    yield 1
    raise BadInputError("It broke.")


JOBS = {
    name: Job(f"tests.engine.test_computation:{name}", on="nothing" if name == "quick" else "resources")
    for name in ("count", "quick", "side_by_side", "remembered", "breaks")
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


def results(following: Following) -> list[Any]:
    found = []
    for result in following:
        if result is None:
            time.sleep(0.001)
        else:
            found.append(result)
    return found


def test_results_come_as_they_are_made_and_the_last_one_is_there_for_good(engine: LocalEngine) -> None:
    following = engine.follow(JOBS["count"], Count())
    assert next(following) is None, "it does not wait"
    TRACE.gate.set()
    found = results(following)
    assert found == sorted(set(found))
    assert found[-1] == 3
    assert results(engine.follow(JOBS["count"], Count())) == [3], "the answer is kept"
    assert TRACE.events == [("", 1), ("", 2), ("", 3), ("", "closed")]


def test_all_who_ask_the_same_share_one_computation_and_one_who_leaves_ends_nothing(engine: LocalEngine) -> None:
    class_ = [engine.follow(JOBS["count"], Count(50)) for _ in range(30)]
    class_[0].close()
    TRACE.gate.set()
    assert [following.last.result(WAIT) for following in class_[1:]] == [50] * 29
    assert len(TRACE.events) == 51


def test_late_comers_get_the_latest_result(engine: LocalEngine) -> None:
    first = engine.follow(JOBS["count"], Count(10**9))
    TRACE.gate.set()
    until(lambda: len(TRACE.events) > 20)
    late = engine.follow(JOBS["count"], Count(10**9))
    assert next(late) >= 20
    first.close()
    late.close()


def test_a_quick_question_never_waits_for_a_long_one_to_end(engine: LocalEngine) -> None:
    TRACE.gate.set()
    long = [engine.follow(JOBS["count"], Count(10**9, name)) for name in "abc"]
    until(lambda: {name for name, *_ in list(TRACE.events)} == set("abc"))
    assert engine.follow(JOBS["quick"], Count()).last.result(WAIT) == "quick"
    counts = [sum(event[0] == name for event in list(TRACE.events)) for name in "abc"]
    assert min(counts) > 0
    for following in long:
        following.close()


def test_it_ends_when_nobody_looks_any_more_and_begins_anew_for_the_next(engine: LocalEngine) -> None:
    following = engine.follow(JOBS["count"], Count(10**9))
    TRACE.gate.set()
    until(lambda: len(TRACE.events) > 3)
    following.close()
    until(lambda: ("", "closed") in TRACE.events)
    done = len(TRACE.events)
    time.sleep(0.05)
    assert len(TRACE.events) == done
    again = engine.follow(JOBS["count"], Count(10**9))
    until(lambda: TRACE.events.count(("", 1)) == 2)
    del again
    until(lambda: TRACE.events.count(("", "closed")) == 2)


def test_what_nobody_waits_for_any_more_is_not_begun(engine: LocalEngine) -> None:
    busy = [engine.follow(JOBS["count"], Count(1, name)) for name in "ab"]  # both workers wait at the gate
    engine.follow(JOBS["count"], Count(1, "left")).close()
    TRACE.gate.set()
    for following in busy:
        following.last.result(WAIT)
    assert engine.follow(JOBS["quick"], Count()).last.result(WAIT) == "quick"
    assert not any(event[0] == "left" for event in TRACE.events)


def test_pieces_are_done_two_at_a_time_and_their_answers_stay_in_order(engine: LocalEngine) -> None:
    assert results(engine.follow(JOBS["side_by_side"], Count(9))) == [[number * number for number in range(9)]]
    assert TRACE.most_at_once == 2
    assert results(engine.follow(JOBS["side_by_side"], Count(0))) == [[]], "nothing to do is no reason to wait"


def test_a_piece_that_fails_ends_the_work_in_its_own_words(engine: LocalEngine) -> None:
    TRACE.failures = 2
    with pytest.raises(BadInputError, match="is too small"):
        results(engine.follow(JOBS["side_by_side"], Count(9)))


def test_a_failure_is_told_and_not_kept(engine: LocalEngine) -> None:
    for _ in range(2):
        with pytest.raises(BadInputError, match=r"It broke\."):
            results(engine.follow(JOBS["breaks"], Count()))
    assert TRACE.events == ["begun", "begun"]


def test_parts_are_remembered_for_other_questions_and_an_answer_may_ask_not_to_be(engine: LocalEngine) -> None:
    parts = [engine.follow(JOBS["remembered"], Count(name=name)).last.result(WAIT) for name in "ab"]
    assert parts[0] is parts[1]
    assert TRACE.events == ["made"]
    for _ in range(2):
        engine.follow(JOBS["remembered"], Count(name="forgotten")).last.result(WAIT)
    assert not any(key[1].name == "forgotten" for key in engine._answers)


def test_an_awaited_answer(engine: LocalEngine) -> None:
    # In a thread of its own: a browser that an earlier test left open in this worker keeps an event loop running in the main one.
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: asyncio.run(answer(engine, JOBS["quick"], Count()))).result(WAIT) == "quick"

"""Whose turn it is: what is alike is taken together, and the long give way to the short, though not for ever."""

from __future__ import annotations

import threading
import time
from array import array
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer.engine import workers as module
from explorer.engine.local import LocalEngine
from explorer.engine.protocol import Job
from explorer.engine.workers import Line, Turn, Workers
from explorer.errors import BadInputError, ExplorerError, MissingCapabilityError
from explorer.labs.attention import ATTENTION, ATTENTION_VIEW, STATISTICS
from explorer.labs.attention.head import AttentionParams, StatisticsParams
from explorer.labs.attention.views import AttentionViewParams
from explorer.labs.masking import FILL_MASKS
from explorer.labs.masking.schema import FillParams
from explorer.labs.pairs import SCORE_PAIR
from explorer.labs.pairs.schema import PairParams
from explorer.models.families import Capability
from explorer.models.loaded_model import LoadedModel
from explorer.runs.cpu_share import Share
from explorer.settings import Settings
from tests.models import tiny

WAIT = 60
SEEN: list[tuple[str, ...]] = []
GATE = threading.Event()


@dataclass(frozen=True)
class Named:
    name: str


def one(loaded: LoadedModel, params: Named) -> str:
    if params.name == "gate":
        assert GATE.wait(WAIT)
    SEEN.append((params.name,))
    if params.name == "bad":
        raise BadInputError("bad")
    return params.name


def several(loaded: LoadedModel, asked: list[Named]) -> list[str | ExplorerError]:
    names = tuple(params.name for params in asked)
    SEEN.append(names)
    if "breaks" in names:
        raise RuntimeError("all at once")
    return [BadInputError("bad") if name == "bad" else name for name in names]


ONE = Job("tests.engine.test_workers:one", together="tests.engine.test_workers:several")


@pytest.fixture(scope="module")
def model_id(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny.save(tmp_path_factory.mktemp("bert")))


@pytest.fixture
def engine(model_id: str, tmp_path: Path) -> LocalEngine:
    SEEN.clear()
    GATE.clear()
    engine = LocalEngine(Settings(device="cpu", offline=True, workers=1, data_folder=tmp_path))
    engine.store.get(model_id)
    return engine


def asked(engine: LocalEngine, job: Job, model_id: str, *params: Any) -> list[Any]:
    """The answers or errors of questions that wait behind a worker who is busy."""
    busy = engine.follow(ONE, Named("gate"), model_id).last
    waiting = [engine.follow(job, one, model_id).last for one in params]
    GATE.set()
    busy.result(WAIT)
    return [one.exception(WAIT) or one.result() for one in waiting]


def test_what_waits_is_asked_as_one_and_one_error_is_nobody_elses(engine: LocalEngine, model_id: str) -> None:
    answers = asked(engine, ONE, model_id, *map(Named, ("a", "bad", "b")))
    assert [str(answer) for answer in answers] == ["a", "bad", "b"]
    assert isinstance(answers[1], BadInputError)
    assert SEEN == [("gate",), ("a", "bad", "b")]
    assert engine.follow(ONE, Named("a"), model_id).last.result(WAIT) is answers[0], "the answer is kept"
    assert len(SEEN) == 2


def test_where_all_at_once_fails_each_is_asked_for_itself(engine: LocalEngine, model_id: str) -> None:
    assert asked(engine, ONE, model_id, *map(Named, ("a", "breaks", "b"))) == ["a", "breaks", "b"]
    assert sorted(SEEN[2:]) == [("a",), ("b",), ("breaks",)]


def test_where_a_job_asks_one_by_one_each_that_waits_is_answered(engine: LocalEngine, model_id: str) -> None:
    job = Job(ONE.function)
    gate = engine.follow(job, Named("gate"), model_id).last
    waiting = [engine.follow(job, Named(name), model_id).last for name in "abc"]
    GATE.set()
    assert [one.result(WAIT) for one in (gate, *waiting)] == ["gate", "a", "b", "c"]
    assert SEEN == [("gate",), ("a",), ("b",), ("c",)]


def test_who_has_left_is_not_asked_for(engine: LocalEngine, model_id: str) -> None:
    busy = engine.follow(ONE, Named("gate"), model_id).last
    stays = [engine.follow(ONE, Named(name), model_id).last for name in "ab"]
    engine.follow(ONE, Named("left"), model_id).close()
    GATE.set()
    assert [one.result(WAIT) for one in (busy, *stays)] == ["gate", "a", "b"]
    assert SEEN == [("gate",), ("a", "b")]


@pytest.mark.parametrize(
    ("job", "questions"),
    [
        (
            FILL_MASKS.job,
            (
                FillParams("the [MASK] sat"),
                FillParams("the cat"),
                FillParams("[MASK] cat sat on a mat, the [MASK]", words=("cat",)),
                FillParams("the cat", also_mask=(99,)),
            ),
        ),
        (
            SCORE_PAIR.job,
            (PairParams("the cat", "a mat"), PairParams("a cat sat on", "the mat."), PairParams("a", "cat")),
        ),
        (
            ATTENTION.job,
            (
                AttentionParams("the cat sat", layer=0, head=0),
                AttentionParams("a cat", "the mat.", layer=1, head=1, masked=(2,)),
                AttentionParams("the cat", layer=99, head=0),
                AttentionParams("a cat sat on", layer=1, head=0),
            ),
        ),
        (STATISTICS.job, (StatisticsParams("the cat sat"), StatisticsParams("a cat", "the mat."))),
        (ATTENTION_VIEW.job, (AttentionViewParams("the cat sat", layer=1), AttentionViewParams("a cat", view="model"))),
    ],
)
def test_a_lab_answers_together_what_it_answers_alone(
    engine: LocalEngine, model_id: str, tmp_path: Path, job: Job, questions: tuple[Any, ...]
) -> None:
    together = asked(engine, job, model_id, *questions)
    engine = LocalEngine(Settings(device="cpu", offline=True, data_folder=tmp_path))
    for params, answer in zip(questions, together, strict=True):
        last = engine.follow(job, params, model_id).last
        assert nearly(answer, last.exception(WAIT) or last.result())


def nearly(one: Any, other: Any) -> bool:
    """Whether two results are the same but for their last digits; bytes hold rounded numbers of two bytes each."""
    if isinstance(one, bytes):
        mine, theirs = (np.frombuffer(packed, "<i2").astype(int) for packed in (one, other))
        return len(mine) == len(theirs) and bool((abs(mine - theirs) <= 1).all())
    if isinstance(one, float):
        return one == pytest.approx(other, abs=1e-5)
    if isinstance(one, Exception):
        return type(one) is type(other) and str(one) == str(other)
    if isinstance(one, (tuple, array)):
        return len(one) == len(other) and all(map(nearly, one, other))
    if hasattr(one, "__dataclass_fields__"):
        return all(nearly(getattr(one, name), getattr(other, name)) for name in one.__dataclass_fields__)
    return bool(one == other)


def test_a_head_that_the_model_lacks_is_refused_together_too(engine: LocalEngine, model_id: str) -> None:
    job = Job(ONE.function, Capability.CAUSAL, together=ONE.together)
    assert all(
        isinstance(error, MissingCapabilityError) for error in asked(engine, job, model_id, Named("a"), Named("b"))
    )


class Clock:
    """Time that passes when a test says so."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


def taking(clock: Clock, seconds: float, then: Callable[[], None] = lambda: None) -> Callable[[], None]:
    def work() -> None:
        clock.now += seconds
        then()

    return work


def until(met: Callable[[], bool]) -> None:
    end = time.monotonic() + WAIT
    while not met():
        assert time.monotonic() < end
        time.sleep(0.002)


def learned(workers: Workers, clock: Clock, **seconds: float) -> None:
    """Have kinds known by how long they take."""
    for kind, long in seconds.items():
        for _ in range(2):
            done = threading.Event()
            workers.submit(Turn(taking(clock, long, done.set), kind))
            assert done.wait(WAIT)
    until(lambda: set(seconds) <= set(workers._took))


def ordered(workers: Workers, clock: Clock, *waiting: tuple[str, float, Turn]) -> list[str]:
    """The order in which turns are done that wait behind one that is busy; each with its name and the seconds before it comes."""
    order, gate = list[str](), threading.Event()
    workers.submit(Turn(lambda: gate.wait(WAIT) and None, "gate"))
    until(lambda: not workers._waiting)
    for name, after, turn in waiting:
        clock.now += after
        workers.submit(replace(turn, work=lambda name=name, turn=turn: (turn.work(), order.append(name))))
    gate.set()
    until(lambda: len(order) == len(waiting))
    return order


def test_short_turns_go_before_heavy_ones_but_not_for_ever(clock: Clock) -> None:
    workers = Workers(1)
    learned(workers, clock, long=2.0, short=1.0 / 16)
    clock.now += 100
    quick, slow = Turn(taking(clock, 1.0 / 16), "short"), Turn(taking(clock, 2.0), "long")
    shorts = [(str(number), 0.0, quick) for number in range(9)]
    assert ordered(workers, clock, ("long", 0.0, slow), *shorts)[-1] == "long", "it has patience"
    clock.now += 100
    assert ordered(workers, clock, ("long", 0.0, slow), ("0", 9.0, quick))[0] == "long", "of four times its length"
    clock.now += 100
    two = ordered(workers, clock, ("long", 0.0, slow), ("next", 0.0, slow), ("0", 9.0, quick), *shorts[1:])
    assert (two[0], two[-1]) == ("long", "next"), "after one, the short have four times as long to themselves"


def test_the_more_heavy_turns_wait_the_more_they_have(clock: Clock) -> None:
    workers = Workers(1)
    learned(workers, clock, long=2.0, short=1.0 / 16)
    clock.now += 100
    quick, slow = Turn(taking(clock, 1.0 / 16), "short"), Turn(taking(clock, 2.0), "long")
    longs = [(f"long {number}", 0.0, slow) for number in range(4)]
    order = ordered(workers, clock, *longs, ("0", 9.0, quick), *((str(number), 0.0, quick) for number in range(1, 300)))
    begun = [order.index(name) for name, _, _ in longs]
    between = [(later - earlier - 1) / 16 for earlier, later in pairwise(begun)]
    assert between == pytest.approx([2 * 4 / 3, 2 * 4 / 2, 2 * 4], abs=0.1), (
        "seconds of what is short, after two of what is not"
    )


def test_what_has_taken_long_gives_way_at_its_later_turns(clock: Clock) -> None:
    workers = Workers(1)
    quick = Turn(lambda: None, "short")
    again = Turn(lambda: None, "piece", spent=module.HEAVY_SECONDS)
    workers._heavy_ended = 100.0
    assert ordered(workers, clock, ("piece", 0.0, again), ("a", 1.0, quick), ("b", 1.0, quick)) == ["a", "b", "piece"]


def test_of_what_is_heavy_the_first_goes_on_before_the_next_begins(clock: Clock) -> None:
    workers = Workers(1)
    waiting = [(f"{since}", 0.0, Turn(lambda: None, "piece", since=since, spent=0.5)) for since in (3.0, 1.0, 2.0)]
    assert ordered(workers, clock, *waiting) == ["1.0", "2.0", "3.0"]


def test_heavy_turns_wait_while_training_is_owed_time(clock: Clock) -> None:
    owed = [1]

    class Training(Share):
        def hold(self) -> float:
            return 0.01 * owed[0]

    workers, order = Workers(2, Training()), list[str]()
    workers._heavy_ended = 1.0
    workers.submit(Turn(lambda: order.append("heavy"), "piece", spent=module.HEAVY_SECONDS))
    workers.submit(Turn(lambda: order.append("short"), "short"))
    until(lambda: bool(order))
    time.sleep(0.05)
    assert order == ["short"]
    owed[0] = 0
    until(lambda: len(order) == 2)


def test_who_waits_is_told_what_stands_before(clock: Clock) -> None:
    workers, gate = Workers(1), threading.Event()
    learned(workers, clock, medium=0.4)
    workers.submit(Turn(lambda: gate.wait(WAIT) and None, "gate"))
    until(lambda: not workers._waiting)
    for _ in range(3):
        clock.now += 1.0
        workers.submit(Turn(lambda: None, "medium"))
    assert workers.line(0.5) == Line(2, pytest.approx(0.8)), "the last was asked just now"
    assert workers.line(5.0) == Line(0, 0.0)
    gate.set()
    until(lambda: workers.line(-1.0).questions == 0)


@pytest.mark.parametrize("turn", [{"kind": "long"}, {"kind": "piece", "since": 0.0, "spent": module.HEAVY_SECONDS}])
def test_long_turns_leave_a_worker_to_the_short(clock: Clock, turn: dict[str, Any]) -> None:
    """Long as a turn, or as all the turns of one computation."""
    workers, gate, began, short = Workers(2), threading.Event(), list[int](), threading.Event()
    learned(workers, clock, long=2.0)

    def wait() -> None:
        began.append(1)
        assert gate.wait(WAIT)

    for _ in range(3):
        workers.submit(Turn(wait, **turn))
    until(lambda: bool(began))
    workers.submit(Turn(short.set, "short"))
    assert short.wait(WAIT)
    assert len(began) == 1
    gate.set()
    until(lambda: len(began) == 3)


def test_what_goes_on_after_a_first_answer_gives_way(clock: Clock) -> None:
    workers = Workers(1)
    workers._heavy_ended = 100.0
    later = Turn(lambda: None, "piece", since=0.0)
    assert ordered(workers, clock, ("later", 0.0, later), ("short", 1.0, Turn(lambda: None, "short")))[0] == "short"


def test_however_many_heavy_turns_wait_the_short_have_half_of_a_worker(clock: Clock) -> None:
    workers = Workers(1)
    learned(workers, clock, long=2.0, short=1.0 / 16)
    clock.now += 100
    quick, slow = Turn(taking(clock, 1.0 / 16), "short"), Turn(taking(clock, 2.0), "long")
    longs = [(f"long {number}", 0.0, slow) for number in range(12)]
    order = ordered(workers, clock, *longs, ("0", 9.0, quick), *((str(number), 0.0, quick) for number in range(1, 600)))
    begun = [order.index(name) for name, _, _ in longs]
    between = [(later - earlier - 1) / 16 for earlier, later in pairwise(begun)]
    assert min(between) == pytest.approx(2.0, abs=0.1)


def test_who_asks_what_is_being_computed_for_others_is_in_the_next_batch(clock: Clock) -> None:
    workers, gate, done = Workers(2), threading.Event(), list[list[str]]()

    def together(several: list[str]) -> None:
        done.append(several)
        assert gate.wait(WAIT)

    def alone() -> None:
        together(["first"])

    workers.submit(Turn(alone, "fill", "fill", together, "first"))
    until(lambda: bool(done))
    for about in "ab":
        workers.submit(Turn(lambda: None, "fill", "fill", together, about))
    other = threading.Event()
    workers.submit(Turn(other.set, "other"))
    assert other.wait(WAIT), "another question has the second worker"
    assert done == [["first"]]
    gate.set()
    until(lambda: len(done) == 2)
    assert done[1] == ["a", "b"]

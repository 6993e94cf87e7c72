"""Who trains next: nobody waits for all the runs of somebody else."""

from __future__ import annotations

from random import Random

import pytest

from explorer.errors import BadInputError
from explorer.runs.queue import MOST_IN_ALL, MOST_TOGETHER, MOST_WAITING, FairQueue, Visitor
from tests.rows import each_row


def filled(runs: str) -> FairQueue:
    """`a1 a2 b1`: the runs in the order in which they were started, each named by its owner first."""
    queue = FairQueue()
    for run in runs.split():
        queue.put(run[0], run)
    return queue


def served(queue: FairQueue) -> str:
    return " ".join(iter(queue.take, None))


@each_row(
    ("started", "expected"),
    [
        ("a1 a2 a3 a4 a5 b1", "a1 b1 a2 a3 a4 a5"),
        ("a1 a2 b1 b2 c1", "a1 b1 c1 a2 b2"),
        ("b1 a1 a2 a3 b2", "b1 a1 b2 a2 a3"),
        ("", ""),
    ],
)
def test_visitors_take_turns(started: str, expected: str) -> None:
    assert served(filled(started)) == expected


def test_who_comes_while_another_trains_is_next() -> None:
    queue = filled("a1 a2 a3")
    assert queue.take() == "a1"
    queue.put("b", "b1")
    queue.put("b", "b2")
    assert queue.order() == ["b1", "a2", "b2", "a3"]
    assert served(queue) == "b1 a2 b2 a3"


def test_a_turn_that_was_taken_counts_after_the_queue_was_empty() -> None:
    queue = filled("a1")
    assert (queue.take(), queue.take()) == ("a1", None)
    queue.put("a", "a2")
    queue.put("b", "b1")
    assert served(queue) == "b1 a2"


def test_the_order_told_is_the_order_served_whatever_happens() -> None:
    draw = Random(0)
    queue, started = FairQueue(), 0
    for _ in range(600):
        move = draw.random()
        if move < 0.55:
            owner = draw.choice("abcde")
            try:
                queue.put(owner, f"{owner}{started}")
                started += 1
            except BadInputError:
                assert sum(run[0] == owner for run in queue.order()) == MOST_WAITING
        elif move < 0.7 and queue.order():
            leaving = draw.choice(queue.order())
            assert queue.remove(leaving)
            assert leaving not in queue.order()
        else:
            told = queue.order()
            assert queue.take() == (told[0] if told else None)
            assert queue.order() == told[1:]


def test_a_visitor_has_a_limit_of_their_own() -> None:
    queue = filled(" ".join(f"a{number}" for number in range(MOST_WAITING)))
    with pytest.raises(BadInputError, match=f"{MOST_WAITING} runs waiting"):
        queue.put("a", "one too many")
    queue.put("b", "b1")
    queue.take()
    queue.put("a", "room again")
    assert "room again" in queue.order()


def test_removing_what_does_not_wait_says_so() -> None:
    queue = filled("a1 b1")
    assert queue.take() == "a1"
    assert not queue.remove("a1")
    assert not queue.remove("nobody's")
    assert queue.remove("b1")
    assert queue.take() is None


def invented(number: int) -> Visitor:
    """The names of a client that takes another one for each run."""
    return Visitor(f"name-{number}", "address 1")


def test_a_client_with_many_names_has_one_turn_like_everybody() -> None:
    queue = FairQueue()
    queue.put(invented(0), "x0")
    assert queue.take() == "x0"
    for number in range(1, 6):
        queue.put(invented(number), f"x{number}")
    queue.put(Visitor("ada", "ada"), "a1")
    queue.put(Visitor("bob", "bob"), "b1")
    queue.put(Visitor("ada", "ada"), "a2")
    assert served(queue) == "a1 b1 x1 a2 x2 x3 x4 x5"


def test_a_run_that_waits_is_reached_however_many_new_names_arrive() -> None:
    """Also where each has a turn of its own, as plain names have."""
    queue = filled("a1 a2")
    assert queue.take() == "a1"
    taken = []
    for number in range(20):
        queue.put(f"new {number}", f"n{number}")
        taken.append(queue.take())
    assert "a2" in taken[:3]


def test_names_of_one_address_have_a_limit_together_that_a_class_does_not_reach() -> None:
    queue = FairQueue()
    for number in range(MOST_TOGETHER):
        queue.put(invented(number), f"x{number}")
    assert MOST_TOGETHER > 30
    with pytest.raises(BadInputError, match=f"{MOST_TOGETHER} runs wait that scripts"):
        queue.put(invented(1000), "one too many")
    for number in range(30):
        queue.put(Visitor(f"student {number}", f"student {number}"), f"s{number}")
    assert [run[0] for run in queue.order()][:31].count("s") == 30


def test_all_together_have_a_limit() -> None:
    queue = FairQueue()
    for number in range(MOST_IN_ALL):
        queue.put(f"student {number}", f"s{number}")
    with pytest.raises(BadInputError, match=f"{MOST_IN_ALL} runs wait on this server"):
        queue.put("another", "one too many")
    assert len(queue.order()) == MOST_IN_ALL


def test_names_that_are_no_longer_needed_are_forgotten() -> None:
    queue = FairQueue()
    for number in range(500):
        queue.put(f"new {number}", f"n{number}")
        assert queue.take() == f"n{number}"
    assert len(queue._served) <= 4


def test_a_visitor_is_a_name_like_any_other() -> None:
    import copy

    ada = copy.deepcopy(Visitor("ada", "address 1"))
    assert (ada, ada.party) == ("ada", "address 1")

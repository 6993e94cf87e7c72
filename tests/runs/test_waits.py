"""How long a run waits: until a lane is free, and for those before it as long as runs have lasted."""

from __future__ import annotations

from explorer.runs.queue import moved_up, waits
from explorer.runs.record import RunStatus
from tests.labs.finetune.records import record
from tests.rows import each_row


@each_row(
    ("left", "waiting", "lanes", "usual", "found"),
    [
        ([12.0], 3, 1, 40.0, [10, 50, 90]),
        ([12.0, 31.0], 4, 2, 40.0, [10, 30, 50, 70]),
        ([12.0], 2, 1, None, [10, None]),
        ([None], 2, 1, None, [None, None]),
        ([], 1, 1, None, [0]),
    ],
)
def test_a_wait(
    left: list[float | None], waiting: int, lanes: int, usual: float | None, found: list[float | None]
) -> None:
    assert waits(left, waiting, lanes, usual) == found


def test_places_and_waits_are_told_where_they_have_changed() -> None:
    trains = record(run_id="trains", status=RunStatus.RUNNING, seconds=20.0, seconds_left=10.0)
    active = {"trains": trains, **{name: record(run_id=name, status=RunStatus.QUEUED) for name in ("next", "last")}}
    newer = moved_up(active, ("next", "last"), 1, ())
    assert {name: (one.place, one.seconds_left) for name, one in newer.items()} == {"next": (1, 10), "last": (2, 40)}
    assert newer["next"].version > active["next"].version
    assert moved_up({**active, **newer}, ("next", "last"), 1, ()) == {}
    assert moved_up({**active, **newer}, ("next", "last"), 1, (5.0, 15.0))["last"].seconds_left == 20

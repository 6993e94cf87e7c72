"""What stands before a run that waits: how many others, and for about how long."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from statistics import fmean

from explorer.runs.record import RunRecord, RunStatus

STEP_SECONDS = 5
"""To which a wait is rounded: a page that shows it is redrawn no more often."""


def moved_up(
    active: Mapping[str, RunRecord], order: Sequence[str], lanes: int, lasted: Sequence[float]
) -> dict[str, RunRecord]:
    """Newer records of the waiting runs whose place or wait has changed.

    order: the ids of those that wait, the next one first. lanes: how many train at the same time. lasted: seconds of runs that
    have ended, after which those that wait are guessed; without any, after those that train.
    """
    busy = [record for record in active.values() if record.status is RunStatus.RUNNING]
    totals = lasted or [one.seconds + one.seconds_left for one in busy if one.seconds_left is not None]
    usual = fmean(totals) if totals else None
    left = [usual if one.seconds_left is None else one.seconds_left for one in busy]
    newer, trains = {}, int(len(busy) >= lanes)
    for place, (run_id, seconds) in enumerate(zip(order, waits(left, len(order), lanes, usual), strict=True), trains):
        found = active[run_id]
        if (found.place, found.seconds_left) != (place, seconds):
            newer[run_id] = found.but(place=place, seconds_left=seconds)
    return newer


def waits(left: Sequence[float | None], waiting: int, lanes: int, usual: float | None) -> list[float | None]:
    """Seconds until each of so many waiting runs begins, rounded; None where nobody knows.

    left: seconds that those that train have left. usual: seconds of a run that waits.
    """
    free = [one for one in left if one is not None]
    if len(free) < len(left):
        return [None] * waiting
    free += [0.0] * (lanes - len(free))
    heapq.heapify(free)
    found: list[float | None] = []
    for _ in range(waiting):
        if not free:
            return found + [None] * (waiting - len(found))
        begins = heapq.heappop(free)
        found.append(STEP_SECONDS * round(begins / STEP_SECONDS))
        if usual is not None:
            heapq.heappush(free, begins + usual)
    return found

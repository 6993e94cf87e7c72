"""The order in which runs train, and how long a run that waits has to wait."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from explorer.errors import BadInputError
from explorer.runs.record import RunRecord, RunStatus

MOST_WAITING = 32
"""Runs that one visitor may have in the queue: comparing all methods takes nine, with three seeds 27, a sweep at most 24."""

MOST_TOGETHER = 64
"""Runs that all visitors who share a turn may have in the queue, such as a class whose scripts ask from one address."""

MOST_IN_ALL = 400


class Visitor(str):
    """A visitor's name. party: whoever takes turns with the other parties; all names that a client invents share one party."""

    party: str

    def __new__(cls, name: str, party: str) -> Visitor:
        """Make a name that belongs to a party."""
        made = super().__new__(cls, name)
        made.party = party
        return made

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        """Return what a copy is made from."""
        return str(self), self.party  # a pickled or copied str subclass would lose `party`


def party_of(owner: str) -> str:
    """Return the party that this owner belongs to; a plain name is a party of its own."""
    return owner.party if isinstance(owner, Visitor) else owner


@dataclass(frozen=True)
class _Waiting:
    """One run that waits. names: its party and its owner, as keys that nobody can confuse."""

    run_id: str
    names: tuple[str, str]


class FairQueue:
    """Run ids by owner. Parties take turns, and the owners within a party; whoever was served longest ago is next.

    A newcomer stands before those who have been served since the last run began, and behind all who waited already:
    however many names arrive, a run that waits is reached. Not safe for threads: the caller holds a lock.
    """

    def __init__(self) -> None:
        self._waiting: list[_Waiting] = []
        self._served: dict[str, float] = {}
        """The turn at which each party, and each owner within one, was served last; newcomers stand half a turn before now."""
        self._turn = 0

    def put(self, owner: str, run_id: str) -> None:
        """Append to an owner's runs. Raises BadInputError if too many wait of this owner, of the party, or in all."""
        one = _Waiting(run_id, (f"party {party_of(owner)}", f"owner {owner}"))
        ours, mine = (
            sum(other.names[place] == name for other in self._waiting) for place, name in enumerate(one.names)
        )
        if mine >= MOST_WAITING:
            raise BadInputError(
                f"You have {MOST_WAITING} runs waiting. Let some finish, or stop them, before starting more."
            )
        if ours >= MOST_TOGETHER:
            raise BadInputError(
                f"{MOST_TOGETHER} runs wait that scripts have started from your network. Let some finish, or start yours on the "
                "page, where every browser has a turn of its own."
            )
        if len(self._waiting) >= MOST_IN_ALL:
            raise BadInputError(f"{MOST_IN_ALL} runs wait on this server. Try again when some have finished.")
        present = {name for other in self._waiting for name in other.names}
        for name in one.names:
            if name not in present:
                # The half puts a newcomer behind all who wait and before those who were served with this turn.
                self._served[name] = max(self._served.get(name, 0.0), self._turn - 0.5)
        self._waiting.append(one)

    def order(self) -> list[str]:
        """Return every waiting run in the order in which it would start."""
        waiting, served, turn, order = list(self._waiting), dict(self._served), self._turn, []
        while waiting:
            one = min(waiting, key=lambda run: (served[run.names[0]], served[run.names[1]]))
            waiting.remove(one)
            turn += 1
            served.update(dict.fromkeys(one.names, turn))
            order.append(one.run_id)
        return order

    def take(self) -> str | None:
        """Remove and return the next run; None if nothing waits."""
        if not self._waiting:
            return None
        one = min(self._waiting, key=lambda run: (self._served[run.names[0]], self._served[run.names[1]]))
        self._waiting.remove(one)
        self._turn += 1
        self._served.update(dict.fromkeys(one.names, float(self._turn)))
        self._forget()
        return one.run_id

    def remove(self, run_id: str) -> bool:
        """Take a run out of the queue. Returns False if it does not wait."""
        before = len(self._waiting)
        self._waiting = [one for one in self._waiting if one.run_id != run_id]
        return len(self._waiting) < before

    def _forget(self) -> None:
        """Forget those who neither wait nor were served just now: they would stand as newcomers do."""
        waiting = {name for one in self._waiting for name in one.names}
        self._served = {name: at for name, at in self._served.items() if name in waiting or at >= self._turn}


# What stands before a run that waits: how many others, and for about how long.

STEP_SECONDS = 5
"""Seconds to which a wait is rounded: a page that shows it is redrawn no more often."""


def moved_up(
    active: Mapping[str, RunRecord], order: Sequence[str], lanes: int, lasted: Sequence[float]
) -> dict[str, RunRecord]:
    """Return newer records of the waiting runs whose place or wait has changed.

    order: the ids of the waiting runs, the next one first. lanes: how many train at the same time. lasted: seconds that
    the last runs took, by which waiting runs are estimated; if empty, those that train are used instead.
    """
    busy = [record for record in active.values() if record.status is RunStatus.RUNNING]
    totals = lasted or [one.seconds + one.seconds_left for one in busy if one.seconds_left is not None]
    usual = fmean(totals) if totals else None
    left = [usual if one.seconds_left is None else one.seconds_left for one in busy]
    newer, trains = {}, int(len(busy) >= lanes)
    for place, (run_id, seconds) in enumerate(zip(order, waits(left, len(order), lanes, usual), strict=True), trains):
        found = active[run_id]
        if (found.place, found.seconds_left) != (place, seconds):
            newer[run_id] = found.evolve(place=place, seconds_left=seconds)
    return newer


def waits(left: Sequence[float | None], waiting: int, lanes: int, usual: float | None) -> list[float | None]:
    """Return the seconds until each of `waiting` runs begins, rounded; None if that cannot be known.

    left: seconds that each training run has left. usual: seconds that a run takes.
    """
    free = [one for one in left if one is not None]
    if len(free) < len(left):
        return [None] * waiting
    free += [0.0] * (lanes - len(free))
    heapq.heapify(free)  # the lane that is free soonest takes the next run
    found: list[float | None] = []
    for _ in range(waiting):
        if not free:
            return found + [None] * (waiting - len(found))
        begins = heapq.heappop(free)
        found.append(STEP_SECONDS * round(begins / STEP_SECONDS))
        if usual is not None:
            heapq.heappush(free, begins + usual)
    return found

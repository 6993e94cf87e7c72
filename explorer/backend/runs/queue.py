"""Who trains next: one run of each visitor in turn, so that thirty runs of one do not keep the others waiting."""

from __future__ import annotations

from collections import OrderedDict, deque

from explorer.errors import BadInputError

MOST_WAITING = 16
"""Runs that one visitor may have in the queue: comparing all methods takes nine."""


class FairQueue:
    """Run ids by owner; whoever was served longest ago is served next. Not safe for threads: its user holds a lock."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, deque[str]] = OrderedDict()
        self._served: dict[str, int] = {}
        self._turn = 0

    def put(self, owner: str, run_id: str) -> None:
        """Append to an owner's runs. Raises BadInputError where they have too many waiting."""
        waiting = self._waiting.setdefault(owner, deque())
        if len(waiting) >= MOST_WAITING:
            raise BadInputError(
                f"You have {MOST_WAITING} runs waiting. Let some finish, or stop them, before starting more."
            )
        waiting.append(run_id)

    def order(self) -> list[str]:
        """Every waiting run in the order in which it would start."""
        waiting = {owner: list(runs) for owner, runs in self._waiting.items() if runs}
        served, turn, order = dict(self._served), self._turn, []
        while waiting:
            owner = min(waiting, key=lambda name: served.get(name, 0))
            order.append(waiting[owner].pop(0))
            turn += 1
            served[owner] = turn
            waiting = {name: runs for name, runs in waiting.items() if runs}
        return order

    def take(self) -> str | None:
        """Remove and return the run that is next; None where nothing waits."""
        owners = [owner for owner, runs in self._waiting.items() if runs]
        if not owners:
            return None
        owner = min(owners, key=lambda name: self._served.get(name, 0))
        self._turn += 1
        self._served[owner] = self._turn
        run_id = self._waiting[owner].popleft()
        if not self._waiting[owner]:
            del self._waiting[owner]
        return run_id

    def remove(self, run_id: str) -> bool:
        """Take a run out of the queue; False where it does not wait."""
        for waiting in self._waiting.values():
            if run_id in waiting:
                waiting.remove(run_id)
                return True
        return False

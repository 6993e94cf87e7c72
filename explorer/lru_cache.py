"""A cache of the values that were used last."""

from __future__ import annotations

import pickle
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any


def size_of(value: Any) -> int:
    """Return the bytes of a value as pickle writes it; 0 if pickle cannot. Tuples of numbers take three times as many
    in memory.
    """
    try:
        return len(pickle.dumps(value, pickle.HIGHEST_PROTOCOL))
    except Exception:  # whatever an object of a lab's own raises: it is kept by the number of answers alone
        return 0


@dataclass
class _Slot:
    lock: threading.Lock = field(default_factory=threading.Lock)
    made: bool = False
    value: Any = None
    size: int = 0


class LRUCache:
    """At most `most` values by key; those used least recently are dropped first. Each is made once, however many ask at
    the same time.
    """

    def __init__(self, most: int, most_bytes: int | None = None) -> None:
        """most_bytes: the largest size of all values together, by size_of; None sets no limit."""
        self._most, self._most_bytes = most, most_bytes
        self._slots: OrderedDict[Hashable, _Slot] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return the value of a key, made if it is not cached; an error of `make` is raised, and nothing is kept."""
        with self._lock:
            slot = self._slots.setdefault(key, _Slot())
            self._slots.move_to_end(key)
            self._trim()
        with slot.lock:  # a lock for each key: making one value holds up nobody who asks for another
            if not slot.made:
                slot.value = make()
                slot.size = 0 if self._most_bytes is None else size_of(slot.value)
                slot.made = True
                with self._lock:
                    self._trim()
        return slot.value

    def _trim(self) -> None:
        """Drop the oldest until both limits hold. The caller holds the lock."""
        while len(self._slots) > self._most or self._is_heavy():
            self._slots.popitem(last=False)

    def _is_heavy(self) -> bool:
        return self._most_bytes is not None and sum(slot.size for slot in self._slots.values()) > self._most_bytes

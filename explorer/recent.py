"""What was made last, kept for whoever asks next."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class _Slot:
    lock: threading.Lock = field(default_factory=threading.Lock)
    made: bool = False
    value: Any = None


class Recent:
    """At most `most` values by key; those used least recently go first. Each is made once, however many ask at the same time."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._slots: OrderedDict[Hashable, _Slot] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The value of a key, made where it is not here; what `make` raises is raised, and nothing is kept."""
        with self._lock:
            slot = self._slots.setdefault(key, _Slot())
            self._slots.move_to_end(key)
            while len(self._slots) > self._most:
                self._slots.popitem(last=False)
        with slot.lock:
            if not slot.made:
                slot.value, slot.made = make(), True
        return slot.value

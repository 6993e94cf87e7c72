"""How far a pruning has come, and those that wait to be taken home: remembered in the process that computes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from torch import Tensor

from explorer.compress.cuts import NOTHING, Cut
from explorer.errors import ExplorerError

MOST_KEPT, MOST_TRAINED = 1000, 3


@dataclass(frozen=True)
class Pruned:
    """What is gone, and the weights that are other ones than the model's: trained, or set to 0.

    gone: masks of the single weights that are 0, by parameter.
    """

    cut: Cut = NOTHING
    weights: dict[str, Tensor] = field(default_factory=dict)
    gone: dict[str, Tensor] = field(default_factory=dict)

    @property
    def untouched(self) -> bool:
        """Whether it is still the model itself."""
        return self.cut.empty and not self.weights


_KEPT: OrderedDict[str, Pruned] = OrderedDict()
_LOCK = threading.Lock()
_TRAINING = threading.BoundedSemaphore(MOST_TRAINED)


def find(key: str) -> Pruned | None:
    """Return what is kept under a key; None if nothing is."""
    with _LOCK:
        return _KEPT.get(key)


def keep(key: str, pruned: Pruned) -> None:
    """Remember a pruning; other weights take as much memory as the model, so only the last few of those."""
    with _LOCK:
        _KEPT[key] = pruned
        _KEPT.move_to_end(key)
        trained = [name for name, entry in _KEPT.items() if entry.weights]
        for name in trained[:-MOST_TRAINED]:
            del _KEPT[name]
        while len(_KEPT) > MOST_KEPT:
            _KEPT.popitem(last=False)


@contextmanager
def own_weights(needed: bool) -> Iterator[None]:
    """Hold room for weights of a pruning's own, while it goes on. Raises ExplorerError if too many others have theirs."""
    if needed and not _TRAINING.acquire(blocking=False):  # at once: a queue of prunings would hold workers
        raise ExplorerError("Too many prunings train at the same time. Start this one again when another is done.")
    try:
        yield
    finally:
        if needed:
            _TRAINING.release()

"""Prunings that go on over several jobs, or wait to be taken home: remembered in the process that computes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field

from torch import Tensor

from explorer.compress.cuts import Cut
from explorer.errors import ExplorerError

MOST_KEPT, MOST_TRAINED = 200, 3


@dataclass
class Kept:
    """What is gone, and the weights that are other ones than the model's: trained, or set to 0.

    gone: masks of the single weights that are 0, by parameter.
    """

    cut: Cut
    weights: dict[str, Tensor]
    gone: dict[str, Tensor] = field(default_factory=dict)


_KEPT: OrderedDict[str, Kept] = OrderedDict()
_LOCK = threading.Lock()


def find(key: str) -> Kept | None:
    """What is kept under a key."""
    with _LOCK:
        return _KEPT.get(key)


def keep(key: str, kept: Kept) -> None:
    """Remember it; other weights take as much memory as the model, so only the last few of those."""
    if not key:
        return
    with _LOCK:
        _KEPT[key] = kept
        _KEPT.move_to_end(key)
        trained = [name for name, entry in _KEPT.items() if entry.weights]
        for name in trained[:-MOST_TRAINED]:
            del _KEPT[name]
        while len(_KEPT) > MOST_KEPT:
            _KEPT.popitem(last=False)


def weights_of(key: str, rounds: int) -> Kept | None:
    """What was changed under a key; None where nothing has been, after no round. Raises ExplorerError where it is gone."""
    if not key or not rounds:
        return None
    kept = find(key)
    if kept is None:
        raise ExplorerError("Too many prunings train at the same time, and this one has lost its turn. Start it again.")
    return kept

"""What is remembered between jobs."""

from __future__ import annotations

import pytest
import torch

from explorer.compress.cuts import Cut
from explorer.errors import ExplorerError
from explorer.labs.pruning import kept
from explorer.labs.pruning.kept import Kept, find, keep, weights_of


def test_only_the_last_trained_weights_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "_KEPT", type(kept._KEPT)())
    keep("plain", Kept(Cut(), {}))
    for number in range(kept.MOST_TRAINED + 2):
        keep(f"trained {number}", Kept(Cut(), {"w": torch.ones(1)}))
    assert find("plain") is not None, "a cut takes no room"
    assert find("trained 0") is None
    assert find(f"trained {kept.MOST_TRAINED + 1}") is not None
    keep("", Kept(Cut(), {}))
    assert find("") is None


def test_weights_that_are_gone_are_not_taken_for_the_untrained_ones() -> None:
    assert weights_of("", 3) is None
    assert weights_of("never trained", 0) is None
    with pytest.raises(ExplorerError, match="Start it again"):
        weights_of("forgotten", 1)

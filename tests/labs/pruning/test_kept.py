"""What is remembered of prunings, and how many may train at once."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
import torch

from explorer.errors import ExplorerError
from explorer.labs.pruning import work
from explorer.labs.pruning.work import Pruned, find, keep, own_weights


def test_only_the_last_trained_weights_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "_KEPT", type(work._KEPT)())
    keep("plain", Pruned())
    for number in range(work.MOST_TRAINED + 2):
        keep(f"trained {number}", Pruned(weights={"w": torch.ones(1)}))
    assert find("plain") is not None, "a cut takes no room"
    assert find("trained 0") is None
    assert find(f"trained {work.MOST_TRAINED + 1}") is not None


def test_too_many_that_train_are_refused_until_one_has_ended() -> None:
    with ExitStack() as others:
        for _ in range(work.MOST_TRAINED):
            others.enter_context(own_weights(needed=True))
        with own_weights(needed=False):
            pass
        with pytest.raises(ExplorerError, match="again when another is done"), own_weights(needed=True):
            pass
    with own_weights(needed=True):
        pass

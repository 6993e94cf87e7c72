"""What counting words reaches, beside which the methods are drawn."""

from __future__ import annotations

from explorer.errors import ExplorerError
from explorer.labs.finetune.schema import BaselineParams
from explorer.settings import settings
from explorer.tasks.baseline import Baseline, baseline
from explorer.tasks.sources import load
from explorer.tuning.spec import MOST_HELD_OUT


def count_words(params: BaselineParams) -> Baseline | None:
    """Count words in the examples and held-out rows of a run with these settings.

    Return None for a task without classes, or one that is not here any more.
    """
    try:
        return baseline(load(params.task, settings()), params.examples, MOST_HELD_OUT)
    except ExplorerError:
        return None

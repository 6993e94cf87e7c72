"""Where parts cannot be taken out the page says why, and masks work."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from explorer.compress.cuts import Cut
from explorer.engine.resources import Resources
from explorer.labs.pruning.params import PruneParams
from explorer.labs.pruning.steps import left_of
from explorer.labs.pruning.work import Pruned, Work
from tests.compress.subjects import model_subject, run_subject, tiny
from tests.compress.test_removal import some


def test_why_it_is_masked(tmp_path: Path) -> None:
    for subject, reason in (
        (model_subject(tiny(tmp_path, "DeBERTa", talking_head=True)), "talking_head"),
        (run_subject(tiny(tmp_path, "BERT"), "houlsby"), "cannot be merged"),
    ):
        work = Work(subject, cast(Resources, cast(Any, None)), PruneParams())
        pruned = Pruned(Cut(heads=some(8, 1)))
        left = left_of(work, pruned)
        assert left.gap is None
        assert reason in left.why
        assert left.heads == (4, 4)
        measured = work.measure(pruned, timed=True)
        assert measured.metric is not None
        assert measured.milliseconds is not None

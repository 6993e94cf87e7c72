"""Where parts cannot be taken out the page says why, and masks work."""

from __future__ import annotations

from pathlib import Path

from explorer.compress.cuts import Cut
from explorer.labs.pruning import jobs
from explorer.labs.pruning.params import CutJob
from tests.compress.subjects import model_subject, run_subject, tiny
from tests.compress.test_removal import some


def test_why_it_is_masked(tmp_path: Path) -> None:
    for subject, reason in (
        (model_subject(tiny(tmp_path, "DeBERTa", talking_head=True)), "talking_head"),
        (run_subject(tiny(tmp_path, "BERT"), "houlsby"), "cannot be merged"),
    ):
        left = jobs._check(subject, CutJob(cut=Cut(heads=some(8, 1)), key="0" * 16))
        assert left.gap is None
        assert reason in left.why
        assert left.heads == (4, 4)
        measured = jobs._measure(subject, CutJob(cut=Cut(heads=some(8, 1)), timed=True))
        assert measured.metric is not None
        assert measured.milliseconds is not None

"""The files as GLUE distributes them, where they lie beside the repository; nothing else needs them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from explorer.settings import ROOT, Settings
from explorer.tasks.formats.glue import read_glue
from explorer.tasks.sources import keep_upload
from tests.rows import each_row

REAL = ROOT.parent / "shared" / "data" / "glue"
pytestmark = pytest.mark.skipif(not REAL.is_dir(), reason="GLUE's own files are not on this machine")

COUNTS = {
    "CoLA": ("cola", 8551, 1043),
    "SST-2": ("sst2", 20_000, 872),
    "MRPC": ("mrpc", 3668, 408),
    "STS-B": ("stsb", 5749, 1500),
    "RTE": ("rte", 2490, 277),
}


@each_row("folder", COUNTS)
def test_every_row_is_read(folder: str) -> None:
    slug, *counts = COUNTS[folder]
    files = [read_glue(REAL / folder / name) for name in ("train.tsv", "dev.tsv")]
    assert [file.task for file in files] == [slug, slug]
    assert [len(file.examples) for file in files] == counts
    assert [file.notes for file in files] == [(), ()]


def test_the_labels_are_what_the_papers_say() -> None:
    """MRPC: 67% paraphrases in training; CoLA: 70% acceptable; RTE: half entailed, which is class 0."""
    shares = {}
    for folder in ("MRPC", "CoLA", "RTE"):
        labels = Counter(example.label for example in read_glue(REAL / folder / "train.tsv").examples)
        shares[folder] = labels[1] / labels.total()
    assert shares == pytest.approx({"MRPC": 0.674, "CoLA": 0.704, "RTE": 0.498}, abs=0.001)


def test_quotes_stay_where_they_are() -> None:
    texts = [example.text for example in read_glue(REAL / "MRPC" / "train.tsv").examples]
    assert sum(text.count('"') % 2 for text in texts) > 100


def test_an_upload_of_both_files(tmp_path: Path) -> None:
    folder = REAL / "RTE"
    data = keep_upload(folder / "train.tsv", Settings(data_folder=tmp_path), validation_path=folder / "dev.tsv")
    assert data.task.slug == "rte"
    assert (len(data.train), len(data.validation["validation"])) == (2490, 277)

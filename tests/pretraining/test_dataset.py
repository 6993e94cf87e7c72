"""A data set in place of the usual text, read from a folder as the library would read it from the hub."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from explorer.errors import ExplorerError
from pretraining.corpus import from_dataset, read_documents

ROWS = [
    "The first document has a paragraph that is long enough to keep.\nIts second paragraph is long enough to keep as well.",
    "The second document is one paragraph.",
]


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    folder = tmp_path / "my-texts"
    folder.mkdir()
    (folder / "train.jsonl").write_text("".join(json.dumps({"body": row}) + "\n" for row in ROWS))
    return folder


def test_each_row_becomes_a_document_and_each_line_a_paragraph(dataset: Path, tmp_path: Path) -> None:
    target = from_dataset(str(dataset), None, "train", "body", tmp_path / "corpus")
    assert list(read_documents(target)) == [row.splitlines() for row in ROWS]


def test_a_wrong_column_is_named_with_the_option_that_mends_it(dataset: Path, tmp_path: Path) -> None:
    with pytest.raises(ExplorerError, match="--column"):
        from_dataset(str(dataset), None, "train", "text", tmp_path / "corpus")


def test_a_missing_data_set_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(ExplorerError, match="could not be read"):
        from_dataset(str(tmp_path / "nothing"), None, "train", "text", tmp_path / "corpus")

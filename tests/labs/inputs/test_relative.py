"""Relative positions as a page shows them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from explorer.errors import BadInputError
from explorer.labs.inputs import relative as figures
from explorer.labs.inputs.relative import RelativeParams, RelativeResult, relative_rows, require_relative
from explorer.models.loaded_model import load_model
from explorer.settings import Settings
from tests.models.tiny import save

USUAL: dict[str, Any] = {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "max_relative_positions": 4}
BUCKETS = {"position_buckets": 4, "max_relative_positions": 24}


def asked(folder: Path, length: int, family: str = "DeBERTa", **changes: Any) -> RelativeResult:
    return relative_rows(
        load_model(str(save(folder, family, **changes)), Settings(device="cpu")), RelativeParams(length)
    )


def test_the_table_has_each_distance(tmp_path: Path) -> None:
    rows = figures.relative_table(asked(tmp_path, 3, **USUAL)).rows
    assert rows == ((-2, 2), (-1, 3), (0, 4), (1, 5), (2, 6))


def test_the_sentence_says_what_shares_a_row(tmp_path: Path) -> None:
    near = asked(tmp_path / "near", 3, **USUAL)
    assert figures.relative_sentence(near).striptags() == (
        "Each of the 5 distances in such a text has a row of its own."
    )
    notes = figures.relative_notes(near).striptags()
    assert notes.startswith(
        f"A text of 3 tokens takes 5 of the 8 rows of {near.model}'s relative embeddings. None of its"
    )
    far = asked(tmp_path / "far", 20, **USUAL)
    assert figures.relative_sentence(far).striptags() == (
        "The 39 distances in such a text share 8 rows of the relative embeddings."
    )
    notes = figures.relative_notes(far).striptags()
    assert "takes 8 of the 8 rows" in notes
    assert "From −3 to 2 each distance has a row of its own. Whatever is further" in notes
    logarithm = asked(tmp_path / "log", 20, "DeBERTa-v2/v3", **{**USUAL, **BUCKETS})
    assert "it is their logarithm that counts" in figures.relative_notes(logarithm)


def test_a_small_table_leaves_no_row_to_a_distance_alone() -> None:
    two_rows = RelativeResult("tiny", 3, 1, False, (0, 1, 2), ((1, 0, 0), (1, 1, 0), (1, 1, 1)), (0, 0, 1, 1, 1))
    assert "share 2 rows" in figures.relative_sentence(two_rows).striptags()
    assert "of its own" not in figures.relative_notes(two_rows).striptags()
    lone_zero = replace(two_rows, span=2, by_distance=(0, 0, 1, 2, 2))
    assert "Distance 0 has a row of its own. " in figures.relative_notes(lone_zero).striptags()


def test_the_figure_has_the_cells_and_the_line(tmp_path: Path) -> None:
    result = asked(tmp_path, 5, **USUAL)
    data = figures.relative_figure(result)["data"]
    cells = next(trace for trace in data if trace["type"] == "heatmap")
    assert cells["z"][1] == [5, 4, 3, 2, 1]
    lines = [trace for trace in data if trace.get("mode", "").startswith("lines")]
    assert lines[0]["y"] == list(result.by_distance)


def test_other_models_say_which_to_take(tmp_path: Path) -> None:
    for folder, changes in (("bert", {}), ("without", {"relative_attention": False})):
        family = "BERT" if folder == "bert" else "DeBERTa"
        result = asked(tmp_path / folder, 5, family, **changes)
        assert figures.relative_figure(result) == {}
        assert figures.relative_table(result).rows == ()
        assert 'data-model="deberta-mini"' in figures.relative_sentence(result)
        assert figures.relative_notes(result) == ""
        with pytest.raises(BadInputError, match="no table of relative positions"):
            require_relative(result)


def test_a_text_that_is_too_long_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="reads at most 24 tokens"):
        asked(tmp_path, 25, **USUAL)

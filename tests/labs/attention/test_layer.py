"""One layer: its sentence says of heads and layers what the numbers say, and no more."""

from __future__ import annotations

from dataclasses import replace

import pytest

import explorer
from explorer.labs.attention.layer import LayerResult, layer_notes, layer_sentence, layer_table, layer_view
from explorer.models.layer_sizes import LayerSizes, Matrix

MATRICES = (
    *(Matrix(role, 768, 768) for role in ("query", "key", "value", "output")),
    Matrix("ffn_in", 3072, 768),
    Matrix("ffn_out", 768, 3072),
)
SIZES = LayerSizes(MATRICES, 12, "GELU", "LayerNorm", False, False, False, 12, 12)


def said(**changes: object) -> str:
    result = LayerResult("bert-base-uncased", replace(SIZES, **changes))  # type: ignore[arg-type]
    return f"{layer_sentence(result).striptags()} | {layer_notes(result).striptags()}"


def test_a_matrix_is_read_as_heads() -> None:
    assert said() == (
        "In bert-base-uncased the query's matrix is read as 12 heads of 64 rows each. | The query's matrix is 768 × 768. "
        "LoRA treats the matrix as one. 12 such layers stand on each other, each with numbers of its own."
    )


@pytest.mark.parametrize(
    ("changes", "says", "not_said"),
    [
        ({"heads": 1}, "makes the query of the one head that there is.", "heads of"),
        ({"heads": 5}, "serves 5 heads.", "heads of"),
        ({"distinct": 1}, "A text goes through this one layer 12 times.", "of its own."),
        ({"depth": 1, "distinct": 1}, "The model has this one layer.", "times"),
        ({"looks_back": True}, "A token's query meets its own key and earlier ones alone.", "times"),
    ],
)
def test_each_clause_is_said_where_it_holds(changes: dict[str, object], says: str, not_said: str) -> None:
    assert says in said(**changes)
    assert says not in said()
    assert not_said not in said(**changes).replace("each with numbers of its own.", "")


def test_where_three_are_one_matrix_lora_treats_them_as_one() -> None:
    fused = (Matrix("query+key+value", 2304, 768), *MATRICES[3:])
    assert "LoRA treats query, key and value, 2,304 × 768, as one." in said(matrices=fused)


def test_the_drawing_and_the_table_have_the_models_own_numbers() -> None:
    answer = explorer.run("one_layer", model="gpt2-mini")
    assert answer.table.rows[0] == ("query+key+value", 768, 256, 196_608)
    assert answer.table == layer_table(answer.result)
    drawn = layer_view(answer.result)
    assert "256 → 1,024" in drawn
    assert "LayerNorm before each block" in drawn
    gated = replace(SIZES, gated=True, activation="SiLU")
    assert ">SiLU, gated<" in layer_view(LayerResult("any", gated))

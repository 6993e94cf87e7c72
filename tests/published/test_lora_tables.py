"""LoRA's tables as pages show them: quoted as they stand in the paper, and explained."""

from __future__ import annotations

from explorer.published import lora, lora_tables
from tests.rows import each_row


def rows_of(table: str) -> list[list[str]]:
    """The cells of each row below the heads."""
    body = table.split("<tbody>")[1].split("</tbody>")[0]
    return [row.replace("</td>", "").split("<td>")[1:] for row in body.replace("</tr>", "").split("<tr>")[1:]]


def test_table_2_has_every_row_with_its_dagger() -> None:
    rows = rows_of(str(lora_tables.glue()))
    assert len(rows) == 14
    assert rows[0] == [
        "RoBERTa-base",
        "FT",
        "125.0M",
        *"87.6 94.8 90.2 63.6 92.8 91.9 78.7 91.2 86.4".split(),  # noqa: SIM905,
    ]
    assert rows[10] == [
        "RoBERTa-large",
        "AdptH†",
        "0.8M",
        *"90.3 96.3 87.7 66.3 94.7 91.5 72.9 91.5 86.4".split(),  # noqa: SIM905,
    ]
    assert rows[-1] == [
        "DeBERTa-XXL",
        "LoRA",
        "4.7M",
        *"91.9 96.9 92.6 72.4 96.0 92.9 94.9 93.0 91.3".split(),  # noqa: SIM905,
    ]
    assert [row[1] for row in rows if "†" in row[1]] == ["AdptP†", "AdptP†", "AdptH†", "AdptH†", "LoRA†"]
    assert [row[0] for row in rows_of(str(lora_tables.glue(lora.BASE)))] == [lora.BASE] * 5


@each_row(
    ("table", "cells"),
    [
        (lora_tables.latency(), ("1449.4", "1482.0 (+2.2%)", "25.8 (+30.3%)", "1 × 128, 11M")),
        (lora_tables.on_gpt3(), ("175,255.8M", "53.8/29.8/45.9", "20.2M", "63.1")),
        (lora_tables.matrices(), ("q, k, v, o", "2", "73.7", "91.7")),
        (lora_tables.ranks(), ("W_q, W_k, W_v, W_o", "74.1", "68.8", "91.4")),
        (lora_tables.amplified(), ("0.32", "21.67", "0.02", "6.91", "21.5", "1.90", "37.71", "0.33", "3.57", "1.88")),
    ],
)
def test_a_table_says_what_the_paper_says_and_names_it(table: str, cells: tuple[str, ...]) -> None:
    assert "Hu et al. 2021, Table" in table
    found = {cell for row in rows_of(str(table)) for cell in row}
    assert set(cells) <= found


def test_names_and_columns_are_spelled_out() -> None:
    said = str(lora_tables.names())
    for part in ("AdapterDrop", "Houlsby", "Pfeiffer", "†", "r (d + k)", "d (l_p + l_i)", "L d (l_p + l_i)"):
        assert part in said
    for part in ("matched and mismatched", "Matthews", "Pearson"):
        assert part in str(lora_tables.glue())
    assert "61.95" in str(lora_tables.amplified())

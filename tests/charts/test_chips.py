"""Chips: what the page's script reads of each."""

from __future__ import annotations

import re

from explorer.charts.chips import aligned, chip, chips
from explorer.settings import ROOT


def test_a_chip_has_all_that_the_page_reads() -> None:
    read = set(re.findall(r"\bchip\.(\w+)", (ROOT / "assets" / "chips.js").read_text()))
    assert read == chip("a", "a, position 1").keys() | {"span"}  # which only texts have whose words are hidden


def test_what_is_said_besides_stays() -> None:
    row = chips("Tokens", (chip(text, "", "mask", pressed=True, span=[0, 1]) for text in "ab"), model="bert")
    assert [(one["text"], one["style"], one["span"]) for one in row["chips"]] == [
        ("a", "mask", [0, 1]),
        ("b", "mask", [0, 1]),
    ]
    assert (row["label"], row["model"]) == ("Tokens", "bert")


def test_rows_of_one_text_have_all_that_the_page_reads() -> None:
    script = (ROOT / "assets" / "aligned.js").read_text()
    assert set(re.findall(r"\bchip\.(\w+)", script)) <= chip("a", "a, position 1").keys()
    row = {"who": "generator", "does": "sees", "chips": [chip("a", "")]}
    assert aligned("Two rows", [("generator", "sees", [chip("a", "")])]) == {"label": "Two rows", "rows": [row]}
    assert set(re.findall(r"\brow\.(\w+)", script)) == row.keys()

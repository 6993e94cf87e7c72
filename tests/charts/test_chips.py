"""Chips: what the page's script reads of each."""

from __future__ import annotations

import re

from explorer.charts.chips import chip, chips
from explorer.settings import ROOT


def test_a_chip_has_all_that_the_page_reads() -> None:
    read = set(re.findall(r"\bchip\.(\w+)", (ROOT / "assets" / "chips.js").read_text()))
    assert read == chip("a", "a, position 1").keys()


def test_what_is_said_besides_stays() -> None:
    row = chips("Tokens", (chip(text, "", "mask", pressed=True, span=[0, 1]) for text in "ab"), model="bert")
    assert [(one["text"], one["style"], one["span"]) for one in row["chips"]] == [
        ("a", "mask", [0, 1]),
        ("b", "mask", [0, 1]),
    ]
    assert (row["label"], row["model"]) == ("Tokens", "bert")

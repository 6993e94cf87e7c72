"""The glossary explains in one sentence each what pages say, and nothing that none says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from explorer.glossary import ENTRIES, Entry, as_json
from explorer.labs import LABS

ROOT = Path(__file__).resolve().parents[1]
ENTRIES_OF_CONTROLS = [ROOT / "explorer" / "maths" / name for name in ("importance.py", "schemes.py")]
"""What pages say of scores and of masking schemes stands beside their formulas."""
SOURCES = [*(ROOT / "explorer" / "labs").rglob("*.py"), *ENTRIES_OF_CONTROLS]
ON_PAGES = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.word)
def test_an_entry_is_one_sentence_about_a_word_of_the_pages(entry: Entry) -> None:
    assert re.fullmatch(r"[A-Z].{20,140}[.?]", entry.says), entry.says
    assert re.search(rf"\b{re.escape(entry.word)}" if entry.word.isascii() else entry.word, ON_PAGES, re.IGNORECASE)
    assert set(entry.pages) <= {lab.slug for lab in LABS}


def test_a_word_means_one_thing_on_a_page() -> None:
    for slug in (lab.slug for lab in LABS):
        words = [entry.word.lower() for entry in ENTRIES if not entry.pages or slug in entry.pages]
        assert len(words) == len(set(words))


@pytest.mark.parametrize(
    "word", ["nats", "logit", "rollout", "rank", "ρ", "Spearman-Brown", "BA", "φ", "Frobenius", "ξ", "log-odds"]
)
def test_the_words_that_readers_stumbled_over_are_explained(word: str) -> None:
    assert word in {entry.word for entry in ENTRIES}


def test_the_script_gets_every_entry_and_cannot_be_ended_by_one() -> None:
    assert [entry["word"] for entry in json.loads(as_json())] == [entry.word for entry in ENTRIES]
    assert "<" not in as_json()

"""Typos made by a seed, and the words of a text that have none."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from random import Random

LEAST_LETTERS = 4
"""A shorter word gets no typo."""

KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
"""The letters of an American keyboard, each row half a key to the right of the one above it."""

_LETTERS = re.compile(r"[^\W\d_]+")
_PART = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]+")


@dataclass(frozen=True)
class Part:
    """A word of a text, or the punctuation between two: its characters from start to stop."""

    text: str
    start: int
    stop: int


def parts_of(text: str) -> list[Part]:
    """Return words and punctuation in their order."""
    return [Part(found.group(), *found.span()) for found in _PART.finditer(text)]


def untouched(clean: Sequence[Part], typed: Sequence[Part]) -> list[tuple[int, int]]:
    """Return the words that stand in both texts, by their places in each; punctuation is left out."""
    one, other = ([part.text for part in parts] for parts in (clean, typed))
    # difflib's autojunk would skip a long text's frequent words.
    blocks = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    pairs = [(block.a + place, block.b + place) for block in blocks for place in range(block.size)]
    return [(left, right) for left, right in pairs if any(map(str.isalnum, one[left]))]


def misspelt(text: str, share: float, seed: int, kinds: Collection[str]) -> str:
    """Return the text with one typo in a share of its words of four or more letters; the first letter stays.

    With the same seed a larger share adds typos to those of a smaller one: each word has its place in one order, and
    its typo.
    """
    words = [found for found in _LETTERS.finditer(text) if _possible(found.group(), kinds)]
    order = [*range(len(words))]
    Random(seed).shuffle(order)
    for place in sorted(order[: int(share * len(words) + 0.5)], reverse=True):  # from the end, so that places stay
        start, stop = words[place].span()
        # A str as seed is the same in every process.
        draw, options = Random(f"{seed}, word {place}"), _possible(words[place].group(), kinds)
        # Sorted, as the order of kinds is the visitor's.
        text = text[:start] + draw.choice(options[draw.choice(sorted(options))]) + text[stop:]
    return text


def _possible(word: str, kinds: Collection[str]) -> dict[str, list[str]]:
    """Return by kind what may become of a word; kinds that can't be made are left out, and a short word has none."""
    if len(word) < LEAST_LETTERS:
        return {}
    return {kind: made for kind in kinds if (made := misspellings(word, kind))}


def misspellings(word: str, kind: str) -> list[str]:
    """Return every way to make one typo of a kind in a word, its first letter left as it is."""
    inside = range(1, len(word))
    if kind == "swap":
        # Two equal letters swapped are no typo.
        pairs = [place for place in inside[:-1] if word[place] != word[place + 1]]
        return [word[:place] + word[place + 1] + word[place] + word[place + 2 :] for place in pairs]
    if kind == "drop":
        return [word[:place] + word[place + 1 :] for place in inside]
    if kind == "double":
        return [word[: place + 1] + word[place:] for place in inside]
    return [word[:place] + key + word[place + 1 :] for place in inside for key in neighbours(word[place])]


def neighbours(letter: str) -> str:
    """Return the keys around a letter's, in its case; "" for a letter that the keyboard lacks."""
    row = next((row for row, keys in enumerate(KEYS) if letter.lower() in keys), None)
    if row is None:
        return ""
    at = KEYS[row].index(letter.lower())
    # Half a key to the right: a key touches two in the row above and two in the row below.
    around = ((row - 1, at), (row - 1, at + 1), (row, at - 1), (row, at + 1), (row + 1, at - 1), (row + 1, at))
    found = "".join(KEYS[r][c] for r, c in around if 0 <= r < len(KEYS) and 0 <= c < len(KEYS[r]))
    return found.upper() if letter.isupper() else found

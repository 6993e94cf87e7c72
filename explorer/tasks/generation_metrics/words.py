"""Splits texts into the words that each metric counts (mteval-13a's for BLEU and NIST, the Penn Treebank's for ROUGE-L and
CIDEr, METEOR's own), and words into n-grams, which are counted and matched against several references.

The E2E challenge's scorer (`measure_scores.py`) hands the raw texts to NIST's mteval-v13a, and to coco-caption, which
splits them by Stanford's Treebank tokeniser, in lower case, and drops punctuation; METEOR splits the remaining words
once more (`-norm`).
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import Any

Words = tuple[str, ...]

REMEMBERED = 20_000
"""Texts whose words are cached: references come back with every set of hypotheses."""

_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_DROPPED = frozenset({"''", "'", "``", "`", ".", "?", "!", ",", ":", "-", "--", "..", "...", ";"})
_BRACKETS = {"(": "-lrb-", ")": "-rrb-", "[": "-lsb-", "]": "-rsb-", "{": "-lcb-", "}": "-rcb-"}
_TITLES = "st mr mrs ms dr prof gen rev ltd inc co corp jr sr vs etc ave dept est approx"
_ABBREVIATIONS = frozenset(_TITLES.split())
_MERGED = {
    "cannot": ("can", "not"),
    "gonna": ("gon", "na"),
    "gotta": ("got", "ta"),
    "wanna": ("wan", "na"),
    "lemme": ("lem", "me"),
    "gimme": ("gim", "me"),
}
_ENDING = re.compile(r"(?<=\w)(n't|'s|'re|'ve|'ll|'d|'m)$")
_PIECE = re.compile(
    r"https?://\S+|www\.\S+|\S+@\w[\w.-]*"  # addresses are words
    r"|\.{2,}|-{2,}|``|''"
    r"|(?:[a-z]\.){2,}"  # a.m.
    r"|'(?:s|re|ve|ll|d|m)\b"  # the ending of a contraction, already apart
    r"|(?:(?<!\S)-)?\d(?:[\d.,:/]*\d)?(?:-?\w+)*"  # 20.50, 7:30, 5/5, 20-25, -25
    r"|[^\W_]\w*(?:[-/&'_][^\W_]\w*)*"  # family-friendly, and/or, o'connor, r&b
    r"|[#$%]|\S"
)


@lru_cache(REMEMBERED)
def mteval_words(text: str) -> Words:
    """Split a text as mteval-v13a does, with A to Z in lower case (no other letter is changed)."""
    return tuple(str(_mteval()(text.translate(_LOWER))).split())


@cache
def _mteval() -> Any:
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    return Tokenizer13a()  # type: ignore[no-untyped-call]


@lru_cache(REMEMBERED)
def treebank_words(text: str) -> Words:
    """Split a text as Stanford's tokeniser does, in lower case and without punctuation.

    Pounds become #, euros $, and a contraction two words (does n't); family-friendly stays one. It covers the common
    cases of English prose; the original has some thousand lines.
    """
    found: list[str] = []
    plain = text.lower().translate({0x2018: "'", 0x2019: "'", 0x201C: '"', 0x201D: '"', 0x2013: " -- ", 0x2014: " -- "})
    pieces = [match.group() for match in _PIECE.finditer(plain.replace("£", " # ").replace("€", " $ "))]
    for place, piece in enumerate(pieces):
        found += _treebank(piece, pieces[place + 1 : place + 2])
    return tuple(word for word in found if word not in _DROPPED and word != '"')


def _treebank(piece: str, after: list[str]) -> tuple[str, ...]:
    """Return the Treebank's words of one piece. after: the piece that follows, if any."""
    if piece in _MERGED:
        return _MERGED[piece]
    if piece in _BRACKETS:
        return (_BRACKETS[piece],)
    if after == ["."] and piece in _ABBREVIATIONS:
        return (f"{piece}.",)
    if ending := _ENDING.search(piece):
        return (*_treebank(piece[: ending.start()], []), ending.group())
    return (piece,)


def meteor_words(text: str) -> Words:
    """Split the Treebank's words once more: a hyphen separates two words, an apostrophe begins one, a sign stands alone."""
    plain = " ".join(treebank_words(text))
    for pattern, into in _CUTS:
        plain = pattern.sub(into, plain)
    # Brackets were written as words before the hyphens went.
    return tuple(plain.replace("- lrb -", "-lrb-").replace("- rrb -", "-rrb-").split())


_CUTS = tuple(
    (re.compile(pattern), into)
    for pattern, into in (
        (r"([^\w\s.'`,-]|_)", r" \1 "),
        (r"(?<!\d),|,(?!\d)", r" , "),
        (r"(?<=[^\W_])-(?=[^\W_])", r" "),
        (r"(?<=[^\W\d_])'(?=[^\W\d_])", r" <"),  # < stands for an apostrophe that has found its place
        (r"(?<=\d)'(?=s)", r" <"),
        (r"'", r" ' "),
        (r" <", r" '"),
        (r"\b((?:[a-z]\.){2,})", lambda match: match.group(1).replace(".", "")),
        (r"(?<=\w)\.$", r" ."),
    )
)


Ngram = tuple[str, ...]


def ngrams(words: Sequence[str], order: int) -> list[Ngram]:
    """Return every run of `order` words, from the left."""
    return list(zip(*(words[start:] for start in range(order)), strict=False))


def counted(words: Sequence[str], orders: int) -> Counter[Ngram]:
    """Count each run of 1 to `orders` words in a text."""
    return Counter(one for order in range(1, orders + 1) for one in ngrams(words, order))


def most_in_one(references: Iterable[Sequence[str]], orders: int) -> Counter[Ngram]:
    """Return each n-gram's count in the reference that has it most often: what a hypothesis can be credited with."""
    most: Counter[Ngram] = Counter()
    for words in references:
        most |= counted(words, orders)  # Counter's | keeps the larger count
    return most

"""Parameters and results of the jobs on tokenizers, and the page's worked examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator

from explorer.errors import BadInputError
from explorer.kinds import Flag, Names
from explorer.models.catalog import DEFAULT_MODEL, OWN_TOKENIZERS
from explorer.params import Shown, Text, params
from explorer.text import checked_text

TEXTS = (
    ("A long word and an emoji", "unbelievable tokenization 😀"),
    ("Emoji", "I ❤️ my family 👩‍👩‍👧 and my cat 🐈"),
    ("Chinese", "我爱北京的春天。"),
    ("A German compound", "Die Donaudampfschifffahrtsgesellschaft fährt nach Österreich."),
    ("Numbers and code", "for i in range(3): x += 3.14159 * 1024  # 12,345"),
    ("Accents", "The naïve café owner sang a cliché in São Paulo."),
    ("Mixed case", "McDONALD's eBay iPhone IPHONE iphone"),
)
"""A name, and a text that one of the methods finds hard."""

TRY = ("Emoji", "Chinese", "A German compound", "Numbers and code")

WORDS = ("tokenization", "unbelievable", "naïve", "😀", "1024", "Donaudampfschiff", "antidisestablishmentarianism")

PAIRS = (
    ("One sentence", "The bank raised the interest rate.", ""),
    ("Two sentences", "The bank raised the rate.", "Nobody liked it."),
    ("One word, three times", "the dog saw the cat and the bird", ""),
    ("The same sentence twice", "It rained.", "It rained."),
)
"""A name and one or two sentences for the sum of the embeddings."""


DEFAULT_TOKENIZERS = (DEFAULT_MODEL, *OWN_TOKENIZERS)
"""One of each method, all of them on this machine."""

MOST_TOKENIZERS = 4
LONGEST_TEXT = 5000
LONGEST_WORD = 60
LONGEST_NAME = 300


def _tokenizers(given: tuple[str, ...]) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(given))
    if not names:
        raise BadInputError(f"Choose at least one tokenizer, for example {DEFAULT_MODEL}.")
    if len(names) > MOST_TOKENIZERS:
        raise BadInputError(
            f"That is {len(names)} tokenizers, and {MOST_TOKENIZERS} fit beside each other: take some away."
        )
    if any(len(name) > LONGEST_NAME for name in names):
        raise BadInputError("A tokenizer's name is a model of the list, a hub id such as owner/name, or a folder.")
    return names


def _paragraph(text: str) -> str:
    if len(text) > LONGEST_TEXT:
        raise BadInputError(
            f"This text has {len(text):,} characters, and this page compares at most {LONGEST_TEXT:,}. "
            "Paste a paragraph of it."
        )
    return text


def _word(text: str) -> str:
    word = checked_text(text).strip()
    if len(word) > LONGEST_WORD:
        raise BadInputError(
            f"This has {len(word):,} characters, and the steps of at most {LONGEST_WORD} can be followed. "
            "Take one word of it."
        )
    return word


Tokenizers = Annotated[
    tuple[str, ...],
    Names(f"models takes up to {MOST_TOKENIZERS} names of tokenizers, such as {DEFAULT_MODEL}.", optional=False),
    AfterValidator(_tokenizers),
]
"""Up to four names of models, hub ids, folders, or byte-level-bpe and unigram."""


@params
class TokenizeParams:
    """One text, as several tokenizers cut it."""

    text: Annotated[Text, AfterValidator(_paragraph), Shown("Text", lines=(2, 6))]
    models: Tokenizers = DEFAULT_TOKENIZERS


@dataclass(frozen=True)
class Piece:
    """One token. text: as the vocabulary spells it. shown: as a visitor can read it (bytes that are no character in hex).

    word: which run of the text between spaces it belongs to; None for special tokens. joined: it goes on in that word.
    start, stop: the characters of the text that it stands for. utf8: their bytes, or its own where it is made of bytes.
    """

    position: int
    token_id: int
    text: str
    shown: str
    joined: bool
    word: int | None
    special: bool
    unknown: bool
    start: int
    stop: int
    utf8: tuple[int, ...]


@dataclass(frozen=True)
class TokenizedText:
    """One tokenizer's pieces. kind: its method. vocabulary: how many pieces it knows, special ones included."""

    name: str
    kind: str
    vocabulary: int
    pieces: tuple[Piece, ...]

    @property
    def own(self) -> tuple[Piece, ...]:
        """The pieces that stand for some of the text."""
        return tuple(piece for piece in self.pieces if not piece.special)

    @property
    def unknown(self) -> int:
        """How many pieces are the unknown token."""
        return sum(piece.unknown for piece in self.pieces)


@dataclass(frozen=True)
class TokenizeResult:
    """words: the runs between spaces, as (start, stop) characters. refused: names that could not be opened, and why.

    respaced: how many tabs, line breaks and other control characters of the visitor's text are a space in this one.
    """

    text: str
    words: tuple[tuple[int, int], ...]
    tokenized: tuple[TokenizedText, ...]
    refused: tuple[tuple[str, str], ...]
    respaced: int = 0


@params
class CutParams:
    """One word."""

    word: Annotated[
        Text,
        AfterValidator(_word),
        Shown(
            f"Word, up to {LONGEST_WORD} characters",
            "Cut by the tokenizers that are chosen under “Pieces”.",
            lines=(1, 1),
        ),
    ]
    models: Tokenizers = DEFAULT_TOKENIZERS
    after_space: Annotated[bool, Flag(), Shown("It stands after a space, as inside a text")] = True
    """Some methods see whether a space stands before the word."""


@dataclass(frozen=True)
class Step:
    """How the word stands after one step, in the vocabulary's spelling.

    new: which of the pieces this step made; None if it made none. tried: what was looked up in vain before it was found.
    rest: the characters that have not been looked at. rank: the merge's place in the list, from 1. score: the natural
    logarithm of the probability of the best cut so far.
    """

    pieces: tuple[str, ...]
    new: int | None = None
    tried: tuple[str, ...] = ()
    rest: str = ""
    rank: int | None = None
    score: float | None = None


@dataclass(frozen=True)
class Alternative:
    """One way to cut, with each piece's log probability; the best comes first."""

    pieces: tuple[str, ...]
    scores: tuple[float, ...]

    @property
    def total(self) -> float:
        """The log probability of the whole."""
        return sum(self.scores)


@dataclass(frozen=True)
class CutPart:
    """What the tokenizer splits off before it cuts. method: WordPiece, BPE, Unigram, or whole for what is not cut.

    lost: characters that became the unknown piece; None if none did.
    """

    text: str
    method: str
    steps: tuple[Step, ...]
    pieces: tuple[str, ...]
    alternatives: tuple[Alternative, ...] = ()
    lost: str | None = None


@dataclass(frozen=True)
class WordCut:
    """How one tokenizer cuts. agrees: whether the tokenizer itself, asked as a whole, gives the same ids.

    normalized: the text after Unicode normalisation, lower-casing and the like. byte_level: whether its alphabet is bytes.
    unknown: the unknown token, where this vocabulary has a use for one.
    """

    name: str
    kind: str
    byte_level: bool
    normalized: str
    parts: tuple[CutPart, ...]
    pieces: tuple[str, ...]
    ids: tuple[int, ...]
    unknown: str | None
    agrees: bool


@dataclass(frozen=True)
class CutResult:
    """refused: as TokenizeResult's."""

    word: str
    after_space: bool
    cuts: tuple[WordCut, ...]
    refused: tuple[tuple[str, str], ...]

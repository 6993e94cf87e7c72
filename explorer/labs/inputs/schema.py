"""What goes into the jobs on tokenizers and what comes out: plain data, no tokenizer."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.errors import BadInputError
from explorer.models.catalog import DEFAULT_MODEL, OWN_TOKENIZERS
from explorer.text import checked_text

DEFAULT_TOKENIZERS = (DEFAULT_MODEL, *OWN_TOKENIZERS)
"""One of each method, all of them on this machine."""

MOST_TOKENIZERS = 4
LONGEST_TEXT = 5000
LONGEST_WORD = 60
LONGEST_NAME = 300


def tokenizer_names(models: object) -> tuple[str, ...]:
    """The chosen tokenizers, each once, from a list or from a text with commas; raise BadInputError."""
    if isinstance(models, str):
        models = models.split(",")
    if not isinstance(models, (list, tuple)):
        raise BadInputError(f"models takes up to {MOST_TOKENIZERS} names of tokenizers, such as {DEFAULT_MODEL}.")
    names = tuple(dict.fromkeys(str(name).strip() for name in models if str(name).strip()))
    if not names:
        raise BadInputError(f"Choose at least one tokenizer, for example {DEFAULT_MODEL}.")
    if len(names) > MOST_TOKENIZERS:
        raise BadInputError(
            f"That is {len(names)} tokenizers, and {MOST_TOKENIZERS} fit beside each other: take some away."
        )
    if any(len(name) > LONGEST_NAME for name in names):
        raise BadInputError("A tokenizer's name is a model of the list, a hub id such as owner/name, or a folder.")
    return names


@dataclass(frozen=True)
class TokenizeParams:
    """One text; models: up to four names of models, hub ids, folders, or byte-level-bpe and unigram."""

    text: str
    models: tuple[str, ...] = DEFAULT_TOKENIZERS

    def __post_init__(self) -> None:
        """Bring both fields to a plain form, or raise BadInputError."""
        checked_text(self.text)
        if len(self.text) > LONGEST_TEXT:
            raise BadInputError(
                f"This text has {len(self.text):,} characters, and this page compares at most {LONGEST_TEXT:,}. "
                "Paste a paragraph of it."
            )
        object.__setattr__(self, "models", tokenizer_names(self.models))


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


@dataclass(frozen=True)
class CutParams:
    """One word. after_space: whether a space stands before it, as in the middle of a text, which some methods see."""

    word: str
    models: tuple[str, ...] = DEFAULT_TOKENIZERS
    after_space: bool = True

    def __post_init__(self) -> None:
        """Bring every field to a plain form, or raise BadInputError."""
        object.__setattr__(self, "word", checked_text(self.word).strip())
        if len(self.word) > LONGEST_WORD:
            raise BadInputError(
                f"This has {len(self.word):,} characters, and the steps of at most {LONGEST_WORD} can be followed. "
                "Take one word of it."
            )
        object.__setattr__(self, "models", tokenizer_names(self.models))
        object.__setattr__(self, "after_space", bool(self.after_space))


@dataclass(frozen=True)
class Step:
    """How the word stands after one step, in the vocabulary's spelling.

    new: which of the pieces this step made; None where it made none. tried: what was looked up in vain before it was found.
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

    lost: characters that became the unknown piece; None where none did.
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

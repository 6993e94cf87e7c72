"""Typos: parameters, results, worked examples, and the sentences over which the losses are averaged."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import Annotated, Any

from pydantic import AfterValidator

from explorer.errors import BadInputError
from explorer.kinds import Names, Number, Whole
from explorer.params import SecondText, Seed, Shown, Text, params, several
from explorer.text import MASK_SPELLINGS

TEXT = "The captain looked at the dark clouds over the harbour and decided to wait until the next morning."
SHARE, SEED = 0.5, 3
"""With which the tab opens."""

_TOWN = "The town was founded in 1846, when a railway was built through the valley to carry coal to the coast."


def _made(text: str = TEXT, share: float = SHARE, seed: int = SEED) -> dict[str, Any]:
    return {"text": text, "typed": "", "share": share, "seed": seed}


TRY: dict[str, dict[str, Any]] = {
    "One typo in all": _made(share=0.1),
    "Every long word": _made(share=1.0),
    "A town": _made(_TOWN),
    "By hand: a word that exists": {
        "text": "She put on her coat and went out into the rain without a hat.",
        "typed": "She put on her cost and went out into the ruin without a hat.",
    },
    "By hand: no spaces": {
        "text": "He opened the window and looked out at the sea.",
        "typed": "He openedthe window andlooked out at the sea.",
    },
}
"""One-click experiments: typos made by a seed, and some that were typed."""

SENTENCES = (
    TEXT,
    _TOWN,
    "She opened the letter from her brother and read it twice before she said anything to her mother.",
    "The band released its second album in the autumn and played concerts in several European countries.",
    "After the war he returned to his village, married a teacher and opened a small shop near the station.",
    "The river flows through the mountains to the south and reaches the sea close to the largest city.",
    "The film tells the story of a young woman who leaves her family to become a singer in Paris.",
    "Students of the university protested against the decision of the government to close the library.",
    "He scored two goals in the final match of the season and was named the best player of the team.",
    "The museum shows paintings by artists of the nineteenth century and a collection of old maps.",
    "The train to London leaves at seven in the morning and arrives shortly before noon.",
    "The church was built of red brick and has a high tower with four bells.",
)
"""Written for this page: in plain words, so that small models have something to say about them."""


COMPARED = ("bert-mini", "roberta-mini")
MOST_MODELS = 3
MOST_TOKENS = 64
"""Of a text: each of its untouched words is masked in turn."""

KINDS = {
    "swap": "two letters swapped",
    "drop": "a letter dropped",
    "double": "a letter doubled",
    "near": "a neighbouring key",
}
SIDES = ("clean", "typos")
SHARES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
"""Of the words of four or more letters, those with a typo."""


def _some_kinds(names: tuple[str, ...]) -> tuple[str, ...]:
    if not names or not set(names) <= set(KINDS):
        raise BadInputError(f"kinds takes one or more of {', '.join(KINDS)}.")
    return tuple(kind for kind in KINDS if kind in names)


def _no_blank(text: str) -> str:
    if MASK_SPELLINGS.search(text):
        raise BadInputError("The text has a blank, and here each word is masked in turn: write a word in its place.")
    return text


SAID = "Give {} as a list, or as a text with commas."
Models = Annotated[
    tuple[str, ...],
    Names(SAID.format("models")),
    several(MOST_MODELS, *COMPARED),
    Shown(f"Models (up to {MOST_MODELS})", several=MOST_MODELS),
]
Kinds = Annotated[
    tuple[str, ...],
    Names(SAID.format("kinds")),
    AfterValidator(_some_kinds),
    Shown("Kinds of typos", choices=tuple((said, kind) for kind, said in KINDS.items())),
]


@params
class TyposParams:
    """A text and the same text with typos: those in `typed` or, if that is empty, as many as `share` says, drawn by the
    seed.

    share: of the words of four or more letters.
    """

    models: Models = COMPARED
    text: Annotated[Text, AfterValidator(_no_blank), Shown("Text", lines=(1, 6))] = TEXT
    typed: Annotated[
        SecondText,
        AfterValidator(_no_blank),
        Shown("With typos", "Make your own: change it and press Enter.", lines=(1, 6)),
    ] = ""
    share: Annotated[float, Number(0, 1), Shown("Words of 4+ letters with a typo", slider=(0, 1, 0.05))] = SHARE
    seed: Annotated[Seed, Shown("Seed of the typos")] = 0
    kinds: Kinds = tuple(KINDS)


@params
class SharesParams:
    """The bundled sentences, with more and more typos."""

    models: Models = COMPARED
    seed: Annotated[Seed, Shown("Seed of the typos")] = 0
    kinds: Kinds = tuple(KINDS)
    sentences: Annotated[
        int, Whole(2, len(SENTENCES)), Shown("Sentences", "More of them take longer.", slider=(2, len(SENTENCES)))
    ] = len(SENTENCES)


@dataclass(frozen=True)
class TypoPiece:
    """One token of a text.

    text: as the vocabulary spells it; shown: as it looks in the text. touched: of a word that stands in this text alone.
    log_probability: ln p where it is masked with the pieces that follow in its word; None for what is not asked for. likeliest:
    what the model would write there.
    """

    position: int
    text: str
    shown: str
    joined: bool
    touched: bool
    log_probability: float | None = None
    likeliest: str = ""


@dataclass(frozen=True)
class AskedWord:
    """An untouched word. clean, typos: its -ln p in nats, summed over its pieces, in the one text and in the other; the guesses
    are what the model finds likeliest as its first piece."""

    word: str
    clean: float
    typos: float
    clean_guess: str
    typos_guess: str

    @property
    def added(self) -> float:
        """What the typos elsewhere cost at this word."""
        return self.typos - self.clean


@dataclass(frozen=True)
class ModelRead:
    """How one model reads both texts: their own pieces, and the untouched words."""

    model: str
    clean: tuple[TypoPiece, ...]
    typos: tuple[TypoPiece, ...]
    words: tuple[AskedWord, ...]

    def pieces(self, side: str) -> tuple[TypoPiece, ...]:
        """Return the pieces of one of SIDES."""
        return self.clean if side == "clean" else self.typos

    def loss(self, side: str) -> float:
        """Return the mean -ln p of an untouched word, in nats; there must be one."""
        return fmean(word.clean if side == "clean" else word.typos for word in self.words)

    @property
    def added(self) -> float:
        """What the typos cost on average."""
        return self.loss("typos") - self.loss("clean")


@dataclass(frozen=True)
class TyposResult:
    """changed: the stretches of words that differ, as they are in each text; total: the words of the text."""

    text: str
    typed: str
    total: int
    changed: tuple[tuple[str, str], ...]
    models: tuple[ModelRead, ...]


@dataclass(frozen=True)
class SharePoint:
    """One model's mean -ln p of a word at one share, in nats, over the same words at every share.

    added: against no typos. error: the standard error of that, from the differences between the sentences.
    """

    model: str
    share: float
    loss: float
    added: float
    error: float


@dataclass(frozen=True)
class SharesResult:
    """The points so far, share by share. sentences, words: how many are asked for."""

    models: tuple[str, ...]
    sentences: int
    words: int
    points: tuple[SharePoint, ...]

    def of(self, model: str) -> list[SharePoint]:
        """Return the points of one model."""
        return [point for point in self.points if point.model == model]

    @property
    def done(self) -> float:
        """Which share of the points is measured."""
        return len(self.points) / (len(SHARES) * len(self.models))

    @property
    def is_done(self) -> bool:
        """Whether all points are measured."""
        return self.done == 1

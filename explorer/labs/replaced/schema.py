"""Parameters, results and worked examples of the jobs on replaced tokens: one draw, words replaced by hand, many draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from explorer.kinds import Name, Number, Sentence, Whole
from explorer.models.catalog import DEFAULT_MODEL, bundled_with
from explorer.models.families import Capability
from explorer.params import Seed, Shown, Text, params

TEXT = "The chef cooked the meal and the guests ate it in the garden."
TEMPERATURE, SEED = 0.7, 16
"""The first draw: the generator is nearly right with one word, which is missed, and wrong with another, which is caught."""

LIGHTHOUSE = (
    "The old lighthouse was built in 1871, and its keepers lit the lamp every evening. "
    "When the storm came, the light went out."
)

FILM = "The film is too long, the music is too loud, and nobody in the story does anything that I can believe."
BRIDGE = (
    "In 1912 the town built a new bridge across the river, which was opened by the mayor in front of a large crowd."
)


def _asked(text: str = LIGHTHOUSE, temperature: float = 1.0, rate: float = 0.15) -> dict[str, Any]:
    return {"text": text, "temperature": temperature, "rate": rate}


TRY = {
    "The likeliest tokens": _asked(temperature=0.0),
    "A hot generator": _asked(temperature=2.0),
    "Mask half of it": _asked(rate=0.5),
    "A film": _asked(FILM),
    "A bridge": _asked(BRIDGE),
}
"""One-click experiments."""

TEXTS = {"The chef": (TEXT,), "The lighthouse": (LIGHTHOUSE,), "A film": (FILM,), "A bridge": (BRIDGE,)}

_ALBUM, _KEYS = "The band released its first album in 1994.", "The keys to the cabinet are on the table."
BY_HAND = {
    "The wrong thing": (_ALBUM, "The band released its first soup in 1994."),
    "The paper's example": ("The chef cooked the meal.", "The chef ate the meal."),
    "A false date": (_ALBUM, "The band released its first album in 1694."),
    "The wrong kind of word": ("The dog barked at the postman.", "The dog barked at the although."),
    "Bad grammar": (_KEYS, "The keys to the cabinet am on the table."),
    "Subtler grammar": (_KEYS, "The keys to the cabinet is on the table."),
}
"""A text, and how it is shown; the first opens the tab."""


DISCRIMINATOR = next(iter(bundled_with(Capability.RTD)), DEFAULT_MODEL)
"""Which one answers where the chosen model is none."""

THRESHOLD = 0.5
"""From this probability on a token is taken for replaced."""

MOST_DRAWS = 50

VERDICTS = ("hit", "miss", "alarm", "right")
"""What a token and the discriminator's answer make: replaced and found, replaced and missed, original and taken for replaced,
original and left in peace."""

Rate = Annotated[
    float,
    Number(0, 1, said="{name} must lie between 0 and 1 (0% and 100%)."),
    Shown("Masked (ELECTRA: 0.15)", slider=(0, 1, 0.05)),
]
Temperature = Annotated[
    float,
    Number(0, 10),
    Shown("Temperature of the generator", "0 takes its likeliest token; ELECTRA samples at 1.", slider=(0, 3, 0.05)),
]


@params
class ReplacedParams:
    """A text of which some tokens are masked and filled by the generator."""

    model: Annotated[str, Name(missing=f"Choose a discriminator, such as {DISCRIMINATOR}.")]
    """The discriminator; its generator is called alike."""

    text: Annotated[Text, Shown("Text", lines=(3, 6))]
    temperature: Temperature = 1.0
    seed: Annotated[Seed, Shown("Seed of the draw")] = 0
    rate: Rate = 0.15


@params
class DrawsParams(ReplacedParams):
    """The same with so many seeds, from `seed` on."""

    draws: Annotated[int, Whole(1, MOST_DRAWS), Shown("Draws", slider=(1, MOST_DRAWS))] = 20


@params
class HandParams:
    """A text, and the same text with some of its words replaced."""

    text: Annotated[
        str, Sentence("The text is empty. Type one, or try one of those below."), Shown("Text", lines=(2, 5))
    ]
    shown: Annotated[
        str,
        Sentence("There is nothing to show to the discriminator: type the text again, with a word replaced."),
        Shown("As the discriminator sees it", "Replace a word, or several, and press Enter.", lines=(1, 5)),
    ]


@dataclass(frozen=True)
class JudgedToken:
    """One token as the discriminator sees it.

    original, shown: as the vocabulary spells them; original is empty where nothing stood there. was, text: the same as they
    stand in the text. probability: of being replaced. loss: its binary cross-entropy, in nats.
    chosen: it was masked. surprisal: the generator's -ln p of the original there, its term of the MLM loss, in nats; drawn:
    the generator's probability of the token that it wrote; both None where nothing was masked. before: what probability the
    original token has in the original text, where a visitor replaced it.
    """

    position: int
    original: str
    shown: str
    was: str
    text: str
    joined: bool
    is_replaced: bool
    probability: float
    loss: float
    chosen: bool = False
    surprisal: float | None = None
    drawn: float | None = None
    before: float | None = None

    @property
    def verdict(self) -> str:
        """One of VERDICTS."""
        found = self.probability >= THRESHOLD
        return ("hit" if found else "miss") if self.is_replaced else "alarm" if found else "right"

    @property
    def guessed(self) -> bool:
        """Whether the generator wrote what had stood there, so that it counts as original."""
        return self.chosen and not self.is_replaced


@dataclass(frozen=True)
class ReplacedResult:
    """A text's own tokens, without the special ones. generator: empty where a visitor replaced the words; left_out: how many
    of the original tokens have no place in what is shown."""

    model: str
    generator: str
    tokens: tuple[JudgedToken, ...]
    left_out: int = 0

    def of(self, verdict: str) -> list[JudgedToken]:
        """Return the tokens of one of VERDICTS."""
        return [token for token in self.tokens if token.verdict == verdict]

    @property
    def chosen(self) -> list[JudgedToken]:
        """The tokens that were masked."""
        return [token for token in self.tokens if token.chosen]

    @property
    def loss(self) -> float:
        """The discriminator's loss: the mean binary cross-entropy over all tokens, in nats."""
        return sum(token.loss for token in self.tokens) / len(self.tokens)

    @property
    def masked_loss(self) -> float | None:
        """The generator's loss: the mean -ln p over the masked tokens, in nats; None if nothing was masked."""
        terms = [token.surprisal for token in self.tokens if token.surprisal is not None]
        return sum(terms) / len(terms) if terms else None


@dataclass(frozen=True)
class DrawsResult:
    """Several draws of one text, counted together.

    draws: so far, of `of`. tokens, chosen, replaced: counted over these. auc: over all their tokens, and aucs that of each
    draw; None where nothing was replaced, or all. thresholds fall; hits and false_alarms are the shares of replaced and of
    original tokens whose probability is as large or larger, and at_half the two at THRESHOLD. loss, masked_loss: the means, in
    nats, of the discriminator and of the generator.
    """

    model: str
    generator: str
    draws: int
    of: int
    tokens: int
    chosen: int
    replaced: int
    auc: float | None
    aucs: tuple[float | None, ...]
    thresholds: tuple[float, ...]
    hits: tuple[float, ...]
    false_alarms: tuple[float, ...]
    at_half: tuple[float, float]
    loss: float
    masked_loss: float | None

"""Accuracy and loss against the masking rate: parameters, results, and what is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from explorer.kinds import Names, Sentence
from explorer.params import Seed, Shown, params, several
from explorer.settings import settings
from explorer.tasks.formats.text import TEXT
from explorer.tasks.sources import load
from explorer.text import checked_text

SENTENCES = 96
IN_A_ROW = 8
"""Sentences in a row of about 100 tokens: in a single one of ten tokens 5% would be as much as 10%."""

STORM = (
    "When the storm came, the keeper climbed the stairs and lit the lamp. All night the wind shook the windows of the "
    "lighthouse, and the waves broke over the rocks. In the morning the sea was calm again, and two ships that had been lost "
    "in the dark were lying safely in the harbour."
)
NAMES = (
    "Marie Curie was born in Warsaw in 1867. She moved to Paris, studied physics and mathematics at the university, and "
    "married Pierre Curie in 1895. In 1903 they received the Nobel Prize in Physics together with Henri Becquerel."
)
AGAIN = " ".join(5 * ["The old bridge across the river was closed for repairs."])
TRY = {
    "A story": {"text": STORM},
    "Names and dates": {"text": NAMES},
    "The same, five times": {"text": AGAIN},
    "The bundled sentences": {"text": ""},
}
"""One-click experiments."""


def texts_of(text: str) -> tuple[str, ...]:
    """Return what is read: the visitor's text, or rows of bundled sentences if there is none."""
    if text:
        return (checked_text(text),)
    held_out = load(TEXT.slug, settings()).validation["validation"][:SENTENCES]
    return tuple(
        " ".join(example.text for example in held_out[start : start + IN_A_ROW])
        for start in range(0, SENTENCES, IN_A_ROW)
    )


RATES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8)
BERTS = 0.15
"""Devlin et al. 2019, section 3.1."""

MOST_MODELS = 4
COMPARED = ("bert-small", "bert-mini")


@params
class RatesParams:
    """Which models read which text. seed: of the choice of tokens; those of a low rate are among those of every higher one."""

    models: Annotated[
        tuple[str, ...],
        Names("models takes names as a list, or as a text with commas."),
        several(MOST_MODELS, *COMPARED),
        Shown(f"Models that fill masks, up to {MOST_MODELS}", several=MOST_MODELS),
    ] = COMPARED
    text: Annotated[
        str,
        Sentence(optional=True),
        Shown(
            "Text",
            f"Leave it empty to take {SENTENCES} bundled sentences, {IN_A_ROW} in a row of about 100 tokens.",
            lines=(3, 8),
        ),
    ] = ""
    seed: Seed = 0


@dataclass(frozen=True)
class Measured:
    """One model at one rate, over all its draws.

    tokens: how many could be chosen. chosen: how many were; each is shown as [MASK]. accuracy: the share of these at which the
    true token is the likeliest. loss: the mean of -ln p of the true token, in nats. off: the standard error of that mean.
    """

    model: str
    rate: float
    chosen: int
    accuracy: float
    loss: float
    tokens: int
    off: float

    @property
    def accuracy_off(self) -> float:
        """The standard error of the accuracy."""
        return float((self.accuracy * (1 - self.accuracy) / self.chosen) ** 0.5)

    @property
    def cost(self) -> float:
        """Tokens that are read for each one that is predicted."""
        return self.tokens / self.chosen

    @property
    def right(self) -> float:
        """Tokens that are named rightly, of every 100 that are read: accuracy times predictions."""
        return 100 * self.accuracy / self.cost

    @property
    def right_off(self) -> float:
        """The standard error of `right`."""
        return 100 * self.accuracy_off / self.cost


@dataclass(frozen=True)
class RatesResult:
    """The rates that are measured so far. own: it is the visitor's text."""

    models: tuple[str, ...]
    own: bool
    measured: tuple[Measured, ...]

    def of(self, model: str) -> tuple[Measured, ...]:
        """Return one model's rates, from the lowest up."""
        return tuple(one for one in self.measured if one.model == model)

    @property
    def is_done(self) -> bool:
        """Whether every model was asked at every rate."""
        return len(self.measured) == len(self.models) * len(RATES)

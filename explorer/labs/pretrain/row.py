"""One row of pretraining: parameters, result, and what the tab opens with and offers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from explorer.kinds import Name, Number, OneOf, Sentence
from explorer.maths.schemes import SCHEMES
from explorer.models.catalog import DEFAULT_MODEL
from explorer.params import Seed, Shown, params

LIGHTHOUSE = (
    "The old lighthouse was built in 1871 on a rock off the coast. "
    "Its keepers lit the lamp every evening to guide the ships. "
    "In winter the sea was so rough that no boat could reach them for weeks. "
    "Today the lamp is switched on by a computer in the harbour."
)
BREAD = (
    "Bread is made of flour, water, salt and yeast. "
    "The dough has to rest for an hour before it is baked. "
    "A hot oven gives the loaf a dark crust."
)
SHIPS = (
    "The harbour was rebuilt after the great storm of 1953. "
    "Large ships are guided by pilots who know every rock. "
    "At night they steer by the lights on the coast."
)
SEED = 34
"""The page's first draw: B comes from elsewhere, which is the case to learn from, and all three fates occur."""


def _asked(**changes: Any) -> dict[str, Any]:
    usual = {"document_a": LIGHTHOUSE, "document_b": BREAD, "next": "drawn", "rate": 0.15, "scheme": "token"}
    return {**usual, **changes}


TRY = {
    "B really next": _asked(next="next"),
    "Elsewhere, but on the same topic": _asked(document_b=SHIPS, next="elsewhere"),
    "Hide half of it": _asked(next="next", rate=0.5),
}
"""One-click experiments."""


ROOM = 128
"""Tokens of a row, special tokens included: what BERT read in 90% of its steps (Devlin et al. 2019, A.2)."""

CLASSES = ("is next", "not next")
"""BertForPreTraining's classes of next_sentence_label, in the order of its scores."""

FORCED = {"drawn": None, "next": True, "elsewhere": False}
"""What `next` says of whether B follows A; None leaves it to the coin."""


@params
class RowParams:
    """Two documents, how B is chosen, and how tokens are hidden."""

    model: Annotated[str, Name(missing=f"Choose a BERT, such as {DEFAULT_MODEL}.")] = DEFAULT_MODEL
    document_a: Annotated[
        str, Sentence("Document 1 is empty. Type at least two sentences."), Shown("Document 1", lines=(4, 8))
    ] = LIGHTHOUSE
    """A is taken from it, so it has two sentences or more."""

    document_b: Annotated[
        str, Sentence("Document 2 is empty. Type at least one sentence."), Shown("Document 2", lines=(3, 8))
    ] = BREAD
    """What B is taken from where it doesn't follow A."""

    next: Annotated[
        str, OneOf(tuple(FORCED), ("a coin decides", "really next", "from elsewhere")), Shown("Segment B")
    ] = "drawn"
    seed: Annotated[Seed, Shown("Seed of the draw")] = 0
    rate: Annotated[
        float,
        Number(0, 1, said="{name} must lie between 0 and 1 (0% and 100%)."),
        Shown("Chosen (BERT: 0.15)", slider=(0, 1, 0.01)),
    ] = 0.15
    """The chosen become [MASK] (80%), a random token (10%), or stay (10%)."""

    scheme: Annotated[
        str, OneOf(tuple(SCHEMES), tuple(scheme.title for scheme in SCHEMES.values())), Shown("Scheme")
    ] = "token"


@dataclass(frozen=True)
class RowToken:
    """One position. token, shown: what stood there and what the model sees, as the vocabulary spells them.

    fate: what became of it (explorer.maths.corruption.FATES). probability, loss: of the true token, and -ln of it in nats; None
    where nothing is asked. guess: the model's likeliest token there, empty likewise.
    """

    position: int
    token: str
    segment: int
    shown: str
    fate: str
    special: bool
    probability: float | None = None
    loss: float | None = None
    guess: str = ""


@dataclass(frozen=True)
class Segment:
    """Where A or B is taken from: a document (0 or 1), and its sentences from `first` up to, not with, `stop`."""

    document: int
    first: int
    stop: int

    def has(self, document: int, sentence: int) -> bool:
        """Return whether a sentence is of this segment."""
        return document == self.document and self.first <= sentence < self.stop


@dataclass(frozen=True)
class RowResult:
    """One row with its two losses, in nats.

    documents: their sentences. a, b: where the segments come from. follows: whether B follows A; tossed: whether the coin said
    so. room: the most tokens of the row; cut: how many did not fit. mlm_loss: the mean over the chosen tokens, None without
    any. pair: the probabilities of CLASSES.
    """

    model: str
    documents: tuple[tuple[str, ...], tuple[str, ...]]
    a: Segment
    b: Segment
    follows: bool
    tossed: bool
    room: int
    cut: int
    tokens: tuple[RowToken, ...]
    mlm_loss: float | None
    pair: tuple[float, float]
    nsp_loss: float

    @property
    def chosen(self) -> tuple[RowToken, ...]:
        """The tokens that the model is asked for."""
        return tuple(token for token in self.tokens if token.loss is not None)

    @property
    def total(self) -> float:
        """L_MLM + L_NSP."""
        return (self.mlm_loss or 0.0) + self.nsp_loss

    @property
    def truth(self) -> str:
        """The pair's class, one of CLASSES."""
        return CLASSES[0] if self.follows else CLASSES[1]

    @property
    def same(self) -> bool:
        """Whether both documents are one text."""
        return self.documents[0] == self.documents[1]

"""Parameters and result of one row of pretraining."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from explorer.kinds import Name, Number, OneOf, Sentence
from explorer.labs.pretrain.row.examples import BREAD, LIGHTHOUSE
from explorer.maths.schemes import SCHEMES
from explorer.models.catalog import DEFAULT_MODEL
from explorer.params import Seed, Shown, params

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
        str,
        Sentence("Document 1 is empty. Type at least two sentences."),
        Shown("Document 1", lines=(4, 8)),
    ] = LIGHTHOUSE
    """A is taken from it, so it has two sentences or more."""

    document_b: Annotated[
        str,
        Sentence("Document 2 is empty. Type at least one sentence."),
        Shown("Document 2", lines=(3, 8)),
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
        str,
        OneOf(tuple(SCHEMES), tuple(scheme.title for scheme in SCHEMES.values())),
        Shown("Scheme"),
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

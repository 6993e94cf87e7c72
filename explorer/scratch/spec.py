"""The settings of a pretraining run in plain values, the objectives and row formats among them, and what is kept of what the
model says at a checkpoint. Nothing here imports torch, so that a page can list them.

Sources: BERT (Devlin et al. 2019), RoBERTa's four input formats (Liu et al. 2019, section 4.2), ALBERT (Lan et al.
2020), ELECTRA (Clark et al. 2020), GPT (Radford et al. 2018).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Self

from pydantic import model_validator

from explorer.errors import BadInputError
from explorer.kinds import Flag, Name, Number, OneOf, Sentence, Whole
from explorer.maths.schemes import SCHEMES
from explorer.params import Shown, params
from explorer.tuning.spec import RunSpec


@dataclass(frozen=True)
class Objective:
    """One pretraining task. losses: the terms that are added, by the names that figures and tables give them."""

    slug: str
    title: str
    formula: str
    losses: tuple[str, ...]
    pairs: str = ""
    """The kind of pairs that it judges: next or order; empty for none."""
    masks: bool = True
    """Whether tokens are hidden."""
    causal: bool = False
    """Whether a token sees only itself and those before it."""

    @property
    def predicts_next(self) -> bool:
        """Whether each state has to predict the token after it."""
        return "next_loss" in self.losses


_ENTRIES = (
    Objective("mlm", "MLM", r"L = L_{\text{MLM}}", ("masked_loss",)),
    Objective("mlm_nsp", "MLM + NSP", r"L = L_{\text{MLM}} + L_{\text{NSP}}", ("masked_loss", "pair_loss"), "next"),
    Objective("mlm_sop", "MLM + SOP", r"L = L_{\text{MLM}} + L_{\text{SOP}}", ("masked_loss", "pair_loss"), "order"),
    Objective(
        "rtd",
        "Replaced tokens",
        r"L = L_{\text{MLM}}(\text{generator}) + 50\, L_{\text{Disc}}",
        ("masked_loss", "replaced_loss"),
    ),
    Objective(
        "causal", "Next token", r"L = -\tfrac1n \sum_t \ln p(x_t \mid x_{<t})", ("next_loss",), masks=False, causal=True
    ),
    Objective(
        "no_causal_mask",
        "Next token, no causal mask",
        r"L = -\tfrac1n \sum_t \ln p(x_t \mid x_1 \dots x_n)",
        ("next_loss",),
        masks=False,
    ),
)

OBJECTIVES = {objective.slug: objective for objective in _ENTRIES}


@dataclass(frozen=True)
class Format:
    """One way to fill a row. paired: whether there is a B."""

    slug: str
    title: str
    explanation: str
    paired: bool = False


_FORMATS = (
    Format("segment_pair", "segment pair", "two segments that fill the row together, as BERT's", paired=True),
    Format("sentence_pair", "sentence pair", "two single sentences, much shorter than the row", paired=True),
    Format("full_sentences", "full sentences", "whole sentences up to the row's length, on into the next document"),
    Format("doc_sentences", "doc sentences", "the same, but a row ends where its document does"),
)

FORMATS = {one.slug: one for one in _FORMATS}

LOSS_TITLES = {
    "masked_loss": "MLM loss",
    "pair_loss": "pair loss",
    "replaced_loss": "loss of RTD",
    "next_loss": "loss",
}
"""The name of each term in a figure."""

TRAINING = "training_"
"""Prefix of a loss's name: its mean over the training steps since the last measurement."""


NOTHING = "nothing"
"""Stands in place of a model's id: all weights are random numbers at first."""

METHOD = "scratch"
STORIES = "stories"
"""The bundled text's name."""

PROBES = "He asked [MASK] mother.\nIt is as big [MASK] a house.\nThe boy went [MASK] the house."
"""The sentences that a model is asked about at each checkpoint, one a line."""
MOST_PROBES = 6

BASE_LENGTH_SHARE, SHORT_SHARE = 0.25, 0.9
"""The short-then-long schedule: 90% of the steps at a quarter of the length, as BERT's at 128 of 512 (Devlin et al.
2019, A.2).
"""

Steps = Annotated[int, Whole(1, 100_000), Shown("Steps", slider=(100, 10_000, 100))]
ObjectiveName = Annotated[
    str,
    OneOf(tuple(OBJECTIVES), tuple(one.title for one in OBJECTIVES.values())),
    Shown("Objective", dropdown=True),
]
FormatName = Annotated[
    str, OneOf(tuple(FORMATS), tuple(one.title for one in FORMATS.values())), Shown("Input format", dropdown=True)
]
Masking = Annotated[
    str,
    OneOf(("dynamic", "static"), ("dynamic (RoBERTa)", "static (BERT)")),
    Shown("Masking", "Dynamic draws new masks at every step; static drew them once, before training."),
]
Copies = Annotated[
    int,
    Whole(1, 100),
    Shown("Static: masks a row", "BERT kept ten differently masked copies of its text.", slider=(1, 10)),
]
SchemeName = Annotated[
    str, OneOf(tuple(SCHEMES), tuple(one.title for one in SCHEMES.values())), Shown("What is hidden", dropdown=True)
]
Rate = Annotated[float, Number(0.01, 0.9), Shown("Masking rate", slider=(0.05, 0.8, 0.05))]
MaskShare = Annotated[
    float, Number(0, 1), Shown("Of these shown as [MASK]", "BERT: 0.8. ELECTRA's are all masks.", slider=(0, 1, 0.05))
]
RandomShare = Annotated[
    float, Number(0, 1), Shown("As a random token", "BERT: 0.1; what is left stays as it is.", slider=(0, 1, 0.05))
]
Length = Annotated[int, Whole(16, 512), Shown("Row length", "In tokens.", slider=(16, 128, 16))]
Schedule = Annotated[
    str,
    OneOf(("short", "long"), ("short, then long (BERT)", "long throughout (RoBERTa)")),
    Shown("Sequence length"),
]
WarmUp = Annotated[float, Number(0, 0.9), Shown("Warm-up, share of the steps", slider=(0, 0.5, 0.01))]
PeakRate = Annotated[
    float | None,
    Number(0, 1, optional=True),
    Shown("Peak learning rate", "0 takes what suits the start: 0.004 from nothing, 0.0002 from a model."),
]
Layers = Annotated[int, Whole(1, 24), Shown("Layers L", slider=(1, 6))]
Hidden = Annotated[int, Whole(16, 1024), Shown("Hidden size H", slider=(32, 256, 32))]
Heads = Annotated[int, Whole(1, 64), Shown("Heads A", slider=(1, 8))]
Vocabulary = Annotated[int, Whole(300, 30_000), Shown("Vocabulary V", "WordPieces.", slider=(500, 8000, 500))]
RowsABatch = Annotated[int, Whole(1, 512), Shown("Rows a batch", slider=(4, 128, 4))]
KeepBest = Annotated[
    bool, Flag(), Shown("Keep the best step", "End with the lowest held-out loss, not with the last step.")
]
Probes = Annotated[
    str,
    Sentence(optional=True),
    Shown("What it is asked at each checkpoint", "A sentence a line, each with a [MASK].", lines=(3, 6)),
]

MOST_TOKENS, MOST_PARAMETERS = 16_384, 50_000_000
"""The most tokens of a step, and parameters of a new model: about 2 GB while it trains."""

SETTINGS = (
    *("objective", "row_format", "masking", "copies", "scheme", "rate", "length", "schedule", "warmup"),
    *("mask_share", "random_share"),
    *("layers", "hidden", "heads", "vocabulary", "steps", "batch_size", "learning_rate"),
)
"""The settings in which two runs that are raced may differ."""


@params
class ScratchSpec(RunSpec):
    """One model trained from nothing, or from a BERT. task: STORIES, or a text that a visitor has given.

    learning_rate: the peak; None for what suits the start. hidden, layers, heads and vocabulary are a new model's alone.
    """

    model: Annotated[str, Name()] = NOTHING
    task: Annotated[str, Name()] = STORIES
    method: Annotated[str, OneOf((METHOD,))] = METHOD
    batch_size: RowsABatch = 32
    learning_rate: PeakRate = None
    steps: Steps = 1500
    objective: ObjectiveName = "mlm_nsp"
    row_format: FormatName = "segment_pair"
    masking: Masking = "dynamic"
    copies: Copies = 10
    scheme: SchemeName = "token"
    rate: Rate = 0.15
    length: Length = 48
    schedule: Schedule = "long"
    warmup: WarmUp = 0.1
    layers: Layers = 2
    hidden: Hidden = 128
    heads: Heads = 4
    vocabulary: Vocabulary = 3000
    probes: Probes = PROBES
    mask_share: MaskShare = 0.8
    random_share: RandomShare = 0.1

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.hidden % self.heads:
            raise BadInputError(
                f"{self.heads} heads cannot share a hidden size of {self.hidden}: each takes hidden / heads numbers. Take a "
                "number of heads that divides it."
            )
        if OBJECTIVES[self.objective].pairs and not FORMATS[self.row_format].paired:
            raise BadInputError(
                f"{OBJECTIVES[self.objective].title} judges pairs, and rows of {FORMATS[self.row_format].title} have no "
                "second part. Take segment pair or sentence pair, or the objective MLM."
            )
        if self.mask_share + self.random_share > 1 + 1e-9:
            raise BadInputError(
                f"Of the chosen tokens {self.mask_share:.0%} become [MASK] and {self.random_share:.0%} a random token: that is "
                "more than all of them. Lower one of the two."
            )
        return self

    @model_validator(mode="after")
    def _leaves_room(self) -> Self:
        """Refuse a run that would take too much of a server which other visitors use too."""
        if self.batch_size * self.length > MOST_TOKENS:
            raise BadInputError(
                f"A step would read {self.batch_size * self.length:,} tokens, and at most {MOST_TOKENS:,} are taken. Take fewer "
                "rows a batch, or shorter ones."
            )
        parameters = self.hidden * (self.vocabulary + self.length + 12 * self.layers * self.hidden)
        if parameters > MOST_PARAMETERS:
            raise BadInputError(
                f"This model would have about {parameters / 1e6:.0f} million parameters, and at most "
                f"{MOST_PARAMETERS / 1e6:.0f} million are trained here. Take fewer layers, a smaller hidden size or vocabulary."
            )
        return self

    @property
    def questions(self) -> tuple[str, ...]:
        """The probes, one for each line."""
        lines = [line.strip() for line in self.probes.splitlines() if line.strip()]
        return tuple(lines[:MOST_PROBES])

    def length_at(self, step: int) -> int:
        """Return the rows' length at a step, counted from 0, in tokens."""
        short = self.schedule == "short" and step < SHORT_SHARE * self.steps
        return max(16, round(self.length * BASE_LENGTH_SHARE)) if short else self.length


def no_bert(model_id: str) -> BadInputError:
    """Return the error for a start of another family."""
    return BadInputError(f"{model_id} is no BERT. Start from bert-mini, bert-small or another BERT, or from nothing.")


@dataclass(frozen=True)
class Said:
    """The likeliest tokens for one blank of a text (numbered from 0), the likeliest first.

    written: how a model of the next token continues the text.
    """

    step: int
    text: str
    blank: int
    tokens: tuple[str, ...]
    probabilities: tuple[float, ...]
    written: str = ""

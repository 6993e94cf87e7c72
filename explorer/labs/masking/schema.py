"""Parameters, results and worked examples of the masking jobs: blanks predicted, and a text corrupted as in pretraining."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple, Self

from pydantic import model_validator

from explorer.charts.chips import TokenView
from explorer.errors import BadInputError
from explorer.kinds import Flag, Name, Names, Number, OneOf, Whole
from explorer.maths.schemes import SCHEMES
from explorer.params import CharacterSpans, HiddenPlaces, Seed, Shown, params


class Example(NamedTuple):
    """text, and the words to hide, separated by commas."""

    text: str
    hidden: str


EXAMPLES = (
    Example("The keys to the cabinet are on the table.", "are"),
    Example("The key to the cabinets is on the table.", "is"),
    Example("Mount Everest is the highest mountain in the world.", "mountain"),
    Example("Cats and dogs are popular pets.", "dogs"),
    Example("The nurse said she was tired.", "she"),
    Example("The doctor said he was tired.", "he"),
    Example("The farmer milked the cow before breakfast.", "cow"),
    Example("He was so tired that he fell asleep on the sofa.", "asleep"),
    Example("The bird built a nest in the old apple tree.", "nest"),
    Example("The judge sentenced him to ten years in prison.", "prison"),
    Example("The Beatles were a British rock band from Liverpool.", "rock, Liverpool"),
    Example("She is a very good player and they are happy to have her.", "is, are"),
    Example("My brother plays the guitar in a band.", "guitar"),
    Example("The soldiers who guarded the bridge were tired.", "were"),
    Example("I forgot to lock the door when I left the house.", "door, house"),
)

TRY = (
    ("One key, many cabinets", EXAMPLES[1]),
    ("The nurse said …", EXAMPLES[4]),
    ("The doctor said …", EXAMPLES[5]),
    ("Hide both words", Example("The ship sailed across the sea to France.", "ship, sea")),
    ("State a wrong fact", Example("The capital of Germany is Rome.", "Rome")),
)
"""One-click experiments: what a first look at the worked example makes one want to know."""

LOOKING = (
    ("Where does Berlin come?", ("The capital of Germany is Rome.", "Rome", "Berlin", False)),
    ("A wrong word in view", ("She drank a cup of tree in the morning.", "tree", "tea", True)),
)
"""The same with words to look for, and with what is pressed left in view."""

CORRUPTION_TEXT = "The old lighthouse was built in 1871, and its keepers lit the lamp every evening to guide the ships."
CORRUPTION_SEED = 9
"""The page's first draw, one in which all three fates occur."""

RECIPES = (
    ("BERT's own", (0.15, 0.8, 0.1, "token")),
    ("Only [MASK], 40%", (0.4, 1.0, 0.0, "token")),
    ("Whole words", (0.15, 0.8, 0.1, "whole_word")),
)
"""One-click recipes: rate, mask share, random share, scheme."""


MOST_PREDICTIONS = 50
MOST_DRAWS = 5000
OPENING_TEXT = "The keys to the cabinet [MASK] on the table."
"""What is filled where no text is given: the page's first example."""


@params
class FillParams:
    """A text whose blanks are filled."""

    text: Annotated[
        str,
        Name(),
        Shown(
            "Sentence", "Press Enter to read it. Type [MASK] for a blank, or press a token to hide it.", lines=(1, 5)
        ),
    ] = OPENING_TEXT
    """With the model's mask token ([MASK] and <mask> both work), or without."""

    top_k: Annotated[int, Whole(1, MOST_PREDICTIONS), Shown("Predictions for each blank", slider=(1, 20))] = 5
    also_mask: HiddenPlaces = ()
    """What else is hidden, so that its true token's rank can be told: positions (0 is the first special token) or words."""

    spans: CharacterSpans = ()
    """The same as (start, stop) characters, for another model's tokens."""

    words: Annotated[
        tuple[str, ...] | str,
        Names(),
        Shown("Words to look for", "With commas; each is ranked beside the best.", lines=(1, 1)),
    ] = ()
    in_view: Annotated[bool, Flag(), Shown("Leave pressed tokens in view", "BERT says what it would put there.")] = (
        False
    )
    """Whether the tokens that also_mask and spans name stay as they are: one token in ten that BERT had to name in training did,
    and one in ten was replaced by another, so it has learned to doubt what it reads."""


@dataclass(frozen=True)
class Prediction:
    """One candidate for a mask. named: the visitor asked for it."""

    rank: int
    token_id: int
    token: str
    probability: float
    named: bool = False


@dataclass(frozen=True)
class FilledMask:
    """The model's answer for one masked position: its best predictions, then the named words that are not among them.

    entropy: of the whole distribution, in bits. The hidden token's fields are None if the mask was typed as such;
    surprisal is -ln p of the hidden token, in nats (its term of the MLM loss).
    """

    position: int
    predictions: tuple[Prediction, ...]
    entropy: float
    hidden: str | None = None
    hidden_rank: int | None = None
    hidden_probability: float | None = None
    surprisal: float | None = None


@dataclass(frozen=True)
class FillResult:
    """All masks of one text; `masks` is empty where nothing is masked. in_view: the hidden tokens were not hidden."""

    model: str
    text: str
    mask_token: str
    vocabulary: int
    tokens: tuple[TokenView, ...]
    masks: tuple[FilledMask, ...]
    in_view: bool = False


def require_masks(result: FillResult) -> None:
    """Raise BadInputError for a text without a mask; the page shows its tokens to click instead."""
    if not result.masks:
        raise BadInputError(f"Nothing is masked: put {result.mask_token} where a word is missing.")


Share = Annotated[float, Number(0, 1, said="{name} must lie between 0 and 1 (0% and 100%).")]


@params
class CorruptParams:
    """BERT's recipe on one text."""

    text: Annotated[str, Name(), Shown("Text", lines=(3, 8))]
    rate: Annotated[Share, Shown("Chosen (BERT: 0.15)", slider=(0, 1, 0.01))] = 0.15
    mask_share: Annotated[Share, Shown("of those [MASK] (0.8)", slider=(0, 1, 0.05))] = 0.8
    random_share: Annotated[Share, Shown("of those random (0.1)", slider=(0, 1, 0.05))] = 0.1
    scheme: Annotated[
        str,
        OneOf(
            tuple(SCHEMES),
            tuple(scheme.title for scheme in SCHEMES.values()),
            said="The scheme is one of {known}, not {value}.",
        ),
        Shown("Scheme"),
    ] = "token"
    seed: Annotated[Seed, Shown("Seed of the draw")] = 0

    @model_validator(mode="after")
    def _shares_leave_nothing_below_zero(self) -> Self:
        if self.mask_share + self.random_share > 1 + 1e-9:  # 0.9 + 0.1 may be above 1 in floats
            raise BadInputError(
                f"The shares for [MASK] ({self.mask_share:.0%}) and for a random token ({self.random_share:.0%}) add up "
                "to more than 100%. Lower one of them; what they leave is kept as it is."
            )
        return self


@dataclass(frozen=True)
class CorruptedToken:
    """One position: its fate, and its loss in nats (-ln p of the original) if it was chosen."""

    position: int
    original: str
    shown_original: str
    shown: str
    joined: bool
    fate: str
    special: bool
    loss: float | None


@dataclass(frozen=True)
class CorruptResult:
    """One draw. mean_loss is the mean of the chosen positions' terms, model_loss the model's own `labels=` loss; both
    None if nothing was chosen or the model has no MLM head."""

    model: str
    tokens: tuple[CorruptedToken, ...]
    mean_loss: float | None
    model_loss: float | None


@params
class SharesParams(CorruptParams):
    """As CorruptParams. draws: how many corruptions."""

    draws: Annotated[int, Whole(1, MOST_DRAWS)] = 1000


@dataclass(frozen=True)
class SharesResult:
    """Shares after each number of draws: `chosen` of all candidates, the others of the chosen tokens."""

    draws: tuple[int, ...]
    chosen: tuple[float, ...]
    mask: tuple[float, ...]
    random: tuple[float, ...]
    kept: tuple[float, ...]
    expected: tuple[float, float, float, float]
    candidates: int
    chosen_tokens: int


@params
class PatternsParams(CorruptParams):
    """As CorruptParams. epochs: columns of the grid. duplicates: copies that static masking makes, and reuses in turn."""

    epochs: Annotated[int, Whole(1, 100)] = 40
    duplicates: Annotated[
        int,
        Whole(1, 100),
        Shown("Static: masked copies", "BERT kept ten; 1 masks each text once and for all.", slider=(1, 10)),
    ] = 10


@dataclass(frozen=True)
class PatternsResult:
    """For each epoch, the fate of each token (index into FATES) under static and under dynamic masking."""

    tokens: tuple[str, ...]
    static: tuple[tuple[int, ...], ...]
    dynamic: tuple[tuple[int, ...], ...]
    distinct_static: int
    distinct_dynamic: int

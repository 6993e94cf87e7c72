"""What goes into the masking lab's jobs and what comes out: plain data, no model."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.errors import BadInputError
from explorer.numbers import whole_number

MOST_PREDICTIONS = 50
MOST_DRAWS = 5000
OPENING_TEXT = "The keys to the cabinet [MASK] on the table."
"""What is filled where no text is given: the page's first example."""

SCHEMES = ("token", "whole_word", "ngram")


@dataclass(frozen=True)
class FillParams:
    """text: with the model's mask token ([MASK] and <mask> both work), or without. top_k: predictions a mask.

    also_mask: what else is hidden, so that its true token's rank can be told: positions (0 is the first special token) or
    words of the text, as a list or as "3, 5" or "Paris". spans: the same as (start, stop) characters, for another model's
    tokens.
    """

    text: str = OPENING_TEXT
    top_k: int = 5
    also_mask: tuple[int | str, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        """Bring every field to one plain form, or raise BadInputError."""
        object.__setattr__(self, "top_k", whole_number(self.top_k, "top_k", 1, MOST_PREDICTIONS))
        places: object = self.also_mask
        if isinstance(places, str):
            places = places.split(",")
        if not isinstance(places, (list, tuple)):
            raise BadInputError("also_mask takes token positions or words, such as 3, 5 or Paris.")
        entries = [str(place).strip() for place in places]
        hidden = tuple(int(entry) if entry.isdecimal() and len(entry) < 10 else entry for entry in entries if entry)
        object.__setattr__(self, "also_mask", hidden)
        try:
            spans = tuple((int(start), int(stop)) for start, stop in self.spans)
        except (TypeError, ValueError, OverflowError):
            raise BadInputError("spans takes pairs of characters, such as ((0, 5), (9, 12)).") from None
        object.__setattr__(self, "spans", spans)


@dataclass(frozen=True)
class TokenView:
    """A token as a chip: `state` is special, plain, masked (its token is known) or blank (typed as a mask); start and stop
    are its characters in the text."""

    position: int
    text: str
    shown: str
    joined: bool
    state: str
    unknown: bool
    start: int
    stop: int


@dataclass(frozen=True)
class Prediction:
    """One candidate for a mask."""

    rank: int
    token_id: int
    token: str
    probability: float


@dataclass(frozen=True)
class FilledMask:
    """The model's answer for one masked position.

    entropy: of the whole distribution, in bits. The hidden token's fields are None where the mask was typed as such;
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
    """All masks of one text; `masks` is empty where nothing is masked."""

    model: str
    text: str
    mask_token: str
    vocabulary: int
    tokens: tuple[TokenView, ...]
    masks: tuple[FilledMask, ...]


def require_masks(result: FillResult) -> None:
    """Raise BadInputError for a text without a mask; the page shows its tokens to click instead."""
    if not result.masks:
        raise BadInputError(f"Nothing is masked: put {result.mask_token} where a word is missing.")


@dataclass(frozen=True)
class CorruptParams:
    """BERT's recipe on one text: shares in [0, 1]; scheme is token, whole_word or ngram."""

    text: str
    rate: float = 0.15
    mask_share: float = 0.8
    random_share: float = 0.1
    scheme: str = "token"
    seed: int = 0

    def __post_init__(self) -> None:
        """Raise BadInputError for a share or a scheme that cannot be."""
        for name in ("rate", "mask_share", "random_share"):
            object.__setattr__(self, name, share(getattr(self, name), name))
        if self.mask_share + self.random_share > 1 + 1e-9:
            raise BadInputError(
                f"The shares for [MASK] ({self.mask_share:.0%}) and for a random token ({self.random_share:.0%}) add up "
                "to more than 100%. Lower one of them; what they leave is kept as it is."
            )
        if self.scheme not in SCHEMES:
            raise BadInputError(f"The scheme is one of {', '.join(SCHEMES)}, not {str(self.scheme)[:40]!r}.")
        object.__setattr__(self, "seed", whole_number(self.seed, "seed", 0, 2**31 - 1))


@dataclass(frozen=True)
class CorruptedToken:
    """One position: its fate, and its loss in nats (-ln p of the original) where it was chosen."""

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
    None where nothing was chosen or the model has no MLM head."""

    model: str
    tokens: tuple[CorruptedToken, ...]
    mean_loss: float | None
    model_loss: float | None


@dataclass(frozen=True)
class SharesParams(CorruptParams):
    """As CorruptParams, and how often to draw."""

    draws: int = 1000

    def __post_init__(self) -> None:
        """Check the number of draws too."""
        super().__post_init__()
        object.__setattr__(self, "draws", whole_number(self.draws, "draws", 1, MOST_DRAWS))


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


@dataclass(frozen=True)
class PatternsParams(CorruptParams):
    """As CorruptParams, for a grid of epochs; static masking makes `duplicates` copies and reuses them in turn."""

    epochs: int = 40
    duplicates: int = 10

    def __post_init__(self) -> None:
        """Check the counts too."""
        super().__post_init__()
        object.__setattr__(self, "epochs", whole_number(self.epochs, "epochs", 1, 100))
        object.__setattr__(self, "duplicates", whole_number(self.duplicates, "duplicates", 1, 100))


@dataclass(frozen=True)
class PatternsResult:
    """For each epoch, the fate of each token (index into FATES) under static and under dynamic masking."""

    tokens: tuple[str, ...]
    static: tuple[tuple[int, ...], ...]
    dynamic: tuple[tuple[int, ...], ...]
    distinct_static: int
    distinct_dynamic: int


def share(value: object, name: str) -> float:
    """A float in [0, 1]; raise BadInputError."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = -1.0
    if not 0.0 <= number <= 1.0:
        raise BadInputError(f"{name} must lie between 0 and 1 (0% and 100%).")
    return number

"""Parameters and results of the jobs on the models: their changes, sizes and scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator

from explorer.errors import BadInputError
from explorer.kinds import Names, OneOf, Whole
from explorer.models.catalog import CATALOG, bundled
from explorer.models.published import PUBLISHED
from explorer.models.records import Measure
from explorer.params import Shown, params

BUNDLED = bundled()
SHOWN = {"bundled": "bundled here", "published": "published"}
"""Which models the figure of sizes may hold."""

SIZED = tuple(dict.fromkeys([*BUNDLED, *(published.model_id for published in PUBLISHED)]))
"""Models whose sizes are known without loading them."""

DEFAULT_SIZED = "albert/albert-base-v2"
SHARING = {
    "own": "as it is",
    "none": "nothing",
    "attention": "the attention",
    "feed-forward": "the feed-forward net",
    "all": "everything",
}
"""What layers may share, and how the page says it; `own` is what the model shares by itself."""


def _shown(names: tuple[str, ...]) -> tuple[str, ...]:
    if not names or not set(names) <= set(SHOWN):
        raise BadInputError(f"which takes {' and '.join(SHOWN)}, one of them or both.")
    return tuple(name for name in SHOWN if name in names)


def _bundled(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return names in the catalog's order; all bundled ones if none is named."""
    unknown = [name for name in names if name not in BUNDLED]
    if unknown:
        raise BadInputError(
            f"Figures and curves are kept of bundled models only, and {unknown[0][:100]} is none: choose among "
            f"{', '.join(BUNDLED)}."
        )
    return tuple(name for name in BUNDLED if name in names) or BUNDLED


SAID = "Give names as a list, or as a text with commas."
BundledModels = Annotated[
    tuple[str, ...],
    Names(SAID),
    AfterValidator(_bundled),
    Shown("Bundled models", choices=tuple((name, name) for name in BUNDLED)),
]


@params
class FamilyParams:
    """Which models the figure of sizes holds."""

    which: Annotated[
        tuple[str, ...],
        Names(SAID),
        AfterValidator(_shown),
        Shown("Models", choices=tuple((said, name) for name, said in SHOWN.items())),
    ] = tuple(SHOWN)


@dataclass(frozen=True)
class ModelSizes:
    """One model's parameters by what they are for, and the sizes they follow from. megabytes: of its file, where it is here."""

    model: str
    family: str
    bundled: bool
    vocabulary: int
    layers: int
    hidden_size: int
    intermediate_size: int
    attention_heads: int
    embedding_size: int
    shared: bool
    words: int
    rest: int
    in_layers: int
    heads: int
    pieces: str
    """The kind of its tokenizer, read from its file; empty if it is not here."""
    megabytes: float | None

    @property
    def parameters(self) -> int:
        """All of them; a tied tensor counts once."""
        return self.words + self.rest + self.in_layers + self.heads


@dataclass(frozen=True)
class FamilyResult:
    """The models in the order of the catalog."""

    models: tuple[ModelSizes, ...]


@params
class ScoresParams:
    """Which models' figures are shown; all of them where none is named."""

    models: BundledModels = ()


@dataclass(frozen=True)
class ModelScores:
    """What was measured of one model on held-out text."""

    model: str
    date: str
    command: str
    text: str
    measures: tuple[Measure, ...]


@dataclass(frozen=True)
class ScoresResult:
    """Models without kept figures are left out."""

    models: tuple[ModelScores, ...]


@params
class CountParams:
    """A model of the list in other sizes; 0 keeps its own."""

    base: Annotated[
        str,
        OneOf(SIZED, said="{name} must be a model whose sizes are known here: {known}."),
        Shown("Start from", dropdown=True),
    ] = DEFAULT_SIZED
    vocabulary: Annotated[int, Whole(0, 1_000_000), Shown("Vocabulary V")] = 0
    hidden_size: Annotated[int, Whole(0, 20_000), Shown("Width H")] = 0
    layers: Annotated[int, Whole(0, 200), Shown("Layers L")] = 0
    intermediate_size: Annotated[int, Whole(0, 80_000), Shown("Feed-forward width F")] = 0
    embedding_size: Annotated[int, Whole(0, 20_000), Shown("Embedding width E (0: as the family has it)")] = 0
    shared: Annotated[
        str,
        OneOf((*SHARING, "yes", "no"), said=f"{{name}} must be one of {', '.join(SHARING)}."),
        Shown("Shared by all depths", choices=tuple((title, name) for name, title in SHARING.items())),
    ] = "own"
    """What all layers have one set of, as in ALBERT's Table 4; `yes` and `no` are older names for `all` and `none`."""


@dataclass(frozen=True)
class CountedPart:
    """A part with its formula and its count."""

    part: str
    formula: str
    count: int


@dataclass(frozen=True)
class Width:
    """An ALBERT's parameters, heads left out, at one embedding size: by what all its layers share."""

    embedding_size: int
    everything: int
    ffn: int
    attention: int
    nothing: int


@dataclass(frozen=True)
class CountResult:
    """before: the model as it is. after: in the asked sizes. parts: of the latter; empty if no formula is written down.

    sweep: an ALBERT of these sizes at several widths of its embeddings, heads left out as in ALBERT's Table 3. table_3: whether
    the sizes are those of that table. factorises: whether the embeddings of this family can be narrower than its layers.
    """

    before: ModelSizes
    after: ModelSizes
    parts: tuple[CountedPart, ...]
    sweep: tuple[Width, ...]
    table_3: bool
    factorises: bool


def family_of(model: str) -> str:
    """Return the family of a model of SIZED."""
    listed = {card.model_id: card.family for card in CATALOG} | {entry.model_id: entry.family for entry in PUBLISHED}
    return listed[model]

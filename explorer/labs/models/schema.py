"""What goes into the jobs on the family and what comes out: plain data, no model."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.errors import BadInputError
from explorer.models.catalog import CATALOG, bundled
from explorer.models.published import PUBLISHED
from explorer.models.records import Measure
from explorer.numbers import whole_number

BUNDLED = bundled()
SHOWN = {"bundled": "bundled here", "published": "published"}
"""Which models the figure of sizes may hold."""

SIZED = tuple(dict.fromkeys([*BUNDLED, *(published.model_id for published in PUBLISHED)]))
"""Models whose sizes are known without loading them."""

DEFAULT_SIZED = "albert/albert-base-v2"
MOST_POINTS = 20_000


@dataclass(frozen=True)
class FamilyParams:
    """which: `bundled`, `published` or both."""

    which: tuple[str, ...] = tuple(SHOWN)

    def __post_init__(self) -> None:
        """Bring `which` to a plain form, or raise BadInputError."""
        chosen = names_of(self.which)
        if not chosen or not set(chosen) <= set(SHOWN):
            raise BadInputError(f"which takes {' and '.join(SHOWN)}, one of them or both.")
        object.__setattr__(self, "which", tuple(name for name in SHOWN if name in chosen))


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
    """The kind of its tokenizer, read from its file; empty where it is not here."""
    megabytes: float | None

    @property
    def parameters(self) -> int:
        """All of them; a tied tensor counts once."""
        return self.words + self.rest + self.in_layers + self.heads


@dataclass(frozen=True)
class FamilyResult:
    """The models in the order of the catalog."""

    models: tuple[ModelSizes, ...]


@dataclass(frozen=True)
class ScoresParams:
    """models: bundled ones, by name; all of them where none is named."""

    models: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Bring the names to a plain form, or raise BadInputError."""
        object.__setattr__(self, "models", bundled_names(self.models))


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


@dataclass(frozen=True)
class CurvesParams:
    """models: bundled ones, by name; all of them where none is named."""

    models: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Bring the names to a plain form, or raise BadInputError."""
        object.__setattr__(self, "models", bundled_names(self.models))


@dataclass(frozen=True)
class Curve:
    """One model's training as it was logged. values: for each quantity its value at each point, None where it had none."""

    model: str
    steps: tuple[float, ...]
    tokens: tuple[float, ...]
    seconds: tuple[float, ...]
    values: tuple[tuple[str, tuple[float | None, ...]], ...]

    def of(self, quantity: str) -> tuple[float | None, ...] | None:
        """The values of one quantity; None where it was not logged."""
        return dict(self.values).get(quantity)


@dataclass(frozen=True)
class CurvesResult:
    """without: models whose log is not kept."""

    curves: tuple[Curve, ...]
    without: tuple[str, ...]

    @property
    def quantities(self) -> tuple[str, ...]:
        """Everything that some model logged, losses first."""
        names = dict.fromkeys(name for curve in self.curves for name, _ in curve.values)
        return tuple(sorted(names, key=lambda name: (not name.endswith("_loss"), list(names).index(name))))


@dataclass(frozen=True)
class CountParams:
    """A model of the list in other sizes; 0 keeps its own. shared: one layer for all depths, `yes`, `no` or `own`."""

    base: str = DEFAULT_SIZED
    vocabulary: int = 0
    hidden_size: int = 0
    layers: int = 0
    intermediate_size: int = 0
    embedding_size: int = 0
    shared: str = "own"

    def __post_init__(self) -> None:
        """Bring every field to a plain form, or raise BadInputError."""
        if self.base not in SIZED:
            raise BadInputError(f"base must be a model whose sizes are known here: {', '.join(SIZED)}.")
        most = {"vocabulary": 1_000_000, "hidden_size": 20_000, "layers": 200, "intermediate_size": 80_000}
        for name, limit in {**most, "embedding_size": 20_000}.items():
            object.__setattr__(self, name, whole_number(getattr(self, name), name, 0, limit))
        if self.shared not in ("own", "yes", "no"):
            raise BadInputError("shared must be own, yes or no.")


@dataclass(frozen=True)
class CountedPart:
    """A part with its formula and its count."""

    part: str
    formula: str
    count: int


@dataclass(frozen=True)
class CountResult:
    """before: the model as it is. after: in the asked sizes. parts: of the latter; empty where no formula is written down.

    sweep: (embedding_size, parameters with one shared layer, with layers of their own) of an ALBERT of these sizes, its heads
    left out as in ALBERT's Table 3. table_3: whether the sizes are those of that table. factorises: whether the embeddings
    of this family can be narrower than its layers.
    """

    before: ModelSizes
    after: ModelSizes
    parts: tuple[CountedPart, ...]
    sweep: tuple[tuple[int, int, int], ...]
    table_3: bool
    factorises: bool


def names_of(value: object) -> tuple[str, ...]:
    """Names, each once, from a list or from a text with commas; raise BadInputError."""
    if value is None:
        return ()
    if isinstance(value, str):
        value = value.strip("[]").replace("'", "").replace('"', "").split(",")
    if not isinstance(value, (list, tuple)):
        raise BadInputError("Give names as a list, or as a text with commas.")
    return tuple(dict.fromkeys(str(name).strip() for name in value if str(name).strip()))


def bundled_names(value: object) -> tuple[str, ...]:
    """The bundled models that are named, in the catalog's order; raise BadInputError for others."""
    chosen = names_of(value)
    unknown = [name for name in chosen if name not in BUNDLED]
    if unknown:
        raise BadInputError(
            f"Figures and curves are kept of bundled models only, and {unknown[0][:100]} is none: choose among "
            f"{', '.join(BUNDLED)}."
        )
    return tuple(name for name in BUNDLED if name in chosen) or BUNDLED


def family_of(model: str) -> str:
    """The family of a model of SIZED."""
    listed = {card.model_id: card.family for card in CATALOG} | {entry.model_id: entry.family for entry in PUBLISHED}
    return listed[model]

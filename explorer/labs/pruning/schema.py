"""What the pruning lab's jobs and streams give, in plain values."""

from __future__ import annotations

from dataclasses import dataclass, field

from explorer.compress.cuts import Shape
from explorer.errors import BadInputError, ExplorerError

Grid = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class About:
    """What is pruned. asks: what the loss is. examples, held_out: how many there are. fixed: why nothing can be taken out."""

    name: str
    task: str
    metric: str
    asks: str
    shape: Shape
    examples: int
    held_out: int
    fixed: str | None


@dataclass(frozen=True)
class ImportanceResult:
    """Importance of every unit, as far as the examples have been read.

    grid: a row a block (one row for whole layers), a column a unit; for weights a column a matrix of `columns`, holding the
    mean score of its weights. errors: standard errors of the grid; None if there are none. agreement: (n, Spearman's ρ of
    the importance from the first n examples with that from the others). total: examples asked for.
    """

    about: About
    unit: str
    score: str
    loss: str
    grid: Grid
    errors: tuple[tuple[float | None, ...], ...]
    count: int
    total: int
    columns: tuple[str, ...] = ()
    agreement: tuple[tuple[int, float], ...] = ()

    @property
    def done(self) -> bool:
        """Whether all examples have been read."""
        return self.count >= self.total


@dataclass(frozen=True)
class Measured:
    """A model without a cut. metric: None if it is not defined. milliseconds: a call at batch 16, None if not timed."""

    metric: float | None
    parameters: int
    bytes: int
    milliseconds: float | None = None


@dataclass(frozen=True)
class OrderPoint:
    """One point of one line. order: least, most or random; draw: which random order. share: of the units, gone."""

    order: str
    draw: int
    share: float
    metric: float | None
    parameters: int


@dataclass(frozen=True)
class OrdersResult:
    """The three lines, as far as they are known. total: how many points there will be."""

    about: About
    unit: str
    points: tuple[OrderPoint, ...]
    total: int

    @property
    def done(self) -> bool:
        """Whether all points are there."""
        return len(self.points) >= self.total


@dataclass(frozen=True)
class Step:
    """After one step. share: of the units gone. loss: of the last training between; None if there was none."""

    share: float
    measured: Measured
    loss: float | None = None


@dataclass(frozen=True)
class Speed:
    """Milliseconds a call of one batch, whole and pruned, measured in turns."""

    batch: int
    before: float
    after: float


@dataclass(frozen=True)
class Left:
    """What is left of each layer, and the largest difference of an output between masked and removed.

    gap: None where parts can only be masked, and why says for what reason. plain: whether from_pretrained alone opens it.
    """

    heads: tuple[int, ...]
    neurons: tuple[int, ...]
    layers: tuple[int, ...]
    gap: float | None
    plain: bool
    why: str = ""


@dataclass(frozen=True)
class PruneResult:
    """A pruning so far; the first step is the whole model. key: what /export_pruned takes, once it is done."""

    about: About
    unit: str
    order: str
    train_between: int
    steps: tuple[Step, ...]
    wanted: int
    left: Left | None = None
    speeds: tuple[Speed, ...] = ()
    key: str = ""
    note: str = ""
    done: bool = False


@dataclass(frozen=True)
class HandResult:
    """The model without some heads, beside the whole one; None until they are measured."""

    about: About
    heads: tuple[tuple[int, int], ...]
    before: Measured | None = None
    after: Measured | None = None


@dataclass(frozen=True)
class StepsResult:
    """Lines of steps by name, as far as they go."""

    about: About
    unit: str
    share: float
    lines: tuple[tuple[str, tuple[Step, ...]], ...]
    progress: float
    done: bool = False


@dataclass(frozen=True)
class FormResult:
    """One form of the model. pruned: the share that is gone. milliseconds: None until all are timed. note: what it is not."""

    form: str
    pruned: float
    bytes: int
    milliseconds: float | None
    metric: float | None
    note: str = ""


@dataclass(frozen=True)
class QuantiseResult:
    """The forms, as far as they have been measured. batch: rows of a call."""

    about: About
    batch: int
    forms: tuple[FormResult, ...]
    total: int

    @property
    def done(self) -> bool:
        """Whether all forms are there, and timed."""
        return len(self.forms) >= self.total and all(form.milliseconds is not None for form in self.forms)


@dataclass(frozen=True)
class Exported:
    """A zip on the server."""

    path: str
    files: tuple[str, ...] = field(default=())


def require_metric(result: PruneResult | OrdersResult) -> None:
    """Raise ExplorerError if the metric is not defined on the held-out examples."""
    about = result.about
    first = result.steps[0].measured.metric if isinstance(result, PruneResult) else result.points[0].metric
    if first is None:
        raise ExplorerError(
            f"{about.metric} is not defined on these {about.held_out} held-out examples (all of one class?). Take more."
        )


def require_done(result: PruneResult | None) -> None:
    """Raise BadInputError if nothing came, ExplorerError as require_metric."""
    if result is None:
        raise BadInputError("Nothing was pruned. Try again.")
    require_metric(result)

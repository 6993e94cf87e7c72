"""Latency: the time of a batch by every method, attached and merged, beside the plain model."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Annotated

from markupsafe import Markup

from explorer.action import LiveAction
from explorer.charts import Picture, axis, chart, error_bars, level, points, rows
from explorer.charts.words import caption, duration, label, milliseconds, percent, progress_bar, prose, strong
from explorer.engine.protocol import Job
from explorer.kinds import Name, Names, Whole
from explorer.maths.intervals import Ratio, Spent, busy
from explorer.models.catalog import DEFAULT_MODEL
from explorer.params import Shown, params
from explorer.runs.report import busy_said
from explorer.tables import Table
from explorer.tuning.methods import METHODS
from explorer.worked import Opening

BATCHES = (1, 8, 32)
ROUNDS = 40
"""Rounds that the page asks for: of fewer the intervals are wide."""
LEAST = 6
"""Rounds from which anything is told apart: of five equal calls all are slower, or all quicker, with 2·½⁵ = 6%."""


@params
class LatencyParams:
    """A forward pass by several methods (all that the model can have, where none is named), `repeats` rounds of all in turns."""

    model: Annotated[str, Name()] = DEFAULT_MODEL
    methods: Annotated[tuple[str, ...], Names()] = ()
    batch: Annotated[int, Whole(1, 64), Shown("Texts in a batch", choices=tuple((str(n), n) for n in BATCHES))] = 1
    length: Annotated[int, Whole(2, 512), Shown("Tokens a text", slider=(8, 256, 8))] = 64
    repeats: Annotated[int, Whole(2, 100), Shown("Rounds", slider=(LEAST, 50))] = 10


@dataclass(frozen=True)
class Timed:
    """A method in one form: `attached`, `merged`, or `plain`, where it adds nothing to what a forward pass computes.

    added: parameters more than the plain model has. ratio: its time as a multiple of the plain model's, round by round.
    """

    method: str
    title: str
    form: str
    added: int
    spent: Spent
    ratio: Ratio


@dataclass(frozen=True)
class LatencyResult:
    """The plain model's times, and each method's, in the first `rounds` rounds `of` those that are asked for. missing: (method,
    why it cannot be had or timed here). device: of the model.
    """

    model_id: str
    device: str
    batch: int
    length: int
    rounds: int
    of: int
    plain: Spent
    timed: tuple[Timed, ...]
    missing: tuple[tuple[str, str], ...] = ()

    @property
    def is_done(self) -> bool:
        """Whether every round has been timed."""
        return self.rounds == self.of

    @property
    def has_intervals(self) -> bool:
        """Whether there are rounds enough to tell anything apart."""
        return self.rounds >= LEAST

    @property
    def is_busy(self) -> bool:
        """Whether the machine was too busy to compare anything: whoever asks again has it measured again."""
        return busy(self.plain)


STOPPED = Markup("Stopped. What was timed until then stays.")
COLOURS = {"plain": "@muted", "attached": "@second", "merged": "@first"}


def latency_table(result: LatencyResult) -> Table:
    """A row a method and form, after the plain model's: milliseconds with quartiles, and the ratio with its 95% interval."""
    columns = ("method", "form", "added", "milliseconds", "low", "high", "ratio", "ratio_low", "ratio_high")
    plain = ("", "plain", 0, *astuple(result.plain), 1.0, 1.0, 1.0)
    timed = [(one.method, one.form, one.added, *astuple(one.spent), *astuple(one.ratio)) for one in result.timed]
    return Table.of(columns, [plain, *timed])


def latency_sentence(result: LatencyResult) -> Markup:
    """Name the methods that cost time at every call and those that make no measurable difference, or say the machine is busy.

    Of fewer than six rounds it says nothing but that.
    """
    if not result.has_intervals:
        return prose("Nothing can be told apart yet: of fewer than six rounds ", strong("all may agree by chance"), ".")
    if result.is_busy:
        return prose(*busy_said(result.plain))
    differ = [one for one in result.timed if one.form != "plain" and one.ratio.differs]
    slower = sorted((one for one in differ if one.ratio.median > 1), key=lambda one: -one.ratio.median)
    quicker = [one for one in differ if one not in slower]
    alike = [one for one in result.timed if one.form != "plain" and not one.ratio.differs]
    parts: list[str] = []
    if slower:
        first, *others = slower
        parts += ["Slower than the plain model: ", strong(f"{_name(first)} ({_change(first.ratio)})")]
        parts.append(f", {', '.join(map(_name, others))}. " if others else ". ")
    if quicker:
        parts.append(f"Faster: {', '.join(map(_name, quicker))}. ")
    if alike:
        parts.append(f"No difference can be measured for {', '.join(map(_name, alike))}. ")
    apart = [_name(one) for one in result.timed if one.form == "plain" and one.ratio.differs]
    if apart:
        parts.append(f"{' and '.join(apart)} add nothing to the plain model: what is measured of them is noise.")
    return prose(*parts)


def latency_figure(result: LatencyResult) -> Picture:
    """Draw a point for each method and form with its interval; the line is the plain model."""
    timed = result.timed
    places = list(range(len(timed)))
    marks = [
        points(
            [one.ratio.median],
            [place],
            COLOURS[one.form],
            size=13,
            error_x=error_bars(*_reach(result, one.ratio), thickness=3, width=7 if result.has_intervals else 0),
            hover=f"{label(_name(one))}: %{{x:.3f}} times the plain model's time ({milliseconds(one.spent.median)})",
        )
        for place, one in zip(places, timed, strict=True)
    ]
    ends = [1.0, *(one.ratio.low for one in timed), *(one.ratio.high for one in timed)]
    room = 0.06 * (max(ends) - min(ends)) or 0.05  # equal times have no range
    interval = ", with 95% interval" if result.has_intervals else ""
    title = f"time of a batch, the plain model's ({milliseconds(result.plain.median)}) = 1{interval}"
    across = axis(title, span=(min(ends) - room, max(ends) + room))
    down = rows([f"{_name(one)} {_change(one.ratio)}" for one in timed], size=15)
    line = [level(1.0, upright=True)]
    return chart(latency_sentence(result), marks, across, down, line, height=130 + 34 * len(timed), right=30)


def _reach(result: LatencyResult, ratio: Ratio) -> tuple[list[float], list[float]]:
    """Return how far the interval reaches up and down from the median; nowhere while there are too few rounds for one."""
    if not result.has_intervals:
        return [0.0], [0.0]
    return [ratio.high - ratio.median], [ratio.median - ratio.low]


def latency_bar(result: LatencyResult, seconds: float = 0.0) -> Markup:
    """Return a bar of the rounds with the time left, which a round more has gone by for: the first, which warms up."""
    if result.is_done:
        return Markup("")
    left = seconds / (result.rounds + 1) * (result.of - result.rounds)
    said = f" {result.rounds} of {result.of} rounds, about {duration(left)} left"
    return progress_bar(result.rounds / result.of, "rounds timed") + Markup.escape(said)


def missing_list(result: LatencyResult) -> Markup:
    """Say which methods were not timed, and why."""
    return caption(*(f"{title} is not timed: {reason} " for title, reason in result.missing))


def _name(one: Timed) -> str:
    return f"merged {one.title}" if one.form == "merged" else one.title


def _change(ratio: Ratio) -> str:
    """Write a ratio's change as +12.3% or −4.0%."""
    change = ratio.median - 1
    return f"{'+' if change >= 0 else '−'}{percent(abs(change))}"


_OPENING = Opening(LatencyParams(methods=tuple(method.slug for method in METHODS), repeats=ROUNDS), LatencyResult)
LATENCY = LiveAction(
    Job("explorer.labs.finetune.latency_jobs:latency", on="resources"),
    LatencyParams,
    latency_table,
    openings=(_OPENING,),
)

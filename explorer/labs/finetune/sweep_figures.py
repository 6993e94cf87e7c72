"""A sweep as one figure: the metric against a setting, a line a method, every seed a point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from markupsafe import Markup

from explorer.charts import Axis, Panel, Picture, Trace, axis, chart, error_bars, line, picture, points, series
from explorer.charts.words import caption, compact, prose, quoted, strong
from explorer.labs.finetune.sweep import Sweep, Value
from explorer.published import lora
from explorer.runs.comparing import ALPHA, lead_in_words
from explorer.runs.record import RunRecord, RunStatus
from explorer.runs.report import SHARES, gap_text, metric_title, score_text
from explorer.runs.seeds import Repeated, ahead, differences_p, every_pair_p, of_seeds
from explorer.tuning.methods import find_method

PAPERS_SPAN = 0.22
"""In which both rows of the paper's Table 6 that are drawn lie, as shares."""

HARDLY = 0.02
"""A rank hardly matters where the means of all ranks lie within so much, and where the seeds tell none from another."""

TEN_TIMES = 10.0
"""LoRA's best learning rate beside full fine-tuning's: Schulman et al. 2025, "LoRA Without Regret"."""


def sweep_sentence(sweep: Sweep) -> Markup:
    """Say how far it is; at the end which value does best, and whether the seeds can tell it from the next."""
    ended = sum(not record.status.is_active for record in sweep.records)
    if not sweep.records:
        return prose("The runs are starting.")
    if ended < len(sweep.records):
        return prose(strong(f"{ended} of {len(sweep.records)}"), " runs have ended.")
    best = [ranked for ranked in _best_first(sweep).values() if ranked]
    if not best:
        return prose("No run has a score.")
    if over_ranks := _of_ranks(sweep, [point for point in points_of(sweep) if point.runs.scores]):
        return prose(*over_ranks)
    if len(best) == 1:
        return prose(*_of_method(sweep, best[0]))
    return prose(*_of_methods(sweep, best))


def _of_ranks(sweep: Sweep, scored: Sequence[Point]) -> list[str]:
    """Say that the rank hardly matters, or how far apart the ranks' means lie; [] for other settings or single seeds."""
    if not _over_ranks(sweep, scored):
        return []
    if _hardly_matters(scored):
        small, large = (_shown(point.value) for point in (scored[0], scored[-1]))
        return [f"From r = {small} to r = {large} ", strong("the rank hardly matters here"), ", as in the paper."]
    metric, means = sweep.records[0].leading_metric, [point.runs.mean for point in scored]
    low, high = (strong(score_text(metric, mean)) for mean in (min(means), max(means)))
    return [f"From rank to rank the mean {metric_title(metric)} lies between ", low, " and ", high, "."]


def _over_ranks(sweep: Sweep, scored: Sequence[Point]) -> bool:
    """Return whether ranks are compared, each with several seeds."""
    return sweep.setting == "rank" and len(scored) > 1 and min(len(point.runs.scores) for point in scored) > 1


def _hardly_matters(scored: Sequence[Point]) -> bool:
    means = [point.runs.mean for point in scored]
    # A difference of 0.02 in floats may be a little more.
    return round(max(means) - min(means), 6) <= HARDLY and not any(
        _told_apart(one, other) for one, other in combinations(scored, 2)
    )


def _ranks_notes(sweep: Sweep, scored: Sequence[Point]) -> str:
    """State between which scores the means of all ranks lie."""
    if not _over_ranks(sweep, scored):
        return ""
    metric, means = sweep.records[0].leading_metric, [point.runs.mean for point in scored]
    low, high = (score_text(metric, mean) for mean in (min(means), max(means)))
    small, large = (_shown(point.value) for point in (scored[0], scored[-1]))
    table = " (LoRA's Table 6 has it so too)" if _hardly_matters(scored) else ""
    return f"From r = {small} to r = {large} the mean {metric_title(metric)} lies between {low} and {high}{table}. "


def _told_apart(one: Point, other: Point) -> bool:
    """Return whether the same seeds put one value ahead of another beyond chance."""
    return any(p < ALPHA for p in every_pair_p([one.runs.scores, other.runs.scores]).values())


def _of_method(sweep: Sweep, ranked: Sequence[Point]) -> list[str]:
    """Say which value of the only method is best, and whether its seeds tell it from the next."""
    first, metric = ranked[0], sweep.records[0].leading_metric
    name = f"{find_method(first.method).title}: " if first.method else ""
    if len(ranked) < 2:
        value = f"{name}{sweep.swept.name} {_shown(first.value)} has {metric_title(metric)} "
        return [value[0].upper() + value[1:], strong(score_text(metric, first.runs.mean)), "."]
    parts = [f"{name or 'B'}{'best' if name else 'est'} at {sweep.swept.name} ", strong(_shown(first.value))]
    second = ranked[1]
    if first.runs.mean == second.runs.mean:
        return [*parts, f", as at {_shown(second.value)}."]
    if len(first.runs.scores.keys() & second.runs.scores.keys()) < 2:  # no seeds in common but one, so no test
        return [*parts, ", by one seed alone."]
    (p,) = differences_p([(first.runs.scores, second.runs.scores)])
    return [*parts, lead_in_words([(_shown(second.value), p < ALPHA)]), "."]


def _of_methods(sweep: Sweep, best: Sequence[Sequence[Point]]) -> list[str]:
    """Say where each of two methods does best; of more than two the best of all."""
    titles = [find_method(ranked[0].method).title for ranked in best]
    if len(best) == 2:
        values = [strong(_shown(ranked[0].value)) for ranked in best]
        parts = [f"{titles[0]} is best at {sweep.swept.name} ", values[0]]
        return (
            [*parts, ", as is ", titles[1], "."]
            if values[0] == values[1]
            else [*parts, ", ", titles[1], " at ", values[1], "."]
        )
    place = max(range(len(best)), key=lambda number: best[number][0].runs.mean)
    first = best[place][0]
    parts = [f"Highest is {titles[place]} at {sweep.swept.name} ", strong(_shown(first.value))]
    if sum(ranked[0].runs.mean == first.runs.mean for ranked in best) > 1:
        parts.append(", level with another")
    return [*parts, "."]


def sweep_notes(sweep: Sweep) -> Markup:
    """State what the headline rests on: spreads, intervals over the seeds, and LoRA's rate beside full fine-tuning's."""
    metric, best = sweep.records[0].leading_metric, _best_first(sweep)
    running = next((record for record in sweep.records if record.status is RunStatus.RUNNING), None)
    parts = [f"Now {running.name}, step {running.step} of {running.steps or '?'}. "] if running else []
    parts.append(_ranks_notes(sweep, [point for point in points_of(sweep) if point.runs.scores]))
    for ranked in best.values():
        first = ranked[0]
        name = f"{find_method(first.method).title}, " if first.method else ""
        score = f"{metric_title(metric)} {score_text(metric, first.runs.mean)}"
        said = f"{name}{_shown(first.value)}: {score}, {of_seeds(first.runs)}"
        second = ranked[1] if len(ranked) > 1 else None
        told = ahead(metric, first.runs.scores, second.runs.scores, _shown(second.value)) if second else ""
        parts.append(f"{said}; {told}. " if told else f"{said}. ")
        if second and len(first.runs.scores.keys() & second.runs.scores.keys()) < 2:
            parts.append("One seed says little: repeat with three. ")
    if sweep.setting == "learning_rate" and {"lora", "full"} <= best.keys():
        times = float(best["lora"][0].value) / float(best["full"][0].value)
        parts.append(
            f"LoRA's best rate here is {times:g} times full fine-tuning's; Schulman et al. (2025, LoRA Without Regret) find "
            f"about {TEN_TIMES:g} times, over many models and tasks. "
        )
    if any(len(point.runs.scores) > 1 for point in points_of(sweep)):
        parts.append("Each ○ is a seed, the bar one standard deviation to either side of their mean.")
    return caption(*parts) if any(parts) else Markup("")


def _best_first(sweep: Sweep) -> dict[str, list[Point]]:
    """Return the points of each method that have a score, the highest mean first."""
    scored = [point for point in points_of(sweep) if point.runs.scores]
    return {
        method: sorted((one for one in scored if one.method == method), key=lambda one: -one.runs.mean)
        for method in dict.fromkeys(point.method for point in scored)
    }


def sweep_figure(sweep: Sweep) -> Picture | str:
    """Draw means joined by a line a method with the standard deviation as a bar, and each seed as an open mark."""
    scored = [point for point in points_of(sweep) if point.runs.scores]
    if not scored:
        return ""
    named = any(isinstance(point.value, str) for point in scored)
    traces: list[Trace] = []
    methods = list(dict.fromkeys(point.method for point in scored))
    for place, method in enumerate(methods):
        own = [point for point in scored if point.method == method]
        traces += _traces(own, series(place), find_method(method).title if method else "", named)
    values = list(dict.fromkeys(point.value for point in scored))
    several = any(len(point.runs.scores) > 1 for point in scored)
    metric = metric_title(sweep.records[0].leading_metric)
    title = f"{metric}, mean ± s.d." if several else metric
    said, across, up = sweep_sentence(sweep), _across(sweep, values, named), axis(title)
    if sweep.setting == "rank" and sweep.records[0].leading_metric in SHARES:
        scores = [score for point in scored for score in point.runs.scores.values()]
        alike = axis(title, percent=True, span=_reaching(min(scores), max(scores)))
        shown = [Panel(traces, across, alike, "Here"), _in_the_paper()]
        return picture(said, shown, height=420, phone=760, right=30, legend=True, gap=0.12)
    return chart(said, traces, across, up, height=420, right=30, legend=len(methods) > 1)


def _reaching(low: float, high: float) -> tuple[float, float]:
    """Return an axis around shares, no shorter than that of the paper's: a difference then looks as large here as
    there.
    """
    return min(low - 0.02, high + 0.01 - PAPERS_SPAN), min(1.005, high + 0.01)


def _in_the_paper() -> Panel:
    """Draw the rows of LoRA's Table 6 that adapt W_q and W_v."""
    rows = [(task, scores) for task, weights, scores in lora.TABLE_6 if weights == "W_q, W_v"]
    drawn = [
        line(
            list(lora.RANKS),
            [score / 100 for score in scores],
            series(place + 2),  # other colours than those of the runs beside it
            f"GPT-3 on {task}",
            width=3,
            size=10,
            hover="r = %{x}: %{y:.1%}",
            aside=task,
        )
        for place, (task, scores) in enumerate(rows)
    ]
    ticks = axis(
        "rank r", log=True, tickmode="array", tickvals=list(lora.RANKS), ticktext=[f"{rank}" for rank in lora.RANKS]
    )
    every = [score / 100 for _, scores in rows for score in scores]
    up = axis(percent=True, span=(max(every) + 0.01 - PAPERS_SPAN, max(every) + 0.01))
    return Panel(drawn, ticks, up, "LoRA's Table 6: W_q, W_v")


def _traces(own: Sequence[Point], colour: str, name: str, named: bool) -> list[Trace]:
    across = [_shown(point.value) if named else point.value for point in own]
    seeds = [(x, score) for x, point in zip(across, own, strict=True) for score in point.runs.scores.values()]
    spread = [point.runs.spread for point in own]
    means = line(
        across,
        [point.runs.mean for point in own],
        colour,
        name,
        width=0 if named else 3,  # names have no order for a line to follow
        size=12,
        error_y=error_bars(spread, colour=colour, thickness=2, width=8),
        cliponaxis=False,
        hover=f"{name or 'mean'} at %{{x}}: %{{y:.3f}}",
        aside=name,
    )
    each = points(
        [x for x, _ in seeds],
        [score for _, score in seeds],
        colour,
        size=8,
        symbol="circle-open",
        showlegend=False,
        hover="one seed at %{x}: %{y:.3f}",
    )
    return [each, means]


def _across(sweep: Sweep, values: Sequence[Value], named: bool) -> Axis:
    title = sweep.swept.title
    if named:
        shown = [_shown(value) for value in values]
        return axis(title, names=True, categoryorder="array", categoryarray=shown)
    texts = [_shown(value) for value in values]
    return axis(title, log=sweep.swept.log, tickmode="array", tickvals=list(values), ticktext=texts)


def sweep_rows(sweep: Sweep) -> Markup:
    """Tabulate a row a value: the mean, the spread, how many seeds, what was trained; then notes, and what is missing."""
    metric = sweep.records[0].leading_metric
    rows = [
        (
            *([find_method(point.method).title] if point.method else []),
            _shown(point.value),
            score_text(metric, point.runs.mean) if point.runs.scores else "",
            gap_text(metric, point.runs.spread) if len(point.runs.scores) > 1 else "",
            str(len(point.runs.scores)),
            compact(point.runs.trainable) if point.runs.trainable else "",
        )
        for point in points_of(sweep)
    ]
    heads = ("method", sweep.swept.title, metric_title(metric), "standard deviation", "seeds", "trained")
    table = quoted(heads if sweep.setting != "method" else heads[1:], rows)
    failed = [(one.name, one.message) for one in sweep.records if one.status is RunStatus.FAILED]
    reasons = [f"{name}: {reason} " for name, reason in (*sweep.compared.missing, *failed)]
    return table + sweep_notes(sweep) + (caption(*reasons) if reasons else Markup(""))


def _shown(value: Value) -> str:
    return value if isinstance(value, str) else f"{value:g}"


@dataclass(frozen=True)
class Point:
    """One value by one method, with each seed."""

    method: str
    value: Value
    runs: Repeated


def points_of(sweep: Sweep) -> list[Point]:
    """Return the points by method, in the order in which the values were named; numbers by size."""
    found: dict[tuple[str, Value], list[RunRecord]] = {}
    by_method = sweep.setting == "method"
    for record in sweep.records:
        method = "" if by_method else record.spec.method
        found.setdefault((method, sweep.swept.of(record.spec)), []).append(record)
    points = [Point(method, value, Repeated(tuple(runs))) for (method, value), runs in found.items()]
    if all(not isinstance(point.value, str) for point in points):
        points.sort(key=lambda point: float(point.value))
    return points

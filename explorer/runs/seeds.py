"""The same runs with several seeds: which are started, which belong together, and what their scores say beyond chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import fmean, stdev
from typing import Annotated

from explorer.charts.words import compact, counted, strong
from explorer.errors import BadInputError
from explorer.kinds import Exact
from explorer.maths.intervals import paired_interval
from explorer.params import Shown
from explorer.runs.comparing import ALPHA, lead_in_words
from explorer.runs.queue import MOST_WAITING
from explorer.runs.record import RunRecord
from explorer.runs.report import gap_text, metric_title, score_text
from explorer.tuning.spec import RunSpec

MOST_SEEDS = 5

Seeds = Annotated[
    int,
    Exact(1, MOST_SEEDS),
    Shown("Seeds", "Everything once for each seed: one says little, three or more have an interval.", (1, MOST_SEEDS)),
]


def repeated(specs: Sequence[RunSpec], seeds: int) -> list[RunSpec]:
    """Return the runs with their own seed and the seeds after it, seed by seed, so that each is seen once before any is
    repeated.

    Raises BadInputError for more than one visitor may have waiting.
    """
    count = len(specs) * seeds
    if count > MOST_WAITING:
        raise BadInputError(
            f"{len(specs)} runs with {seeds} seeds are {count}, and at most {MOST_WAITING} may wait. Take fewer methods or seeds."
        )
    return [replace(spec, seed=spec.seed + number) for number in range(seeds) for spec in specs]


@dataclass(frozen=True)
class Repeated:
    """Runs of one setting, one for each seed."""

    records: tuple[RunRecord, ...]

    @property
    def first(self) -> RunRecord:
        """The run that was started first."""
        return self.records[0]

    @property
    def name(self) -> str:
        """What distinguishes the setting from others: the method, without the task."""
        return self.first.short_name

    @property
    def trainable(self) -> int:
        """How many parameters each run trains; 0 while none has begun."""
        return max(record.trainable for record in self.records)

    @property
    def scores(self) -> dict[int, float]:
        """The leading metric by seed, for runs that have ended with one."""
        ended = [record for record in self.records if record.outcome is not None]
        return {record.spec.seed: record.score for record in ended if record.score is not None}

    @property
    def mean(self) -> float:
        """The mean score. There must be at least one."""
        return fmean(self.scores.values())

    @property
    def spread(self) -> float:
        """The scores' standard deviation; 0 for a single one."""
        return stdev(self.scores.values()) if len(self.scores) > 1 else 0.0


def by_setting(records: Iterable[RunRecord]) -> list[Repeated]:
    """Group runs that differ by their seed alone; a second run with a seed that is taken starts another group."""
    found: dict[tuple[RunSpec, int], list[RunRecord]] = {}
    seen: Counter[RunSpec] = Counter()
    for record in records:
        key = (replace(record.spec, seed=0), seen[record.spec])
        found.setdefault(key, []).append(record)
        seen[record.spec] += 1
    return [Repeated(tuple(runs)) for runs in found.values()]


def several_seeds(records: Iterable[RunRecord]) -> bool:
    """Return whether any two of the runs differ by their seed alone."""
    return any(len(runs.records) > 1 for runs in by_setting(records))


def of_seeds(runs: Repeated) -> str:
    """Return what a mean is over, for a bracket after it."""
    count = len(runs.scores)
    if count < 2:
        return "one seed"
    return f"mean of {count} seeds, standard deviation {gap_text(runs.first.leading_metric, runs.spread)}"


def ahead(metric: str, scores: Mapping[int, float], others: Mapping[int, float], name: str) -> str:
    """Return how far runs are ahead of others with the same seeds, and whether beyond chance; empty for fewer than two
    seeds.
    """
    shared = sorted(scores.keys() & others.keys())
    if len(shared) < 2:
        return ""
    found = paired_interval([scores[seed] for seed in shared], [others[seed] for seed in shared])
    told = f"{gap_text(metric, abs(found.mean))} {'ahead of' if found.mean >= 0 else 'behind'} {name}"
    if found.low == found.high:
        return f"{told}, by the same in each of {len(shared)} seeds"
    verdict = "beyond chance" if found.direction else "which may be chance"
    ends = f"{gap_text(metric, found.low).removesuffix(' points')} to {gap_text(metric, found.high)}"
    return f"{told}, {verdict} (95% interval {ends} over {len(shared)} seeds)"


def differences_p(pairs: Sequence[tuple[Mapping[int, float], Mapping[int, float]]]) -> list[float]:
    """Return p for each pair's differences between runs of the same seed (at least two seeds), adjusted for the number
    of pairs (Holm).
    """
    from explorer.maths.paired import holm

    p = []
    for scores, others in pairs:
        shared = sorted(scores.keys() & others.keys())
        p.append(paired_interval([scores[seed] for seed in shared], [others[seed] for seed in shared]).p)
    return holm(p)


def lead_parts(settings: Sequence[Repeated]) -> list[str]:
    """Return a headline: which setting leads over its seeds, and whether its lead is more than chance."""
    ranked = _ranked(settings)
    if not ranked:
        return []
    best, metric = ranked[0], ranked[0].first.leading_metric
    level = sum(runs.mean == best.mean for runs in ranked)
    leads = " leads with" if level == 1 else f" and {level - 1} more share the lead with"
    parts = [strong(best.name), f"{leads} {metric_title(metric)} ", strong(score_text(metric, best.mean))]
    p = _of_pairs(ranked) if level == 1 else {}
    others = [(ranked[place].name, p[0, place] < ALPHA) for place in range(1, len(ranked)) if p]
    return [*parts, lead_in_words(others), "."]


def lead_notes(settings: Sequence[Repeated]) -> str:
    """Return what the headline rests on: seeds, trained parameters, the interval of the lead, and the test."""
    ranked = _ranked(settings)
    if not ranked:
        return ""
    best, metric = ranked[0], ranked[0].first.leading_metric
    trained = f"it trains {compact(best.trainable)} of {compact(best.first.parameters)} parameters"
    parts = [f"{best.name}: {of_seeds(best)}; {trained}."]
    if len(ranked) > 1 and (told := ahead(metric, best.scores, ranked[1].scores, ranked[1].name)):
        parts.append(f"Seed by seed it is {told}.")
    return " ".join([*parts, *([_beaten(ranked)] if len(ranked) > 2 else [])])


def _ranked(settings: Sequence[Repeated]) -> list[Repeated]:
    return sorted((runs for runs in settings if runs.scores), key=lambda runs: -runs.mean)


def _of_pairs(ranked: Sequence[Repeated]) -> dict[tuple[int, int], float]:
    return every_pair_p([runs.scores for runs in ranked])


def every_pair_p(scores: Sequence[Mapping[int, float]]) -> dict[tuple[int, int], float]:
    """Return p for every pair of settings, by their places, since any of them might lead by chance.

    Empty if some pair shares fewer than two seeds.
    """
    pairs = list(combinations(range(len(scores)), 2))
    found = [(scores[one], scores[other]) for one, other in pairs]
    if not found or min(len(scores.keys() & others.keys()) for scores, others in found) < 2:
        return {}
    return dict(zip(pairs, differences_p(found), strict=True))


def _beaten(ranked: Sequence[Repeated]) -> str:
    """Say which of several others the first is better than."""
    p = _of_pairs(ranked)
    if not p:
        return "Whether that is chance can be said once each has two seeds."
    beaten = [ranked[place].name for place in range(1, len(ranked)) if p[0, place] < ALPHA]
    others = len(ranked) - 1
    named = f": {', '.join(beaten)}" if 0 < len(beaten) < others else ""
    count = {0: "none", others: "each"}.get(len(beaten), str(len(beaten)))
    return (
        f"Beyond chance it is better than {count} of the {others} others{named} (Student's t, 5% for all "
        f"{counted(len(p), 'pair')} together, Holm's allowance)."
    )

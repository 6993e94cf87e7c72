"""Starts and follows several runs together, and tests whether they differ beyond chance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from statistics import NormalDist
from typing import Literal, Protocol

from explorer.errors import BadInputError, ExplorerError
from explorer.runs.protocol import Runs
from explorer.runs.record import RunRecord, RunStatus, row_by_row
from explorer.tasks.baseline import Baseline
from explorer.tuning.methods import find_method
from explorer.tuning.spec import RunSpec

ALPHA = 0.05
"""The family-wise error rate: the chance that any difference of a page's comparisons is called real and is not."""

Pair = tuple[int, int]


@dataclass(frozen=True)
class Verdict:
    """The result of comparing runs.

    test: "mcnemar" for an accuracy and "bootstrap" for other metrics, on the same `rows`; "unpaired" if the answers
    were not kept, as if each run had been measured on rows of its own; "" if nothing can be said. p: of each pair,
    adjusted for the number of pairs by Holm's method; empty without a paired test. threshold: without p values, the
    least difference that is beyond chance.
    """

    test: Literal["mcnemar", "bootstrap", "unpaired", ""]
    rows: int
    p: dict[Pair, float]
    threshold: float = 0.0

    @property
    def title(self) -> str:
        """The test's name as a sentence uses it."""
        return test_of("accuracy" if self.test == "mcnemar" else "")


def every_pair(records: Sequence[RunRecord]) -> tuple[Pair, ...]:
    """Return all pairs, for a search for the best run: any of them might have come out best by chance."""
    return tuple(combinations(range(len(records)), 2))


def compare(records: Sequence[RunRecord], pairs: Sequence[Pair]) -> Verdict:
    """Test the given pairs of finished runs, at least one pair, on their leading metric."""
    outcomes = [record.outcome for record in records if record.outcome is not None]
    metric, truths = records[0].leading_metric, {outcome.truths for outcome in outcomes}
    rows = max(next(iter(outcome.rows.values())) for outcome in outcomes)
    if len(outcomes) == len(records) and len(truths) == 1 and all(outcome.answers for outcome in outcomes):
        answers = tuple(outcome.answers for outcome in outcomes)
        p = _paired(metric, truths.pop(), answers, tuple(pairs))
        return Verdict("mcnemar" if metric == "accuracy" else "bootstrap", rows, dict(zip(pairs, p, strict=True)))
    if metric != "accuracy":
        return Verdict("", rows, {})
    # Kept away from 0 and 1, where the normal approximation has no variance.
    level = min(max(max(record.score or 0.0 for record in records), 1 / rows), 1 - 1 / rows)
    errors = NormalDist().inv_cdf(1 - ALPHA / (2 * len(pairs)))  # Bonferroni's correction, two-sided
    return Verdict("unpaired", rows, {}, float(errors * (2 * level * (1 - level) / rows) ** 0.5))


@lru_cache(maxsize=64)
def _paired(metric: str, truths: str, answers: tuple[str, ...], pairs: tuple[Pair, ...]) -> tuple[float, ...]:
    """Return each pair's adjusted p; cached, since a page that follows a run asks again and again."""
    import torch

    from explorer.maths.paired import STATISTICS, bootstrap_p, bootstrapped, holm, mcnemar

    labels, *said = (torch.tensor([float(value) for value in text.split()]) for text in (truths, *answers))
    if metric == "accuracy":
        hits = [one == labels for one in said]
        return tuple(holm([mcnemar(hits[one], hits[other]) for one, other in pairs]))
    # One set of draws for all pairs: runs are resampled on the same rows, so that differences stay paired.
    draws = bootstrapped(STATISTICS[metric], labels, said)
    return tuple(holm([bootstrap_p(draws[one] - draws[other]) for one, other in pairs]))


def against(record: RunRecord, labels: Sequence[float], answers: Sequence[float]) -> float | None:
    """Return p for the difference between a finished run's answers and another's to the same held-out rows; None if the
    rows differ.

    labels, answers: of every row, in its order; tested as `compare` does.
    """
    outcome = record.outcome
    if outcome is None or not outcome.answers or outcome.truths != row_by_row(labels):
        return None
    return _paired(record.leading_metric, outcome.truths, (outcome.answers, row_by_row(answers)), ((0, 1),))[0]


def test_of(metric: str) -> str:
    """Return the name of a metric's test, for a sentence."""
    return "McNemar's test" if metric == "accuracy" else "a paired bootstrap"


def without_a_test(verdict: Verdict, rows: str = "examples") -> str:
    """Return the note on differences between runs whose answers were not kept and so cannot be paired."""
    if verdict.test == "unpaired":
        return (
            f"The answers to single {rows} were not all kept, so these runs are compared as if each had been measured on "
            f"{verdict.rows:,} others: differences below {100 * verdict.threshold:.1f} percentage points "
            "are within chance."
        )
    return f"The answers to single {rows} were not all kept, so what of these differences is chance cannot be said."


def beyond_chance(records: Sequence[RunRecord], pairs: Sequence[Pair]) -> dict[Pair, bool]:
    """Return whether the two runs of each pair differ beyond chance; empty if nothing can be said."""
    verdict = compare(records, pairs)
    if verdict.p:
        return {pair: p < ALPHA for pair, p in verdict.p.items()}
    if not verdict.test:
        return {}
    scores = [record.score or 0.0 for record in records]
    return {(one, other): abs(scores[one] - scores[other]) > verdict.threshold for one, other in pairs}


def lead_in_words(others: Sequence[tuple[str, bool]]) -> str:
    """Return how a headline goes on after the leading score; empty if nothing can be said.

    others: the names of the runs that it is compared with, the best first, and whether the leader is better than each
    beyond chance.
    """
    if not others:
        return ""
    name, sure = others[0]
    if not sure:
        return f"; its lead over {name} could be chance"
    whom = "each of the others" if len(others) > 1 and all(better for _, better in others) else name
    return f", ahead of {whom} by more than chance"


def two_compared(records: Sequence[RunRecord], names: str, rows: str = "examples") -> str:
    """Return the note beside a figure that names the test, and the p, by which two finished runs were compared."""
    verdict = compare(records, [(0, 1)])
    if not verdict.p:
        return without_a_test(verdict, rows)
    return f"The two {names}: p = {verdict.p[0, 1]:.2g}, {verdict.title} on the same {verdict.rows:,} {rows}."


# Following runs: what live actions yield, whatever lab they belong to.

Missing = tuple[tuple[str, str], ...]
"""(title, reason) of what is not possible on a model."""


@dataclass(frozen=True)
class Compared:
    """Runs side by side. missing: (method, why it is not possible on this model). baseline: the score of counting
    words.

    again: the same runs with other seeds, if these were trained as well.
    """

    records: tuple[RunRecord, ...]
    missing: Missing = ()
    baseline: Baseline | None = None
    again: tuple[RunRecord, ...] = ()


class OfRuns(Protocol):
    """A result that is about runs."""

    @property
    def records(self) -> tuple[RunRecord, ...]:
        """The runs."""


def require_success(result: OfRuns) -> None:
    """Raise ExplorerError with the message of a run that failed or was cancelled."""
    for record in result.records:
        if record.status in (RunStatus.FAILED, RunStatus.CANCELLED):
            raise ExplorerError(f"{record.name}: {record.message}")


def follow(runs: Runs, run_id: str) -> Iterator[RunRecord | None]:
    """Yield a run's record whenever it has changed, else None, until it has ended."""
    version = -1
    while True:
        record = runs.get(run_id)
        yield record if record.version != version else None
        version = record.version
        if not record.status.is_active:
            return


def start_all(
    runs: Runs,
    specs: Iterable[RunSpec],
    owner: str,
    title: Callable[[RunSpec], str] = lambda spec: find_method(spec.method).title,
) -> tuple[tuple[str, ...], Missing]:
    """Start the runs that this model can have. Returns their ids, and (title, reason) of the others, each once.

    Raises BadInputError if none is possible.
    """
    started, missing = list[str](), dict[tuple[str, str], None]()
    for spec in specs:
        try:
            started.append(runs.start(spec, owner))
        except ExplorerError as error:
            missing[title(spec), str(error)] = None
    if not started:
        raise BadInputError(next(iter(missing))[1])
    return tuple(started), tuple(missing)


def follow_all(runs: Runs, run_ids: tuple[str, ...], missing: Missing = ()) -> Iterator[Compared | None]:
    """Yield the records of several runs when one has changed, else None, until all have ended."""
    versions: list[int] = []
    while True:
        records = tuple(runs.get(run_id) for run_id in run_ids)
        now = [record.version for record in records]
        yield Compared(records, missing) if now != versions else None
        versions = now
        if not any(record.status.is_active for record in records):
            return

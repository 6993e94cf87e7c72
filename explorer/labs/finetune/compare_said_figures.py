"""What is said of runs side by side: a headline above the figure, and below the table what the headline rests on."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from explorer.charts.words import caption, compact, duration, prose, strong
from explorer.runs.comparing import (
    ALPHA,
    Compared,
    against,
    beyond_chance,
    compare,
    every_pair,
    lead_in_words,
    test_of,
    without_a_test,
)
from explorer.runs.record import RunRecord, RunStatus
from explorer.runs.report import gap_text, metric_text, score_text
from explorer.runs.seeds import Repeated, ahead, by_setting, differences_p, lead_notes, lead_parts, several_seeds
from explorer.tasks.baseline import Baseline


def compared_sentence(result: Compared) -> Markup:
    """Say how many are done, which leads, whether that is more than chance, and what counting words reaches."""
    scored = _scored(result)
    parts = _under_way(result)
    if scored and several_seeds(result.records):
        parts += lead_parts(by_setting(result.records))
    elif scored:
        parts += _lead(scored)
    if scored and result.baseline is not None:
        parts += _beside_counting(result, result.baseline)
    return prose(*parts) if parts else prose("The runs are starting.")


def compared_notes(result: Compared) -> Markup:
    """State what was trained, the tests and their p, for below the table; nothing before any run has a score."""
    scored = _scored(result)
    if not scored:
        return Markup("")
    several = several_seeds(result.records)
    parts = [lead_notes(by_setting(result.records)) if several else _lead_notes(scored)]
    if result.baseline is not None:
        parts.append(_counting_notes(result, result.baseline))
    return caption(" ".join(filter(None, parts)))


def _scored(result: Compared) -> list[RunRecord]:
    return [record for record in result.records if record.outcome is not None and record.score is not None]


def _under_way(result: Compared) -> list[str]:
    ended = [record for record in result.records if not record.status.is_active]
    if len(ended) == len(result.records):
        return []
    running = next((record for record in result.records if record.status is RunStatus.RUNNING), None)
    now = f"; now {running.name}, step {running.step} of {running.steps or '?'}" if running else ""
    return [f"{len(ended)} of {len(result.records)} runs have ended{now}. "]


def _best_first(scored: Sequence[RunRecord]) -> list[RunRecord]:
    return sorted(scored, key=lambda record: -(record.score or 0.0))


def _lead(scored: Sequence[RunRecord]) -> list[str]:
    """Say which run leads; of two that are level neither does."""
    ranked = _best_first(scored)
    best, level = ranked[0], sum(record.score == ranked[0].score for record in ranked)
    leads = " leads with" if level == 1 else f" and {level - 1} more share the lead with"
    # A shared lead, or a run alone, has no lead to test.
    sure = beyond_chance(ranked, every_pair(ranked)) if 1 == level < len(ranked) else {}
    others = [(ranked[place].short_name, sure[0, place]) for place in range(1, len(ranked)) if sure]
    score = strong(metric_text(best.leading_metric, best.score))
    return [strong(best.short_name), f"{leads} ", score, lead_in_words(others), "."]


def _lead_notes(scored: Sequence[RunRecord]) -> str:
    """Say what the best and the smallest trained, and by which test the best is better than which others."""
    ranked = _best_first(scored)
    best, smallest = ranked[0], min(scored, key=lambda record: record.trainable)
    parts = [f"{best.short_name} trains {compact(best.trainable)} of {compact(best.parameters)} parameters."]
    if smallest is not best:
        reached = metric_text(smallest.leading_metric, smallest.score)
        parts.append(f"{smallest.short_name} trains least ({compact(smallest.trainable)}) and reaches {reached}.")
    if len(ranked) > 1:
        parts.append(_tested(ranked))
    return " ".join(parts)


def _tested(ranked: Sequence[RunRecord]) -> str:
    """Say by which test the best is better than which others, over all pairs, since any might have come out on top."""
    verdict = compare(ranked, every_pair(ranked))
    if not verdict.p:
        return without_a_test(verdict)
    asked = f"{verdict.title} on the same {verdict.rows:,} examples"
    if len(ranked) == 2:
        said = "tells the two apart" if verdict.p[0, 1] < ALPHA else "does not tell the two apart"
        return f"{asked[0].upper()}{asked[1:]} {said} (p = {verdict.p[0, 1]:.2g})."
    others = ranked[1:]
    beaten = [other.short_name for place, other in enumerate(others, 1) if verdict.p[0, place] < ALPHA]
    count = {0: "none", len(others): "each"}.get(len(beaten), str(len(beaten)))
    named = f": {', '.join(beaten)}" if 0 < len(beaten) < len(others) else ""
    return (
        f"Beyond chance {ranked[0].short_name} is better than {count} of the {len(others)} others{named} ({asked}, 5% for all "
        f"{len(verdict.p)} pairs together, Holm's allowance)."
    )


def _best_setting(result: Compared) -> Repeated:
    return max((runs for runs in by_setting(result.records) if runs.scores), key=lambda runs: runs.mean)


def _beside_counting(result: Compared, counted: Baseline) -> list[str]:
    """Say what counting words reaches, and whether the leader's distance from it is more than chance."""
    best = _best_setting(result)
    metric = best.first.leading_metric
    reached = counted.metrics[metric]
    parts = [" Counting words alone reaches ", strong(score_text(metric, reached))]
    sure = _far_from_counting(best, counted)
    if sure is None or reached is None or best.mean == reached:
        return [*parts, "."]
    side = "above" if best.mean > reached else "below"
    return [*parts, f": {best.name} is {side} it", " by more than chance." if sure else ", but that could be chance."]


def _far_from_counting(best: Repeated, counted: Baseline) -> bool | None:
    """Return whether the two differ beyond chance; None if that cannot be said."""
    reached = counted.metrics[best.first.leading_metric]
    if reached is not None and len(best.scores) > 1:
        # It has no seed, so every seed is compared with one score.
        return differences_p([(best.scores, dict.fromkeys(best.scores, reached))])[0] < ALPHA
    p = against(best.first, counted.labels, counted.answers)
    return None if p is None else p < ALPHA


def _counting_notes(result: Compared, counted: Baseline) -> str:
    """Say what it took to count words, and how far the best run is from it."""
    best = _best_setting(result)
    metric = best.first.leading_metric
    reached = counted.metrics[metric]
    said = f"{counted.title} took {duration(counted.seconds)} with {counted.features:,} features"
    if reached is None:
        return f"{said}."
    if len(best.scores) > 1:
        return f"{said}; {best.name} is {ahead(metric, best.scores, dict.fromkeys(best.scores, reached), 'it')}."
    gap = gap_text(metric, abs(best.mean - reached))
    side = "level with it" if best.mean == reached else f"{gap} {'above' if best.mean > reached else 'below'} it"
    p = against(best.first, counted.labels, counted.answers)
    tested = "" if p is None else f" (p = {p:.2g}, {test_of(metric)} on the same {len(counted.labels):,} examples)"
    return f"{said}; {best.name} is {side}{tested}."

"""Runs from nothing in words: how they stand, and what they have learned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from explorer.charts.words import compact, percent, prose, strong
from explorer.runs.comparing import Compared
from explorer.runs.record import RunRecord, RunStatus
from explorer.runs.report import under_way
from explorer.scratch.spec import FORMATS, OBJECTIVES, SETTINGS, ScratchSpec

WORSE = 0.1
"""Nats above its lowest from which a held-out loss is said to have risen."""

JUDGED_BY = ("row_format", "length", "rate", "mask_share", "random_share", "scheme", "vocabulary", "task", "model")
"""The settings on which it depends what is asked of a model on held-out text."""


def spec_of(record: RunRecord) -> ScratchSpec:
    """Return what a run from nothing was asked."""
    assert isinstance(record.spec, ScratchSpec)
    return record.spec


def name_of(record: RunRecord, records: Sequence[RunRecord]) -> str:
    """Name a run by the settings in which it differs from the one that it is raced with, else by its own name."""
    others = [spec_of(other) for other in records if other is not record]
    spec = spec_of(record)
    differ = [name for name in SETTINGS if any(getattr(spec, name) != getattr(other, name) for other in others)]
    return ", ".join(_setting(name, getattr(spec, name)) for name in differ) or record.name


def _setting(name: str, value: Any) -> str:
    """Write a setting as a legend tells it."""
    if name == "objective":
        return OBJECTIVES[value].title
    if name == "row_format":
        return FORMATS[value].title
    return f"{name} {value}".replace("_", " ")


def pretrain_sentence(result: Compared) -> Markup:
    """Say how the runs stand, or what they have learned."""
    active = [record for record in result.records if record.status.is_active]
    if active:
        return prose(under_way(active[0], _speed(active[0])))
    if len(result.records) == 2 and all(_is_measured(record) for record in result.records):
        return prose(*_raced(*result.records))
    return prose(*(part for record in result.records for part in _reached(record)))


def _is_measured(record: RunRecord) -> bool:
    return record.outcome is not None and len(record.evaluations) > 1


def leading_loss(record: RunRecord) -> str:
    """Return the loss by which a run is judged: its objective's first."""
    return OBJECTIVES[spec_of(record).objective].losses[0]


def ended_at(record: RunRecord) -> int:
    """Return the step whose weights a run has: the last one, or the best if that is kept."""
    return record.kept or max(step for step, _ in record.evaluations)


def loss_at(record: RunRecord, step: int) -> float | None:
    """Return the held-out loss by which a run is judged, at a step."""
    return dict(record.evaluations)[step].get(leading_loss(record))


def same_rows(first: RunRecord, second: RunRecord) -> bool:
    """Return whether two runs are judged on the same held-out rows with the same tokens hidden, so that their losses
    compare.
    """
    same = all(getattr(spec_of(first), name) == getattr(spec_of(second), name) for name in JUDGED_BY)
    return same and leading_loss(first) == leading_loss(second) and _drawn_as(first) == _drawn_as(second)


def _drawn_as(record: RunRecord) -> tuple[bool, bool]:
    """Return the settings of an objective that change the held-out rows: pairs in order are other rows, and ELECTRA's
    are masks alone.
    """
    objective = OBJECTIVES[spec_of(record).objective]
    return objective.pairs == "order", "replaced_loss" in objective.losses


def _raced(*records: RunRecord) -> list[str]:
    """State the losses at which two runs ended, and whether they can be compared."""
    first, second = records
    losses = [loss_at(record, ended_at(record)) for record in records]
    names = [name_of(record, records) for record in records]
    parts = [f"On text that neither has read, {names[0]} ends at a loss of ", strong(_text(losses[0]))]
    parts += [f", {names[1]} at ", strong(_text(losses[1])), "."]
    if not same_rows(first, second):
        return [*parts, " The two are asked different rows, so these are not losses of the same text."]
    learned = [name for name, record in zip(names, records, strict=True) if _by_heart(record)]
    if learned:
        parts.append(f" Trained on, {' and '.join(learned)} learned the text by heart: the solid line rises.")
    return parts


def _speed(record: RunRecord) -> str:
    return f", {compact(record.rate * spec_of(record).length)} tokens/s" if record.rate else ""


def _reached(record: RunRecord) -> list[str]:
    if not _is_measured(record):
        return [strong(record.name), f" is {record.status.value}. ", record.message, " "]
    scores = dict(record.evaluations)
    leading, at = leading_loss(record), ended_at(record)
    before, after, last = loss_at(record, min(scores)), loss_at(record, at), scores[at]
    parts = [
        strong(record.name),
        f": on text that it has never read, −ln p of a {'next' if leading == 'next_loss' else 'hidden'} token "
        f"{_moved(before, after)} {_text(before)} to ",
        strong(_text(after)),
        f" at step {at:,}" if record.kept else "",
        f", and it guesses {percent(last.get('accuracy') or 0.0)} of them",
    ]
    if "pair_accuracy" in last:
        parts.append(f"; {percent(last['pair_accuracy'] or 0.0)} of the pairs are judged rightly (guessing: 50%)")
    if "replaced_accuracy" in last:
        replaced = percent(last.get("replaced_share") or 0.0)
        parts.append(
            f"; {percent(last['replaced_accuracy'] or 0.0)} of all tokens are judged rightly, where {replaced} are replaced"
        )
    learned = " Trained on, it learned the text by heart: the solid line rises." if _by_heart(record) else ""
    stopped = f" {record.message}" if record.status is RunStatus.STOPPED else ""
    return [*parts, f".{learned}{stopped} "]


def _moved(before: float | None, after: float | None) -> str:
    """Say what the loss did, by the two digits that are shown."""
    if before is None or after is None or _text(before) == _text(after):
        return "went from"
    return "fell from" if after < before else "rose from"


def _by_heart(record: RunRecord) -> bool:
    """Return whether the held-out loss was clearly lower before the last step: what came after was learned by heart."""
    name = leading_loss(record)
    measured = [value for _, values in record.evaluations if (value := values.get(name)) is not None]
    return min(measured) < measured[-1] - WORSE


def _text(loss: float | None) -> str:
    return "?" if loss is None else f"{loss:.2f}"

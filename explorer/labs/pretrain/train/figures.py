"""Training from nothing as it is seen: losses on text that is learnt and on text that is held out, and what the model says."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from explorer.charts import Panel, Picture, Trace, axis, level, line, picture, points
from explorer.charts.words import caption, cells, compact, duration, label, percent, prose, strong
from explorer.models.trained import trained_id
from explorer.runs.following import Compared
from explorer.runs.record import RunRecord, RunStatus
from explorer.runs.report import under_way
from explorer.scratch.objectives import FORMATS, LOSS_TITLES, OBJECTIVES, TRAINING
from explorer.scratch.saying import Said
from explorer.scratch.spec import NOTHING, SETTINGS, ScratchSpec
from explorer.tables import Table

COLOURS = ("@accent", "@second")
JUDGED_BY = ("row_format", "length", "rate", "scheme", "vocabulary", "task", "model")
"""The settings on which it depends what is asked of a model on held-out text."""
MEASURED = ("masked_loss", "next_loss", "pair_loss", "replaced_loss")
WORSE = 0.1
"""Nats above its lowest from which a held-out loss is said to have risen."""
SHOWN_STEPS = 9
"""Checkpoints whose words are shown: the first, the last, and others in even steps between."""


def spec_of(record: RunRecord) -> ScratchSpec:
    """What a run from nothing was asked."""
    assert isinstance(record.spec, ScratchSpec)
    return record.spec


def name_of(record: RunRecord, records: Sequence[RunRecord]) -> str:
    """What tells a run from the one that it is raced with: the settings in which they differ, else its name."""
    others = [spec_of(other) for other in records if other is not record]
    spec = spec_of(record)
    differ = [name for name in SETTINGS if any(getattr(spec, name) != getattr(other, name) for other in others)]
    return ", ".join(_setting(name, getattr(spec, name)) for name in differ) or record.name


def _setting(name: str, value: Any) -> str:
    """A setting as a legend tells it."""
    if name == "objective":
        return OBJECTIVES[value].title
    if name == "row_format":
        return FORMATS[value].title
    return f"{name} {value}".replace("_", " ")


def pretrain_table(result: Compared) -> Table:
    """run, step, each measurement by its name, and as says_1 and so on the likeliest token for each blank that is asked."""
    measured = list(
        dict.fromkeys(name for record in result.records for _, values in record.evaluations for name in values)
    )
    asked = list(dict.fromkeys(_blank(one) for record in result.records for one in record.said))
    rows = []
    for record in result.records:
        scores = dict(record.evaluations)
        words = {(one.step, _blank(one)): one.tokens[0] for one in record.said}
        for step in sorted({*scores, *(one.step for one in record.said)}):
            values = scores.get(step, {})
            rows.append(
                (
                    name_of(record, result.records),
                    step,
                    *(values.get(name) for name in measured),
                    *(words.get((step, blank)) for blank in asked),
                )
            )
    says = (f"says_{number}" for number in range(1, len(asked) + 1))
    return Table.of(("run", "step", *measured, *says), rows)


def _blank(one: Said) -> str:
    return f"{one.text} ({one.blank + 1})" if one.blank else one.text


def pretrain_sentence(result: Compared) -> Markup:
    """How the runs stand, or what they have learnt."""
    active = [record for record in result.records if record.status.is_active]
    if active:
        return prose(under_way(active[0], _speed(active[0])))
    if len(result.records) == 2 and all(_is_measured(record) for record in result.records):
        return prose(*_raced(*result.records))
    return prose(*(part for record in result.records for part in _reached(record)))


def _is_measured(record: RunRecord) -> bool:
    return record.outcome is not None and len(record.evaluations) > 1


def leading_loss(record: RunRecord) -> str:
    """The loss by which a run is judged: its objective's first."""
    return OBJECTIVES[spec_of(record).objective].losses[0]


def ended_at(record: RunRecord) -> int:
    """The step whose weights a run has: the last one, or the best where that is kept."""
    return record.kept or max(step for step, _ in record.evaluations)


def _loss_at(record: RunRecord, step: int) -> float | None:
    return dict(record.evaluations)[step].get(leading_loss(record))


def same_rows(first: RunRecord, second: RunRecord) -> bool:
    """Whether two runs are judged on the same held-out rows with the same tokens hidden, so that their losses can be compared."""
    same = all(getattr(spec_of(first), name) == getattr(spec_of(second), name) for name in JUDGED_BY)
    return same and leading_loss(first) == leading_loss(second)


def _raced(*records: RunRecord) -> list[str]:
    """The losses at which two runs ended, and whether they can be compared."""
    first, second = records
    losses = [_loss_at(record, ended_at(record)) for record in records]
    names = [name_of(record, records) for record in records]
    parts = [f"On text that neither has read, {names[0]} ends at a loss of ", strong(_text(losses[0]))]
    parts += [f", {names[1]} at ", strong(_text(losses[1])), "."]
    if not same_rows(first, second):
        return [*parts, " The two are asked different rows, so these are not losses of the same text."]
    learnt = [name for name, record in zip(names, records, strict=True) if _by_heart(record)]
    if learnt:
        parts.append(f" Trained on, {' and '.join(learnt)} learned the text by heart: the solid line rises.")
    return parts


def _speed(record: RunRecord) -> str:
    return f", {compact(record.rate * spec_of(record).length)} tokens/s" if record.rate else ""


def _reached(record: RunRecord) -> list[str]:
    if not _is_measured(record):
        return [strong(record.name), f" is {record.status.value}. ", record.message, " "]
    scores = dict(record.evaluations)
    leading, at = leading_loss(record), ended_at(record)
    before, after, last = _loss_at(record, min(scores)), _loss_at(record, at), scores[at]
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
    learnt = " Trained on, it learned the text by heart: the solid line rises." if _by_heart(record) else ""
    stopped = f" {record.message}" if record.status is RunStatus.STOPPED else ""
    return [*parts, f".{learnt}{stopped} "]


def _moved(before: float | None, after: float | None) -> str:
    """What the loss did, by the two digits that are shown."""
    if before is None or after is None or _text(before) == _text(after):
        return "went from"
    return "fell from" if after < before else "rose from"


def _by_heart(record: RunRecord) -> bool:
    """Whether the held-out loss was clearly lower before the last step: what came after was learnt by heart."""
    name = leading_loss(record)
    measured = [value for _, values in record.evaluations if (value := values.get(name)) is not None]
    return min(measured) < measured[-1] - WORSE


def _text(loss: float | None) -> str:
    return "?" if loss is None else f"{loss:.2f}"


def curves_figure(result: Compared, scale: str = "log") -> Picture:
    """A panel for each loss, against the step: dashed on the text that is learnt, solid on what is held out."""
    names = [name for name in MEASURED if any(_has(record, name) for record in result.records)]
    last = max((record.steps or 1 for record in result.records), default=1)
    log = scale == "log"
    span = [math.log10(0.7), math.log10(last * 1.1)] if log else [0, last * 1.02]
    ticks: dict[str, Any] = {"dtick": 1} if log else {}
    across = axis("training step", log=log, span=span, **ticks)
    panels = []
    for place, name in enumerate(names or ["masked_loss"]):
        marks = [level(math.log(2))] if name == "pair_loss" else []
        up = axis(LOSS_TITLES[name], standoff=12, zero=name != "masked_loss" and name != "next_loss")
        panels.append(Panel(_lines(result, name, log), None if place else across, up, marks=marks))
    said = pretrain_sentence(result)
    height = 360 if len(names) < 2 else 500
    return picture(said, panels, columns=1, height=height, legend=True, legend_size=14, uirevision="pretrain")


def _has(record: RunRecord, name: str) -> bool:
    return any(values.get(name) is not None for _, values in record.evaluations)


def _lines(result: Compared, name: str, log: bool) -> list[Trace]:
    """Step 0 stands at 0.8 on a logarithmic axis, which has no 0. Other seeds are thin lines, the kept step a ring."""
    traces = _again(result, name, log)
    for record, colour in zip(result.records, COLOURS, strict=False):
        called = label(name_of(record, result.records), 40)
        for prefix, dash, kind in ((TRAINING, "dot", "learnt"), ("", "", "held out")):
            shown = [
                (step, values[prefix + name])
                for step, values in record.evaluations
                if values.get(prefix + name) is not None
            ]
            if not shown:
                continue
            traces.append(
                line(
                    [step if step or not log else 0.8 for step, _ in shown],
                    [value for _, value in shown],
                    colour,
                    f"{called}: {kind}" if len(result.records) > 1 else kind,
                    dash=dash,
                    width=2 if prefix else 3,
                    size=0 if prefix else 6,
                    hover=f"step %{{x}}: %{{y:.3f}} ({kind})",
                    aside=f"{called}: {kind}",
                )
            )
        traces += _kept(record, name, colour)
    return traces


def _again(result: Compared, name: str, log: bool) -> list[Trace]:
    """The same runs with other seeds, each in the colour of the one that differs from it in nothing else."""
    traces = []
    for record in result.again:
        own = [one for one in result.records if replace(spec_of(one), seed=spec_of(record).seed) == spec_of(record)]
        colour = COLOURS[result.records.index(own[0])] if own else "@muted"
        shown = [(step, values[name]) for step, values in record.evaluations if values.get(name) is not None]
        steps = [step if step or not log else 0.8 for step, _ in shown]
        hover = f"seed {spec_of(record).seed}, step %{{x}}: %{{y:.3f}} (held out)"
        traces.append(line(steps, [value for _, value in shown], colour, width=1, hover=hover, showlegend=False))
    return traces


def _kept(record: RunRecord, name: str, colour: str) -> list[Trace]:
    value = dict(record.evaluations).get(record.kept, {}).get(name)
    if not record.kept or value is None:
        return []
    hover = f"step {record.kept:,}: the weights that are kept"
    ring = {"color": "rgba(0,0,0,0)", "line": {"color": colour, "width": 3}}
    return [points([record.kept], [value], size=17, marker=ring, hover=hover, showlegend=False)]


def said_view(result: Compared) -> Markup:
    """For each run and question a row a checkpoint: the five likeliest tokens, or how it goes on."""
    return Markup("").join(_said_of(record, result.records) for record in result.records)


def _said_of(record: RunRecord, records: Sequence[RunRecord]) -> Markup:
    if not record.said:
        return Markup("")
    title = Markup("<h3>{}</h3>").format(name_of(record, records)) if len(records) > 1 else Markup("")
    blanks = list(dict.fromkeys(_blank(one) for one in record.said))
    steps = _chosen_steps(sorted({one.step for one in record.said}), record.kept)
    by = {(one.step, _blank(one)): one for one in record.said}
    head = Markup("<tr><th>step</th>{}</tr>").format(cells(blanks, "th"))
    rows = [
        Markup("<tr><th>{}</th>{}</tr>").format(
            f"{step:,}{', kept' if step == record.kept else ''}",
            Markup("").join(_cell(by.get((step, blank))) for blank in blanks),
        )
        for step in steps
    ]
    return Markup('{}<div class="wide"><table class="said-at">{}{}</table></div>').format(
        title, head, Markup("").join(rows)
    )


def _chosen_steps(steps: list[int], kept: int) -> list[int]:
    """SHOWN_STEPS of them at even distances, and the one whose weights are kept."""
    if len(steps) <= SHOWN_STEPS:
        return steps
    return sorted(
        {
            *([kept] if kept in steps else []),
            *{steps[round(place * (len(steps) - 1) / (SHOWN_STEPS - 1))] for place in range(SHOWN_STEPS)},
        }
    )


def _cell(one: Said | None) -> Markup:
    if one is None:
        return Markup("<td></td>")
    if one.written:
        return Markup('<td class="written">{}</td>').format(one.written)
    words = [
        Markup('<span class="token">{}</span> <small>{}</small>').format(token, percent(chance))
        for token, chance in list(zip(one.tokens, one.probabilities, strict=True))[:3]
    ]
    return Markup("<td>{}</td>").format(Markup(" ").join(words))


def facts_line(result: Compared) -> Markup:
    """What was trained on what, and what other seeds came to."""
    return Markup("").join([*(_facts(record) for record in result.records), _seeds(result)])


def _seeds(result: Compared) -> Markup:
    """From where to where the losses lie at which each run ends, over all seeds."""
    if not result.again:
        return Markup("")
    ends: list[str] = []
    for record in result.records:
        alike = [one for one in result.again if replace(spec_of(one), seed=spec_of(record).seed) == spec_of(record)]
        losses = [_loss_at(one, ended_at(one)) or 0.0 for one in (record, *alike)]
        ends.append(f"{name_of(record, result.records)} {min(losses):.2f} to {max(losses):.2f}")
    seeds = len({spec_of(one).seed for one in (*result.records, *result.again)})
    return caption(f"With {seeds} seeds (thin lines) the losses at the end are: {', '.join(ends)}.")


def _facts(record: RunRecord) -> Markup:
    if not record.parameters:
        return Markup("")
    spec, epochs = spec_of(record), record.step / max(1, record.steps_per_epoch)
    begun = "random numbers" if spec.model == NOTHING else spec.model
    hidden = ""
    if OBJECTIVES[spec.objective].masks:
        kind = "drawn anew for every row" if spec.masking == "dynamic" else f"{spec.copies} for each row"
        hidden = f" {percent(spec.rate)} of the tokens are hidden, {kind}."
    return caption(
        f"{compact(record.parameters)} parameters, begun from {begun}. An epoch of {record.task_title.split(' · ')[-1]} is "
        f"{record.examples:,} rows, and {epochs:.1f} of them were read.{hidden}"
    )


def take_home(result: Compared) -> Markup:
    """Buttons that choose what has been trained as the model of every page."""
    made = [
        record
        for record in result.records
        if record.status.has_weights and not OBJECTIVES[spec_of(record).objective].predicts_next
    ]
    if not made:
        return Markup("")
    offers = [
        Markup('<button type="button" class="offer" data-model="{}">{}</button>').format(
            trained_id(record.run_id, record.step), name_of(record, result.records)
        )
        for record in made
    ]
    return Markup("<p>Ask it on every page: {}</p>").format(Markup(" ").join(offers))


def steered(result: Compared) -> dict[str, Any]:
    """Which buttons a page shows: whether something trains, and whether the first run can go on."""
    active = any(record.status.is_active for record in result.records)
    ended = (RunStatus.STOPPED, RunStatus.INTERRUPTED, RunStatus.FAILED)
    over = [record for record in result.records if record.status in ended and record.step < (record.steps or 1)]
    return {"active": active, "over": [record.run_id for record in over]}

"""Training from nothing as it is seen: losses on text that is learned and on text that is held out, and what the model says."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from explorer.charts import Panel, Picture, Trace, axis, level, line, picture, points
from explorer.charts.words import caption, cells, compact, label, percent
from explorer.labs.pretrain.train_said_figures import ended_at, loss_at, name_of, pretrain_sentence, spec_of
from explorer.models.catalog import trained_id
from explorer.runs.comparing import Compared
from explorer.runs.record import RunRecord, RunStatus
from explorer.scratch.spec import LOSS_TITLES, NOTHING, OBJECTIVES, TRAINING, Said
from explorer.tables import Table

COLOURS = ("@accent", "@second")
MEASURED = ("masked_loss", "next_loss", "pair_loss", "replaced_loss")
SHOWN_STEPS = 9
"""Checkpoints whose words are shown: the first, the last, and others in even steps between."""


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


def curves_figure(result: Compared, scale: str = "log") -> Picture:
    """Draw a panel for each loss, against the step: dashed on the text that is learned, solid on what is held out."""
    names = [name for name in MEASURED if any(_has(record, name) for record in result.records)]
    last = max((record.steps or 1 for record in result.records), default=1)
    log = scale == "log"
    span = [math.log10(0.7), math.log10(last * 1.1)] if log else [0, last * 1.02]  # from 0.7: step 0 stands at 0.8
    ticks: dict[str, Any] = {"dtick": 1} if log else {}
    across = axis("training step", log=log, span=span, **ticks)
    panels = []
    for place, name in enumerate(names or ["masked_loss"]):
        marks = [level(math.log(2))] if name == "pair_loss" else []  # a coin's loss on two classes
        up = axis(LOSS_TITLES[name], standoff=12, zero=name != "masked_loss" and name != "next_loss")
        panels.append(Panel(_lines(result, name, log), None if place else across, up, marks=marks))
    said = pretrain_sentence(result)
    height = 360 if len(names) < 2 else 500
    # A visitor's zoom survives the redraws.
    return picture(said, panels, columns=1, height=height, legend=True, legend_size=14, uirevision="pretrain")


def _has(record: RunRecord, name: str) -> bool:
    return any(values.get(name) is not None for _, values in record.evaluations)


def _lines(result: Compared, name: str, log: bool) -> list[Trace]:
    """Draw each run's lines; other seeds are thin, the kept step a ring.

    Step 0 stands at 0.8 on a logarithmic axis, which has no 0.
    """
    traces = _again(result, name, log)
    for record, colour in zip(result.records, COLOURS, strict=False):
        called = label(name_of(record, result.records), 40)
        for prefix, dash, kind in ((TRAINING, "dot", "learned"), ("", "", "held out")):
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
    """Draw the same runs with other seeds, each in the colour of the one that differs from it in nothing else."""
    traces = []
    for record in result.again:
        own = [one for one in result.records if only_seeds_differ(one, record)]
        colour = COLOURS[result.records.index(own[0])] if own else "@muted"
        shown = [(step, values[name]) for step, values in record.evaluations if values.get(name) is not None]
        steps = [step if step or not log else 0.8 for step, _ in shown]
        hover = f"seed {spec_of(record).seed}, step %{{x}}: %{{y:.3f}} (held out)"
        name_of_seed = f"seed {spec_of(record).seed}: held out"
        values_of = [value for _, value in shown]
        traces.append(line(steps, values_of, colour, name_of_seed, width=1, hover=hover, showlegend=False))
    return traces


def only_seeds_differ(one: RunRecord, other: RunRecord) -> bool:
    """Return whether two runs are the same training with other seeds; what they were asked on the way is no part of it."""
    mine, theirs = (replace(spec_of(record), seed=0, probes="") for record in (one, other))
    return mine == theirs


def _kept(record: RunRecord, name: str, colour: str) -> list[Trace]:
    value = dict(record.evaluations).get(record.kept, {}).get(name)
    if not record.kept or value is None:
        return []
    hover = f"step {record.kept:,}: the weights that are kept"
    ring = {"color": "rgba(0,0,0,0)", "line": {"color": colour, "width": 3}}  # a ring: what is under it stays in view
    return [points([record.kept], [value], None, "kept", size=17, marker=ring, hover=hover, showlegend=False)]


def said_view(result: Compared) -> Markup:
    """Tabulate for each run and question a row a checkpoint: the likeliest tokens, or how it goes on; of several runs all but
    the first are folded.
    """
    told = [record for record in result.records if record.said]
    if len(result.records) == 1:
        return Markup("").join(map(_said_of, told))
    fold = Markup('<details class="said-by"{}><summary>{}</summary>{}</details>')
    return Markup("").join(
        fold.format("" if place else Markup(" open"), name_of(record, result.records), _said_of(record))
        for place, record in enumerate(told)
    )


def _said_of(record: RunRecord) -> Markup:
    blanks = list(dict.fromkeys(_blank(one) for one in record.said))
    steps = _chosen_steps(sorted({one.step for one in record.said}), record.kept)
    by = {(one.step, _blank(one)): one for one in record.said}
    head = Markup("<tr><th>step</th>{}</tr>").format(cells(blanks, "th"))
    rows = [
        Markup("<tr><th>{}</th>{}</tr>").format(
            f"{step:,}{_is_kept(step, record.kept)}",
            Markup("").join(_cell(by.get((step, blank))) for blank in blanks),
        )
        for step in steps
    ]
    return Markup('<div class="wide"><table class="said-at">{}{}</table></div>').format(head, Markup("").join(rows))


def _is_kept(step: int, kept: int) -> str:
    """Say of a step whether the run has its weights; nothing of one before, or where the last are the best."""
    return "" if not kept or step < kept else ", kept" if step == kept else ", not kept"


def _chosen_steps(steps: list[int], kept: int) -> list[int]:
    """Choose SHOWN_STEPS of the steps at even distances, and the one whose weights are kept."""
    if len(steps) <= SHOWN_STEPS:
        return steps
    return sorted(
        {
            *([kept] if kept else []),
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
    """Say what was trained on what, and what other seeds came to."""
    return Markup("").join([*(_facts(record) for record in result.records), _seeds(result)])


def _seeds(result: Compared) -> Markup:
    """State the lowest and the highest loss at which each run ends, over all seeds."""
    if not result.again:
        return Markup("")
    ends: list[str] = []
    for record in result.records:
        alike = [one for one in result.again if only_seeds_differ(one, record)]
        losses = [loss_at(one, ended_at(one)) or 0.0 for one in (record, *alike)]
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
        f"{record.examples:,} rows, and {epochs:.1f} epochs were read.{hidden}"
    )


def take_home(result: Compared) -> Markup:
    """Offer the trained model on every page, unless it only predicts the next token."""
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
    """Say which buttons a page shows: whether something trains, and whether the first run can go on."""
    active = any(record.status.is_active for record in result.records)
    ended = (RunStatus.STOPPED, RunStatus.INTERRUPTED, RunStatus.FAILED)
    over = [record for record in result.records if record.status in ended and record.step < (record.steps or 1)]
    return {"active": active, "over": [record.run_id for record in over]}

"""A run's answers on the visitor's own text, several adapters in one batch, and the merged weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple

from markupsafe import Markup

from explorer.charts import Picture, Trace, axis, bars, chart, error_bars, level, points, rows
from explorer.charts.words import caption, percent, prose, quoted, strong
from explorer.labs.finetune.schema import MergeForm, MergeResult, Prediction, PredictRunResult, SwapResult
from explorer.runs.checks import model_of, why_no_model
from explorer.runs.record import RunRecord
from explorer.runs.report import busy_said
from explorer.tables import Table


def answer_text(labels: Sequence[str], prediction: Prediction) -> str:
    """Write the leading class with its probability, or the score."""
    if prediction.score is not None:
        return f"{prediction.score:.2f}"
    place = max(range(len(labels)), key=prediction.probabilities.__getitem__)
    return f"{labels[place]} ({percent(prediction.probabilities[place])})"


def prediction_table(result: PredictRunResult) -> Table:
    """model, class, logit, probability; for a regression one row a model, with the score as its class."""
    rows: list[tuple[str, str, float, float | None]] = []
    for name, prediction in (("base", result.base), ("adapted", result.adapted)):
        if prediction.score is not None:
            rows.append((name, f"{prediction.score:.4f}", prediction.logits[0], None))
        # A score has no probabilities.
        for label, logit, probability in zip(result.labels, prediction.logits, prediction.probabilities, strict=False):
            rows.append((name, label, logit, probability))
    return Table.of(("model", "class", "logit", "probability"), rows)


def prediction_sentence(result: PredictRunResult) -> Markup:
    """Say what both models answer."""
    return prose(
        strong(result.adapted.name),
        " says ",
        strong(answer_text(result.labels, result.adapted)),
        f"; before training, with the head it started from, the model said {answer_text(result.labels, result.base)}.",
    )


def prediction_figure(result: PredictRunResult) -> Picture:
    """Draw bars: each class before and after the run, or the two scores."""
    pairs = ((result.base, "before training", "@muted"), (result.adapted, "after", "@first"))
    traces = [_bars(result.labels, prediction, name, colour) for prediction, name, colour in pairs]
    across = axis(percent=True, span=(0, 1.12)) if result.adapted.score is None else axis("score")
    said, height = prediction_sentence(result), 150 + 70 * max(1, len(result.labels))
    down = axis(names=True, down=True, size=18)
    return chart(said, traces, across, down, height=height, right=30, legend=True, barmode="group", bargap=0.3)


def _bars(labels: Sequence[str], prediction: Prediction, name: str, colour: str) -> Trace:
    names, values, texts = labels, prediction.probabilities, [percent(value) for value in prediction.probabilities]
    if prediction.score is not None:
        names, values, texts = ["score"], (prediction.score,), [f"{prediction.score:.2f}"]
    return bars(names, values, colour, name, texts=texts, size=16, hover="%{y}: %{x:.4f}", aside=name)


def swap_table(result: SwapResult) -> Table:
    """row, run, answer in the mixed batch, answer alone, largest difference of the logits."""
    rows = []
    for number, (mixed, alone) in enumerate(zip(result.rows, result.alone, strict=True)):
        labels = result.labels[mixed.run_id]
        gap = max(abs(a - b) for a, b in zip(mixed.logits, alone.logits, strict=True))
        rows.append((number, mixed.name, answer_text(labels, mixed), answer_text(labels, alone), gap))
    return Table.of(("row", "run", "in_the_batch", "alone", "max_difference"), rows)


def swap_sentence(result: SwapResult) -> Markup:
    """Say that each row went through its own adapter, at what cost."""
    together, alone = result.milliseconds
    return prose(
        f"One batch of {len(result.rows)} rows, each through another adapter over the same frozen weights: ",
        strong(f"{together:.1f} ms"),
        f" together, {alone:.1f} ms one after the other. The largest difference of a logit from the run by itself is ",
        strong(f"{result.difference:.1e}"),
        ". A merged model cannot do this (Hu et al. 2021, section 4.2): it has only one adapter in its weights.",
    )


def swap_list(result: SwapResult) -> Markup:
    """Tabulate what each run answers."""
    rows = [(one.name, strong(answer_text(result.labels[one.run_id], one))) for one in result.rows]
    return quoted(("row's adapter", "answer"), rows)


ROUNDING = 1e-4
"""What float32 leaves of two equal logits; more is another answer."""


def merge_table(result: MergeResult) -> Table:
    """form, max_difference, milliseconds (the median, and its quartiles low and high), the merged form's time over this one's."""
    columns = ("form", "max_difference", "milliseconds", "low", "high", "merged_over_it", "ratio_low", "ratio_high")
    rows = [(form.form, form.max_difference, *astuple(form.spent), *astuple(form.merged)) for form in result.forms]
    return Table.of(columns, rows)


def merge_sentence(result: MergeResult) -> Markup:
    """Say whether the outputs are the same, and what the merge saves."""
    base, attached, merged = (_form(result, name) for name in TITLES)
    same = (merged.max_difference or 0.0) <= ROUNDING
    said = " gives the same logits up to rounding" if same else " does not give the same logits: they differ by up to "
    parts = ["Merged into the weights, ", strong(result.name), said]
    parts += [". "] if same else [strong(f"{merged.max_difference:.1e}"), ". "]
    if result.is_busy:
        return prose(*parts, *busy_said(base.spent))
    return prose(
        *parts, f"Beside the adapter attached, {_compared(attached)}; beside the model before, {_compared(base)}."
    )


def _form(result: MergeResult, name: str) -> MergeForm:
    return next(form for form in result.forms if form.form == name)


def _compared(other: MergeForm) -> str:
    """Say how much quicker or slower the merged model is, if the rounds in which both were timed can tell."""
    merged = other.merged
    if not merged.differs:
        return "no difference can be measured"
    if merged.median < 1:
        return f"it is {percent(1 - merged.median)} quicker"
    return f"it is {percent(merged.median - 1)} slower, which only noise can explain"


TITLES = {"base": "model before", "attached": "adapter attached", "merged": "merged"}


def merge_figure(result: MergeResult) -> Picture:
    """Draw the merged model's time as a multiple of the other two, each with its 95% interval; the line is no
    difference.
    """
    others = [_form(result, name) for name in ("attached", "base")]
    marks = [
        points(
            [one.merged.median],
            [place],
            colour,
            size=15,
            error_x=error_bars(
                [one.merged.high - one.merged.median], [one.merged.median - one.merged.low], thickness=3, width=9
            ),
            hover=f"%{{x:.3f}} times the time of the {TITLES[one.form]} ({one.spent.median:.1f} ms)",
        )
        for place, (one, colour) in enumerate(zip(others, ("@second", "@first"), strict=True))
    ]
    ends = [1.0, *(one.merged.low for one in others), *(one.merged.high for one in others)]
    room = 0.08 * (max(ends) - min(ends)) or 0.05  # equal times have no range
    across = axis(
        f"merged, as a multiple, with 95% interval ({result.timed} texts)", span=(min(ends) - room, max(ends) + room)
    )
    down = rows([f"beside the {TITLES[one.form]}<br>{one.spent.median:.1f} ms" for one in others], size=16)
    return chart(merge_sentence(result), marks, across, down, [level(1.0, upright=True)], height=260, right=30)


def export_table(path: str) -> Table:
    """file: where it was written."""
    return Table.of(("file",), [(path,)])


def offer(record: RunRecord | None) -> Markup:
    """Offer the merged model as that of every page, or say why there is none."""
    if record is None:
        return Markup("")
    if reason := why_no_model(record):
        return caption(reason)
    button = Markup('<button type="button" class="offer" data-model="{}">{}</button>').format(
        model_of(record), record.name
    )
    return Markup(
        "<p>Ask it on every page, with the heads that the model had before, or train on from it: {}</p>"
    ).format(button)

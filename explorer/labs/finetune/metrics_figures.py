"""What the Metrics tab says and draws: sentences, the matrix and the points, each metric's formula with its numbers."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from explorer.charts import Panel, Picture, axis, bars, line, picture, points
from explorer.charts.words import caption, counted, label, percent, prose, quoted, strong
from explorer.labs.finetune.metrics import (
    CLASS_NAMES,
    REASONS,
    UNDEFINED,
    Cloud,
    Correlated,
    Matrix,
    TakenApart,
    TakenMetric,
    decimals,
    written,
)
from explorer.labs.finetune.outcome_figures import confusion_cells
from explorer.tasks.glue_tasks import TASKS
from explorer.tasks.metrics import METRICS

HIGHEST = 5.0
"""STS-B's highest score: the axes reach so far at least."""

BALANCED = 0.6
"""The share of the commoner class up to which two classes are called balanced."""

AGREES = 0.1
"""How far apart accuracy and F1 may lie to be said to agree."""

IN_ORDER = 0.9
"""Spearman's correlation from which on the order is called right."""

TAGS = (("TN", "FP"), ("FN", "TP"))
_COLOURS = {"accuracy": "@first", "precision": "@sixth", "recall": "@sixth", "f1": "@third", "matthews": "@second"}
_SHARES = ("accuracy", "precision", "recall")


def formulas(result: TakenApart | Correlated) -> Markup:
    """Tabulate each metric's value, and its formula twice: with its symbols, and with the numbers put in."""
    rows = [(strong(metric.title), _value(metric), _typeset(metric)) for metric in result.metrics]
    return quoted(("metric", "value", "formula"), rows, style="quoted formulas")


def _value(metric: TakenMetric) -> str:
    is_share = metric.value is not None and metric.slug in _SHARES
    return percent(metric.value) if is_share else written(metric.value)  # type: ignore[arg-type]


def _typeset(metric: TakenMetric) -> Markup:
    """Typeset the two fractions; a narrow column may break between them."""
    fractions = zip(metric.fraction.top, metric.fraction.bottom, strict=True)
    drawn = [Markup("<math><mfrac>{}{}</mfrac></math>").format(_part(top), _part(bottom)) for top, bottom in fractions]
    last = " = 0 / 0" if metric.value is None else f" = {decimals(metric.value)}"
    return Markup(" = ").join(drawn) + last


def _part(text: str) -> Markup:
    """Typeset half of a fraction; a root loses its brackets, since its bar takes their place."""
    if text.startswith("√("):
        return Markup("<msqrt><mtext>{}</mtext></msqrt>").format(text[2:-1])  # between "√(" and ")"
    return Markup("<mtext>{}</mtext>").format(text)


Told = tuple[tuple[str, ...], tuple[str, ...]]
"""The parts of a headline, and those of the notes to it."""


def matrix_sentence(result: TakenApart) -> Markup:
    """Say what is peculiar about the matrix."""
    return prose(*_of_matrix(result)[0])


def matrix_notes(result: TakenApart) -> Markup:
    """State the metrics that the headline leaves out, with what they mean."""
    return caption(*_of_matrix(result)[1])


def _of_matrix(result: TakenApart) -> Told:
    matrix, (accuracy, _, recall, f1, matthews) = result.matrix, (metric.value for metric in result.metrics)
    all_of, truth = sum(map(sum, matrix)), [sum(row) for row in matrix]
    guessed, names = [sum(column) for column in zip(*matrix, strict=True)], class_names(len(matrix))
    share = strong(f"Accuracy {percent(accuracy or 0)}")
    if all_of in truth:  # a class that holds every example
        only = strong(f"All examples are {names[truth.index(all_of)]}")
        why = f": with one class there is nothing to tell apart, and Matthews is {UNDEFINED}."
        return (only, why), (f"Accuracy {percent(accuracy or 0)} of {counted(all_of, 'example')}.",)
    if len(matrix) > 2:
        return _of_many(result, share, guessed, names)
    return _of_two(share, (accuracy or 0, recall or 0, f1 or 0, matthews), truth, guessed)


def _of_two(
    share: Markup, values: tuple[float, float, float, float | None], truth: list[int], guessed: list[int]
) -> Told:
    accuracy, recall, f1, matthews = values
    most, usual = max(truth) / sum(truth), CLASS_NAMES[2][truth[1] > truth[0]]
    if matthews is None:
        undefined = (f"Matthews is {UNDEFINED}.",)
        if guessed[1] == 0:
            return (share, " hides that no positive is found: F1 is ", strong("0"), "."), undefined
        return (share, f" and F1 {decimals(f1)} come from calling everything ", strong("positive"), "."), undefined
    phi, both = strong(f"Matthews {decimals(matthews)}"), f"F1 {decimals(f1)}, Matthews {decimals(matthews)}"
    if abs(matthews) < 0.05:
        said = ": the predictions say next to nothing about the truth."
        return (share, ", but ", phi, said), (f"F1 {decimals(f1)}.",)
    if matthews < 0:
        turned = f"With every answer turned round Matthews would be {decimals(-matthews)}."
        return (phi, f": worse than guessing, whatever accuracy ({percent(accuracy)}) says."), (turned,)
    # As good as the commoner class alone, so accuracy does not show what Matthews does.
    if accuracy <= most:
        said = f" is no better than always saying {usual} ({percent(most)}), yet something was learned."
        return (share, said), (f"{both} say so: guessing has Matthews 0.",)
    if most > BALANCED or abs(accuracy - f1) > AGREES:
        said = f" is {decimals(100 * (accuracy - most), 1)} points above always saying {usual}."
        found = f"Always saying {usual}: {percent(most)}. Of the positives {percent(recall)} are found: {both}."
        return (share, said), (found,)
    agree = strong(f"accuracy {percent(accuracy)}")
    all_of = ("With balanced classes the metrics agree: ", agree, f", F1 {decimals(f1)}.")
    return all_of, (f"Matthews {decimals(matthews)}. A coin would have about 50%, 0.5 and 0.",)


def _of_many(result: TakenApart, share: Markup, guessed: list[int], names: Sequence[str]) -> Told:
    mean, matthews, low = result.metrics[3].value or 0, result.metrics[4].value, min(result.f1)
    weakest = [name for name, value in zip(names, result.f1, strict=True) if value == low]
    never = [name for name, count in zip(names, guessed, strict=True) if count == 0]
    mean_said = f"The mean F1 weighs every class alike: {decimals(mean)}."
    undefined = f" Matthews is {UNDEFINED}." if matthews is None else ""
    if never:
        are, count, each = ("is", "counts", "") if len(never) == 1 else ("are", "count", " each")
        notes = (mean_said, f" {_listed(never)} {count} as 0{each} in it.", undefined)
        return (share, f", but {_listed(never)} {are} never predicted."), notes
    if len(weakest) == len(names):
        return (share, f", and F1 {decimals(low)} for every class."), (mean_said, undefined)
    what = "is the weakest class" if len(weakest) == 1 else "are the weakest classes"
    return (share, f", and {_listed(weakest)} {what}, with F1 {decimals(low)}."), (mean_said, undefined)


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def class_names(count: int) -> Sequence[str]:
    """Return what the page calls so many classes."""
    return CLASS_NAMES.get(count) or [f"class {place}" for place in range(1, count + 1)]


def matrix_figure(result: TakenApart) -> Picture:
    """Draw the cells with their counts and totals, and a bar for each metric."""
    names = class_names(len(result.matrix))
    down, across = (
        [f"{label(name, longest)}<br>{sum(counts):,} in all" for name, counts in zip(names, sides, strict=True)]
        for sides, longest in ((result.matrix, 18), (zip(*result.matrix, strict=True), 8))
    )
    cells = confusion_cells(across, down, result.matrix, _texts(result.matrix))
    seen = Panel(
        cells,
        axis("predicted", names=True, top=True, size=14, tickangle=0),
        axis("true", names=True, down=True, size=14),
        width=1.6,
    )
    titles, values = (
        [metric.title.replace(" ", "<br>") for metric in result.metrics],
        [metric.value or 0 for metric in result.metrics],  # undefined is 0, by convention
    )
    colours = [_COLOURS[metric.slug] for metric in result.metrics]
    drawn = bars(titles, values, colours, texts=list(map(_value, result.metrics)), size=15)
    low = min(values)
    span = [low - 0.5 if low < 0 else 0.0, 1.3]  # with room for the values beside the bars
    measured = Panel([drawn], axis(span=span, tickvals=[-1, 0, 1], grid=False), axis(names=True, down=True, size=14))
    said = matrix_sentence(result)
    return picture(said, [seen, measured], height=330, low=290, phone=620, above=70, gap=0.18)


def _texts(matrix: Matrix) -> list[list[str]]:
    tags = TAGS if len(matrix) == 2 else [[""] * len(matrix)] * len(matrix)
    return [
        [f"{tag} {count:,}".strip() for tag, count in zip(names, row, strict=True)]
        for names, row in zip(tags, matrix, strict=True)
    ]


def points_sentence(result: Correlated) -> Markup:
    """Say what the points show."""
    return prose(*_of_points(result)[0])


def points_notes(result: Correlated) -> Markup:
    """Say which point decides, what it does to the order, and the correlation that the headline leaves out."""
    return caption(*said) if (said := _of_points(result)[1]) else Markup("")


def _of_points(result: Correlated) -> Told:
    first, second = (metric.value for metric in result.metrics)
    count, without = len(result.scores.points), result.without
    if first is None or second is None:
        side = "predicted" if len({guess for _, guess in result.scores.points}) == 1 else "true"
        undefined = strong("both correlations are undefined")
        ends = "0/0: a model that says the same of every pair ends here."
        return (f"All {side} scores are equal: without spread ", undefined, "."), (ends,)
    pearson, spearman = strong(f"Pearson {decimals(first)}"), strong(f"Spearman {decimals(second)}")
    order = (f"By their order alone, Spearman {decimals(second)}.",)
    if count == 2:  # any two points lie on a line
        always = strong(f"Pearson is {decimals(first)}")
        return ("Any two points lie on a line, so ", always, " whatever they are."), ("Add more.",)
    if without is not None and abs(without.pearson - first) > 0.15:
        place = ", ".join(decimals(score, 2) for score in without.point)
        would = strong(f"Pearson would be {decimals(without.pearson)}")
        notes = (
            f"The one of {count} that decides is ({place}). Spearman, which sees only its rank, goes from "
            f"{written(without.spearman)} without it to {decimals(second)}.",
        )
        return ("One point decides: without it ", would, f", not {decimals(first)}."), notes
    if second - first > 0.08:
        if second < IN_ORDER:
            return ("The order is told better than the distances: ", spearman, " against ", pearson, "."), ()
        return ("The order is right, ", spearman, ", but the points bend away from a line: ", pearson, "."), ()
    if abs(first) < 0.25:
        said = "whoever knows the prediction knows next to nothing about the true score."
        return (pearson, f" and Spearman {decimals(second)}: {said}"), ()
    if first < 0:
        return (pearson, ": the predictions fall where the true scores rise."), order
    loosely = "the predictions rise with the true scores, but loosely."
    how = "the points lie near a rising line." if first > 0.7 else loosely
    return (pearson, f": {how}"), order


def points_figure(result: Correlated) -> Picture:
    """Draw the scores and their ranks, each with the line of least squares; Pearson of the ranks is Spearman."""
    pearson, spearman = (f"<b>{metric.title} {written(metric.value)}</b>" for metric in result.metrics)
    numbers = [number for point in result.scores.points for number in point]
    ends = [min(0.0, *numbers), max(HIGHEST, *numbers)]
    ranks = [0.0, len(result.ranks.points) + 1.0]
    panels = [
        _scatter(result.scores, ends, f"{pearson} of the scores", ("x: true score", "y: predicted score")),
        _scatter(result.ranks, ranks, f"{spearman} of their ranks", ("p: rank of true score", "q: rank of prediction")),
    ]
    return picture(points_sentence(result), panels, height=370, low=330, phone=700, gap=0.14, above=40)


def _scatter(cloud: Cloud, ends: list[float], title: str, axes: tuple[str, str]) -> Panel:
    numbers = list(range(1, len(cloud.points) + 1))
    air = (ends[1] - ends[0]) / 40  # marks at the ends stay whole
    span = [ends[0] - air, ends[1] + air]
    hover = "point %{customdata}: %{x}, %{y}"
    x, y = zip(*cloud.points, strict=True)
    dots = points(x, y, "@first", size=10, hover=hover, customdata=numbers)
    slope, height = cloud.line or (0.0, 0.0)
    fit = line(span, [height + slope * at for at in span], "@muted", width=2, dash="dash") if cloud.line else None
    drawn = [trace for trace in (fit, dots) if trace]
    return Panel(drawn, axis(axes[0], span=span), axis(axes[1], span=span), title)


def task_table() -> Markup:
    """Tabulate GLUE's nine tasks, the metrics that judge them, and why."""
    rows = [
        (
            strong(task.title) + Markup("<br>") + ", ".join(METRICS[name].title for name in task.metrics),
            REASONS[task.slug],
        )
        for task in TASKS
    ]
    return quoted(("task, and what judges it", "why"), rows)

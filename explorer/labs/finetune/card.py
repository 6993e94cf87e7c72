"""A card for each task: what it asks, where it is from, how it is judged, and its rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from markupsafe import Markup

from explorer.action import Action
from explorer.charts.words import percent, quoted
from explorer.engine.protocol import Job
from explorer.params import params
from explorer.runs.report import metric_title
from explorer.settings import settings
from explorer.tables import Cell, Table
from explorer.tasks.metrics import METRICS
from explorer.tasks.sources import load
from explorer.tasks.task import SPAN, WRITTEN, Example, TaskData
from explorer.tasks.task import Task as DescribedTask
from explorer.tuning.spec import Task


@params
class CardParams:
    """Which task: bundled, of the hub, or a visitor's file."""

    task: Task = "sst2"


@dataclass(frozen=True)
class Row:
    """One example. label: the class's name, or the score of a regression; None for a plain text."""

    text: str
    second: str | None
    label: str | float | None


@dataclass(frozen=True)
class TaskCard:
    """A task and its first rows.

    columns: what its texts are called. classes: each with its share of the training examples; empty for a regression.
    metrics: names in explorer.tasks.metrics.METRICS. held_out: examples of each validation split. examples: one of each
    class where there are several, spread over the range of a regression. rows: the first of the training file.
    """

    title: str
    question: str
    source: str
    columns: tuple[str, ...]
    classes: tuple[tuple[str, float], ...]
    metrics: tuple[str, ...]
    train: int
    held_out: tuple[tuple[str, int], ...]
    examples: tuple[Row, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...]


REASONS = {
    "accuracy": "the share of answers that are right",
    "f1": "the harmonic mean of precision and recall of the second class, since always naming the more frequent one would look "
    "good by accuracy",
    "matthews": "0 for chance and for one answer to everything, 1 for all right, so that the more frequent class earns nothing",
    "pearson": "how well scores lie on a line with the people's, whatever their scale",
    "spearman": "the same of their order alone",
    "exact_match": "the share of answers that are one of the accepted ones, without articles and punctuation",
    "BLEU": "n-grams of one to four tokens that the references have as well, fewer counted for a text that is too short",
    "NIST": "the same with rare n-grams counting more",
    "METEOR": "words that match, by their stems and synonyms too, in few pieces",
    "ROUGE-L": "the longest common subsequence with a reference",
    "CIDEr": "n-grams weighted by how few texts they occur in",
}
"""Why a task is judged by a metric, by its name."""

OF_ANSWERS = "the harmonic mean of precision and recall of the answer's words"
"""F1 where the answers are texts."""


def card_title(card: TaskCard) -> str:
    """Write the line that is seen before the card is opened."""
    # The first part of the title: sources follow it.
    return f"The task: {card.title.split(', ')[0].split(' · ')[0]} · {card.question}"


def card_view(card: TaskCard) -> Markup:
    """Say what is asked, of what, how it is judged and where it is from; show three examples."""
    held_out = ", ".join(f"{count:,} {name if len(card.held_out) > 1 else 'held out'}" for name, count in card.held_out)
    lines = [
        ("asks", card.question),
        ("reads", f"{_texts(card)}: {card.train:,} examples to learn from, {held_out}"),
        ("answers", _answers(card)),
        ("is judged by", _judged(card)),
        ("comes from", card.source),
    ]
    facts = Markup("").join(Markup("<dt>{}</dt><dd>{}</dd>").format(name, said) for name, said in lines if said)
    notes = Markup("").join(Markup('<p class="caption">{}</p>').format(note) for note in card.notes)
    return Markup('<dl class="task-card">{}</dl>{}{}').format(
        facts, notes, _table(card, card.examples, "Three examples")
    )


def rows_view(card: TaskCard) -> Markup:
    """Show the first rows as they stand in the file."""
    return _table(card, card.rows, f"The first {len(card.rows)} of {card.train:,} training rows")


def rows_table(card: TaskCard) -> Table:
    """text, second, label: the first training rows."""
    return Table.each(card.rows, "text second label")


def _table(card: TaskCard, rows: tuple[Row, ...], title: str) -> Markup:
    labelled = any(row.label is not None for row in rows)
    heads = (*card.columns, *(["label"] if labelled else []))
    return quoted(heads, [_cells(card, row, labelled) for row in rows], title)


def _cells(card: TaskCard, row: Row, labelled: bool) -> tuple[Cell, ...]:
    texts = (row.text, row.second)[: len(card.columns)]
    return (*texts, *([row.label] if labelled else []))


def _texts(card: TaskCard) -> str:
    return "two texts" if len(card.columns) == 2 else "one text"


def _answers(card: TaskCard) -> str:
    if card.classes:
        return ", ".join(f"{name} ({percent(share)})" for name, share in card.classes)
    if "exact_match" in card.metrics:
        return "a passage of the second text, or that there is none"
    if "BLEU" in card.metrics:
        return "a text of its own"
    return "a score" if set(card.metrics) & {"pearson", "spearman"} else ""


def _judged(card: TaskCard) -> str:
    # F1 of words is not F1 of a class.
    reasons = REASONS | ({"f1": OF_ANSWERS} if "exact_match" in card.metrics else {})
    titles = {name: METRICS[name].title if name in METRICS else metric_title(name) for name in card.metrics}
    return "; ".join(f"{title}: {reasons[name]}" if name in reasons else title for name, title in titles.items())


MOST_ROWS = 20
EXAMPLES = 3


def task_card(params: CardParams) -> TaskCard:
    """Tell what a task asks, where it is from, how it is measured, and its first rows.

    Raises BadInputError for a name that is no task, TaskUnavailableError if the hub has to be asked and cannot be.
    """
    data = load(params.task, settings())
    task = data.task
    counts = Counter(example.label for example in data.train)
    return TaskCard(
        task.title,
        task.question,
        task.source,
        task.columns,
        # Labels are read as floats.
        tuple((name, counts[float(number)] / len(data.train)) for number, name in enumerate(task.labels)),
        task.metrics,
        len(data.train),
        tuple((name, len(rows)) for name, rows in data.validation.items()),
        tuple(_row(task, example) for example in _examples(data)),
        tuple(_row(task, example) for example in data.train[:MOST_ROWS]),
        data.notes,
    )


def _row(task: DescribedTask, example: Example) -> Row:
    return Row(example.text, example.second, _label(task, example))


def _label(task: DescribedTask, example: Example) -> str | float | None:
    """Return what is right, as a reader of the card takes it: a class by its name, the first of several texts, or a
    score.
    """
    if task.masked:
        return None
    if task.kind in (SPAN, WRITTEN):
        return example.answers[0] if example.answers else "no answer"
    return task.labels[int(example.label)] if task.labels else example.label


def _examples(data: TaskData) -> list[Example]:
    """Choose three examples, of different classes or scores as far as there are: each the shortest of its kind."""
    if data.task.is_regression:
        ordered = sorted(data.train, key=lambda example: example.label)
        # The lowest, the middle and the highest.
        return [ordered[place * (len(ordered) - 1) // (EXAMPLES - 1)] for place in range(EXAMPLES)]
    kinds: dict[float, list[Example]] = {}
    for example in data.train:
        kinds.setdefault(example.label, []).append(example)
    short = [sorted(kinds[label], key=lambda example: len(example.text)) for label in sorted(kinds)]
    # One of each class before a second of any.
    rounds = [kind[turn] for turn in range(EXAMPLES) for kind in short if turn < len(kind)]
    return rounds[:EXAMPLES]


CARD = Action(Job("explorer.labs.finetune.card:task_card", on="nothing", light=True), CardParams, rows_table)

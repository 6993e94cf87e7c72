"""The tasks that come with the app: sentences after each of GLUE's, questions, meanings, and the text of all of them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from explorer.settings import BUNDLED_E2E, BUNDLED_SQUAD, BUNDLED_TASKS
from explorer.tasks.formats.e2e import E2E, Meaning, as_example, read_meaning
from explorer.tasks.formats.glue import read_glue
from explorer.tasks.formats.squad import SQUAD, hold_out_contexts, read_squad
from explorer.tasks.formats.text import TEXT, as_examples
from explorer.tasks.given import hold_out_texts, mixed
from explorer.tasks.glue_tasks import TASKS, bundled, find_task
from explorer.tasks.task import Example, Task, TaskCard, TaskData

LEFT_OUT = ("cola", "wnli")
"""Bundled tasks whose sentences are not used: half of CoLA's are wrong on purpose, and WNLI's repeat each other."""

MOST_HELD_OUT = 400
"""Bundled sentences to measure on: about a thousand hidden words, read in a few seconds."""


def card(slug: str) -> TaskCard:
    """Return a bundled task without its examples. Raises BadInputError for an unknown slug."""
    return TaskCard(_task(slug), slug)


def load(slug: str) -> TaskData:
    """Return a bundled task with its examples. Raises BadInputError for an unknown slug."""
    if slug == E2E.slug:
        return load_e2e()
    if slug == SQUAD.slug:
        return load_squad()
    return load_text() if slug == TEXT.slug else load_glue(slug)


def choices() -> list[tuple[str, str]]:
    """Return (label, name) for a list to choose from."""
    return [(task.title, task.slug) for task in (*map(bundled, TASKS), SQUAD, E2E)]


def _task(slug: str) -> Task:
    special = {task.slug: task for task in (E2E, SQUAD, TEXT)}
    return special[slug] if slug in special else bundled(find_task(slug))


def load_glue(slug: str) -> TaskData:
    """Load sentences in GLUE's own layout; validation splits have the names that they have on the hub."""
    task, folder = bundled(find_task(slug)), BUNDLED_TASKS / slug
    splits = sorted(folder.glob("validation*.tsv"))
    validation = {file.stem.removeprefix("validation_"): read_glue(file, slug).examples for file in splits}
    return TaskData(task, slug, read_glue(folder / "train.tsv", slug).examples, validation)


@cache
def restaurants() -> tuple[Meaning, ...]:
    """Return the bundled meanings."""
    lines = (BUNDLED_E2E / "restaurants.tsv").read_text(encoding="utf-8").splitlines()
    return tuple(read_meaning(line) for line in lines)


def load_e2e() -> TaskData:
    """Return the bundled meanings as a task; a fifth of them is held out."""
    train, held = hold_out_texts(tuple(as_example(one) for one in restaurants()), False, "restaurants.tsv")
    return TaskData(E2E, E2E.slug, mixed(train), {"validation": mixed(held)})


@cache
def load_squad() -> TaskData:
    """Return the bundled questions as a task; a fifth of the paragraphs is held out."""
    text = (BUNDLED_SQUAD / "questions.json").read_text(encoding="utf-8")
    train, held = hold_out_contexts(read_squad(text, "questions.json").examples, "questions.json")
    return TaskData(SQUAD, SQUAD.slug, mixed(train), {"validation": mixed(held)})


def load_text() -> TaskData:
    """Return the texts of the bundled tasks, each once: their training examples to learn from, their validation to
    measure on.
    """
    train, held = dict[str, None](), dict[str, None]()
    for data in (load_glue(task.slug) for task in TASKS if task.slug not in LEFT_OUT):
        train.update(dict.fromkeys(_texts(data.train)))
        for examples in data.validation.values():
            held.update(dict.fromkeys(_texts(examples)))
    # A text may be in the training part of one task and the validation part of another.
    measured = mixed(as_examples(text for text in held if text not in train))[:MOST_HELD_OUT]
    return TaskData(TEXT, TEXT.slug, mixed(as_examples(train)), {"validation": measured})


def _texts(examples: Iterable[Example]) -> list[str]:
    return [text for example in examples for text in (example.text, example.second) if text]

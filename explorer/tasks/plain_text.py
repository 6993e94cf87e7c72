"""Plain text without labels, for a student that learns to fill masks: sentences, of which some are held out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from explorer.errors import BadInputError
from explorer.tasks.opening import check_count, decode, read_bytes, short_name
from explorer.tasks.splitting import FEWEST_EXAMPLES, hold_out, mixed
from explorer.tasks.task import MASKED, Example, Task, TaskData
from explorer.text import split_sentences

TEXT = Task(
    "text",
    "Masked words · bundled sentences",
    "Which words are hidden?",
    ("text",),
    (),
    ("accuracy",),
    "Sentences of the bundled tasks, without their labels, as DistilBERT was distilled on BERT's own corpus.",
    kind=MASKED,
)
"""The bundled text, and what every visitor's text is a task like."""

TITLE = "your text"
"""What a pasted text is called."""

LONGEST_PASTED = 1_000_000
"""Characters."""

SAVE = "Save it as plain text in UTF-8 and upload that."
HOLDS = "It should hold some sentences."

LEFT_OUT = ("cola", "wnli")
"""Bundled tasks that give no sentences: half of CoLA's are wrong on purpose, and WNLI's repeat each other."""

MOST_HELD_OUT = 400
"""Bundled sentences to measure on: about a thousand hidden words, read in a few seconds."""

LONGEST_PIECE = 500
"""Characters; about as many as make a row of 128 tokens. A longer sentence is cut at a space."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
_PARAGRAPH = re.compile(r"\n\s*\n")


def split_bundled(tasks: Iterable[TaskData]) -> TaskData:
    """The texts of the bundled tasks, each once: their training examples to learn from, their validation to measure on."""
    train, held = dict[str, None](), dict[str, None]()
    for data in tasks:
        if data.task.slug not in LEFT_OUT:
            train.update(dict.fromkeys(_texts(data.train)))
            for examples in data.validation.values():
                held.update(dict.fromkeys(_texts(examples)))
    measured = mixed(_examples(text for text in held if text not in train))[:MOST_HELD_OUT]
    return TaskData(TEXT, TEXT.slug, mixed(_examples(train)), {"validation": measured})


def read_text(text: str, title: str, name: str) -> TaskData:
    """A visitor's text as a task called `name`; a fifth of its different sentences is held out.

    Lines are joined to paragraphs, which end at an empty line, and these are cut into sentences. Raises BadInputError where
    too little is left to hold anything out.
    """
    title = short_name(title)
    pieces = list(_pieces(text, title))
    different = len(set(pieces))
    if different < FEWEST_EXAMPLES:
        raise BadInputError(
            f"{title[:1].upper()}{title[1:]} has {different} different sentence{'s' if different != 1 else ''}, and at least "
            f"{FEWEST_EXAMPLES} are needed, so that some can be held out. Take a longer one."
        )
    train, held = hold_out(_examples(pieces), False, title)
    task = Task(
        name, f"Masked words · {title}", TEXT.question, TEXT.columns, (), TEXT.metrics, "A visitor's own text.", MASKED
    )
    notes = (f"{len(held):,} of {len(pieces):,} sentences are held out for validation.",)
    return TaskData(task, name, mixed(train), {"validation": mixed(held)}, notes)


def read_file(path: Path) -> str:
    """A text file's text. Raises BadInputError if it is none, or longer than a box takes."""
    text = decode(read_bytes(path), path.name, SAVE, HOLDS)
    if len(text) > LONGEST_PASTED:
        raise BadInputError(
            f"This file has {len(text):,} characters, and at most {LONGEST_PASTED:,} are taken. Upload a part of it."
        )
    return text


def _texts(examples: Iterable[Example]) -> list[str]:
    return [text for example in examples for text in (example.text, example.second) if text]


def _examples(texts: Iterable[str]) -> tuple[Example, ...]:
    return tuple(Example(text, None, 0.0) for text in texts)


def _pieces(text: str, title: str) -> Iterable[str]:
    """Sentences, none longer than LONGEST_PIECE."""
    count = 0
    for paragraph in _PARAGRAPH.split(text.replace("\r\n", "\n").replace("\r", "\n")):
        for sentence in split_sentences(_CONTROL.sub(" ", paragraph)):
            for piece in _cut(" ".join(sentence.split())):
                count += 1
                check_count(count, title)
                yield piece


def _cut(sentence: str) -> Iterable[str]:
    """A sentence whose words are parted by single spaces, in pieces."""
    start = 0
    while len(sentence) - start > LONGEST_PIECE:
        end = sentence.rfind(" ", start, start + LONGEST_PIECE)
        end = end if end > start else start + LONGEST_PIECE
        yield sentence[start:end].strip()
        start = end
    yield sentence[start:].strip()

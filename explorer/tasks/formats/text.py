"""Plain text without labels, for a student that learns to fill masks: sentences, of which some are held out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from explorer.errors import BadInputError
from explorer.tasks.given import FEWEST_EXAMPLES, Content, Given, Parts, hold_out_texts
from explorer.tasks.read_file import check_count, decode, read_bytes, short_name
from explorer.tasks.task import MASKED, Example, Task
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
"""The task of the bundled text; a visitor's text makes one like it."""

TITLE = "your text"
"""The title of a pasted text."""

LONGEST_PASTED = 1_000_000
"""Characters that a pasted text may have."""

SAVE = "Save it as plain text in UTF-8 and upload that."
HOLDS = "It should hold some sentences."
UNIT = "sentences"
"""The name of an example, in the plural."""

LONGEST_PIECE = 500
"""Characters of an example; about as many as make a row of 128 tokens. A longer sentence is cut at a space."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
_PARAGRAPH = re.compile(r"\n\s*\n")


def recognises(text: str) -> bool:
    """Return False: no file is taken for a plain text unless the visitor says that it is one."""
    return False


def read(given: Given) -> Content:
    """Read a visitor's text, sentence by sentence.

    Lines are joined to paragraphs, which end at an empty line, and these are split into sentences. Raises BadInputError
    if too little is left to hold anything out.
    """
    title = short_name(given.title)
    pieces = list(_pieces(given.text, title))
    different = len(set(pieces))
    if different < FEWEST_EXAMPLES:
        raise BadInputError(
            f"{title[:1].upper()}{title[1:]} has {different} different sentence{'s' if different != 1 else ''}, and at least "
            f"{FEWEST_EXAMPLES} are needed, so that some can be held out. Take a longer one."
        )
    task = Task(
        *(given.name, f"Masked words · {title}", TEXT.question, TEXT.columns, (), TEXT.metrics),
        "A visitor's own text.",
        MASKED,
    )
    return Content(task, as_examples(pieces), None)


def hold_out(content: Content, name: str) -> Parts:
    """Hold out a fifth of the different sentences."""
    return hold_out_texts(content.train, False, short_name(name))


def read_file(path: Path) -> str:
    """Return a text file's text. Raises BadInputError if it is none, or longer than a pasted text may be."""
    text = decode(read_bytes(path), path.name, SAVE, HOLDS)
    if len(text) > LONGEST_PASTED:
        raise BadInputError(
            f"This file has {len(text):,} characters, and at most {LONGEST_PASTED:,} are taken. Upload a part of it."
        )
    return text


def as_examples(texts: Iterable[str]) -> tuple[Example, ...]:
    """Return texts as examples without labels."""
    return tuple(Example(text, None, 0.0) for text in texts)


def _pieces(text: str, title: str) -> Iterable[str]:
    """Yield sentences, none longer than LONGEST_PIECE."""
    count = 0
    for paragraph in _PARAGRAPH.split(text.replace("\r\n", "\n").replace("\r", "\n")):
        for sentence in split_sentences(_CONTROL.sub(" ", paragraph)):
            for piece in _cut(" ".join(sentence.split())):
                count += 1
                check_count(count, title)
                yield piece


def _cut(sentence: str) -> Iterable[str]:
    """Yield a sentence, whose words have single spaces between them, in pieces."""
    start = 0
    while len(sentence) - start > LONGEST_PIECE:
        end = sentence.rfind(" ", start, start + LONGEST_PIECE)
        end = end if end > start else start + LONGEST_PIECE  # a word longer than a piece is cut inside
        yield sentence[start:end].strip()
        start = end
    yield sentence[start:].strip()

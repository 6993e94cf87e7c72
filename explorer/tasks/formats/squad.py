"""SQuAD's own JSON: questions whose answers stand in a text (Rajpurkar et al. 2016, 2018)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ValidationError

from explorer.errors import BadInputError
from explorer.tasks.answers import METRICS
from explorer.tasks.given import HELD_NAME, Content, Given, Parts, hold_out_texts
from explorer.tasks.read_file import check_count, short_name, without_control
from explorer.tasks.task import NO_ANSWER, SPAN, Example, Task
from explorer.text import LONGEST_TEXT

COLUMNS = ("question", "context")

SQUAD = Task(
    "squad",
    "SQuAD-like, bundled · answers",
    "Where in the text is the answer?",
    COLUMNS,
    (),
    METRICS,
    "Paragraphs and questions written for this app, after Rajpurkar, Jia and Liang 2018, Know What You Don't Know: Unanswerable "
    "Questions for SQuAD.",
    SPAN,
)


class _Answer(BaseModel):
    text: str
    answer_start: int


class _Question(BaseModel):
    question: str
    answers: list[_Answer] = []
    is_impossible: bool = False


class _Paragraph(BaseModel):
    context: str
    qas: list[_Question]


class _Article(BaseModel):
    title: str = ""
    paragraphs: list[_Paragraph]


class SquadFile(BaseModel):
    """SQuAD's layout, of version 1.1 (every question has an answer) or 2.0; other keys are ignored."""

    data: list[_Article]


@dataclass(frozen=True)
class Answered:
    """The contents of one file, and in sentences what was left out of it."""

    examples: tuple[Example, ...]
    notes: tuple[str, ...]


def recognises(text: str) -> bool:
    """Return whether a text is one JSON object with SQuAD's keys; JSON lines and tables are not."""
    start = text.lstrip()
    return start.startswith("{") and '"paragraphs"' in start and '"qas"' in start


def read(given: Given) -> Content:
    """Read the files. Raises BadInputError with the place of what is wrong."""
    file, other = read_squad(given.text, given.title), given.validation
    validation = None if other is None else read_squad(other, HELD_NAME).examples
    none = sum(example.label == NO_ANSWER for example in file.examples)
    notes = (f"Read as SQuAD's JSON: {none:,} of {len(file.examples):,} questions have no answer.", *file.notes)
    return Content(squad_task(given.name, given.title, "A visitor's own file."), file.examples, validation, notes)


def hold_out(content: Content, name: str) -> Parts:
    """Hold out a fifth of the contexts with all their questions."""
    return hold_out_contexts(content.train, name)


def hold_out_contexts(examples: tuple[Example, ...], name: str) -> Parts:
    """Hold out contexts of these examples, always the same ones. Raises BadInputError for a single context."""
    # Contexts are held out as if they were the texts, so that no context is in both parts.
    contexts = tuple(Example(example.second or "", None, 0.0) for example in examples)
    held = {one.text for one in hold_out_texts(contexts, False, name)[1]}
    parts: tuple[list[Example], list[Example]] = ([], [])
    for example in examples:
        parts[example.second in held].append(example)
    return tuple(parts[0]), tuple(parts[1])


def read_squad(text: str, name: str = "This file") -> Answered:
    """Read SQuAD's JSON. Raises BadInputError with the place of what is wrong.

    A question whose answer does not stand at its `answer_start` is left out, and a note says so.
    """
    try:
        file = SquadFile.model_validate_json(text)
    except ValidationError as error:
        raise BadInputError(_not_squad(error, name)) from error
    examples, misplaced = [], 0
    for place, paragraph, question in _questions(file):
        example = _example(paragraph, question, f"{name}, {place}")
        misplaced += example is None
        examples += [] if example is None else [example]
        check_count(len(examples), name)
    if not examples:
        raise BadInputError(
            f"{name}: none of its {misplaced:,} questions can be used. An answer must stand in the context at its answer_start, "
            "a number of characters from 0."
            if misplaced
            else f"{name} holds no questions. Write them into data → paragraphs → qas."
        )
    notes = [f"{_count(misplaced)} left out, whose answer isn't where answer_start says."] if misplaced else []
    return Answered(tuple(examples), tuple(notes))


def _questions(file: SquadFile) -> Iterator[tuple[str, _Paragraph, _Question]]:
    for one, article in enumerate(file.data):
        for two, paragraph in enumerate(article.paragraphs):
            for three, question in enumerate(paragraph.qas):
                yield f"data[{one}].paragraphs[{two}].qas[{three}]", paragraph, question


def _example(paragraph: _Paragraph, question: _Question, place: str) -> Example | None:
    """Return an example, or None if an answer is misplaced. Raises BadInputError for an empty question or context, and
    for one that is too long.
    """
    asked = without_control(question.question).strip()
    if not asked or not paragraph.context.strip():
        raise BadInputError(f"{place}: the {'context' if asked else 'question'} is empty. Write one, or take it out.")
    if max(len(asked), len(paragraph.context)) > LONGEST_TEXT:
        raise BadInputError(
            f"{place}: a text has more than {LONGEST_TEXT:,} characters. Cut it into several paragraphs."
        )
    answers = [] if question.is_impossible else [one for one in question.answers if one.text.strip()]
    return made(asked, paragraph.context, [one.text for one in answers], [one.answer_start for one in answers])


def made(question: str, context: str, texts: Sequence[str], starts: Sequence[int]) -> Example | None:
    """Return one question with its accepted answers, the first of which is learned; None if that one is not at its start."""
    if not texts:
        return Example(question, without_control(context), NO_ANSWER)
    start, text = starts[0], texts[0]
    if start < 0 or context[start : start + len(text)] != text:
        return None
    # A control character becomes one space, so starts stay right.
    return Example(question, without_control(context), float(start), tuple(dict.fromkeys(map(without_control, texts))))


def _not_squad(error: ValidationError, name: str) -> str:
    first = error.errors()[0]
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]).removeprefix(".")
    return (
        f"{name}{', ' if place else ''}{place}: {first['msg'][:200]}. SQuAD's JSON is data → paragraphs → context and "
        "qas, each with a question and answers of text and answer_start."
    )


def _count(number: int) -> str:
    return f"{number:,} question was" if number == 1 else f"{number:,} questions were"


def squad_task(name: str, title: str, source: str) -> Task:
    """Return a task like SQUAD, with other paragraphs."""
    return Task(name, short_name(title), SQUAD.question, COLUMNS, (), METRICS, source, SPAN)

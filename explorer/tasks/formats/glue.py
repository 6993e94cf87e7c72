"""GLUE's own TSV files as they are distributed, each with its quirks; a new layout is one entry in LAYOUTS.

None of them quotes: a double quote is a character like any other. Only tabs and line ends are special.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from explorer.errors import BadInputError
from explorer.tasks.given import HELD_NAME, Content, Given, Parts, hold_out_texts
from explorer.tasks.glue_tasks import find_task
from explorer.tasks.read_file import Place, check_count, checked_example, decode, read_bytes
from explorer.tasks.task import Example

_ZERO_ONE: Mapping[str, float] = {"0": 0.0, "1": 1.0}
_ENTAILED: Mapping[str, float] = {"entailment": 0.0, "not_entailment": 1.0}
_INFERENCE: Mapping[str, float] = {"entailment": 0.0, "neutral": 1.0, "contradiction": 2.0}


@dataclass(frozen=True)
class Layout:
    """The layout of one task's files.

    header: its columns' names; only the needed ones if `exact` is False, and the label is then the last column. texts,
    label: names of columns. classes: the label's spellings and their numbers; empty for a score. unlabelled: the label
    of rows that annotators did not agree on. broken_rows: whether the distributed file has some, which are then
    skipped.
    """

    task: str
    header: tuple[str, ...]
    texts: tuple[str, ...]
    label: str
    classes: Mapping[str, float]
    exact: bool = True
    unlabelled: str | None = None
    broken_rows: bool = False


_STSB = ("index", "genre", "filename", "year", "old_index", "source1", "source2", "sentence1", "sentence2", "score")
_PAIR = ("index", "sentence1", "sentence2", "label")
_TEXTS = ("sentence1", "sentence2")
_MRPC = ("Quality", "#1 ID", "#2 ID", "#1 String", "#2 String")
_QQP = ("id", "qid1", "qid2", "question1", "question2", "is_duplicate")

LAYOUTS = (
    Layout("cola", ("source", "label", "star", "sentence"), ("sentence",), "label", _ZERO_ONE),
    Layout("sst2", ("sentence", "label"), ("sentence",), "label", _ZERO_ONE),
    Layout("mrpc", _MRPC, _MRPC[3:], "Quality", _ZERO_ONE),
    Layout("qqp", _QQP, _QQP[3:5], "is_duplicate", _ZERO_ONE, broken_rows=True),
    Layout("stsb", _STSB, _TEXTS, "score", {}),
    Layout("mnli", (*_TEXTS, "gold_label"), _TEXTS, "gold_label", _INFERENCE, exact=False, unlabelled="-"),
    Layout("qnli", ("index", "question", "sentence", "label"), ("question", "sentence"), "label", _ENTAILED),
    Layout("rte", _PAIR, _TEXTS, "label", _ENTAILED),
    Layout("wnli", _PAIR, _TEXTS, "label", _ZERO_ONE),
)
HIGHEST_SCORE = 5.0
LEAST_FITTING = 0.9


@dataclass(frozen=True)
class GlueFile:
    """The contents of one file: the task's slug, its examples, and in sentences what was skipped."""

    task: str
    examples: tuple[Example, ...]
    notes: tuple[str, ...]


def recognises(text: str) -> bool:
    """Return whether a table has the layout of one of GLUE's tasks."""
    return recognise(text) is not None


def read(given: Given) -> Content:
    """Read files as a GLUE task: the one that was named, or the one whose layout it is. Raises BadInputError as
    read_glue does.
    """
    file = read_glue(given.text, given.task, given.title)
    files = [file] if given.validation is None else [file, read_glue(given.validation, file.task, HELD_NAME)]
    task = find_task(file.task)
    notes = (f"Read as a file of GLUE: {task.title}.", *(note for one in files for note in one.notes))
    return Content(task, file.examples, files[1].examples if len(files) > 1 else None, notes)


def hold_out(content: Content, name: str) -> Parts:
    """Hold out a fifth of the texts, of each class if there are classes."""
    return hold_out_texts(content.train, bool(content.task.labels), name)


def recognise(text: str) -> str | None:
    """Return the slug of the task whose layout this text has, by its header and its labels; None for another table.

    CoLA has no header: its first row has four columns, the second 0 or 1, the third empty or of stars and question
    marks. RTE and WNLI share a header and differ in their labels; visitors' own tables, too, may have one of GLUE's
    headers.
    """
    cells = next(_lines(text), (1, ""))[1].split("\t")
    if _is_cola(cells):
        return "cola"
    header = [cell.strip() for cell in cells]
    for layout in LAYOUTS[1:]:
        if _has_header(layout, header) and _fits(layout, header, text):
            return layout.task
    return None


def read_glue(source: Path | str, task: str | None = None, name: str = "This file") -> GlueFile:
    """Read one split of a GLUE task from a path or from its text.

    task: its slug; None recognises it. Raises BadInputError with the line, what is wrong with it and what to do.
    """
    if isinstance(source, Path):
        name = source.name
        text = decode(read_bytes(source), name)
    else:
        text = source.removeprefix("\ufeff")  # a byte-order mark
    found = recognise(text)
    slug = task or found
    if slug is None:
        raise BadInputError(f"{name} does not look like a file of GLUE: its first line is not one of GLUE's headers.")
    layout = next(layout for layout in LAYOUTS if layout.task == find_task(slug).slug)
    rows = _lines(text)
    header = list(layout.header)
    if slug != "cola":
        header = [cell.strip() for cell in next(rows, (1, ""))[1].split("\t")]
        if not _has_header(layout, header):
            raise BadInputError(_other_header(layout, name))
    return _read_rows(layout, header, rows, name)


def _read_rows(layout: Layout, header: list[str], rows: Iterator[tuple[int, str]], name: str) -> GlueFile:
    texts = [header.index(column) for column in layout.texts]
    label_at = header.index(layout.label)
    examples: list[Example] = []
    broken: list[int] = []
    undecided: list[int] = []
    for line, row in rows:
        cells, place = row.split("\t"), Place(name, line)
        if layout.broken_rows and (len(cells) < len(header) or not all(cells[column].strip() for column in texts)):
            broken.append(line)
            continue
        if len(cells) != len(header):
            raise place.wrong(
                f"{len(cells)} columns, where {len(header)} were expected ({', '.join(header)})",
                "Columns are parted by one tab each: add the missing one, or take the extra one out.",
            )
        label = cells[label_at].strip()
        if label == layout.unlabelled:
            undecided.append(line)
            continue
        parts = [checked_example(cells[column], place, header[column]) for column in texts]
        examples.append(Example(parts[0], parts[1] if len(parts) > 1 else None, _label(layout, label, place)))
        check_count(len(examples), name)
    notes = [_skipped(broken, "with missing columns or an empty text"), _skipped(undecided, "without a gold label (-)")]
    return GlueFile(layout.task, tuple(examples), tuple(note for note in notes if note))


def _label(layout: Layout, label: str, place: Place) -> float:
    if layout.classes:
        if label not in layout.classes:
            raise place.wrong(
                f"the label {label[:40]!r}; {_short_title(layout)} has {', '.join(layout.classes)}",
                "Write one of these.",
            )
        return layout.classes[label]
    if not _is_score(label) or float(label) > HIGHEST_SCORE:
        raise place.wrong(f"the score {label[:40]!r}", f"Write a number from 0 to {HIGHEST_SCORE:g}.")
    return float(label)


def _fits(layout: Layout, header: list[str], text: str) -> bool:
    """Return whether nearly all whole rows have a label of the layout: a few others are errors in a file of GLUE."""
    place, fitting, whole = header.index(layout.label), 0, 0
    for _, line in islice(_lines(text), 1, None):
        cells = line.split("\t")
        if len(cells) == len(header):
            label = cells[place].strip()
            whole += 1
            fitting += label == layout.unlabelled or (label in layout.classes if layout.classes else _is_score(label))
    return fitting >= LEAST_FITTING * whole


def _is_score(label: str) -> bool:
    return re.fullmatch(r"[0-5](\.\d+)?", label) is not None


def _has_header(layout: Layout, header: list[str]) -> bool:
    if layout.exact:
        return tuple(header) == layout.header
    return header[-1] == layout.label and set(layout.header) <= set(header)


def _is_cola(cells: list[str]) -> bool:
    return len(cells) == 4 and cells[1] in _ZERO_ONE and not cells[2].strip("*? ") and bool(cells[3].strip())


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield numbered lines that are not blank."""
    # Only \n and \r\n end a line: str.splitlines knows other ends, which occur inside texts.
    for number, line in enumerate(io.StringIO(text, newline="\n"), 1):
        if line.strip():
            yield number, line.removesuffix("\n").removesuffix("\r")


def _other_header(layout: Layout, name: str) -> str:
    return (
        f"{name}, line 1: not the header of {_short_title(layout)}, which is {', '.join(layout.header)}, parted by tabs. "
        "Choose the task that the file belongs to, or none, to have it read as a table of your own."
    )


def _short_title(layout: Layout) -> str:
    return find_task(layout.task).title.split()[0]


def _skipped(lines: list[int], why: str) -> str:
    if not lines:
        return ""
    shown = ", ".join(f"{line:,}" for line in lines[:3]) + (", …" if len(lines) > 3 else "")
    rows, at = ("row", "line") if len(lines) == 1 else ("rows", "lines")
    return f"{len(lines):,} {rows} {why} skipped ({at} {shown})."

"""The five metrics of the E2E challenge for a visitor's texts: how these are read, what is computed."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from explorer.action import Action
from explorer.engine.protocol import Job
from explorer.errors import BadInputError
from explorer.kinds import Read, parse_lines
from explorer.params import Shown, params
from explorer.tables import Table
from explorer.tasks.generation_metrics import Scores, score

MOST_GROUPS = 2_000
MOST_REFERENCES = 100
LONGEST_LINE = 700
LONGEST = 900_000
"""Characters of all references, or of all hypotheses; the E2E challenge's test set has 490,000."""

_LIST = re.compile(r"""\[\s*(\[\s*)?["']""")

Lines = tuple[str, ...]
Groups = tuple[Lines, ...]

FORMAT = "one reference a line, an empty line between the groups of two hypotheses"


def _hypotheses(given: Any) -> Lines:
    """Read one hypothesis a line. Raises BadInputError."""
    lines = tuple(map(_clean, parse_lines(_bounded(given, "hypotheses"))))
    if not lines:
        raise BadInputError("There are no hypotheses: write one a line.")
    _few(lines, "hypotheses")
    _short(lines, "hypothesis")
    return lines


def _references(given: Any) -> Groups:
    """Read groups of references: from a text as the E2E challenge's files have them, or with a group a line and tabs
    between its references; or a list of lists. Raises BadInputError.
    """
    if isinstance(given, str):
        text: str = _bounded(given, "references")
        given = _as_list(text.strip())
        given = _from_text(text) if given is None else given
    groups = _from_lists(given)
    groups = [[_clean(line) for line in group if line.strip()] for group in groups]
    groups = [group for group in groups if group]
    if not groups:
        raise BadInputError(f"There are no references: write {FORMAT}.")
    _few(groups, "groups of references")
    for number, group in enumerate(groups, start=1):
        if len(group) > MOST_REFERENCES and len(groups) > 1:
            raise BadInputError(
                f"Group {number} has {len(group):,} references, and {MOST_REFERENCES} are the most. Put an empty line "
                "between groups."
            )
        _short(group, f"reference of group {number}")
    return tuple(map(tuple, groups))


def _as_list(text: str) -> list[Any] | None:
    """Read a client's list, which comes through a text box as Python writes it."""
    if not (_LIST.match(text) and text.endswith("]")):
        return None
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):  # a sentence in brackets and quotes, no list
        return None
    return value if isinstance(value, list) else None


def _from_text(text: str) -> list[list[str]]:
    lines = [line.strip() for line in text.splitlines()]
    filled = [line for line in lines if line]
    # A tab in any line means a group a line.
    if any("\t" in line for line in filled):
        return [line.split("\t") for line in filled]
    groups: list[list[str]] = [[]]
    for line in lines:
        if line:
            groups[-1].append(line)
        elif groups[-1]:
            groups.append([])  # several empty lines are one
    return groups


def _from_lists(given: Any) -> list[list[str]]:
    meant = BadInputError('references takes a text, or a list of lists such as [["One.", "Another."], ["A third."]].')
    if not isinstance(given, list | tuple):
        raise meant
    groups = [[group] if isinstance(group, str) else group for group in given]
    if not all(isinstance(group, list | tuple) and all(isinstance(one, str) for one in group) for group in groups):
        raise meant
    if sum(len(one) for group in groups for one in group) > LONGEST:
        raise _too_long("references")
    return [list(group) for group in groups]


def _bounded(given: Any, name: str) -> Any:
    """Return what is no longer than it may be. Raises BadInputError."""
    length = len(given) if isinstance(given, str) else sum(map(len, given)) if _is_texts(given) else 0
    if length > LONGEST:
        raise _too_long(name)
    return given


def _is_texts(given: Any) -> bool:
    return isinstance(given, list | tuple) and all(isinstance(one, str) for one in given)


def _too_long(name: str) -> BadInputError:
    return BadInputError(
        f"The {name} have more than {LONGEST:,} characters, the most that is scored here. Paste fewer."
    )


def _few(groups: Sequence[Any], name: str) -> None:
    if len(groups) > MOST_GROUPS:
        raise BadInputError(
            f"{len(groups):,} {name} are more than the {MOST_GROUPS:,} that are scored here. Paste fewer."
        )


def _short(lines: Sequence[str], name: str) -> None:
    for number, line in enumerate(lines, start=1):
        if len(line) > LONGEST_LINE:
            raise BadInputError(
                f"The {name} number {number} has {len(line):,} characters, and {LONGEST_LINE:,} are the most: one or two "
                "sentences a line."
            )


def _clean(line: str) -> str:
    """Put a text on one line, without control characters."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in line).split())


@params
class ScoreParams:
    """What a model wrote, and what people wrote for the same."""

    hypotheses: Annotated[Lines, Read(_hypotheses), Shown("Hypotheses", "What was written: one a line.", lines=(5, 8))]
    references: Annotated[
        Groups,
        Read(_references),
        Shown(
            "References",
            "One a line; an empty line before the next hypothesis's. Or a line each, with tabs.",
            lines=(6, 10),
        ),
    ]


def paired(hypotheses: Lines, references: Groups) -> Groups:
    """Return a group for each hypothesis. Raises BadInputError.

    As in the challenge's scorer, lines without an empty one between them are one reference each, if their number fits.
    """
    if len(references) == 1 and len(hypotheses) == len(references[0]):
        references = tuple((line,) for line in references[0])
    if len(hypotheses) != len(references):
        said = f"{_counted(len(hypotheses), 'hypothesis', 'hypotheses')} and {_counted(len(references), 'group', 'groups')}"
        raise BadInputError(f"There are {said} of references, and each hypothesis needs its own: {FORMAT}.")
    return references


def _counted(count: int, one: str, more: str) -> str:
    return f"{count:,} {one if count == 1 else more}"


@dataclass(frozen=True)
class Scored:
    """The corpus's values. hypotheses: how many; references: of all together."""

    scores: Scores
    hypotheses: int
    references: int


def scores_table(result: Scored) -> Table:
    """metric, value: BLEU, METEOR and ROUGE-L times 100."""
    return Table.of(("metric", "value"), list(result.scores.named().items()))


def score_texts(params: ScoreParams) -> Scored:
    """Compute BLEU, NIST, METEOR, ROUGE-L and CIDEr of texts against their references.

    Raises BadInputError where hypotheses and groups of references don't pair.
    """
    references = paired(params.hypotheses, params.references)
    return Scored(score(params.hypotheses, references), len(references), sum(map(len, references)))


SCORE_TEXTS = Action(
    Job("explorer.labs.generation.scores:score_texts", on="nothing", light=True), ScoreParams, scores_table
)

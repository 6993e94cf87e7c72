"""How pasted texts are read, and what is said of those that can't be."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.errors import BadInputError
from explorer.labs.generation.scores import LONGEST, ScoreParams, paired
from tests.rows import each_row

TWO = "One.\nTwo."


def read(references: Any, hypotheses: Any = TWO) -> Any:
    params = ScoreParams(hypotheses, references)
    return paired(params.hypotheses, params.references)


@each_row(
    "given",
    [
        "a\nb\n\nc\n",
        "\n\n a \r\nb\r\n \r\n\r\nc",
        "a\tb\nc\t",
        "a\tb\n\nc",
        [["a", "b"], ["c"]],
        [["a", " ", "b"], "c"],
        "[['a', 'b'], ['c']]",
    ],
)
def test_groups_are_read_from_lines_tabs_and_lists(given: Any) -> None:
    assert read(given) == (("a", "b"), ("c",))


def test_lines_without_an_empty_one_are_one_reference_each() -> None:
    """As the challenge's scorer reads them."""
    assert read("a\nb") == (("a",), ("b",))
    assert read("a\nb", "One.") == (("a", "b"),)


def test_control_characters_and_spaces_go() -> None:
    params = ScoreParams("  A\u0007  pub.\n", "A\u00a0pub.")
    assert (params.hypotheses, params.references) == (("A pub.",), (("A pub.",),))


@each_row(
    ("hypotheses", "references", "says"),
    [
        ("", "a", "no hypotheses: write one a line"),
        (" \n\n", "a", "no hypotheses"),
        (TWO, " \n \n", "no references: write one reference a line, an empty line between"),
        (TWO, "a\n\nb\n\nc", "2 hypotheses and 3 groups of references, and each hypothesis needs its own"),
        ("One.", "a\n\nb", "1 hypothesis and 2 groups"),
        ("x " * LONGEST, "a", "more than 900,000 characters"),
        (TWO, "x\n" * LONGEST, "more than 900,000 characters"),
        (["x" * LONGEST, "y"], "a", "more than 900,000 characters"),
        (TWO, [["x" * LONGEST, "y"]], "more than 900,000 characters"),
        ("a\n" * 2001, "a", "2,001 hypotheses are more than the 2,000"),
        (TWO, "a\n\n" * 2001, "2,001 groups of references are more than the 2,000"),
        ("x" * 701, "a", "hypothesis number 1 has 701 characters"),
        (TWO, "a\n\n" + "b\n" * 101, "Group 2 has 101 references.*empty line between groups"),
        (TWO, 5, "list of lists"),
        (TWO, [["a"], [5]], "list of lists"),
        (7, "a", "one a line"),
    ],
)
def test_what_cannot_be_scored_is_told_what_to_mend(hypotheses: Any, references: Any, says: str) -> None:
    with pytest.raises(BadInputError, match=says):
        read(references, hypotheses)

"""What a lesson is made of. It is written as YAML (explorer.lessons.reading), by us or by any lecturer."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

LONGEST_TEXT, LONGEST_LINE, LONGEST_ADDRESS = 1_500, 200, 4_000
MOST_STEPS, MOST_CHOICES = 40, 8

Line = Annotated[str, Field(min_length=1, max_length=LONGEST_LINE)]
Cell = str | int | float | bool


class _Checked(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)


class Truth(_Checked):
    """What the model says, as a cell of the table that an action of the pages gives.

    Its parameters are those of the step's address that it knows by name, and `given`; or those with which its tab opens, by the
    opening's number. where: the rows that count, by their cells; of a choice, only those whose cell is one of the choices.
    largest, smallest: the column by which one of them is picked, else `row`, from 0, a negative one from the end. take: what is
    made of the rows instead. called: the words for cells. beside: the column of the model's number for each row, which is shown
    beside the class's answers. by: who says so, if not the model.
    """

    action: Line
    column: Line
    given: dict[str, Any] = {}
    opening: int | None = None
    where: dict[str, Cell] = {}
    row: int = 0
    largest: str = ""
    smallest: str = ""
    take: Literal["value", "count", "sum", "mean"] = "value"
    times: float = 1.0
    called: dict[str, str] = {}
    beside: str = ""
    by: str = ""


class Answer(_Checked):
    """How a question is answered. unit: written behind a number. digits: after the point.

    truth: where the answer is computed. right: the answer itself, where it is a fact and nothing that a model says; a step may
    have neither, and then a class sees its own answers alone.
    """

    kind: Literal["word", "number", "choice"]
    choices: tuple[Line, ...] = ()
    unit: Annotated[str, Field(max_length=20)] = ""
    digits: Annotated[int, Field(ge=0, le=4)] = 0
    truth: Truth | None = None
    right: Cell | None = None

    @model_validator(mode="after")
    def _is_whole(self) -> Answer:
        if self.kind == "choice" and not 2 <= len(self.choices) <= MOST_CHOICES:
            raise ValueError(f"an answer of kind choice needs 2 to {MOST_CHOICES} choices")
        if self.kind != "choice" and self.choices:
            raise ValueError(f"only an answer of kind choice has choices, and this one's is {self.kind}")
        if len(set(self.choices)) < len(self.choices):
            raise ValueError("no two choices may be the same")
        if self.truth is not None and self.right is not None:
            raise ValueError("an answer has a truth that is computed or one that is right, not both")
        if self.kind == "choice" and self.right is not None and self.right not in self.choices:
            raise ValueError("what is right must be one of the choices")
        return self


class Reveal(_Checked):
    """What is said once the answer shows. least, most, among: the answers of which it is true; of another it isn't said."""

    text: Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)]
    least: float | None = None
    most: float | None = None
    among: tuple[Cell, ...] = ()

    def holds(self, value: Cell | None) -> bool:
        """Return whether the text may be said of this answer."""
        if self.among:
            return str(value).casefold() in {str(one).casefold() for one in self.among}
        if self.least is None and self.most is None:
            return True
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return False
        return (self.least is None or value >= self.least) and (self.most is None or value <= self.most)


class Step(_Checked):
    """One view, by its address behind the server's name, and what is asked of it.

    say: the teacher's note. minute: at which a lecture comes to it. hides: whether the view's answer is hidden until a
    guess is in.
    """

    at: Annotated[str, Field(max_length=LONGEST_ADDRESS)]
    title: Line
    minute: Annotated[int, Field(ge=0, le=300)] | None = None
    say: Annotated[str, Field(max_length=LONGEST_TEXT)] = ""
    question: Annotated[str, Field(max_length=LONGEST_LINE)] = ""
    answer: Answer | None = None
    reveal: Reveal | None = None
    hides: bool = True

    @model_validator(mode="after")
    def _fits(self) -> Step:
        if self.answer is not None and not self.question:
            raise ValueError("a step with an answer needs a question")
        if re.search(r"[\x00-\x1f\\]|^/|^\w+:|//", self.at.partition("#")[0]):
            raise ValueError("at must be an address of this app from its page on, such as masking#tab=fill")
        return self


class Lesson(_Checked):
    """A lesson. minutes: how long it takes in class."""

    title: Line
    about: Annotated[str, Field(max_length=LONGEST_TEXT)] = ""
    minutes: Annotated[int, Field(ge=1, le=300)] = 10
    steps: Annotated[tuple[Step, ...], Field(min_length=1, max_length=MOST_STEPS)]

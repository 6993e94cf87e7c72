"""RoBERTa's recipe as its paper tabulates it: the settings, and the steps that are climbed from one to the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from explorer.kinds import OneOf
from explorer.models.published import ROBERTA_TABLE_2
from explorer.params import Shown, params

SCORES = {"mnli": "MNLI-m", "sst2": "SST-2", "squad2": "SQuAD 2.0"}
"""The tasks whose scores most of the tables have: accuracy, accuracy, F1."""

STEPS = {1: "masking", 2: "input format and NSP", 3: "batch size", 4: "text and steps"}
"""What each of the paper's tables changes."""

SIZES = {1: "base", 2: "base", 3: "base", 4: "large"}


@params
class RecipeParams:
    """Which task the steps are scored on."""

    score: Annotated[str, OneOf(tuple(SCORES), tuple(SCORES.values())), Shown("Score on")] = "mnli"


@dataclass(frozen=True)
class Setting:
    """A row of a table; scores in points, perplexity on held-out text. is_start: the table's other rows are compared with it."""

    table: int
    setting: str
    squad2: float | None
    mnli: float
    sst2: float
    perplexity: float | None = None
    is_start: bool = False

    def score(self, name: str) -> float | None:
        """Return the score in points; None if the table does not have it."""
        value: float | None = getattr(self, name)
        return value


@dataclass(frozen=True)
class Step:
    """One change with the scores before and after it, in points. short: its name where there is little room."""

    table: int
    change: str
    short: str
    before: float
    after: float

    @property
    def gain(self) -> float:
        """The points gained; lost, if they are below zero."""
        return round(self.after - self.before, 1)


@dataclass(frozen=True)
class RecipeResult:
    """The settings in the paper's order, and the task that they are compared on."""

    score: str
    settings: tuple[Setting, ...]

    def of(self, table: int) -> list[Setting]:
        """Return the rows of one table."""
        return [row for row in self.settings if row.table == table]

    def gain(self, row: Setting) -> float | None:
        """Return the points beyond the row that its table starts from; None if one of the two has no such score."""
        start = next(one for one in self.of(row.table) if one.is_start)
        here, there = row.score(self.score), start.score(self.score)
        return None if here is None or there is None else round(here - there, 1)

    def climbed(self) -> list[Step]:
        """Return the steps from BERT to RoBERTa for which the chosen task has a score on both sides."""
        found = []
        for table, change, short, before, after in CHANGES:
            start, stop = (self._score(table, setting) for setting in (before, after))
            if start is not None and stop is not None:
                found.append(Step(table, change, short, start, stop))
        return found

    def _score(self, table: int, setting: str) -> float | None:
        return next(row for row in self.of(table) if row.setting == setting).score(self.score)


PUBLISHED = (
    Setting(1, "BERT-base, published", 76.3, 84.3, 92.8),
    Setting(1, "static: ten copies", 78.3, 84.3, 92.5, is_start=True),
    Setting(1, "dynamic: drawn anew", 78.7, 84.0, 92.9),
    *(
        Setting(2, row.title, row.squad2, row.mnli, row.sst2, is_start=number == 0)
        for number, row in enumerate(ROBERTA_TABLE_2)
    ),
    Setting(3, "256, 1M steps, 1e-4", None, 84.7, 92.7, 3.99, is_start=True),
    Setting(3, "2K, 125K steps, 7e-4", None, 85.2, 92.9, 3.68),
    Setting(3, "8K, 31K steps, 1e-3", None, 84.6, 92.8, 3.77),
    Setting(4, "BERT-large: 13 GB", 81.8, 86.6, 93.7, is_start=True),
    Setting(4, "16 GB, 100K steps", 87.3, 89.0, 95.3),
    Setting(4, "160 GB, 100K steps", 87.7, 89.3, 95.6),
    Setting(4, "160 GB, 300K steps", 88.7, 90.0, 96.1),
    Setting(4, "160 GB, 500K steps", 89.4, 90.2, 96.4),
)

CHANGES = (
    (1, "masks drawn anew", "masks", "static: ten copies", "dynamic: drawn anew"),
    (2, "full sentences, no NSP", "no NSP", "segment pair, NSP", "full sentences, no NSP"),
    (3, "batches of 2K", "batch", "256, 1M steps, 1e-4", "2K, 125K steps, 7e-4"),
    (4, "all that, about the same text", "same text", "BERT-large: 13 GB", "16 GB, 100K steps"),
    (4, "ten times the text", "more text", "16 GB, 100K steps", "160 GB, 100K steps"),
    (4, "five times the steps", "longer", "160 GB, 100K steps", "160 GB, 500K steps"),
)
"""RoBERTa's way: a table, what it changes, the same in two words, the setting before, and the one after. The fourth table's steps
lead from each to the next; the three before it start at what the one before them has found, or in the third nearly there."""

"""A tab's description: what is asked, shown, explained and tried.

It needs neither gradio nor torch, so a small question is one file that is read from top to bottom: its parameters, its result,
its job, table, sentence and figure, its Action, and its Tab. `explorer.ui.tabs` makes the page from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from explorer.action import Action

Draw = Callable[..., Any]
"""A function of a result."""


@dataclass(frozen=True)
class Button:
    """The button that asks, where a control alone does not."""

    title: str


@dataclass(frozen=True)
class Note:
    """A remark among the controls, as HTML."""

    html: str


@dataclass(frozen=True)
class Choice:
    """A control that says how an answer is drawn and not what is computed; it opens with the first.

    name: by which the figure's functions take it. choices: (title, value) pairs; `dropdown` lists them, where they are not all
    in view.
    """

    name: str
    title: str
    choices: tuple[tuple[str, str], ...]
    dropdown: bool = False


@dataclass(frozen=True)
class Figure:
    """What an answer fills. name: of the figure in the page, `#name-figure`. filename: under which a visitor saves it. notes:
    what the sentence rests on. remark: what is always to be said of it, below, as HTML."""

    name: str
    filename: str
    sentence: Draw
    picture: Draw
    notes: Draw | None = None
    remark: str = ""


@dataclass(frozen=True)
class Why:
    """The folded explanation. text: Markdown with formulas."""

    title: str
    text: str


@dataclass(frozen=True)
class Tab:
    """One question of a page.

    slug: its name in the address. asks: what stands among the controls, in this order: a parameter by its name, a Choice, a
    Button, a Note. opening: what the parameters are on opening, where that is not their default. tries: one-click experiments,
    each with the parameters that it sets.
    """

    slug: str
    title: str
    action: Action
    asks: tuple[str | Choice | Button | Note, ...]
    figure: Figure
    why: Why | None = None
    opening: Mapping[str, Any] = field(default_factory=dict)
    tries: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    slim: bool = False
    """Whether the controls are so few that they are a bar above the figure."""
    width: int = 270
    """Of the controls' side, in pixels, at least."""

    @property
    def inputs(self) -> tuple[str, ...]:
        """The parameters that a visitor sets here, which are its address."""
        return tuple(part for part in self.asks if isinstance(part, str))

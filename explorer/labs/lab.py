"""What a lab is: a page, its question, and named actions that run anywhere (page, API client, script)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from markupsafe import Markup

from explorer.backend.executor import Job
from explorer.models.architectures import Capability
from explorer.tables import Table

NOTHING = Markup("")
CHAPTERS = ("Read", "Pretrain", "Look inside", "Adapt", "Compress")


@dataclass(frozen=True)
class Action:
    """One thing that a visitor can do.

    name: the endpoint, and what explorer.run calls it. params: the frozen dataclass that the job takes; its fields are the
    endpoint's parameters beside `model`. table: makes the table behind the figure from the job's result.
    """

    name: str
    job: Job
    params: type
    table: Callable[[Any], Table]
    check: Callable[[Any], None] | None = None
    """Raises ExplorerError for a result that a page can show and that answers nothing."""

    def script(self, model_id: str, params: Any) -> str:
        """A Python script that computes the same numbers outside the page; parameters at their default are left out."""
        given = [
            f"    {field.name}={getattr(params, field.name)!r},"
            for field in fields(self.params)
            if getattr(params, field.name) != field.default
        ]
        lines = [
            "# Run this in the folder of the BERT Explorer, where `make setup` has been called:",
            "#     .venv/bin/python script.py",
            "import explorer",
            "",
            "answer = explorer.run(",
            f"    {self.name!r},",
            f"    model={model_id!r},",
            *given,
            ")",
            "print(answer)",
        ]
        return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Lab:
    """One page.

    slug: its URL. question: the one that the page answers, its subtitle. tab: `module:function` that builds the page;
    named rather than imported, so that scripts use the actions without the web interface.
    """

    slug: str
    title: str
    chapter: str
    question: str
    teaser: str
    needs: Capability | None
    actions: tuple[Action, ...]
    tab: str
    without_head: Markup = NOTHING
    """Why a model may lack the head that this page needs, shown when the chosen one does."""

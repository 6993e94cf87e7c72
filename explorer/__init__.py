"""The BERT Explorer as a library: `explorer.run` computes what a page shows, without the page."""

from __future__ import annotations

import time
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from explorer.settings import share_processor
from explorer.tables import Table

share_processor()  # whoever imports torch first does so after this package

__all__ = ["Answer", "run"]

SCRIPT_OWNER = "script"
"""Who starts the runs of a script: they are listed by `explorer.run("runs")` and kept with those of the pages."""

LOOK_SECONDS = 0.1


@dataclass(frozen=True)
class Answer:
    """What an action computed: `result` in full, `table` as the page shows it; prints as the table."""

    result: Any
    table: Table

    def __str__(self) -> str:
        return str(self.table)


def run(action: str, model: str | None = None, **parameters: Any) -> Answer:
    """Run one action by its endpoint's name, for example `run("fill_masks", text="Paris is in [MASK].", top_k=5)`.

    model: a catalog name, a hub id (fetched when needed) or a folder; without one the first bundled model that can.
    Raises ExplorerError for what a visitor can put right, ValueError for an unknown action, TypeError for a parameter
    that the action does not have.
    """
    from explorer.labs import LABS, LiveAction

    known = {entry.name: entry for lab in LABS for entry in lab.actions}
    if action not in known:
        raise ValueError(f"No action is called {action!r}; there are {', '.join(known)}.")
    entry = known[action]
    engine = _engine()
    model = model or _standard_model(entry)
    if isinstance(entry, LiveAction):
        given = {"model": model, **parameters} if entry.takes_model else parameters
        result = _followed(entry, engine, entry.params(**given))
    else:
        names_model = entry.job.on in ("runs", "resources") and any(
            field.name == "model" for field in fields(entry.params)
        )
        given = {"model": model, **parameters} if names_model else parameters
        params = entry.params(**given)
        if names_model or entry.job.on == "model":
            _prepared(engine, model)
        result = engine.follow(entry.job, params, model if entry.job.on == "model" else "").last.result()
    if entry.check is not None:
        entry.check(result)
    return Answer(result, entry.table(result))


def _standard_model(entry: Any) -> str:
    """The first bundled model with the head that an action needs."""
    from explorer.models.catalog import DEFAULT_MODEL, bundled_with

    needs = getattr(getattr(entry, "job", None) or getattr(entry, "source", None), "needs", None)
    return next(iter(bundled_with(needs)), DEFAULT_MODEL) if needs else DEFAULT_MODEL


def _prepared(engine: Any, model: str) -> None:
    for _ in engine.prepare(model):
        pass


def _followed(entry: Any, engine: Any, params: Any) -> Any:
    """The last result of an action that goes on for a while."""
    if entry.takes_model:
        _prepared(engine, params.model)
    last = None
    for result in entry.follow(engine, params, SCRIPT_OWNER):
        last = result if result is not None else last
        time.sleep(LOOK_SECONDS)
    return last


@cache
def _engine() -> Any:
    from explorer.engine.local import LocalEngine
    from explorer.settings import settings

    return LocalEngine(settings())

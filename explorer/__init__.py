"""The BERT Explorer as a library: `explorer.run` computes what a page shows, without the page."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from explorer.settings import share_processor
from explorer.tables import Table

# Torch reads at its import how idle threads are to wait, and whoever imports it does so after this package.
share_processor()

__all__ = ["Answer", "actions", "follow", "run", "standard_model", "stop"]

SCRIPT_OWNER = "script"
"""The owner of a script's runs: they are listed by `explorer.run("runs")` and kept with those of the pages."""

LOOK_SECONDS = 0.1


@dataclass(frozen=True)
class Answer:
    """The answer of an action: `result` in full, `table` as the page shows it; prints as the table."""

    result: Any
    table: Table

    def __str__(self) -> str:
        return str(self.table)


def run(action: str, model: str | None = None, **parameters: Any) -> Answer:
    """Run one action by its endpoint's name, for example `run("fill_masks", text="Paris is in [MASK].", top_k=5)`.

    model: a catalog name, a hub id (fetched if needed) or a folder; None for the first bundled model that has the head.
    Raises ExplorerError for what a visitor can put right, ValueError for an unknown action, TypeError for a parameter
    that the action does not have.
    """
    entry, result = _named(action), None
    for newer in _results(entry, model, parameters):
        result = newer
    if entry.check is not None:
        entry.check(result)
    return Answer(result, entry.table(result))


def follow(action: str, model: str | None = None, **parameters: Any) -> Generator[Answer, None, None]:
    """Run one action as `run` does, and yield each answer as it comes: several for what trains or measures for a while,
    else one.

    Closing it ends the work; a run that it has started trains on, as one on a page does, until `stop`.
    """
    entry, result = _named(action), None
    with closing(_results(entry, model, parameters)) as results:
        for result in results:
            yield Answer(result, entry.table(result))
    if entry.check is not None:
        entry.check(result)


def stop() -> list[str]:
    """Stop the runs that this process trains, and wait until they have ended. They keep what they have learned. Returns
    their ids.
    """
    from explorer.runs.store import this_process

    runs = _engine().runs
    mine = [run for run in runs.list(SCRIPT_OWNER) if run.status.is_active and run.process == this_process()]
    for run in mine:
        runs.stop(run.run_id, SCRIPT_OWNER)
    while any(runs.get(run.run_id).status.is_active for run in mine):
        time.sleep(LOOK_SECONDS)
    return [run.run_id for run in mine]


def actions() -> dict[str, Any]:
    """Return every action by its name, in the order of the pages."""
    from explorer.labs import LABS

    return {entry.name: entry for lab in LABS for entry in lab.actions}


def _named(action: str) -> Any:
    known = actions()
    if action not in known:
        raise ValueError(f"No action is called {action!r}; there are {', '.join(known)}.")
    return known[action]


def _results(entry: Any, model: str | None, parameters: dict[str, Any]) -> Generator[Any, None, None]:
    """Yield each newer result of an action."""
    from explorer.labs import LiveAction

    engine = _engine()
    model = model or standard_model(entry)
    if isinstance(entry, LiveAction):
        given = {"model": model, **parameters} if entry.takes_model else parameters
        yield from _followed(entry, engine, entry.params(**given))
        return
    names_model = entry.job.on in ("runs", "resources") and any(field.name == "model" for field in fields(entry.params))
    given = {"model": model, **parameters} if names_model else parameters
    params = entry.params(**given)
    if names_model or entry.job.on == "model":
        _prepared(engine, model)
    following = engine.follow(entry.job, params, model if entry.job.on == "model" else "")
    with closing(following):
        yield following.last.result()


def standard_model(entry: Any) -> str:
    """Return the first bundled model with the head that an action needs."""
    from explorer.models.catalog import DEFAULT_MODEL, bundled_with

    needs = getattr(getattr(entry, "job", None) or getattr(entry, "source", None), "needs", None)
    return next(iter(bundled_with(needs)), DEFAULT_MODEL) if needs else DEFAULT_MODEL


def _prepared(engine: Any, model: str) -> None:
    for _ in engine.prepare(model):
        pass


def _followed(entry: Any, engine: Any, params: Any) -> Iterator[Any]:
    """Yield each newer result of an action that goes on for a while."""
    if entry.takes_model:
        _prepared(engine, params.model)
    with closing(entry.follow(engine, params, SCRIPT_OWNER)) as results:
        for result in results:
            if result is not None:
                yield result
            time.sleep(LOOK_SECONDS)


@cache
def _engine() -> Any:
    from explorer.engine.local import LocalEngine
    from explorer.settings import settings

    return LocalEngine(settings())

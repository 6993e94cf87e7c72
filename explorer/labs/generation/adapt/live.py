"""Start runs that learn to write, and say how they stand."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.engine.protocol import Engine
from explorer.errors import BadInputError, ExplorerError
from explorer.labs.generation.adapt.schema import AdaptParams
from explorer.runs.following import Compared, follow_all
from explorer.settings import settings
from explorer.tasks.sources import load
from explorer.tasks.task import WRITTEN
from explorer.tuning.methods import find_method
from explorer.tuning.spec import spec_of


def adapt_writer(engine: Engine, params: AdaptParams, owner: str) -> Iterator[Compared | None]:
    """Start one run a method and follow them all. Raises BadInputError for a task without meanings."""
    task = load(params.task, settings()).task
    if task.kind != WRITTEN:
        raise BadInputError(f"{task.title} has no meanings to put into words. Take task = e2e, or a file of E2E.")
    started, missing = [], []
    for slug in params.methods:
        try:
            started.append(engine.runs.start(spec_of(params, method=slug), owner))
        except ExplorerError as error:
            missing.append((find_method(slug).title, str(error)))
    if not started:
        raise BadInputError(missing[0][1])
    yield from follow_all(engine.runs, tuple(started), tuple(missing))

"""Start runs that learn to write, and say how they stand."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.engine.protocol import Engine
from explorer.errors import BadInputError
from explorer.labs.generation.adapt import AdaptParams
from explorer.runs.comparing import Compared, follow_all, start_all
from explorer.runs.seeds import repeated
from explorer.settings import settings
from explorer.tasks.sources import card
from explorer.tasks.task import WRITTEN
from explorer.tuning.spec import spec_of


def adapt_writer(engine: Engine, params: AdaptParams, owner: str) -> Iterator[Compared | None]:
    """Train a writer by each method and seed on the same meanings, and follow the runs.

    Raises BadInputError for a task without meanings.
    """
    task = card(params.task, settings()).task
    if task.kind != WRITTEN:
        raise BadInputError(f"{task.title} has no meanings to put into words. Take task = e2e, or a file of E2E.")
    specs = repeated([spec_of(params, method=slug) for slug in params.methods], params.seeds)
    yield from follow_all(engine.runs, *start_all(engine.runs, specs, owner))

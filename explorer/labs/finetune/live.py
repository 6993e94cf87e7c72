"""The fine-tuning lab's live actions: they start runs and say how these stand; the training itself is the backend's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from explorer.engine.protocol import Engine, Job
from explorer.errors import ExplorerError
from explorer.labs.finetune.schema import BaselineParams, CompareParams, FollowParams, RunsParams
from explorer.runs.comparing import Compared, follow, follow_all, start_all
from explorer.runs.record import RunRecord, RunStatus
from explorer.runs.seeds import repeated
from explorer.settings import settings
from explorer.tasks.baseline import Baseline, baseline
from explorer.tasks.sources import load
from explorer.tuning.methods import METHODS, find_method
from explorer.tuning.spec import MOST_HELD_OUT, RunSpec, spec_of

COUNT_WORDS = Job("explorer.labs.finetune.live:count_words", on="nothing")


def train(engine: Engine, params: RunSpec, owner: str) -> Iterator[RunRecord | None]:
    """Start one run and follow it to its end."""
    yield from follow(engine.runs, engine.runs.start(params, owner))


def follow_run(engine: Engine, params: FollowParams, owner: str) -> Iterator[RunRecord | None]:
    """Follow a run that was started earlier, here or on another page."""
    yield from follow(engine.runs, params.run)


def compare_methods(engine: Engine, params: CompareParams, owner: str) -> Iterator[Compared | None]:
    """Start one run a method and seed, with the same data, and follow them all, beside what counting words reaches."""
    wanted = [find_method(name) for name in params.methods] or METHODS
    specs = repeated([spec_of(params, method=method.slug) for method in wanted], params.seeds)
    for compared in follow_all(engine.runs, *start_all(engine.runs, specs, owner)):
        yield compared and beside_counting(engine, compared)  # None stays None: nothing is new


def beside_counting(engine: Engine, compared: Compared) -> Compared:
    """Add what counting words reaches on the same examples to runs of one task; the engine remembers it."""
    spec = compared.records[0].spec
    counted = engine.follow(COUNT_WORDS, BaselineParams(spec.task, spec.examples)).last.result()
    return replace(compared, baseline=counted)


def runs(engine: Engine, params: RunsParams, owner: str) -> Iterator[Compared]:
    """Return the current records of a visitor's runs and of the bundled examples."""
    # Those from nothing are on the Pretrain page.
    yield Compared(tuple(record for record in engine.runs.list(owner) if not record.from_nothing))


def require_success(record: RunRecord) -> None:
    """Raise ExplorerError with the run's own message if it failed."""
    if record.status is RunStatus.FAILED:
        raise ExplorerError(record.message)


def count_words(params: BaselineParams) -> Baseline | None:
    """Count words in the examples and held-out rows of a run with these settings.

    Return None for a task without classes, or one that is not here any more.
    """
    try:
        return baseline(load(params.task, settings()), params.examples, MOST_HELD_OUT)
    except ExplorerError:
        return None

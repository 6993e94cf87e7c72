"""Start runs from nothing and say how they stand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from explorer.engine.protocol import Engine
from explorer.errors import BadInputError, ExplorerError
from explorer.labs.pretrain.train.schema import FollowPretrainingParams, PretrainParams
from explorer.runs.comparing import Compared, follow_all
from explorer.runs.examples import FROM_NOTHING, SEEDS_FROM_NOTHING, with_seed
from explorer.runs.record import RunStatus
from explorer.scratch.spec import STORIES, ScratchSpec
from explorer.settings import settings
from explorer.tasks.sources import keep_text


def pretrain(engine: Engine, params: PretrainParams, owner: str) -> Iterator[Compared | None]:
    """Train one model, or two that are raced, and follow them to the end."""
    task = keep_text(params.text, settings()).name if params.text.strip() else STORIES
    specs = params.specs(task)
    yield from follow_all(engine.runs, tuple(engine.runs.start(spec, owner) for spec in specs))


def follow_pretraining(engine: Engine, params: FollowPretrainingParams, owner: str) -> Iterator[Compared | None]:
    """Follow runs that were started before. Raises BadInputError for a run of another kind."""
    names = tuple(name.strip() for name in params.run.split(",") if name.strip())[:2] or (  # a race has two
        FollowPretrainingParams().run,
    )
    if len(names) == 1 and names[0] in FROM_NOTHING:
        names = (names[0], FROM_NOTHING[names[0]])
    for name in names:
        record = engine.runs.get(name)
        if not isinstance(record.spec, ScratchSpec):
            raise BadInputError(
                f"{record.name} did not begin from nothing. Choose a run that was started on this page."
            )
    again = tuple(engine.runs.get(one) for one in _again(names))
    for compared in follow_all(engine.runs, names):
        yield replace(compared, again=again) if compared else None


def _again(names: tuple[str, ...]) -> list[str]:
    """Return the worked example's runs with other seeds; [] for other runs."""
    pair = next(iter(FROM_NOTHING.items()))
    return [with_seed(name, seed) for seed in SEEDS_FROM_NOTHING for name in names] if names == pair else []


def require_success(result: Compared) -> None:
    """Raise ExplorerError with a failed run's own message."""
    for record in result.records:
        if record.status in (RunStatus.FAILED, RunStatus.CANCELLED):
            raise ExplorerError(f"{record.name}: {record.message}")

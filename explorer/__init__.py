"""The BERT Explorer as a library: `explorer.run` computes what a page shows, without the page."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from explorer.tables import Table

__all__ = ["Answer", "run"]


@dataclass(frozen=True)
class Answer:
    """What an action computed: `result` in full, `table` as the page shows it; prints as the table."""

    result: Any
    table: Table

    def __str__(self) -> str:
        return str(self.table)


def run(action: str, model: str = "bert-small", **parameters: Any) -> Answer:
    """Run one action by its endpoint's name, for example `run("fill_masks", text="Paris is in [MASK].", top_k=5)`.

    model: a catalog name, a hub id (fetched when needed) or a folder. Raises ExplorerError for what a visitor can put
    right, ValueError for an unknown action, TypeError for a parameter that the action does not have.
    """
    from explorer.labs import LABS

    known = {entry.name: entry for lab in LABS for entry in lab.actions}
    if action not in known:
        raise ValueError(f"No action is called {action!r}; there are {', '.join(known)}.")
    entry = known[action]
    executor = _executor()
    for _ in executor.prepare(model):
        pass
    result = executor.submit(entry.job, model, entry.params(**parameters)).result()
    if entry.check is not None:
        entry.check(result)
    return Answer(result, entry.table(result))


@cache
def _executor() -> Any:
    from explorer.backend.local import LocalExecutor
    from explorer.settings import settings

    return LocalExecutor(settings())

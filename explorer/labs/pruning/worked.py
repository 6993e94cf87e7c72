"""What the page opens with: results that were computed beforehand, shown only where they belong to the weights that are here.

`python -m explorer.labs.pruning` computes them again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from explorer.engine.protocol import Job
from explorer.labs.pruning.params import (
    Asking,
    HandParams,
    ImportanceParams,
    OrdersParams,
    PruneParams,
    QuantiseParams,
    StepsParams,
)
from explorer.labs.pruning.schema import (
    HandResult,
    ImportanceResult,
    OrdersResult,
    PruneResult,
    QuantiseResult,
    StepsResult,
)
from explorer.models.catalog import DEFAULT_MODEL
from explorer.runs.examples import FIRST
from explorer.settings import BUNDLED_MODELS, BUNDLED_RUNS, BUNDLED_TASKS, ROOT

FOLDER = ROOT / "assets" / "worked" / "pruning"
READ = 256
"""Examples that the page asks for: of 64 the order of the heads is not certain enough."""

SHARE_IN_STEPS = 0.6
"""What goes in one step and in many."""


@dataclass(frozen=True)
class Opening:
    """One tab's question as the page puts it at first, and what kind of result answers it."""

    params: Asking
    result: type


OPENINGS = {
    "importance": Opening(ImportanceParams(run=FIRST, examples=READ), ImportanceResult),
    "compare_orders": Opening(OrdersParams(run=FIRST, examples=READ), OrdersResult),
    "prune_heads": Opening(HandParams(run=FIRST, examples=READ), HandResult),
    "prune": Opening(PruneParams(run=FIRST, examples=READ), PruneResult),
    "compare_steps": Opening(StepsParams(run=FIRST, examples=READ, share=SHARE_IN_STEPS, train_between=0), StepsResult),
    "quantise": Opening(QuantiseParams(run=FIRST, examples=READ), QuantiseResult),
}
"""By the action's name."""


@dataclass(frozen=True)
class KnownParams:
    """What is asked: an action and its parameters."""

    action: str
    asked: Asking


@dataclass(frozen=True)
class Known:
    """A result with its provenance. made: the date, and on what."""

    result: Any
    made: str


KNOWN = Job("explorer.labs.pruning.worked:known", on="nothing")


def known(params: KnownParams) -> Known | None:
    """The result that was computed beforehand; None for another question, or where a weight or an example is another one."""
    opening = OPENINGS.get(params.action)
    if opening is None or replace(params.asked, model=opening.params.model) != opening.params:
        return None
    try:
        kept = json.loads((FOLDER / f"{params.action}.json").read_text(encoding="utf-8"))
        if kept["belongs_to"] != digest():
            return None
        return Known(_renamed(TypeAdapter(opening.result).validate_python(kept["result"])), str(kept["made"]))
    except (OSError, ValueError, KeyError, ValidationError):
        return None


def _renamed(result: Any) -> Any:
    """With the names that the run and its task go by now, which change nothing that was computed."""
    record = _record()
    return replace(result, about=replace(result.about, name=record["name"], task=record["task_title"]))


def _record() -> dict[str, Any]:
    record: dict[str, Any] = json.loads((BUNDLED_RUNS / FIRST / "record.json").read_text(encoding="utf-8"))
    return record


def keep(action: str, result: Any, made: str) -> Path:
    """Write a result with what it belongs to; the file."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    if isinstance(result, PruneResult):
        result = replace(result, key="")  # the model that went home with it is not kept
    kept = {
        "made": made,
        "command": f"python -m explorer.labs.pruning {action}",
        "belongs_to": digest(),
        "result": TypeAdapter(type(result)).dump_python(result, mode="json"),
    }
    path = FOLDER / f"{action}.json"
    path.write_text(json.dumps(kept, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def digest() -> str:
    """Of everything that the results depend on: the model's weights, the run's, and the task's examples."""
    run = BUNDLED_RUNS / FIRST
    task = _record()["spec"]["task"]
    files = (
        *(BUNDLED_MODELS / DEFAULT_MODEL).glob("*.safetensors"),
        BUNDLED_MODELS / DEFAULT_MODEL / "tokenizer.json",
        *run.glob("*.safetensors"),
        *(path for path in (BUNDLED_TASKS / task).rglob("*") if path.is_file()),
    )
    return _digest(tuple(sorted((str(path), *_state(path)) for path in files)))


def _state(path: Path) -> Iterable[int]:
    state = path.stat()
    return state.st_size, state.st_mtime_ns


@cache
def _digest(files: tuple[tuple[str, int, int], ...]) -> str:
    """Read once as long as the files stay as they are."""
    whole = hashlib.sha256()
    for name, *_ in files:
        with Path(name).open("rb") as file:
            whole.update(f"{Path(name).name} {hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return whole.hexdigest()

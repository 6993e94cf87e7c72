"""Jobs whose traces are files, so that a test sees what they did in whatever process."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from explorer.engine.computation import Together
from explorer.engine.resources import Resources
from explorer.errors import BadInputError
from explorer.models.loaded_model import LoadedModel

WAIT = 120


@dataclass(frozen=True)
class Traced:
    """Parameters. folder: where each job leaves its traces. failures: how many begin in vain before one works."""

    folder: str
    text: str = "the cat"
    to: int = 3
    failures: int = 0


@dataclass(frozen=True)
class Said:
    text: str
    model_id: str
    graph: bool


def leave(params: Traced, what: str) -> None:
    (Path(params.folder) / f"{what} {uuid.uuid4().hex}").touch()


def traces(folder: Path, what: str = "") -> int:
    """How many there are that begin so."""
    return len([path for path in folder.iterdir() if path.name.startswith(what)])


def until(met: Callable[[], bool]) -> None:
    end = time.monotonic() + WAIT
    while not met():
        assert time.monotonic() < end
        time.sleep(0.01)


def passed(params: Traced, gate: str = "gate") -> None:
    """Wait until a test opens a gate."""
    until((Path(params.folder) / gate).exists)


def say(loaded: LoadedModel, params: Traced) -> Said:
    leave(params, f"asked {params.text}")
    scores = loaded.model(torch.tensor([[2, 5, 3]])).prediction_logits
    return Said(params.text, loaded.model_id, not scores.is_inference())


def wait(loaded: LoadedModel, params: Traced) -> str:
    leave(params, "asked")
    passed(params)
    return "done"


def refuse(loaded: LoadedModel, params: Traced) -> str:
    leave(params, "asked")
    if traces(Path(params.folder), "asked") <= params.failures:
        raise BadInputError("Type a sentence first.")
    return "fine"


def run_out(loaded: LoadedModel, params: Traced) -> str:
    """As an accelerator does."""
    leave(params, "asked")
    if traces(Path(params.folder), "asked") <= params.failures:
        raise torch.OutOfMemoryError("CUDA out of memory")
    return "it fits"


def run_out_on_the_cpu(loaded: LoadedModel, params: Traced) -> str:
    torch.empty(2**50)
    return "it fits"


def run_out_without_a_model(resources: Resources, params: Traced) -> str:
    raise MemoryError


def break_down(loaded: LoadedModel, params: Traced) -> str:
    raise RuntimeError("a fault of the program")


def count(resources: Resources, params: Traced) -> Iterator[int | None]:
    """Results 1 to `to`; each waits for the gate of its number, where there is no gate for all."""
    try:
        for number in range(1, params.to + 1):
            until(lambda: any((Path(params.folder) / gate).exists() for gate in ("gate", f"gate-{number}")))  # noqa: B023
            leave(params, f"counted {number}")
            yield number
            yield None
    finally:
        leave(params, "closed")


def squares(resources: Resources, params: Traced) -> Iterator[Any]:
    def square(number: int) -> int:
        leave(params, "began")
        if number < params.failures:
            raise BadInputError(f"{number} is too small")
        return number * number

    yield (yield Together(square, range(params.to)))


def breaks(resources: Resources, params: Traced) -> Iterator[int]:
    leave(params, "begun")
    yield 1
    raise BadInputError("It broke.")


def quick(params: Traced) -> str:
    return "quick"

"""The same work on a GPU and on the processor beside it, by bert-mini: seconds of each, and how many times as fast it is."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import torch

import explorer
from explorer.engine.local import LocalEngine
from explorer.labs.masking import FILL_MASKS
from explorer.labs.masking.schema import FillParams
from explorer.settings import Settings

MODEL = "bert-mini"
TIMES = 3


def _masks(engine: LocalEngine, texts: int, turn: int) -> None:
    """So many texts that wait together; each turn asks about others, since answers are kept."""
    asked = [FillParams(f"The old ship was [MASK] in {number}, {turn}.") for number in range(texts)]
    for one in [engine.follow(FILL_MASKS.job, params, MODEL) for params in asked]:
        one.last.result()


def _run(engine: LocalEngine, action: str, **parameters: Any) -> None:
    with mock.patch("explorer._engine", return_value=engine):
        explorer.run(action, **parameters)


WORK: dict[str, Callable[[LocalEngine, int], None]] = {
    "fill_masks, 1 text": lambda engine, turn: _masks(engine, 1, turn),
    "fill_masks, 16 texts": lambda engine, turn: _masks(engine, 16, turn),
    "fill_masks, 64 texts": lambda engine, turn: _masks(engine, 64, turn),
    "LoRA r=8 on SST-2-like, 3 epochs": lambda engine, turn: _run(
        engine, "train", model=MODEL, task="sst2", method="lora", rank=8, epochs=3, seed=turn
    ),
}


def _seconds(engine: LocalEngine, work: Callable[[LocalEngine, int], None]) -> float:
    """The quickest of several turns; the first, which loads the model, is not counted."""
    took = []
    for turn in range(TIMES + 1):
        began = time.perf_counter()
        work(engine, turn)
        took.append(time.perf_counter() - began)
    return min(took[1:])


def measure(device: str = "cuda") -> str:
    """A line for each kind of work, under the card's name."""
    if device == "cuda" and not torch.cuda.is_available():
        return "gpu: torch finds none here"
    card = torch.cuda.get_device_name() if device == "cuda" else device
    lines = [f"gpu, {card} beside this processor, {MODEL}:"]
    with tempfile.TemporaryDirectory() as folder:
        engines = [
            LocalEngine(Settings(device=name, offline=True, data_folder=Path(folder) / name))
            for name in (device, "cpu")
        ]
        for name, work in WORK.items():
            there, here = (_seconds(engine, work) for engine in engines)
            lines.append(f"  {name}: {there:.3f} s against {here:.3f} s, {here / there:.1f} times as fast")
    return "\n".join(lines)


if __name__ == "__main__":
    print(measure())

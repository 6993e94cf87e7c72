"""What the server holds while two thousand odd calls of every endpoint come in.

It grows over the first thousand, with what is imported at its first use, eight restored runs and the answers that are kept; then
no more.
"""

from __future__ import annotations

import itertools
import os
import tempfile
from pathlib import Path
from unittest import mock

import httpx
import psutil

from benchmarks.serving import listening
from explorer.models.catalog import CATALOG
from tests.fuzzing import HANG_SECONDS, Fuzzer, endpoints, send
from tests.models.tiny import save
from tests.test_fuzz import each_in_turn

CALLS, LOOK = 2000, 250
"""Calls in all, and after how many the memory is read."""

SEED = 0


def measure() -> str:
    """Megabytes with every bundled model loaded, and then after every LOOK calls."""
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, {"EXPLORER_DATA": folder}):
        tiny = str(save(Path(folder) / "tiny"))
        with listening("app.py") as (address, process), httpx.Client(base_url=address, timeout=HANG_SECONDS) as client:
            held = [_loaded(client, psutil.Process(process))]
            fuzzer, known = Fuzzer(SEED, tiny, ["example-lora-8", ""]), endpoints(client)
            for number, endpoint in enumerate(itertools.islice(each_in_turn(known, SEED), CALLS), 1):
                send(client, fuzzer.draw(endpoint), f"session-{number % 3}-{number if endpoint.streams else ''}")
                if number % LOOK == 0:
                    held.append(psutil.Process(process).memory_info().rss / 2**20)
    half, last = held[CALLS // LOOK // 2], held[-1]
    shown = ", ".join(f"{one:.0f}" for one in held)
    return (
        f"memory over {CALLS} odd calls: {shown} MB with all models loaded and after every {LOOK}; the last is "
        f"{last / half:.2f} times what it was after half of them (wanted: at most 1.1)"
    )


def _loaded(client: httpx.Client, process: psutil.Process) -> float:
    """Megabytes once each bundled model has been asked for what it can be asked for."""
    for card in CATALOG:
        if card.bundled:
            client.post("gradio_api/run/head_statistics", json={"data": [card.model_id, "The cat sat."]})
    return process.memory_info().rss / 2**20


if __name__ == "__main__":
    print(measure())

"""/fill_masks from a client's request to its answer, against the bare forward pass of the same input."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

import httpx
import torch
from gradio_client import Client
from transformers import AutoModelForPreTraining, AutoTokenizer, BatchEncoding

from benchmarks.serving import served
from explorer.settings import BUNDLED_MODELS

MODEL = "bert-small"
RUNS = 30
SHORT = "Number {}: the capital of France is [MASK]."
LONG = "Number {}: the capital of France is [MASK]. " + "The old lighthouse was built on the northern coast. " * 11
"""About 12 and about 128 tokens; numbered, so that no answer comes from the cache."""


def seconds(call: Callable[[int], object], runs: int = RUNS) -> float:
    """Median time of a call, after three that do not count."""
    times = []
    for number in range(runs + 3):
        began = time.perf_counter()
        call(number)
        times.append(time.perf_counter() - began)
    return median(times[3:])


def measure() -> str:
    """One line a text: forward pass, request as a browser makes it, request by gradio_client."""
    folder = BUNDLED_MODELS / MODEL
    model, tokenizer = (
        AutoModelForPreTraining.from_pretrained(folder, dtype=torch.float32).eval(),
        AutoTokenizer.from_pretrained(folder),
    )
    lines = []
    with served("app.py") as (address, _), httpx.Client(timeout=60) as browser:
        client = Client(address, verbose=False)
        for name, template in (("short", SHORT), ("long", LONG)):
            batches = [tokenizer(template.format(number), return_tensors="pt") for number in range(RUNS + 3)]

            def forward(number: int, batches: list[BatchEncoding] = batches) -> None:
                with torch.inference_mode():
                    model(**batches[number])

            def request(number: int, template: str = template) -> None:
                data = {"data": [MODEL, template.format(1000 + number), 5, ""]}
                browser.post(f"{address}gradio_api/run/fill_masks", json=data).raise_for_status()

            def by_client(number: int, template: str = template) -> None:
                client.predict(model=MODEL, text=template.format(2000 + number), top_k=5, api_name="/fill_masks")

            bare, http, python = seconds(forward), seconds(request), seconds(by_client)
            tokens = batches[0]["input_ids"].shape[1]
            lines.append(
                f"fill_masks, {name} ({tokens} tokens): forward {1e3 * bare:.1f} ms; as a browser asks {1e3 * http:.1f} ms, "
                f"ratio {http / bare:.2f} (wanted: at most 2.5); by gradio_client {1e3 * python:.1f} ms, "
                f"ratio {python / bare:.2f}"
            )
    return "\n".join(lines)

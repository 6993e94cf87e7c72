"""From process start to the first page and to the first answer.

The page: against one Gradio textbox and the import of torch and transformers. The answer: against gr.Interface on the same
model, which loads it before it serves.
"""

from __future__ import annotations

import asyncio
import time
from statistics import median

from benchmarks.browser import browsers
from benchmarks.serving import served
from benchmarks.visitors import BASELINE as INTERFACE
from benchmarks.visitors import TEXT, Ask, ask_app, ask_interface

TEXTBOX = """
import gradio as gr, torch, transformers
transformers.AutoModelForMaskedLM, transformers.AutoTokenizer
with gr.Blocks() as app:
    gr.Textbox()
app.launch()
"""
RUNS = 5


async def _answer(address: str, ask: Ask) -> None:
    async with browsers(address, 60) as browser:
        await ask(browser, "first", TEXT.format(0, 0))


def _seconds(command: tuple[str, ...], ask: Ask) -> tuple[float, float]:
    """To the first page, and to an answer asked for as soon as that is there."""
    with served(*command) as (address, to_page):
        began = time.perf_counter()
        asyncio.run(_answer(address, ask))
        return to_page, to_page + time.perf_counter() - began


def measure(runs: int = RUNS) -> str:
    """Alternate the three and compare medians, in seconds."""
    pages, answers, plain_pages, plain_answers = [], [], [], []
    for _ in range(runs):
        page, answer = _seconds(("app.py",), ask_app)
        pages.append(page)
        answers.append(answer)
        with served("-c", TEXTBOX) as (_, seconds):
            plain_pages.append(seconds)
        plain_answers.append(_seconds(("-c", INTERFACE), ask_interface)[1])
    return "\n".join(
        f"start, to the first {what}: {median(ours):.2f} s against {median(theirs):.2f} s, "
        f"ratio {median(ours) / median(theirs):.2f}{wanted}"
        for what, ours, theirs, wanted in (
            ("page", pages, plain_pages, " (wanted: at most 1.3)"),
            ("answer", answers, plain_answers, ""),
        )
    )

"""A class opens the app: sixty students within ten seconds, each with sentences of their own.

Beside it Gradio's plain defaults, as the quickest way to put the same model on a page. Sessions and requests are those of a
browser: this app's questions go straight to the server, those of gr.Interface through Gradio's queue.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from statistics import median, quantiles

from benchmarks.browser import Browser, browsers
from benchmarks.serving import served
from explorer.settings import BUNDLED_MODELS

MODEL = "bert-small"
STUDENTS = 60
ARRIVE_SECONDS = 10.0
QUESTIONS = 4
LONGEST_SECONDS = 240.0
KEPT_OPEN = 2.0
"""Seconds: shorter than the 5 after which gr.Interface closes a connection, or a question meets it half closed."""

TEXT = "Student {} has question number {}: the keys to the cabinet [MASK] on the table."
BASELINE = f"""
import gradio as gr, transformers
fill = transformers.pipeline("fill-mask", model={str(BUNDLED_MODELS / MODEL)!r})
def answer(text):
    return {{guess["token_str"]: guess["score"] for guess in fill(text)}}
gr.Interface(answer, "text", "label", api_name="fill").launch()
"""

Ask = Callable[[Browser, str, str], Awaitable[None]]
"""Puts a text to the server in a session; returns when the answer is there, and raises where there is none."""


async def ask_app(browser: Browser, session: str, text: str) -> None:
    """A question as the masking page puts it."""
    question = {"data": [MODEL, text, 5, ""], "session_hash": session}
    await browser.post("gradio_api/run/fill_masks", question)


async def called(browser: Browser, name: str, data: list[object], session: str) -> None:
    """A question through Gradio's queue: join it, read its messages until the answer comes."""
    joined = await browser.post(f"gradio_api/call/{name}", {"data": data, "session_hash": session})
    said = await browser.text(f"gradio_api/call/{name}/{joined['event_id']}")
    if "event: complete" not in said.splitlines():
        raise RuntimeError(f"the queue ended without an answer: {said}")


async def ask_interface(browser: Browser, session: str, text: str) -> None:
    """A question to gr.Interface."""
    await called(browser, "fill", [text], session)


@dataclass(frozen=True)
class Opening:
    """How a class fared, in seconds: first answers since the page was asked for, later answers, answers a second in all."""

    first: list[float]
    later: list[float]
    rate: float

    def __str__(self) -> str:
        slowest = [quantiles(times, n=20)[-1] for times in (self.first, self.later)]
        return (
            f"first answers {median(self.first):.2f} s (p95 {slowest[0]:.2f}), later ones {median(self.later):.2f} s "
            f"(p95 {slowest[1]:.2f}), {self.rate:.1f} answers a second"
        )


async def _visit(browser: Browser, page: str, ask: Ask, number: int) -> list[float]:
    """One student: comes, opens the page, asks; the seconds that each answer took, the page's with the first."""
    await asyncio.sleep(ARRIVE_SECONDS * number / STUDENTS)
    seconds, began = [], time.perf_counter()
    await browser.text(page)
    for question in range(QUESTIONS):
        await ask(browser, f"student{number}", TEXT.format(number, question))
        seconds.append(time.perf_counter() - began)
        began = time.perf_counter()
    return seconds


async def _open(address: str, page: str, ask: Ask) -> Opening:
    async with browsers(address, LONGEST_SECONDS, KEPT_OPEN) as browser:
        await ask(browser, "lecturer", TEXT.format(0, "zero"))  # the model is loaded before the class comes
        began = time.perf_counter()
        visits = await asyncio.gather(*(_visit(browser, page, ask, number) for number in range(STUDENTS)))
        rate = STUDENTS * QUESTIONS / (time.perf_counter() - began)
    return Opening([visit[0] for visit in visits], [one for visit in visits for one in visit[1:]], rate)


def measure() -> str:
    """Two lines and their ratios; no visitor may be left without an answer."""
    with served("app.py") as (address, _):
        ours = asyncio.run(_open(address, "masking", ask_app))
    with served("-c", BASELINE) as (address, _):
        theirs = asyncio.run(_open(address, "", ask_interface))
    return (
        f"visitors, {STUDENTS} within {ARRIVE_SECONDS:g} s: {ours}\n"
        f"  the same in gr.Interface: {theirs}\n"
        f"  answers a second {ours.rate / theirs.rate:.2f} times as many (wanted: at least 1), first answers after "
        f"{median(ours.first) / median(theirs.first):.2f} times as long (wanted: at most 0.5)"
    )

"""A lesson given to sixty phones: all answer within ten seconds, and the lecturer's page counts them as they come."""

from __future__ import annotations

import asyncio
import math
import random
import time
from dataclasses import dataclass, field
from typing import Any

from benchmarks.browser import Browser
from explorer.lessons.routes import KEY

PHONES = 60
WITHIN = 10.0
"""Seconds in which all answer a question."""

QUESTIONS = 3
LESSON = "both-sides"
WORDS = ("are", "is", "were", "was", "left", "right", "both", "40", "31")


@dataclass
class Answered:
    """How the class fared. late: seconds from an answer's confirmation to its place in the lecturer's count."""

    sent: int = 0
    counted: int = 0
    late: list[float] = field(default_factory=list)
    confirmed: list[float] = field(default_factory=list)

    def __str__(self) -> str:
        late, took = sorted(self.late), sorted(self.confirmed)
        return (
            f"{self.sent} answers, {self.counted} counted (wanted: all); confirmed in {took[len(took) // 2]:.3f} s (longest "
            f"{took[-1]:.2f}); in the histogram {late[len(late) // 2]:.2f} s later "
            f"(p95 {late[math.ceil(0.95 * len(late)) - 1]:.2f}, longest {late[-1]:.2f}; wanted: at most 1)"
        )


async def give_lesson(browser: Browser) -> Answered:
    """Open a class, let the phones join, and have them answer the first questions."""
    opened = await browser.post("explorer/class", {"name": LESSON})
    code, key, result = opened["code"], {KEY: opened["key"]}, Answered()
    lesson = await browser.get(f"explorer/class/{code}/lesson", headers=key)
    phones = [asyncio.create_task(_phone(browser, code, number, result)) for number in range(PHONES)]
    for step in range(QUESTIONS):
        turned = {"step": step, "revealed": False}
        await browser.post(f"explorer/class/{code}/turn", turned, key)
        await _watch(browser, code, key, result, lesson["steps"][step])
        shown = {"step": step, "revealed": True}
        await browser.post(f"explorer/class/{code}/turn", shown, key)
    await asyncio.gather(*phones)
    return result


_times: dict[str, list[float]] = {}


async def _watch(browser: Browser, code: str, key: dict[str, str], result: Answered, step: Any) -> None:
    """Follow the lecturer's count until all have answered, or too long has passed."""
    times = _times.setdefault(code, [])
    times.clear()
    news, known, deadline = "", 0, time.monotonic() + 4 * WITHIN
    while known < PHONES and time.monotonic() < deadline:
        seen = await browser.get(f"explorer/class/{code}/watch", {"after": news}, key)
        news, now = seen["news"], time.monotonic()
        result.late += [now - when for when in times[known : seen["answered"]]]
        known = seen["answered"]
    result.counted += known


async def _phone(browser: Browser, code: str, number: int, result: Answered) -> None:
    """One student: joins, waits for each question, thinks for a while, and answers."""
    chance = random.Random(number)
    name, news = (await browser.post(f"explorer/class/{code}/join", {}))["name"], ""
    for wanted in range(QUESTIONS):
        step: dict[str, Any] = {"step": -1}
        while step["step"] != wanted or step["revealed"]:
            where = {"name": name, "after": news}
            step = await browser.get(f"explorer/class/{code}/step", where)
            news = step["news"]
        await asyncio.sleep(chance.uniform(0, WITHIN))
        said = chance.choice(step["choices"]) if step["kind"] == "choice" else chance.choice(WORDS[:4])
        said = str(chance.randint(0, 50)) if step["kind"] == "number" else said
        began = time.monotonic()
        given = {"name": name, "step": wanted, "answer": said}
        await browser.post(f"explorer/class/{code}/answer", given)
        result.sent += 1
        result.confirmed.append(time.monotonic() - began)
        _times[code].append(time.monotonic())

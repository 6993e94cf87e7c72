"""Brings news of a class to those who wait for it, and knows who has been seen. A restart forgets that and nothing else."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

from explorer.engine.protocol import Engine
from explorer.errors import ExplorerError
from explorer.lessons.classes import Classes, ClassState, Given
from explorer.lessons.schema import Step
from explorer.lessons.truth import Measured, measure

WAIT_SECONDS = 25.0
"""For how long a question for news is held: less than proxies allow."""

GATHER_SECONDS = 0.1
"""Answers that come within this time are told together."""

AWAY_SECONDS = 60.0
MOST_MEASURED = 200
"""Steps whose answers are remembered: all who look at a step's answer ask for it at once."""

MOST_ANSWERS = 100
"""Different answers that are told, the most frequent first."""


class News:
    """What has changed, by topic. The state of a topic is a text that differs whenever something has, after a restart too."""

    def __init__(self) -> None:
        self._start = secrets.token_urlsafe(6)
        self._count: Counter[str] = Counter()
        self._waiting: dict[str, asyncio.Event] = {}

    def now(self, topic: str) -> str:
        """Return the topic's state."""
        return f"{self._start}-{self._count[topic]}"

    def tell(self, topic: str) -> None:
        """Wake all who wait for this topic."""
        self._count[topic] += 1
        event = self._waiting.pop(topic, None)
        if event:
            event.set()

    async def after(self, topic: str, known: str, seconds: float) -> None:
        """Wait until the topic's state is another than the one that is known, or the time is over."""
        if known != self.now(topic):
            return
        event = self._waiting.setdefault(topic, asyncio.Event())
        try:
            await asyncio.wait_for(event.wait(), seconds)
        except TimeoutError:
            return


class Hub:
    """The classes of a server as its routes use them."""

    def __init__(self, engine: Engine, classes: Classes) -> None:
        self.engine, self.classes, self.news = engine, classes, News()
        self._seen: dict[str, dict[int, float]] = defaultdict(dict)
        self._measured: dict[str, Measured] = {}

    def saw(self, code: str, number: int) -> bool:
        """Note that a student is there. Returns whether they weren't a moment ago."""
        now = time.monotonic()
        before = self._seen[code].get(number, -AWAY_SECONDS)
        self._seen[code][number] = now
        return now - before >= AWAY_SECONDS

    async def truth(self, step: Step) -> Measured:
        """Return what the model says to a step; it is computed once. Raises ExplorerError."""
        key = step.model_dump_json()
        if key not in self._measured:
            if len(self._measured) >= MOST_MEASURED:
                self._measured.clear()
            self._measured[key] = await measure(self.engine, step)
        return self._measured[key]

    async def for_lecturer(self, code: str) -> dict[str, Any]:
        """Return where a class is, who is there, and what was answered to the step."""
        state, given, joined = await asyncio.to_thread(self._read, code)
        here = [one for one in given if one.step == state.step]
        now, answered = time.monotonic(), {one.number for one in here}
        seen = self._seen[state.code]
        students = [
            {
                "number": number,
                "answered": number in answered,
                "away": now - seen.get(number, -AWAY_SECONDS) >= AWAY_SECONDS,
            }
            for number in range(1, joined + 1)
        ]
        return {
            "code": state.code,
            "step": state.step,
            "revealed": state.revealed,
            "students": students,
            "answers": counted(here),
            "answered": len(here),
        }

    def _read(self, code: str) -> tuple[ClassState, list[Given], int]:
        return self.classes.state(code), self.classes.answers(code), self.classes.students(code)

    async def for_student(self, code: str, number: int) -> dict[str, Any]:
        """Return the question that a student has to answer; what is right, and what others said, only once that shows."""
        state, given, _ = await asyncio.to_thread(self._read, code)
        step, asked = state.lesson.steps[state.step], state.lesson.steps[state.step].answer
        here = [one for one in given if one.step == state.step]
        own = [one.answer for one in here if one.number == number]
        told = {
            "lesson": state.lesson.title,
            "step": state.step,
            "steps": len(state.lesson.steps),
            "title": step.title,
            "question": step.question,
            "kind": asked.kind if asked else "",
            "choices": asked.choices if asked else (),
            "unit": asked.unit if asked else "",
            "own": own[0] if own else None,
            "revealed": state.revealed,
        }
        if not state.revealed:
            return told
        return told | {"at": step.at, "answers": counted(here), **await self.told_truth(step)}

    async def told_truth(self, step: Step) -> dict[str, Any]:
        """Return what the model says as plain data, or the sentence that says why it says nothing."""
        try:
            found = await self.truth(step)
        except ExplorerError as error:
            return {"failed": str(error)}
        return {
            "value": found.value,
            "said": found.said,
            "by": found.by,
            "beside": found.beside,
            "reveal": found.reveal,
        }


def counted(given: Iterable[Given]) -> list[tuple[str, int]]:
    """Return how often each answer was given, the most frequent first; words count as one in whatever case they are written."""
    counts: Counter[str] = Counter()
    first: dict[str, str] = {}
    for one in given:
        key = one.answer.casefold()
        first.setdefault(key, one.answer)
        counts[key] += 1
    return [(first[key], count) for key, count in counts.most_common(MOST_ANSWERS)]

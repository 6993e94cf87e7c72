"""A page that is closed frees its work: what nobody looks at any more ends at its next step, and the workers are others'."""

from __future__ import annotations

import time
from concurrent.futures import CancelledError

import httpx

from explorer.engine.computation import Computation
from explorer.engine.local import LocalEngine
from explorer.labs.pruning import IMPORTANCE

EXAMPLES = 511
"""Many, and a number that no other test asks for."""

SECONDS = 60


def asked(engine: LocalEngine) -> Computation | None:
    """The computation that the page has asked for, while the engine knows of it."""
    answers = list(engine._answers.items())
    found = (shared for (_, params, *_), shared in answers if getattr(params, "examples", 0) == EXAMPLES)
    return next(found, None)


def test_what_a_closed_page_has_asked_for_is_given_up(address: str, engine: LocalEngine) -> None:
    with httpx.Client(base_url=address, timeout=SECONDS) as browser:
        events = browser.get("config").json()["dependencies"]
        number = next(event["id"] for event in events if event["api_name"] == IMPORTANCE.name)
        data = ["bert-mini", "", "", "labels", EXAMPLES, 80, "head", "gradient", ""]
        question = {"data": data, "fn_index": number, "session_hash": "closed"}
        browser.post("gradio_api/queue/join", json=question).raise_for_status()
        with browser.stream("GET", "gradio_api/queue/data", params={"session_hash": "closed"}) as messages:
            next(line for line in messages.iter_lines() if "process_generating" in line)
            work = asked(engine)
    assert work is not None
    end = time.monotonic() + SECONDS
    while not work.done.done():
        assert time.monotonic() < end, "it goes on for nobody"
        time.sleep(0.02)
    assert isinstance(work.done.exception(), CancelledError), "it was finished for nobody"
    assert asked(engine) is None

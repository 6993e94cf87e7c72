"""A page that is closed frees its work: what nobody looks at any more ends at its next step, and the workers are others'."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import httpx

from explorer.engine.computation import Computation
from explorer.engine.local import LocalEngine
from explorer.labs.pruning import IMPORTANCE

EXAMPLES = 511
"""Many, and a number that no other test asks for."""

SECONDS = 60


def asked(engine: LocalEngine) -> Computation | None:
    """The computation that the page has asked for, while the engine knows of it."""
    answers = list(engine._answers._kept.items())
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


ASKED = "The clerk number {} wrote 511 letters and put them all into the drawer of an old desk beside the door."
ASKERS = 12


@contextmanager
def streamed(address: str, endpoint: str, event: str) -> Iterator[None]:
    """The stream of an answer is open within, and then closed by RST, as a program ends that is killed."""
    place = urlsplit(address)
    with socket.create_connection((place.hostname or "", place.port or 80)) as stream:
        asked = f"GET /gradio_api/call/{endpoint}/{event} HTTP/1.1\r\nHost: {place.netloc}\r\n\r\n"
        stream.sendall(asked.encode())
        assert stream.recv(15).startswith(b"HTTP/1.1 200")
        yield
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def of_the_clerks(engine: LocalEngine) -> list[Computation]:
    """What the engine computes, or has computed, of these texts."""
    return [shared for (_, params, *_), shared in list(engine._answers._kept.items()) if "511 letters" in str(params)]


def test_scripts_that_have_gone_leave_their_places_in_the_line(address: str, engine: LocalEngine) -> None:
    with httpx.Client(base_url=address, timeout=SECONDS) as script, ExitStack() as streams:
        for number in range(ASKERS):
            asked = {"data": [["bert-small", "bert-mini"], ASKED.format(number), 0, ""]}
            event = script.post("gradio_api/call/masking_rates", json=asked).json()["event_id"]
            streams.enter_context(streamed(address, "masking_rates", event))
        end = time.monotonic() + SECONDS
        while len(works := of_the_clerks(engine)) < ASKERS:
            assert time.monotonic() < end, "nobody was asked"
            time.sleep(0.02)
    while not all(work.done.done() for work in works):
        assert time.monotonic() < end, "it goes on for nobody"
        time.sleep(0.02)
    given_up = [isinstance(work.done.exception(), CancelledError) for work in works]
    assert sum(given_up) >= ASKERS // 2, "it was finished for nobody"
    assert not any(isinstance(work, Computation) and not work.done.done() for work in of_the_clerks(engine))

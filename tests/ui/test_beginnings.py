"""What one click or choice starts: Gradio's page begins it in turn, each after the one before it is over."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import httpx

AFTER_ANOTHER = ("then", "success", "failure")
"""Each is told of by its own event's end, together with the others."""


def test_a_stream_keeps_nothing_waiting(address: str) -> None:
    started: dict[tuple[int, str], list[Any]] = defaultdict(list)
    for event in httpx.get(f"{address}config", timeout=60).json()["dependencies"]:
        for component, name in event["targets"]:
            if name not in AFTER_ANOTHER:
                started[component, name].append(event)
    assert any(len(events) > 1 for events in started.values())
    assert [
        (component, name, first["api_name"] or first["id"])
        for (component, name), events in started.items()
        for first in events[:-1]
        if first["types"]["generator"]
    ] == [], "explorer.ui.components.apart lets what comes after it begin at once"

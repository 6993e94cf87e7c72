"""A page that is reloaded, opened twice, or without a network for a while: the run goes on, and each page draws it again."""

from __future__ import annotations

import os
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.line import line_to
from tests.e2e.running import own_run, start_long, step_of, stop, wait_for_step
from tests.e2e.visiting import Visit

pytestmark = pytest.mark.e2e

DRAWN = 2_000
"""Milliseconds in which a page draws what it has, if there is more."""

AWAY = float(os.environ.get("EXPLORER_AWAY_SECONDS", "3"))
"""Without a network: `make check` takes a minute, in which Gradio's server says four times that it is still there."""


def test_a_run_outlives_a_reload_a_second_tab_and_a_lost_network(server: str, browser: Any, tiny_model: str) -> None:
    with line_to(server) as line, browser.new_context() as context:
        address = f"http://127.0.0.1:{line.port}"
        first = Visit(context.new_page(), address)
        run = start_long(first, tiny_model)
        seen = step_of(first)
        first.page.reload()
        wait_for_step(first, seen)
        assert own_run(first) == run
        second = Visit(context.new_page(), address)
        second.page.goto(f"{address}/finetune?run={run}")
        wait_for_step(second, seen)
        wait_for_step(first, step_of(second))
        line.go_silent()
        before = _last_step(first)
        second.page.wait_for_timeout(1000 * AWAY)
        assert step_of(first) == before, "nothing arrives meanwhile"
        line.come_back()
        for tab in (first, second):
            wait_for_step(tab, before)
            assert own_run(tab) == run
        stop(second)
        expect(first.page.locator("#train")).to_be_visible()


def _last_step(visit: Visit) -> int:
    """The step, once all that has arrived is drawn, which a busy machine takes its time for."""
    last = -1
    while (step := step_of(visit)) != last:
        last = step
        visit.page.wait_for_timeout(DRAWN)
    return last

"""A page that is reloaded, opened twice, or without a network for a while: the run goes on, and each page draws it again."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.running import own_run, start_long, step_of, stop, wait_for_step
from tests.e2e.visiting import Visit

pytestmark = pytest.mark.e2e

AWAY = 3_000
"""Milliseconds without a network; a minute is the same to a stream that has broken off, and to the run."""


def test_a_run_outlives_a_reload_a_second_tab_and_a_lost_network(server: str, browser: Any, tiny_model: str) -> None:
    context = browser.new_context()
    first = Visit(context.new_page(), server)
    run = start_long(first, tiny_model)
    seen = step_of(first)
    first.page.reload()
    wait_for_step(first, seen)
    assert own_run(first) == run
    second = Visit(context.new_page(), server)
    second.page.goto(f"{server}/finetune?run={run}")
    wait_for_step(second, seen)
    wait_for_step(first, step_of(second))
    before = step_of(first)
    context.set_offline(True)
    second.page.wait_for_timeout(AWAY)
    context.set_offline(False)
    for tab in (first, second):
        tab.page.reload()
        wait_for_step(tab, before)
        assert own_run(tab) == run
    stop(second)
    expect(first.page.locator("#train")).to_be_visible()
    context.close()

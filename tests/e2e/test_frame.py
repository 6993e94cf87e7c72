"""The app in a frame of another site's page, as Spaces and course pages show it, in a browser that gives it no storage there."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Frame

from tests.e2e.sites import another_site
from tests.e2e.visiting import Visit

pytestmark = pytest.mark.e2e

NAME = re.compile(r'"([\w-]{22}\.[0-9a-f]{32})"')
"""The name by which a browser finds its runs again, as it is sent."""

REFUSES = """if (window !== top) Object.defineProperty(window, "localStorage", {
  get() { throw new DOMException("Access is denied for this document.", "SecurityError"); }, configurable: true,
});"""
"""As many browsers do in a frame of another site, in some of their modes."""


def drawn(frame: Frame, figure: str) -> int:
    """How often a figure was drawn, once it was."""
    plot = frame.wait_for_selector(f"{figure} .plot[data-drawn]")
    return int((plot.get_attribute("data-drawn") if plot else "") or 0)


def test_it_answers_a_link_opens_inside_and_the_browser_keeps_its_name(server: str, visit: Visit) -> None:
    visit.page.add_init_script(REFUSES)
    sent: list[str] = []
    visit.page.on("request", lambda request: sent.append(request.post_data or ""))
    with another_site(f"{server}/masking") as site:
        visit.page.goto(site)
        frame = visit.page.frames[1]
        before = drawn(frame, "#fill-figure")
        frame.locator("input[type=range]:visible").first.press("ArrowRight")
        frame.wait_for_function(
            "(before) => Number(document.querySelector('#fill-figure .plot').dataset.drawn) > before", arg=before
        )
        link = frame.locator(".chapter-labs a[href='finetune']")
        if not link.is_visible():
            frame.locator(".chapter", has=link).locator(".chapter-menu").click()
        link.click()
        drawn(frame, "#run-curves")
        assert frame.url.startswith(f"{server}/finetune")
        assert visit.page.url == site
        names = set(NAME.findall(" ".join(sent)))
        sent.clear()
        with visit.page.expect_event("framenavigated"):
            frame.evaluate("location.reload()")
        drawn(frame, "#run-curves")
        assert len(names) == 1
        assert set(NAME.findall(" ".join(sent))) == names
        assert visit.outside == [site]
    visit.outside.clear()


def test_a_site_that_is_not_named_may_not_show_it(server: str, visit: Visit) -> None:
    with another_site(f"{server}/masking") as site:
        unnamed = site.replace("localhost", "other.localhost")
        with visit.page.expect_console_message(lambda said: "frame-ancestors" in said.text):
            visit.page.goto(unnamed)
        assert not visit.page.frames[1].url.startswith(server)
        assert visit.outside == [unnamed]
    visit.outside.clear()
    visit.errors.clear()

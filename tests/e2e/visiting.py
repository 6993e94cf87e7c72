"""A visitor's tab, and what visitors do on every page."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Page, expect

PATIENCE = 120_000
"""Milliseconds; far more than anything takes, so that a busy machine fails no test."""

SIZES = ((1440, 900), (1024, 768), (390, 844))
"""A laptop, a projector and a phone."""

TWO_FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""After which a page of another size is laid out."""

NOTHING_TYPED = "() => { try { sessionStorage.clear(); } catch { /* no page is open yet */ } }"
"""A sentence goes along from page to page: whoever opens one by its address alone brings none."""

expect.set_options(timeout=PATIENCE)


class Visit:
    """One visitor's tab, with what went wrong in it."""

    def __init__(self, page: Page, address: str) -> None:
        self.page, self.address = page, address
        self.errors: list[str] = []
        self.outside: list[str] = []
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda said: self._hear(said.text))
        page.on("request", lambda request: self._note(request.url))

    def _hear(self, said: str) -> None:
        if "Content Security Policy" in said:
            self.errors.append(said)

    def _note(self, url: str) -> None:
        if not url.startswith((self.address, "data:", "blob:")):
            self.outside.append(url)

    def open(self, path: str, figure: str) -> None:
        self.page.evaluate(NOTHING_TYPED)
        self.page.goto(f"{self.address}/{path}")
        self.page.wait_for_selector(f"{figure} .plot[data-drawn]")

    def tab(self, name: str) -> None:
        self.page.get_by_role("tab", name=name, exact=True).click()

    def turn_to(self, title: str) -> None:
        """Another page by the navigation, where it is a menu by its chapter's."""
        link = self.page.locator(".chapter-labs a", has_text=re.compile(f"^{re.escape(title)}"))
        menu = self.page.locator(".chapter", has=link).locator(".chapter-menu")
        if menu.is_visible():
            menu.click()
        link.click()

    def draws(self, figure: str) -> int:
        return int(self.page.get_attribute(f"{figure} .plot", "data-drawn") or 0)

    def wait_redrawn(self, figure: str, before: int) -> None:
        script = "([selector, before]) => Number(document.querySelector(selector).dataset.drawn) > before"
        self.page.wait_for_function(script, arg=[f"{figure} .plot", before])

    def choose(self, model_id: str) -> None:
        """Type a model into the picker."""
        picker: Any = self.page.locator("#model-picker input")
        picker.click()
        picker.fill(model_id)
        picker.press("Enter")

    def assert_unharmed(self) -> None:
        """Nothing broke on the page, and nothing was fetched from elsewhere, since this was last asked."""
        errors, outside = [*self.errors], [*self.outside]
        self.errors.clear()  # or every later test with this visitor would fail of it too
        self.outside.clear()
        assert errors == []
        assert outside == [], "the page fetched something from outside"


def open_tab(page: Any, name: str) -> None:
    """On a narrow screen the tabs that do not fit wait behind a button."""
    tab = page.get_by_role("tab", name=name, exact=True)
    if not tab.is_visible():
        page.get_by_label("More tabs").click()
        tab = page.locator(".overflow-dropdown").get_by_role("button", name=name, exact=True)
    tab.click()


def width_of(page: Any) -> float:
    """Of what is in view, in pixels: no more than the screen's, or the page is moved sideways."""
    return float(
        page.evaluate(
            "Math.max(document.documentElement.scrollWidth,"
            " document.querySelector('.gradio-container').getBoundingClientRect().width)"
        )
    )

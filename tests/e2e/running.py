"""Runs on the pages that fine-tune: started, watched, stopped."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, expect

from tests.e2e.visiting import PATIENCE, Visit

EXAMPLE, OTHER_RANK = "example-lora-8", "example-lora-64"
SETTLED = 1500
"""Milliseconds after which a stream that was left has ended."""

OWN_RUN = re.compile(r"[?&]run=(r[0-9a-f]{12})")
TRIES = 4
LOST = 5_000
"""Milliseconds after which what was typed is taken for lost."""


def panel(visit: Visit) -> Locator:
    """The tab in view."""
    return visit.page.locator("[role=tabpanel]:visible")


def notice(visit: Visit) -> Locator:
    """What is wrong, above the tabs."""
    return visit.page.locator(".notice-place .notice")


def type_number(visit: Visit, label: str, number: int, patience: int = PATIENCE) -> None:
    """Into a slider's box; the slider follows within `patience` milliseconds.

    What is typed while Gradio still lays out the part of the page that holds it is lost, and typed again.
    """
    box = panel(visit).get_by_label(f"number input for {label}")
    slider = panel(visit).get_by_label(f"range slider for {label}")
    for wait in (*[LOST] * TRIES, patience) if patience > LOST else (patience,):
        box.fill(str(number))
        box.press("Enter")
        try:
            expect(slider).to_have_value(str(number), timeout=wait)
            return
        except AssertionError:
            if wait == patience:
                raise


def open_settings(visit: Visit) -> None:
    """Unless they are open."""
    fold = visit.page.get_by_role("button", name="Training settings")
    if "open" not in str(fold.get_attribute("class")).split():
        fold.click()


def set_training(visit: Visit, planned: str, **numbers: int) -> None:
    """Open the settings and fill in numbers until the plan says so.

    What is typed while Gradio still unfolds the part of the page that holds it is lost.
    """
    open_settings(visit)
    for patience in (*[LOST] * TRIES, PATIENCE):
        try:
            for label, number in numbers.items():
                type_number(visit, label.replace("_", " "), number, patience)
            expect(visit.page.locator("#plan")).to_contain_text(planned, timeout=patience)
            return
        except AssertionError:
            if patience == PATIENCE:
                raise


def choose(box: Locator, visit: Visit, name: str | re.Pattern[str]) -> None:
    """Pick from a list."""
    box.click()
    visit.page.get_by_role("option", name=name).first.click()


def with_tiny_model(visit: Visit, model: str) -> None:
    """The page with a model that learns nothing, quickly. What is typed while the page still settles may be lost."""
    visit.open("finetune", "#run-curves")
    for patience in (*[LOST] * TRIES, PATIENCE):
        visit.choose(model)
        try:
            expect(visit.page.locator("#plan")).to_contain_text("of 965K parameters are trained", timeout=patience)
            return
        except AssertionError:
            if patience == PATIENCE:
                raise


def start_long(visit: Visit, model: str, epochs: int = 20) -> str:
    """Start a run that takes a while, 480 steps an epoch; its id.

    The page may come with another run of this visitor's, whose id stands in the address until this one's is known.
    """
    with_tiny_model(visit, model)
    set_training(visit, f"{480 * epochs:,} steps", Epochs=epochs, Batch_size=1)
    earlier = OWN_RUN.search(visit.page.url)
    visit.page.click("#train")
    run = own_run(visit, other_than=earlier[1] if earlier else "")
    expect(visit.page.locator("#run-said")).to_contain_text(re.compile(rf"step [1-9][\d,]* of {480 * epochs}"))
    return run


def own_run(visit: Visit, other_than: str = "") -> str:
    """The run that the URL names, once it is one of the visitor's own, and another where one is given."""
    expect(visit.page).to_have_url(re.compile(f"[?&]run=(?!{other_than})r[0-9a-f]{{12}}") if other_than else OWN_RUN)
    found = OWN_RUN.search(visit.page.url)
    assert found
    return found[1]


def stop(visit: Visit) -> None:
    visit.page.click("#stop")
    expect(visit.page.locator("#train")).to_be_visible()


def step_of(visit: Visit) -> int:
    found = re.search(r"step (\d+) of", visit.page.locator("#run-said").inner_text())
    return int(found[1]) if found else 0


def wait_for_step(visit: Visit, beyond: int) -> None:
    script = """(beyond) => {
      const found = document.querySelector("#run-said")?.innerText.match(/step (\\d+) of/);
      return found && Number(found[1]) > beyond;
    }"""
    visit.page.wait_for_function(script, arg=beyond)

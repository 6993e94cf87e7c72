"""The pretraining page in a real browser: one row step by step, and a small model from nothing."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.running import type_number
from tests.e2e.visiting import PATIENCE, SIZES, TWO_FRAMES, Visit, open_tab, width_of

pytestmark = pytest.mark.e2e

FITS = """(() => {
  const plot = document.querySelector("#row-figure .plot"), layout = plot?._fullLayout;
  return layout?.xaxis2.domain[0] > 0.5 && Math.abs(layout.width - plot.clientWidth) < 2;
})()"""
"""Both panels stand beside each other, as on no phone, and the figure is as wide as its place."""

IN_ONE_LINE = "document.querySelector('.top nav').getBoundingClientRect().height <= 60"
"""The navigation's chapters stand beside each other."""


def open_row(visit: Visit) -> None:
    visit.page.goto(f"{visit.address}/pretrain")
    visit.page.wait_for_selector("#row-drawn .row-documents")


def test_one_row_opens_step_by_step_and_follows_what_is_changed(visit: Visit) -> None:
    open_row(visit)
    page, said = visit.page, visit.page.locator("#row-said")
    page.get_by_role("button", name="All steps").click()
    page.wait_for_selector("#row-figure .plot[data-drawn]")
    expect(page.locator("#row-drawn")).to_contain_text("The coin says: not next.")
    expect(page.locator("#row-chips .chip")).to_have_count(54)
    expect(page.locator("#row-corrupted .mask, #row-corrupted .random, #row-corrupted .kept")).to_have_count(8)
    expect(page.locator("#row-terms tbody tr")).to_have_count(8)
    expect(said).to_contain_text("bert-small guesses 6 of 8 chosen tokens right")
    expect(page.locator(".row-step")).to_have_count(6)
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        if width > 640:
            page.wait_for_function(IN_ONE_LINE)
        page.evaluate(TWO_FRAMES)
        assert width_of(page) <= width
    page.set_viewport_size({"width": 1024, "height": 768})

    page.get_by_role("button", name="B really next").click()
    expect(page.locator("#row-drawn")).to_contain_text("Chosen by hand: is next.")
    expect(page.locator(".row-documents .in-b").first).to_contain_text("Its keepers")
    visit.choose("roberta-mini")
    expect(page.locator("#row-model")).to_contain_text("roberta-mini doesn't have both of BERT's heads")
    expect(said).to_contain_text("bert-small guesses")

    page.get_by_label("Document 1").fill("A <b>bold</b> lamp. It is late.")
    page.get_by_label("Document 1").blur()
    expect(page.locator(".row-documents")).to_contain_text("<b>bold</b>")
    page.get_by_label("Document 1").fill("One sentence alone.")
    page.get_by_label("Document 1").blur()
    expect(page.locator(".notice[role=alert]")).to_contain_text("Document 1 has no second sentence")
    expect(page.locator(".row-documents")).to_contain_text("<b>bold</b>")


def test_one_row_is_shown_a_step_at_a_time_and_what_is_typed_stays(visit: Visit) -> None:
    open_row(visit)
    page, bar = visit.page, visit.page.locator("#row-bar")
    steps, typed = page.locator(".row-step:visible"), page.get_by_label("Document 2")
    expect(bar.get_by_role("button", name="Back")).to_be_disabled()
    typed.fill("Cats sleep all day. Dogs do not.")
    for number in range(1, 7):
        expect(bar).to_contain_text(f"step {number} of 6")
        expect(steps).to_have_count(1)
        expect(steps).to_contain_text(f"{number}")
        assert_in_view(steps)
        bar.get_by_role("button", name="Next").click()
    expect(bar).to_contain_text("all 6 steps")
    expect(bar.get_by_role("button", name="All steps")).to_be_disabled()
    expect(steps).to_have_count(6)
    bar.get_by_role("button", name="Back").click()
    expect(page.locator("#row-sum")).to_be_visible()
    expect(typed).to_have_value("Cats sleep all day. Dogs do not.")
    page.get_by_role("button", name="B really next").click()
    expect(page.locator("#row-sum")).to_contain_text("P(is next)")
    expect(steps).to_have_count(1)
    page.set_viewport_size({"width": 390, "height": 844})
    assert_in_view(steps)
    assert width_of(page) <= 390
    bar.get_by_label("Step of the row").press("Home")
    expect(bar).to_contain_text("step 1 of 6")
    bar.get_by_role("button", name="All steps").click()
    expect(steps).to_have_count(6)


def test_the_step_stands_in_the_address_and_is_restored(visit: Visit) -> None:
    open_row(visit)
    page, bar = visit.page, visit.page.locator("#row-bar")
    for _ in range(3):  # quicker than what they set comes back
        bar.get_by_role("button", name="Next").click()
    expect(page).to_have_url(re.compile(r"#step=4$"))
    expect(bar).to_contain_text("step 4 of 6")
    bar.get_by_role("button", name="Back").click()
    expect(page).to_have_url(re.compile(r"#step=3$"))
    for step, says, count in (("3", "step 3 of 6", 1), ("all", "all 6 steps", 6)):
        page.goto("about:blank")
        page.goto(f"{visit.address}/pretrain#step={step}")
        expect(bar).to_contain_text(says)
        expect(page.locator(".row-step:visible")).to_have_count(count)


def test_a_figure_that_is_drawn_while_another_step_is_shown_fits_where_it_appears(visit: Visit) -> None:
    open_row(visit)
    page, bar = visit.page, visit.page.locator("#row-bar")
    for _ in range(4):
        bar.get_by_role("button", name="Next").click()
    page.wait_for_function(FITS)


def assert_in_view(steps: Locator) -> None:
    """Without scrolling, on a projector and on a phone."""
    box = steps.first.bounding_box()
    assert box is not None
    assert box["y"] < 500


@pytest.fixture(scope="module")
def training(visitor: Visit) -> Visit:
    """One visitor with the tab of training open, on the worked example."""
    open_row(visitor)
    open_tab(visitor.page, "From nothing")
    visitor.page.wait_for_selector("#pretrain-figure .plot[data-drawn]")
    return visitor


def set_small(visit: Visit) -> None:
    """A run of a few seconds."""
    for fold in ("Model", "Steps"):
        visit.page.locator("button.label-wrap:visible", has_text=fold).first.click()
    for label, number in (("Layers L", 1), ("Hidden size H", 32), ("Vocabulary V", 500), ("Rows a batch", 4)):
        type_number(visit, label, number, PATIENCE)
    type_number(visit, "Heads A", 2, PATIENCE)


def test_training_opens_with_two_worked_runs_and_what_they_said(training: Visit) -> None:
    page = training.page
    expect(page.locator("#pretrain-said")).to_contain_text("masking static learned the text by heart")
    expect(page.locator("#pretrain-words table")).to_have_count(2)
    expect(page.locator("#pretrain-words tr").nth(1)).to_contain_text("0")
    expect(page.locator("#pretrain-offers .offer")).to_have_count(2)
    page.get_by_label("linear").check()
    expect(page.locator("#pretrain-figure .plot")).to_be_visible()
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate(TWO_FRAMES)
        assert width_of(page) <= width
    page.set_viewport_size({"width": 1024, "height": 768})


def test_a_run_is_started_stopped_and_asked_on_another_page(training: Visit) -> None:
    page = training.page
    set_small(training)
    page.locator("#pretrain").click()
    expect(page.locator("#pretrain-said")).to_contain_text(re.compile(r"step \d+ of 1500"))
    expect(page.locator("#pretrain-words tr").nth(2)).to_be_visible()
    page.locator("#pretrain-stop").click()
    expect(page.locator("#pretrain-said")).to_contain_text("what it learned is kept")
    expect(page.locator("#pretrain-resume")).to_be_visible()
    page.locator("#pretrain-offers .offer").first.click()
    expect(page.locator("#model-picker input")).to_have_value(re.compile(r"r[0-9a-f]{12}@\d+"))
    page.goto(f"{training.address}/masking")
    page.wait_for_selector("#fill-figure .plot[data-drawn]")
    expect(page.locator("#model-picker input")).to_have_value(re.compile(r"r[0-9a-f]{12}@\d+"))
    training.assert_unharmed()

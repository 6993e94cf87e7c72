"""Without a mouse and without sight; what axe-core finds on every tab is in test_every_tab."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.visiting import Visit

pytestmark = pytest.mark.e2e


def test_the_keyboard_can_skip_the_links(visit: Visit) -> None:
    visit.open("masking", "#fill-figure")
    visit.page.locator("body").press("Tab")
    skip = visit.page.locator(":focus")
    expect(skip).to_have_text("Skip to the page")
    expect(skip).to_be_in_viewport()
    skip.press("Enter")
    expect(visit.page.locator("h1")).to_be_focused()
    visit.page.keyboard.press("Tab")
    expect(visit.page.locator("#model-picker input")).to_be_focused()


def test_a_figure_is_one_image_and_its_buttons_stand_below_it(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 390, "height": 844})
    visit.open("masking", "#fill-figure")
    figure = visit.page.locator("#fill-figure .plot")
    assert figure.locator("a, button, [tabindex]").count() == 0
    image = figure.bounding_box()
    for button in visit.page.locator("#fill-figure .saves button").all():
        box = button.bounding_box()
        assert image is not None
        assert box is not None
        assert box["y"] >= image["y"] + image["height"]

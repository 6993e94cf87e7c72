"""The tab with one layer drawn in a real browser: it follows the model, and fits the projector."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.visiting import SIZES, TWO_FRAMES, Visit, open_tab, width_of

pytestmark = pytest.mark.e2e


def test_a_layer_of_the_chosen_model_is_drawn(visit: Visit) -> None:
    visit.open("attention", "#attention-figure")
    page = visit.page
    open_tab(page, "One layer")
    said, drawn = page.locator("#layer-said"), page.locator("#layer-drawn svg")
    expect(said).to_contain_text("is read as 12 heads of 64 rows each")
    expect(page.locator("#layer-notes")).to_contain_text("768 × 768")
    expect(page.get_by_label("Sentence A", exact=True)).not_to_be_visible()
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate(TWO_FRAMES)
        assert width_of(page) <= width
        if (width, height) == (1024, 768):
            box = drawn.bounding_box()
            assert box
            assert box["y"] + box["height"] <= height
    page.set_viewport_size({"width": 1024, "height": 768})
    visit.choose("gpt2-mini")
    expect(page.locator("#layer-notes")).to_contain_text("LoRA treats query, key and value, 768 × 256, as one.")
    expect(drawn).to_contain_text("256 → 1,024")
    visit.assert_unharmed()

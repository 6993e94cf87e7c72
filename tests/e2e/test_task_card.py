"""The chosen task's card, and the paper's tables beside the comparison, in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.visiting import SIZES, TWO_FRAMES, Visit, open_tab, width_of

pytestmark = pytest.mark.e2e


def test_the_card_follows_the_task_and_the_paper_is_quoted(visit: Visit) -> None:
    visit.open("finetune", "#run-curves")
    page, card = visit.page, visit.page.locator("#task-card")
    title = card.locator("button.label-wrap").first
    expect(title).to_contain_text("The task: SST-2-like · Is the review positive?")
    title.click()
    expect(page.locator("#task-card-said")).to_contain_text("Accuracy: the share of answers that are right")
    expect(page.locator("#task-card-rows tbody tr")).to_have_count(20)
    page.locator("#task-picker input").click()
    page.get_by_role("option", name="STS-B-like").click()
    expect(title).to_contain_text("How alike are the two sentences")
    expect(page.locator("#task-card-said")).to_contain_text("Pearson")
    expect(page.locator("#task-card-rows thead")).to_contain_text("sentence2")
    open_tab(page, "Compare all")
    page.get_by_role("button", name="In the paper: LoRA's Tables 1, 2 and 4").click()
    expect(page.get_by_text("AdapterDrop")).to_be_visible()
    expect(page.get_by_role("cell", name="175,255.8M")).to_be_visible()
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate(TWO_FRAMES)
        assert width_of(page) <= width

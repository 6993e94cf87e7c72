"""Where an answer takes over a second, a tab that an address or a run of one's own opens computes nothing before its button.

Pruning's five are in test_pruning_page.
"""

from __future__ import annotations

from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.looks import BEGINS
from tests.e2e.running import EXAMPLE, OTHER_RANK, choose, panel
from tests.e2e.visiting import Visit, open_tab

pytestmark = pytest.mark.e2e

WORKED, ITS_OWN = "A worked example, computed beforehand", "Computed beforehand"
"""What is said of an answer that stands where something else is asked, and of one to what is asked."""

RUNS = quote(f'["{OTHER_RANK}"]')

ADDRESSES = {
    "finetune#tab=merge": ("merge", ITS_OWN),
    f"finetune?run={OTHER_RANK}#tab=merge": ("merge", WORKED),
    "finetune#tab=time": ("latency", ITS_OWN),
    "finetune#tab=time&batch=8": ("latency", WORKED),
    "finetune#tab=time&model=bert-mini": ("latency", f"{WORKED} (bert-small, "),
    "delta#tab=forgetting": ("forgetting", ITS_OWN),
    f"delta#tab=forgetting&runs={RUNS}": ("forgetting", WORKED),
    "delta#tab=intruders": ("cosines", ITS_OWN),
    f"delta?run={OTHER_RANK}#tab=intruders": ("cosines", WORKED),
    "delta#tab=intruders&layer=2": ("cosines", WORKED),
    "delta#tab=intruders&k=3&epsilon=0.9": ("cosines", WORKED),
}


def said_of(visit: Visit, figure: str) -> Locator:
    """Where its answer comes from, above a figure or below it."""
    return visit.page.locator(f"#{figure}-said ~ .bar").first


@pytest.fixture
def watched(visit: Visit) -> Visit:
    visit.page.add_init_script(BEGINS)
    return visit


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_starts_nothing_and_what_it_sets_waits(watched: Visit, address: str) -> None:
    figure, says = ADDRESSES[address]
    watched.open(address, f"#{figure}-figure")
    expect(said_of(watched, figure)).to_contain_text(says)
    watched.page.wait_for_timeout(1000)  # what an address sets may ask by itself, a moment later
    expect(said_of(watched, figure)).to_contain_text(says)
    assert watched.page.locator(".notice").count() == 0
    assert not watched.page.evaluate("window.began")


def test_an_example_is_no_answer_of_the_model_that_is_chosen(watched: Visit) -> None:
    watched.open("finetune#tab=time&model=bert-mini", "#latency-figure")
    expect(watched.page.locator("#latency-figure")).to_have_attribute("data-model", "bert-small")


def test_another_run_waits_for_the_button_and_its_answer_stays(watched: Visit) -> None:
    page, merged = watched.page, watched.page.locator("#merge-said")
    watched.open("finetune#tab=merge", "#merge-figure")
    expect(said_of(watched, "merge")).to_contain_text(ITS_OWN)
    choose(page.locator("#run-picker input"), watched, "LoRA r=64")
    expect(said_of(watched, "merge")).to_contain_text(WORKED)
    expect(merged).to_contain_text("LoRA r=8")
    page.click("#merge")
    expect(merged).to_contain_text("LoRA r=64")
    expect(said_of(watched, "merge")).to_be_empty()
    open_tab(page, "Memory")
    open_tab(page, "Merge and take home")
    page.wait_for_timeout(1000)
    expect(merged).to_contain_text("LoRA r=64")
    expect(said_of(watched, "merge")).to_be_empty()


def test_intruders_of_another_run_are_found_at_a_press_or_a_change(watched: Visit) -> None:
    watched.open(f"delta?run={OTHER_RANK}#tab=intruders", "#cosines-figure")
    notes = watched.page.locator("#intruders-notes")
    expect(said_of(watched, "cosines")).to_contain_text(WORKED)
    expect(notes).to_contain_text("LoRA r=8 has")
    watched.page.click("#find-intruders")
    expect(notes).not_to_contain_text("LoRA r=8 has")
    expect(said_of(watched, "cosines")).to_be_empty()
    threshold = panel(watched).get_by_label("number input for Threshold ε")
    threshold.fill("0.9")
    threshold.press("Tab")
    expect(notes).to_contain_text("Below ε = 0.9, in query of 6 layers")
    choose(watched.page.locator("#run-picker input"), watched, "LoRA r=8 · SST-2-like, bundled · 95.6%")
    expect(said_of(watched, "cosines")).to_contain_text(WORKED)
    assert EXAMPLE in watched.page.url

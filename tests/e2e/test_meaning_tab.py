"""A meaning put into words, and the runs that learn to, in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.folds import open_data, rows_in
from tests.e2e.visiting import Visit, open_tab

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def meaning(visitor: Visit) -> Visit:
    """One page, on which each test goes on where the one before it ends."""
    visitor.open("generation", "#next-figure")
    open_tab(visitor.page, "A meaning in words")
    visitor.page.wait_for_selector("#slots-figure .plot[data-drawn]")
    return visitor


def test_slots_make_a_meaning_and_a_meaning_its_texts(meaning: Visit) -> None:
    page = meaning.page
    rows = page.locator("#generate-texts tbody tr")
    expect(rows).to_have_count(4)
    expect(rows.last).to_contain_text("gpt2-mini, untouched")
    expect(page.locator("#generate-texts")).to_contain_text("before any training says")
    expect(page.locator("#slots-said")).to_contain_text("of the attention")
    before = meaning.draws("#slots-figure")
    page.get_by_role("button", name="two slots", exact=True).click()
    expect(page.locator("#slot-food input")).to_have_value("–")
    expect(page.locator("#slot-type input")).to_have_value("coffee shop")
    meaning.wait_redrawn("#slots-figure", before)
    expect(rows.first).to_contain_text("Acorn House")
    meaning.assert_unharmed()


def test_the_data_stand_behind_the_texts(meaning: Visit) -> None:
    fold = open_data(meaning)
    assert rows_in(fold) == 4
    expect(fold.get_by_role("grid")).to_contain_text("gpt2-mini")


def test_the_worked_writers_stand_beside_the_paper(meaning: Visit) -> None:
    page = meaning.page
    open_tab(page, "Adapt GPT-2")
    expect(page.locator("#adapt-metrics tbody tr")).to_have_count(4)
    expect(page.locator("#adapt-metrics")).to_contain_text("untouched")
    expect(page.locator("#adapt-said")).to_contain_text("BLEU")
    page.wait_for_selector("#adapt-figure .plot[data-drawn]")
    expect(page.get_by_text("Quoted from Hu et al. 2021, Table 3").first).to_be_visible()

"""Data, below the figures: rows on the page, all rows in the CSV; that a streamed figure keeps its table is in test_every_tab."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from explorer.labs.attention.head_figures import MOST_ROWS
from tests.e2e.folds import open_data, saved
from tests.e2e.visiting import Visit

pytestmark = pytest.mark.e2e

LONG_TEXT = "one two three four five six seven eight nine ten " * 4


def test_rows_that_are_too_many_for_a_page_are_all_in_the_csv(visit: Visit) -> None:
    visit.open("attention", "#attention-figure")
    before = visit.draws("#attention-figure")
    box = visit.page.get_by_label("Sentence A")
    box.fill(LONG_TEXT)
    box.press("Enter")
    visit.wait_redrawn("#attention-figure", before)
    fold = open_data(visit)
    expect(fold.get_by_role("grid")).to_have_attribute("aria-rowcount", str(MOST_ROWS + 1))
    header, *rows = saved(visit, fold)
    assert header == ["from", "to", "weight"]
    assert len(rows) == 42**2
    by_row: dict[str, float] = {}
    for start, _, weight in rows:
        by_row[start] = by_row.get(start, 0.0) + float(weight)
    assert all(total == pytest.approx(1, abs=1e-3) for total in by_row.values())


def test_a_csv_without_rows_says_so(visit: Visit, headless_model: str) -> None:
    visit.open("pairs", "#pair-figure")
    visit.choose(headless_model)
    expect(visit.page.locator(".notice")).to_contain_text("cannot score the next sentence")
    fold = visit.page.locator(".folds:visible").first
    fold.get_by_role("button", name="Data").click()
    fold.get_by_role("button", name="Download CSV").click()
    expect(fold.get_by_role("status")).to_contain_text("no rows to save yet")


def test_scripts_are_saved_by_the_name_of_their_action(visit: Visit) -> None:
    visit.open("masking", "#fill-figure")
    visit.page.get_by_role("button", name="Copy as Python").first.click()
    for place, name in (("#script-fill_masks", "fill_masks.py"), ("#plain-fill_masks", "fill_masks_plain.py")):
        with visit.page.expect_download() as download:
            visit.page.locator(f"{place} a[download]").click()
        assert download.value.suggested_filename == name


def test_a_column_without_values_leaves_the_rows_in_view(visit: Visit) -> None:
    """Gradio makes a column as narrow as its values: "learning_rate" stood there letter by letter."""
    visit.open("finetune", "#run-curves")
    visit.tab("Runs")
    visit.page.wait_for_selector("#runs-curves .plot[data-drawn]")
    fold = open_data(visit)
    row, grid = fold.locator("[data-row='1']").first.bounding_box(), fold.get_by_role("grid").bounding_box()
    assert row
    assert grid
    assert row["y"] + row["height"] < grid["y"] + grid["height"]

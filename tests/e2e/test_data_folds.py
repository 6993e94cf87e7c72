"""Data, below the figures: rows on the page, all digits and all rows in the CSV."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from explorer.labs.attention.head.figures import MOST_ROWS
from tests.e2e.running import SETTLED
from tests.e2e.visiting import Visit

pytestmark = pytest.mark.e2e

LONG_TEXT = "one two three four five six seven eight nine ten " * 4


STREAMED = [
    ("finetune", "#run-curves"),
    ("delta", "#spectrum-figure"),
    ("distillation", "#distill-curves"),
    ("attribution", "#attribution-bars"),
    ("pruning", "#importance-heatmap"),
]
TABS = {"delta": "Spectrum", "distillation": "Train a student", "pruning": "What matters"}


def open_data(visit: Visit) -> Locator:
    """The fold with the table of the tab in view."""
    fold = visit.page.locator(".folds:visible").first
    fold.get_by_role("button", name="Data").click()
    expect(fold.get_by_role("grid")).to_be_visible()
    return fold


def rows_in(fold: Locator) -> int:
    """On the page: without the header."""
    return int(fold.get_by_role("grid").get_attribute("aria-rowcount") or 0) - 1


def saved(visit: Visit, fold: Locator) -> list[list[str]]:
    """The rows of the CSV, with its header."""
    with visit.page.expect_download() as download:
        fold.get_by_role("button", name="Download CSV").click()
    with Path(download.value.path()).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


@pytest.mark.parametrize(("path", "figure"), STREAMED, ids=[path for path, _ in STREAMED])
def test_a_streamed_figure_keeps_its_table(visit: Visit, path: str, figure: str) -> None:
    """Opened after the stream has ended; the figure is still there when the colours change."""
    visit.page.goto(f"{visit.address}/{path}")
    if path in TABS:
        visit.tab(TABS[path])
    visit.page.wait_for_selector(f"{figure} .plot[data-drawn]")
    expect(visit.page.locator("button:visible", has_text=re.compile("^Stop$"))).to_have_count(0)
    visit.page.wait_for_timeout(SETTLED)
    fold = open_data(visit)
    expect(fold.locator("[data-row]").nth(8)).to_be_attached()
    header, *rows = saved(visit, fold)
    assert len(rows) == rows_in(fold) > 3
    shown = fold.locator("[data-row='0']").all_inner_texts()
    assert len(shown) == len(header)
    for seen, whole in zip(shown, rows[0], strict=True):
        assert digits(seen.strip()) <= 4 or "." not in seen
        assert seen.strip() == whole or float(seen) == pytest.approx(float(whole), rel=1e-3)
    assert any(digits(cell) > 6 for row in rows for cell in row if "." in cell), "the CSV has all digits"
    before = visit.draws(figure)
    visit.page.evaluate("document.body.classList.toggle('dark')")
    visit.wait_redrawn(figure, before)
    expect(visit.page.locator(f"{figure} .plot")).to_be_visible()


def digits(number: str) -> int:
    """Significant ones."""
    return len(re.sub(r"e.*|[^0-9]", "", number).lstrip("0"))


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

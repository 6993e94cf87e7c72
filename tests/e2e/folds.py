"""Data, below the figures: rows on the page, all digits and all rows in the CSV."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.visiting import Visit


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


def assert_keeps_its_table(visit: Visit, figure: str, least: int = 4, most_digits: int = 7) -> None:
    """A streamed figure, after its stream has ended; it is still there when the colours change, which they do.

    least: rows of its table at least. most_digits: of one of its numbers at least; the page shows four.
    """
    expect(visit.page.locator("button:visible", has_text=re.compile("^Stop$"))).to_have_count(0)
    fold = open_data(visit)
    expect(fold.locator("[data-row]").nth(8)).to_be_attached()
    header, *rows = saved(visit, fold)
    assert len(rows) == rows_in(fold) >= least
    shown = fold.locator("[data-row='0']").all_inner_texts()
    assert len(shown) == len(header)
    for seen, whole in zip(shown, rows[0], strict=True):
        assert digits(seen.strip()) <= 4 or "." not in seen
        assert seen.strip() == whole or float(seen) == pytest.approx(float(whole), rel=1e-3)
    assert any(digits(cell) >= most_digits for row in rows for cell in row if "." in cell), "the CSV has all digits"
    before = visit.draws(figure)
    visit.page.evaluate("document.body.classList.toggle('dark')")
    visit.wait_redrawn(figure, before)
    expect(visit.page.locator(f"{figure} .plot")).to_be_visible()


def digits(number: str) -> int:
    """Significant ones."""
    return len(re.sub(r"e.*|[^0-9]", "", number).lstrip("0"))

"""The last three tabs of the family's page: sizes and their speed, RoBERTa's recipe, and the layers' steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.visiting import Visit, open_tab

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def family(visitor: Visit) -> Iterator[Any]:
    """The page, for tests that each open a tab of it."""
    visitor.open("models#tab=bars", "#family-figure")
    yield visitor
    visitor.assert_unharmed()


def rows_shown(page: Any, place: int, text: str) -> None:
    """The data fold of a tab has a row with this."""
    fold = page.locator(".folds:visible").nth(place)
    fold.get_by_role("button", name="Data").click()
    expect(fold.get_by_role("grid")).to_contain_text(text)


def test_sizes_count_again_and_sharing_is_timed(family: Visit) -> None:
    page = family.page
    open_tab(page, "Parameters")
    said = page.locator("#count-said")
    expect(page.locator("#count-notes")).to_contain_text("11,813,810")
    page.wait_for_selector("#sweep-figure .plot[data-drawn]")
    embedding = page.get_by_label("Embedding width E")
    embedding.fill("256")
    embedding.press("Tab")
    expect(said).to_contain_text("those of albert-base-v2")
    rows_shown(page, 0, "MLM head")

    page.locator("#speed-start").click()
    expect(page.locator("#speed-notes")).to_contain_text("6 layers of width 384")
    expect(page.locator("#speed-table")).to_contain_text("10,646,784")
    rows_shown(page, 1, "forward")


def test_the_recipe_is_scored_on_another_task(family: Visit) -> None:
    page = family.page
    open_tab(page, "RoBERTa's recipe")
    page.wait_for_selector("#recipe-figure .plot[data-drawn]")
    said = page.locator("#recipe-said")
    expect(said).to_contain_text("On MNLI-m")
    before = family.draws("#recipe-figure")
    page.get_by_label("SQuAD 2.0").check()
    expect(said).to_contain_text("On SQuAD 2.0")
    expect(page.locator("#recipe-notes")).to_contain_text("not in Table 3")
    family.wait_redrawn("#recipe-figure", before)
    rows_shown(page, 0, "160 GB, 500K steps")
    before = family.draws("#recipe-figure")
    page.get_by_label("every row").check()
    family.wait_redrawn("#recipe-figure", before)


def test_the_layers_of_other_models_are_followed(family: Visit) -> None:
    page = family.page
    open_tab(page, "Layer by layer")
    page.wait_for_selector("#movement-figure .plot[data-drawn]")
    said = page.locator("#movement-said")
    expect(said).to_contain_text("albert-mini")
    before = family.draws("#movement-figure")
    page.get_by_role("button", name="Half of the layers: DistilBERT").click()
    expect(said).to_contain_text("distilbert-mini")
    family.wait_redrawn("#movement-figure", before)
    rows_shown(page, 0, "distilbert-mini")

"""The tab Metrics: opened, and its panels compared with the same sums in Python."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from explorer.labs.finetune.metrics_compute import linear
from explorer.labs.finetune.metrics_schema import TakenApart
from tests.e2e.visiting import Visit, open_tab


def open_metrics(visit: Visit) -> Page:
    visit.open("finetune", "#run-curves")
    open_tab(visit.page, "Metrics")
    visit.page.wait_for_selector("#matrix-panel svg[data-drawn]")
    return visit.page


def open_panel(page: Page, panel: str) -> None:
    page.get_by_role("tab", name={"matrix-panel": "Classes", "scatter-panel": "Scores"}[panel], exact=True).click()
    page.wait_for_selector(f"#{panel} svg[data-drawn]")


def shown(page: Page, panel: str) -> dict[str, tuple[str, str]]:
    """Each metric's value and formula as the panel has them."""
    script = """(groups) => groups.map((group) =>
        [group.dataset.metric, group.dataset.value, group.querySelector("title:not(.hit title)").textContent])"""
    rows = page.locator(f"{panel} [data-metric]").evaluate_all(script)
    return {slug: (value, formula) for slug, value, formula in rows}


def assert_same(page: Page, panel: str, result: TakenApart) -> None:
    """What JavaScript shows is what Python computes: formulas to the letter, values to rounding."""
    formulas = {metric.slug: linear(metric) for metric in result.metrics}
    selector = f'{panel} [data-metric="{result.metrics[0].slug}"] > title, {panel} [data-metric] > .formula > title'
    expect(page.locator(selector).first).to_have_text(formulas[result.metrics[0].slug])
    found = shown(page, panel)
    assert {slug: formula for slug, (_, formula) in found.items()} == formulas
    for metric in result.metrics:
        value = found[metric.slug][0]
        assert (value == "") == (metric.value is None)
        if metric.value is not None:
            assert float(value) == pytest.approx(metric.value, abs=1e-12)

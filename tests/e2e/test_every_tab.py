"""The whole menu, every page and every tab, as visitors walk it: nothing is empty, nothing complains, no tab starts work that
nobody asked for, and axe-core finds nothing that keeps somebody out, in light and in dark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest

from explorer.labs import LABS
from explorer.runs.examples import ANSWERS, BY_METHOD, WRITTEN
from tests.e2e.visiting import PATIENCE, Visit

pytestmark = pytest.mark.e2e

PAGES = ("", *(lab.slug for lab in LABS))
OF_RUNS = ("attention", "attribution", "finetune", "generation", "delta", "distillation", "pruning", "pretrain")
"""The pages that look at runs."""

LEAST = 12
"""Pixels of height from which an empty figure is seen as a hole."""

ANSWERED_LIVE = {("attribution", ""), ("attribution", "A model's prediction"), ("generation", "A meaning in words")}
"""Where the first answer itself comes piece by piece, for a second or two: Stop stands there until it is whole."""

STANDS = """([least, patient]) => {
  const seen = (one) => one.checkVisibility({ visibilityProperty: true });
  const named = (one) => one.id || one.className;
  const figures = [...document.querySelectorAll(".block.figure")].filter(seen);
  const busy = figures.filter((one) => one.dataset.waiting || one.dataset.awaited !== undefined);
  const stops = [...document.querySelectorAll("button.stop")].filter(seen).map((one) => one.textContent.trim())
    .filter((name) => name.startsWith("Stop"));
  if (busy.length || (patient && stops.length)) return null;
  return {
    notices: [...document.querySelectorAll(".notice")].filter(seen).map((one) => one.textContent.trim()),
    stops,
    holes: figures.filter((one) => !one.querySelector(".plot:not([hidden])") && one.clientHeight > least).map(named),
  };
}"""
"""What stands on the tab once its figures are there; null before that, and while a Stop stands there for one who is patient."""

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")

EVERY_RULE = {"rules": {"label-content-name-mismatch": {"enabled": True}}}
"""Of those that axe runs by itself, and one that it has to be asked for."""

CONTRAST = {"runOnly": ["color-contrast"]}
"""What differs between light and dark."""

STILL = "*, *::before, *::after { transition: none !important; animation: none !important; }"
"""A colour on its way from light to dark is neither."""

FINDINGS = """async ([options, whole]) => (await axe.run(
    {  // what is around the tabs is the same for all of them
      ...(whole ? {} : {include: [...document.querySelectorAll("[role=tabpanel]")].filter((panel) => panel.offsetParent)}),
      exclude: [[".plot svg"]],  // to a screen reader a figure is one image
    },
    {resultTypes: ["violations"], ...options},
  )).violations
  .filter((rule) => rule.impact !== "minor")
  .flatMap((rule) => rule.nodes.map((node) => [rule.id, node.html.slice(0, 200), node.failureSummary]))"""

SHOWN = """() => [...document.querySelectorAll(
  ".plot[data-drawn], .chip, .head-grid, .view-frame, table.quoted, .bench .form, [role=tabpanel] h2, svg[role=img]"
)].some((part) => part.getClientRects().length)"""

NOTHING: dict[str, list[str]] = {"notices": [], "stops": [], "holes": []}


def opened_tabs(page: Any) -> Any:
    """Opens every tab, and those inside it but the one with which it opens; yields the names, one empty for none."""
    tabs, seen = page.locator("[role=tab]:visible"), set()
    if tabs.count() == 0:
        yield ""
    while names := [name for name in tabs.all_inner_texts() if name not in seen]:
        page.get_by_role("tab", name=names[0], exact=True).click()
        yield names[0]
        seen |= {names[0], *page.locator("[role=tab][aria-selected=true]:visible").all_inner_texts()}


def walk(visit: Visit, pages: Sequence[str]) -> Iterator[tuple[str, str, Any]]:
    """(page, tab, what stands there) of every tab, in the order of the menu."""
    page = visit.page
    for slug in pages:
        page.goto(f"{visit.address}/{slug}")
        page.wait_for_function("() => document.querySelector('.plot[data-drawn], [role=tab]')")
        page.wait_for_function(STANDS, arg=[LEAST, (slug, "") in ANSWERED_LIVE], polling=200)
        tabs = [tab.inner_text() for tab in page.get_by_role("tab").all() if tab.is_visible()]
        for name in tabs or [""]:
            if name:
                page.get_by_role("tab", name=name, exact=True).first.click()
                page.wait_for_timeout(400)
            waits = (slug, name) in ANSWERED_LIVE
            yield slug, name, page.wait_for_function(STANDS, arg=[LEAST, waits], polling=200).json_value()


def visitor(browser: Any, server: str) -> Iterator[Visit]:
    context = browser.new_context(viewport={"width": 1440, "height": 1000})
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    yield Visit(page, server)
    context.close()


newcomer = pytest.fixture(visitor, scope="module", name="newcomer")
"""One who goes from page to page."""

another = pytest.fixture(visitor, name="another")


@pytest.mark.parametrize("path", PAGES)
def test_a_newcomer_finds_every_tab_computed_and_is_not_kept_out(newcomer: Visit, path: str) -> None:
    page = newcomer.page
    page.goto(f"{newcomer.address}/{path}")
    page.wait_for_selector(".plot[data-drawn]")
    page.evaluate(AXE)
    page.add_style_tag(content=STILL)
    found, looked_at = {}, 0
    for tab in opened_tabs(page):
        page.wait_for_timeout(400)
        page.wait_for_function(SHOWN)
        waits = (path, tab) in ANSWERED_LIVE
        found[tab] = page.wait_for_function(STANDS, arg=[LEAST, waits], polling=200).json_value()
        whole = looked_at == 0
        findings = page.evaluate(FINDINGS, [EVERY_RULE, whole])
        page.evaluate("document.body.classList.toggle('dark')")  # a tab begins as the one before it ends
        findings += page.evaluate(FINDINGS, [CONTRAST, whole])
        assert findings == [], tab
        looked_at += 1
    assert {tab: stands for tab, stands in found.items() if stands != NOTHING} == {}
    assert looked_at >= (1 if path in ("", "agrees") else 2)
    newcomer.assert_unharmed()


def test_so_does_one_who_has_looked_at_runs_of_every_kind(another: Visit) -> None:
    """Of classes, of answers and of texts, the last one looked at the last: each page opens with one of its own kind.

    That is not the worked example, so what takes long is computed there and then, and can be stopped.
    """
    for link in (f"finetune?run={BY_METHOD['bitfit']}", f"finetune?run={ANSWERS}", f"finetune?run={WRITTEN}"):
        another.page.goto(f"{another.address}/{link}")
        another.page.wait_for_selector("#run-picker input")
        another.page.wait_for_function(STANDS, arg=[LEAST, False], polling=200)
    walked = ((f"{slug}, {tab}", {**stands, "stops": []}) for slug, tab, stands in walk(another, OF_RUNS))
    assert {place: stands for place, stands in walked if stands != NOTHING} == {}
    another.assert_unharmed()

"""The whole menu, every page and every tab, as visitors walk it: nothing is empty, nothing complains, and no tab starts work that
nobody asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

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

NOTHING: dict[str, list[str]] = {"notices": [], "stops": [], "holes": []}


def walk(visit: Visit, pages: Sequence[str] = PAGES) -> Iterator[tuple[str, str, Any]]:
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


@pytest.fixture
def newcomer(browser: Any, server: str) -> Iterator[Visit]:
    context = browser.new_context(viewport={"width": 1440, "height": 1000})
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    yield Visit(page, server)
    context.close()


def test_a_newcomer_finds_every_tab_computed(newcomer: Visit) -> None:
    found = {f"{slug or 'home'}, {tab}": stands for slug, tab, stands in walk(newcomer) if stands != NOTHING}
    assert found == {}
    newcomer.assert_unharmed()


def test_so_does_one_who_has_looked_at_runs_of_every_kind(newcomer: Visit) -> None:
    """Of classes, of answers and of texts, the last one looked at the last: each page opens with one of its own kind.

    That is not the worked example, so what takes long is computed there and then, and can be stopped.
    """
    for link in (f"finetune?run={BY_METHOD['bitfit']}", f"finetune?run={ANSWERS}", f"finetune?run={WRITTEN}"):
        newcomer.page.goto(f"{newcomer.address}/{link}")
        newcomer.page.wait_for_selector("#run-picker input")
        newcomer.page.wait_for_function(STANDS, arg=[LEAST, False], polling=200)
    walked = ((f"{slug}, {tab}", {**stands, "stops": []}) for slug, tab, stands in walk(newcomer, OF_RUNS))
    assert {place: stands for place, stands in walked if stands != NOTHING} == {}
    newcomer.assert_unharmed()

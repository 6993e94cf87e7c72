"""The whole menu, every page and every tab, as visitors walk it, each opened once and looked at for everything.

Nothing is empty, nothing complains, no tab starts work that nobody asked for; axe-core finds nothing that keeps somebody out,
in light and in dark; a phone shows the answer in its first view; nothing is wider than any screen; a streamed figure keeps
its table; what is typed stays text.
"""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from explorer.labs import LABS
from explorer.runs.examples import ANSWERS, WRITTEN
from explorer.ui.run_picker import RUNS_KEY
from explorer.worked import file_of
from tests.caller import Caller
from tests.e2e.folds import assert_keeps_its_table
from tests.e2e.looks import (
    AXE,
    BEGINS,
    LEAST,
    NAMED_TWICE,
    NOTHING,
    STANDS,
    STILL,
    look_over,
    resize,
    too_wide,
    what_stands,
)
from tests.e2e.tabs import (
    DRAWN,
    IN_VIEW,
    OF_RUNS,
    PAGES,
    RUNS_BESIDE,
    STREAMED,
    TYPED_ON,
    UNFOLDED,
    WAITING,
    WORKED,
    Tab,
    tabs_of,
)
from tests.e2e.typed import assert_stays_text
from tests.e2e.visiting import NOTHING_TYPED, SIZES, Visit, open_tab

pytestmark = pytest.mark.e2e

NAMES = "[role=tab]:visible"
CHOSEN = "[role=tab][aria-selected=true]:visible"
FOLD = 768
"""Lines of a projector."""

LONGEST = 960
"""Lines of the first column of controls, at most: what would stand below waits behind More."""

CONTROLS_HEIGHT = """() => {
  const column = [...document.querySelectorAll(".controls")].find((one) => one.checkVisibility());
  const ends = column ? [...column.children].map((one) => one.getBoundingClientRect().bottom) : [];
  return column ? Math.max(...ends) - column.getBoundingClientRect().top : 0;
}"""

REMEMBERS = """() => {
  const write = Storage.prototype.setItem;
  window.written = [];
  Storage.prototype.setItem = function (key, value) {
    window.written.push(key);
    return write.call(this, key, value);
  };
}"""

FIRST_VIEW = SIZES[-1][1] - 120
"""Pixels from the top at which a phone still shows something of the answer."""

PHONE = dict(zip(("width", "height"), SIZES[-1], strict=True))


@pytest.fixture(scope="module")
def newcomer(visitor: Visit) -> Visit:
    """One who goes from page to page, on a projector."""
    visitor.page.add_init_script(BEGINS)
    return visitor


@pytest.fixture
def on_a_phone(visit: Visit) -> Visit:
    """One with a phone, in the dark."""
    visit.page.set_viewport_size(PHONE)
    visit.page.emulate_media(color_scheme="dark")
    visit.page.add_init_script(BEGINS)
    visit.page.add_init_script(f"({REMEMBERS})()")
    return visit


def test_all_pages_are_walked() -> None:
    assert ("", *(lab.slug for lab in LABS)) == PAGES


@pytest.mark.parametrize("path", PAGES)
def test_a_newcomer_finds_every_tab_computed_and_is_not_kept_out(newcomer: Visit, path: str) -> None:
    page, tabs = newcomer.page, tabs_of(path)
    page.evaluate(NOTHING_TYPED)
    page.goto(f"{newcomer.address}/{path}")
    page.wait_for_selector(tabs[0].shown)
    page.evaluate(AXE)
    page.add_style_tag(content=STILL)
    named, listed = {tab.name for tab in tabs}, set[str]()
    for tab in tabs:
        if tab.name:
            open_tab(page, tab.name)
        page.wait_for_selector(tab.shown)
        stands = what_stands(page)
        assert stands == NOTHING, tab
        listed |= set(page.locator(NAMES).all_inner_texts())
        named |= set(page.locator(CHOSEN).all_inner_texts())
        if (path, tab.name) in WORKED:
            assert file_of(WORKED[path, tab.name], 0).exists()
            expect(page.locator("[role=tabpanel]:visible .bar").first).to_contain_text("Computed beforehand")
        if (path, tab.name) in IN_VIEW:
            assert_in_view(page, tab)
        assert page.evaluate(CONTROLS_HEIGHT) < LONGEST, tab
        if (path, tab.name) in STREAMED:
            assert_keeps_its_table(newcomer, tab.shows)
        if beside := RUNS_BESIDE.get((path, tab.name)):
            assert_keeps_its_table(newcomer, tab.shows, *beside)
        answer = DRAWN.get((path, tab.name), tab.shows)
        looked = look_over(page, answer, whole=tab == tabs[0], unfolded=path in UNFOLDED)
        assert looked.begins < FIRST_VIEW, tab
        assert looked.found == [], tab
        assert looked.wide == {}, tab
    assert page.evaluate(NAMED_TWICE) == []
    resize(page, *SIZES[0])
    listed |= set(page.locator(NAMES).all_inner_texts())  # where all of them have room
    assert listed <= named, "a tab is missing in tests/e2e/tabs.py"
    assert not page.evaluate("window.began"), "nobody has pressed anything"
    if path in TYPED_ON:
        assert_stays_text(page, tabs)
    resize(page, 1024, FOLD)
    newcomer.assert_unharmed()


def assert_in_view(page: Any, tab: Tab) -> None:
    page.evaluate("scrollTo(0, 0)")
    box = page.locator(f"{tab.shows} .plot").bounding_box()
    assert box["y"] + box["height"] <= FOLD, "the fold cuts the figure"


def test_so_does_one_who_has_looked_at_runs_of_every_kind(on_a_phone: Visit, server: str, tiny_model: str) -> None:
    """Of classes, of answers and of texts, the last one looked at the last: each page opens with one of its own kind.

    That is not the worked example, which stands there where an answer takes over a second, and says that Start computes
    what is chosen. Nothing is wider than the phone; the newcomer has looked at the other screens.
    """
    page = on_a_phone.page
    for run in (classes(server, tiny_model), ANSWERS, WRITTEN):
        page.goto(f"{on_a_phone.address}/finetune?run={run}")
        page.wait_for_selector("#run-picker input")
        page.wait_for_function(STANDS, arg=LEAST, polling=200)
        # A page that opens writes what the browser remembers once more as it is (and each time with another salt), and
        # with the run only when the server has told of what kind that is.
        page.wait_for_function("(key) => window.written.filter((one) => one === key).length > 1", arg=RUNS_KEY)
    walked, wide = {}, {}
    for path in OF_RUNS:
        page.evaluate(NOTHING_TYPED)
        page.goto(f"{on_a_phone.address}/{path}")
        page.wait_for_function("() => document.querySelector('.plot[data-drawn]')")
        if path in UNFOLDED:
            assert_dark(page, tabs_of(path)[0].shows)
        for tab in tabs_of(path):
            open_tab(page, tab.name)
            walked[tab] = {**what_stands(page), "stops": []}
            wide[tab] = too_wide(page)
            if (path, tab.name) in WAITING:
                expect(
                    page.locator("[role=tabpanel]:visible .bar > *", has_text="A worked example").first
                ).to_be_visible()
        assert path != "pruning" or not page.evaluate("window.began"), "nobody has pressed anything"
    assert {tab: stands for tab, stands in walked.items() if stands != NOTHING} == {}
    assert {tab: screens for tab, screens in wide.items() if screens} == {}
    on_a_phone.assert_unharmed()


def classes(server: str, model: str) -> str:
    """A run of classes of a model that is quick; its id."""
    client = Caller(server)
    client.predict(model=model, task="sst2", method="bitfit", examples=32, epochs=1, api_name="/train")
    runs = client.predict(api_name="/runs")
    table = runs if isinstance(runs, dict) else runs[-1]
    return str(table["data"][0][table["headers"].index("run")])


def assert_dark(page: Any, figure: str) -> None:
    page.wait_for_selector(f"{figure} .plot[data-drawn]")
    drawn = page.evaluate(
        f"[...document.querySelectorAll('{figure} .js-line')].map((line) => getComputedStyle(line).stroke)"
    )
    assert "rgb(86, 180, 233)" in drawn, "the dark palette's first colour"

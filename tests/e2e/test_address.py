"""Addresses: what stands in one is in the controls, and a colleague who opens it sees the same."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from explorer.engine.local import LocalEngine
from explorer.labs import LABS
from explorer.navigation import pages_and_tabs
from explorer.serving.pages import Pages
from explorer.settings import Settings
from explorer.shell import build_app
from explorer.ui.address import Address
from explorer.ui.kept_controls import Place, path_of
from tests.asked import Asked, Events, asked_of
from tests.e2e.tabs import OF_RUNS, TABS
from tests.e2e.visiting import Visit
from tests.pairs import ALL_PAIRS

pytestmark = pytest.mark.e2e

LISTENING = """Object.defineProperty(window, "explorerAddress", { configurable: true, set(made) {
  const { begin, keep } = made;
  made.begin = (spec) => { window.addressSpec = spec; return begin(spec); };
  made.keep = (values) => { window.addressValues = values; return keep(values); };
  Object.defineProperty(window, "explorerAddress", { value: made, configurable: true });
} });"""
"""Hears what Gradio says that the controls hold."""

WRITTEN = 1000
"""Milliseconds after which a change stands in the address."""

HOLDS = """(wanted) => window.addressValues && wanted.every(([name, tab, value]) => {
  const at = window.addressSpec.kept.findIndex((one) => one.name === name && one.tabs.map(([, tab]) => tab).join("/") === tab);
  return JSON.stringify(window.addressValues[at]) === JSON.stringify(value);
})"""


@pytest.fixture(scope="module")
def app() -> Pages:
    """All pages."""
    return build_app(LocalEngine(Settings(offline=True)))


@pytest.fixture(scope="module")
def events(app: Pages) -> Events:
    return Events(app)


@pytest.fixture(scope="module")
def listened(visitor: Visit) -> Visit:
    """A visitor of whose controls is heard what they hold."""
    visitor.page.add_init_script(LISTENING)
    return visitor


def taken_up_by_a_browser(slug: str, address: Address, events: Events) -> list[Asked]:
    """The tabs whose values something else might write over, a page's first one, and one inside another.

    What an address says is read, named and refused alike for all tabs, in this process: tests/ui/test_address.py.
    """
    tabs = list(asked_of(slug, address))
    inside = [one for one in tabs if one.is_inside_another][-1:]
    own = [one for one in tabs if any(events.sets_by_itself(kept.component) for kept in one.controls)]
    return tabs if ALL_PAIRS else [one for one in tabs if one.is_first or one in own or one in inside]


@pytest.mark.parametrize("slug", ["", *(lab.slug for lab in LABS)])
def test_a_tab_takes_up_all_that_its_address_says(slug: str, app: Pages, events: Events, listened: Visit) -> None:
    tabs = taken_up_by_a_browser(slug, app.addresses[slug], events)
    assert tabs
    for tab in tabs:
        wanted = [[one.name, path_of(one.tabs), one.read(tab.texts[one.name])] for one in tab.controls]
        listened.page.goto("about:blank")
        listened.page.goto(f"{listened.address}/{slug}#{tab.fragment}")
        listened.page.wait_for_function(HOLDS, arg=wanted)
        assert listened.page.locator(".address-remark .notice").count() == 0
        for _, name in tab.place:
            expect(listened.page.locator(f"[role=tab][data-tab-id={name}]").first).to_have_attribute(
                "aria-selected", "true"
            )


def waits(place: Place, address: Address, events: Events) -> bool:
    """Whether opening a tab reads what the page itself finds out as it opens, which a click on the tab comes after."""
    tabs = [tab for number, name in place for tab in address.tabs_of(number) if str(tab.id) == name]
    held = {kept.component._id for kept in address.kept}
    read = [part for part in events.read_at_opening(tabs) if part._id not in held and part.elem_id != "model-picker"]
    return any(events.sets_by_itself(part) for part in read)


@pytest.mark.parametrize("page", OF_RUNS)
def test_a_tab_that_an_address_opens_is_computed_once_its_run_is_known(
    page: str, app: Pages, events: Events, visit: Visit
) -> None:
    """Of the tabs for which it matters; a page's first one is opened by its address in test_every_tab, by every visitor."""
    address = app.addresses[page]
    to = {tab.title: tab.to for listed in pages_and_tabs(app.addresses) for tab in listed.tabs if listed.to == page}
    late = {f"{page}#tab={path_of(place)}" for place in address.places()[1:] if waits(place, address, events)}
    shown = [(tab, to[tab.name]) for tab in TABS if tab.page == page and to.get(tab.name) in late]
    assert len(shown) == len(late) > 0
    for tab, named in shown:
        visit.page.goto("about:blank")
        visit.page.goto(f"{visit.address}/{named}")
        visit.page.locator(tab.shown).first.wait_for(state="visible")
        assert visit.page.locator(".notice-place .notice").count() == 0, named


BUSY = ".block.figure[data-waiting]"
"""A figure that is computed anew."""

TYPED = "The old violin was played by a girl from Prague."


def press(name: str) -> Callable[[Visit], None]:
    """Press a token."""
    return lambda visit: visit.page.locator("button.chip:visible", has_text=name).first.click()


def slide(label: str, value: int) -> Callable[[Visit], None]:
    """Set a slider by its number."""

    def sliding(visit: Visit) -> None:
        box = visit.page.get_by_label(f"number input for {label}").locator("visible=true").first
        box.fill(str(value))
        box.press("Enter")

    return sliding


def said(visit: Visit) -> Locator:
    """The sentences in view that state what figures show."""
    return visit.page.locator("div.block.said:visible")


def acted(visit: Visit, act: Callable[[Visit], None]) -> None:
    """Do something, and wait until what is said is another sentence."""
    before = said(visit).first.inner_text()
    act(visit)
    expect(said(visit).first).not_to_have_text(before)


def type_sentence(visit: Visit) -> None:
    """Into the first box in view."""
    box = visit.page.locator("textarea[data-testid=textbox]:visible").first
    box.fill(TYPED)
    box.press("Enter")


@pytest.mark.parametrize(
    ("path", "act", "written"),
    [
        ("", press("violin"), "also_mask=3"),
        ("masking", press("violin"), "also_mask=3"),
        ("directions", press("violin"), "position=3"),
        ("attention", slide("Layer", 3), "layer=3"),
        ("attention#tab=neurons", slide("Head", 5), "head=5"),
    ],
)
def test_a_colleague_sees_the_same(
    path: str, act: Callable[[Visit], None], written: str, visit: Visit, visitors: Callable[[], Visit]
) -> None:
    mine, theirs = visit, visitors()
    mine.page.goto(f"{mine.address}/{path}")
    expect(said(mine).first).not_to_be_empty()
    acted(mine, type_sentence)
    expect(mine.page).to_have_url(re.compile("violin"))
    acted(mine, act)
    expect(mine.page).to_have_url(re.compile(written))
    theirs.page.goto(mine.page.url)
    expect(mine.page.locator(BUSY)).to_have_count(0)
    expect(said(theirs)).to_have_text(said(mine).all_inner_texts())
    pressed = "button.chip[aria-pressed=true]:visible"
    expect(theirs.page.locator(pressed)).to_have_text(mine.page.locator(pressed).all_text_contents())


def test_tabs_make_history_and_a_reload_stays(visit: Visit) -> None:
    visit.open("masking", "#fill-figure")
    acted(visit, type_sentence)
    visit.tab("Why 15%")
    expect(visit.page).to_have_url(re.compile("#tab=rate$"))
    visit.tab("Why 80, 10, 10")
    visit.tab("1,000 draws")
    expect(visit.page).to_have_url(re.compile("#tab=corrupt%2Fdraws$"))
    visit.page.go_back()
    visit.page.go_back()
    expect(visit.page.get_by_role("tab", name="Why 15%")).to_have_attribute("aria-selected", "true")
    visit.page.go_back()
    expect(visit.page).to_have_url(re.compile("#text=The\\+old"))
    visit.page.reload()
    expect(visit.page.locator("textarea:visible").first).to_have_value(TYPED)
    visit.page.go_forward()
    expect(visit.page.get_by_role("tab", name="Why 15%")).to_have_attribute("aria-selected", "true")


def test_what_an_address_asks_for_in_vain_is_said(visit: Visit) -> None:
    visit.page.goto(f"{visit.address}/masking#text=One+[MASK].&top_k=many&model=someone%2Felse")
    remark = visit.page.locator(".address-remark .notice")
    expect(remark).to_contain_text("top_k must be a number; got 'many'.")
    expect(remark).to_contain_text("someone/else is not on this machine")
    expect(visit.page.locator("textarea:visible").first).to_have_value("One [MASK].")


def test_a_fold_is_open_where_the_address_sets_what_lies_in_it(visit: Visit) -> None:
    visit.page.goto(f"{visit.address}/context#tab=probe&penalty=0.3")
    penalty = visit.page.get_by_label("number input for Penalty")
    expect(penalty).to_be_visible()
    expect(penalty).to_have_value("0.3")
    visit.open("context#tab=probe", "#probe-figure")
    expect(penalty).to_be_hidden()


def test_a_page_that_nobody_touched_has_a_bare_address(visit: Visit) -> None:
    visit.open("masking", "#fill-figure")
    visit.page.wait_for_timeout(WRITTEN)
    assert visit.page.url == f"{visit.address}/masking"

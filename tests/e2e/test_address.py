"""Addresses: what stands in one is in the controls, and a colleague who opens it sees the same."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from urllib.parse import urlencode

import gradio as gr
import pytest
from playwright.sync_api import Locator, expect

from explorer.all_pages import pages_and_tabs
from explorer.engine.local import LocalEngine
from explorer.kinds import Exact, Whole
from explorer.labs import LABS
from explorer.settings import Settings
from explorer.shell import build_app
from explorer.ui.address import TAB, Address
from explorer.ui.kept_controls import Kept, path_of
from tests.e2e.tabs import OF_RUNS, TABS
from tests.e2e.visiting import Visit

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

WORTHWHILE: dict[tuple[str, str], dict[str, str]] = {
    ("delta", "weight"): {"layer": "1", "module": "value", "intruder_dimensions.layer": "1"},
    ("delta", "compare"): {"layer": "1", "module": "value"},
    ("delta", "amplification"): {"layer": "1", "module": "value"},
    ("distillation", "losses"): {"kind": "layers"},
    ("pairs", "order"): {"score_order.model": "bert-small"},
    ("attention", "switches"): {"everywhere": "false"},
}
"""Values of controls where the next one that comes would be refused by what the page shows at first."""


@pytest.fixture(scope="module")
def addresses() -> dict[str, Address]:
    """Of all pages."""
    return build_app(LocalEngine(Settings(offline=True))).addresses


@pytest.fixture(scope="module")
def listened(visitor: Visit) -> Visit:
    """A visitor of whose controls is heard what they hold."""
    visitor.page.add_init_script(LISTENING)
    return visitor


def another(kept: Kept) -> str | None:
    """A value that is not the one with which the page opens, as an address writes it; none where any would be nonsense."""
    part, value = kept.component, kept.component.value
    if isinstance(part, gr.Checkbox):
        return json.dumps(not value)
    if isinstance(part, (gr.Dropdown, gr.Radio, gr.CheckboxGroup)):
        several = isinstance(part, gr.CheckboxGroup) or bool(getattr(part, "multiselect", False))
        others = [choice for _, choice in part.choices if choice != value and [choice] != value]
        return (json.dumps([str(others[0])]) if several else str(others[0])) if others else None
    if part.visible == "hidden":
        return None  # set by a press on a figure
    if isinstance(part, gr.Slider):
        step = part.step or 1
        return f"{value + step if value + step <= part.maximum else value - step:g}"
    if isinstance(part, gr.Number):
        return f"{(value or 0) + 1:g}" if isinstance(kept.kind, Whole | Exact) or (value and value >= 1) else "0.5"
    if isinstance(part, gr.Textbox) and value and " " in value:
        return f"{value} Today."
    return None


def views(address: Address) -> Iterator[tuple[str, bool, list[Kept]]]:
    """Each tab by its path, whether it is the first, and what it keeps."""
    places = address.places()
    for place in places:
        yield (
            path_of(place),
            place == places[0],
            [one for one in address.kept if all(step in place for step in one.tabs)],
        )


@pytest.mark.parametrize("slug", ["", *(lab.slug for lab in LABS)])
def test_every_tab_takes_up_all_that_its_address_says(
    slug: str, addresses: dict[str, Address], listened: Visit
) -> None:
    for path, first, kept in views(addresses[slug]):
        asked = {one.name: another(one) for one in kept} | WORTHWHILE.get((slug, path), {})
        asked = {name: text for name, text in asked.items() if text is not None}
        if not asked:
            continue
        wanted = [[one.name, path_of(one.tabs), one.read(asked[one.name] or "")] for one in kept if one.name in asked]
        fragment = urlencode(({} if first else {TAB: path}) | asked)
        listened.page.goto("about:blank")
        listened.page.goto(f"{listened.address}/{slug}#{fragment}")
        listened.page.wait_for_function(HOLDS, arg=wanted)
        assert listened.page.locator(".address-remark .notice").count() == 0
        for tab in path.split("/") if path else []:
            expect(listened.page.locator(f"[role=tab][data-tab-id={tab}]").first).to_have_attribute(
                "aria-selected", "true"
            )


@pytest.mark.parametrize("page", OF_RUNS)
def test_a_tab_that_an_address_opens_is_computed_once_its_run_is_known(
    page: str, addresses: dict[str, Address], visitors: Callable[[], Visit]
) -> None:
    visit = visitors()
    to = {tab.title: tab.to for listed in pages_and_tabs(addresses) for tab in listed.tabs if listed.to == page}
    shown = [(tab, to[tab.name]) for tab in TABS if tab.page == page and tab.name in to]
    assert shown
    for tab, address in shown:
        visit.page.goto("about:blank")
        visit.page.goto(f"{visit.address}/{address}")
        visit.page.locator(tab.shown).first.wait_for(state="visible")
        assert visit.page.locator(".notice-place .notice").count() == 0, address


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
    ("path", "act"),
    [
        ("", press("violin")),
        ("masking", press("violin")),
        ("directions", press("violin")),
        ("attention", slide("Layer", 3)),
        ("attention#tab=neurons", slide("Head", 5)),
    ],
)
def test_a_colleague_sees_the_same(path: str, act: Callable[[Visit], None], visitors: Callable[[], Visit]) -> None:
    mine, theirs = visitors(), visitors()
    mine.page.goto(f"{mine.address}/{path}")
    expect(said(mine).first).not_to_be_empty()
    acted(mine, type_sentence)
    acted(mine, act)
    expect(mine.page).to_have_url(re.compile("violin"))
    mine.page.wait_for_timeout(WRITTEN)
    theirs.page.goto(mine.page.url)
    expect(said(theirs)).to_have_text(said(mine).all_inner_texts())
    pressed = "button.chip[aria-pressed=true]:visible"
    expect(theirs.page.locator(pressed)).to_have_text(mine.page.locator(pressed).all_text_contents())


def test_tabs_make_history_and_a_reload_stays(visitors: Callable[[], Visit]) -> None:
    visit = visitors()
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


def test_what_an_address_asks_for_in_vain_is_said(visitors: Callable[[], Visit]) -> None:
    visit = visitors()
    visit.page.goto(f"{visit.address}/masking#text=One+[MASK].&top_k=many&model=someone%2Felse")
    remark = visit.page.locator(".address-remark .notice")
    expect(remark).to_contain_text("top_k must be a number; got 'many'.")
    expect(remark).to_contain_text("someone/else is not on this machine")
    expect(visit.page.locator("textarea:visible").first).to_have_value("One [MASK].")


def test_a_page_that_nobody_touched_has_a_bare_address(visitors: Callable[[], Visit]) -> None:
    visit = visitors()
    visit.open("masking", "#fill-figure")
    visit.page.wait_for_timeout(WRITTEN)
    assert visit.page.url == f"{visit.address}/masking"

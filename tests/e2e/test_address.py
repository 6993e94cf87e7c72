"""Addresses: what stands in one is in the controls, and a colleague who opens it sees the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import urlencode

import gradio as gr
import pytest
from playwright.sync_api import expect

from explorer.engine.local import LocalEngine
from explorer.kinds import Exact, Whole
from explorer.labs import LABS
from explorer.settings import Settings
from explorer.shell import build_app
from explorer.ui.address import TAB, Address, Kept, path_of
from tests.e2e.visiting import Visit

pytestmark = pytest.mark.e2e

LISTENING = """Object.defineProperty(window, "explorerAddress", { configurable: true, set(made) {
  const { begin, keep } = made;
  made.begin = (spec) => { window.addressSpec = spec; return begin(spec); };
  made.keep = (values) => { window.addressValues = values; return keep(values); };
  Object.defineProperty(window, "explorerAddress", { value: made, configurable: true });
} });"""
"""Hears what Gradio says that the controls hold."""

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

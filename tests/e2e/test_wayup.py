"""The picture of a sentence's way up in a real browser: pressed, opened, stepped through, on a phone, without motion."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.e2e.visiting import SIZES, TWO_FRAMES, Visit

EXAMPLE = "The keys to the cabinet are on the table."


@pytest.fixture
def visit(visit: Visit) -> Visit:
    visit.open("", "#home-figure")
    return visit


def bars(visit: Visit) -> list[str]:
    return visit.page.locator("#home-figure .way-bars > g").evaluate_all("all => all.map((one) => one.dataset.token)")


def arcs(visit: Visit) -> str:
    return str(
        visit.page.locator("#home-figure .way-svg").evaluate(
            "svg => [...svg.querySelectorAll('.way-arcs path')].map((one) => one.getAttribute('d')).join()"
        )
    )


def column(visit: Visit) -> str:
    """Which chip stands under the column."""
    return str(
        visit.page.evaluate(
            """() => {
              const box = document.querySelector("#home-figure .way-pills rect").getBoundingClientRect();
              const middle = box.left + box.width / 2;
              return [...document.querySelectorAll("#home-chips .chip")].find((chip) => {
                const { left, right } = chip.getBoundingClientRect();
                return left < middle && middle < right;
              }).innerText;
            }"""
        )
    )


def test_a_pressed_word_is_hidden_and_followed(visit: Visit) -> None:
    page = visit.page
    assert column(visit).split() == ["[MASK]", "are"]
    assert bars(visit)[0] == "are"
    before = arcs(visit)
    page.locator("#home-chips button", has_text="cabinet").click()
    page.wait_for_function("document.querySelectorAll('#home-chips .mask').length === 2")
    drawn = "[...document.querySelectorAll('#home-figure .way-arcs path')].map((one) => one.getAttribute('d')).join()"
    page.wait_for_function(f"(before) => {drawn} !== before", arg=before)
    assert "cabinet" in column(visit)
    first = bars(visit)[0]
    expect(page.locator("#home-figure .way-pills text").last).to_contain_text(first)
    page.locator("#home-chips button", has_text="cabinet").click()
    page.wait_for_function("document.querySelectorAll('#home-chips .mask').length === 1")
    page.wait_for_function("document.querySelector('#home-figure .way-bars > g').dataset.token === 'are'")
    visit.assert_unharmed()


def test_a_dot_is_followed_and_the_answer_is_what_stands_there(visit: Visit) -> None:
    visit.page.locator("#home-figure .way-dots circle").first.click()
    visit.page.wait_for_function(
        "document.querySelector('#home-figure .way-pills rect').getBoundingClientRect().left < 300"
    )
    assert "[CLS]" in column(visit)


def test_a_layer_opens_by_the_keyboard_for_any_head_and_closes(visit: Visit) -> None:
    page = visit.page
    page.get_by_role("button", name="Open layer 3").focus()
    page.keyboard.press("Enter")
    opened = page.locator("#home-layer")
    expect(opened).to_contain_text("Layer 3 of 6, “are”")
    for part in ("Query and keys", "Scores", "Softmax", "Heads joined, W_O", "Added", "Feed-forward", "Added again"):
        expect(opened.get_by_role("heading", name=part).first).to_be_visible()
    expect(opened).to_contain_text("12 × 3072")
    opened.get_by_role("button", name="Head 5", exact=True).click()
    expect(opened).to_contain_text("In head 5 it looks most at")
    expect(page).to_have_url(re.compile("layer=2.*head=5|head=5.*layer=2"))
    opened.get_by_role("button", name="Close").click()
    expect(opened.locator(".waylayer")).to_be_hidden()


def test_nine_steps_say_a_sentence_each_and_open_a_layer(visit: Visit) -> None:
    page = visit.page
    says = page.locator("#home-figure .way-steps p")
    titles = []
    for number in range(1, 10):
        page.locator("#home-figure .way-steps").get_by_role("button", name="Next").click()
        expect(says).to_contain_text(re.compile("."))
        expect(page.locator("#home-figure .way")).to_have_attribute("data-step", str(number))
        titles.append(says.locator("strong").inner_text())
        if number == 3:
            expect(page.locator("#home-layer")).to_contain_text("Layer 1 of 6")
    assert len(set(titles)) == 9


def test_an_address_opens_the_layer_that_it_names(visitors: Callable[[], Visit]) -> None:
    visit = visitors()
    visit.open("wayup#text=The+keys+to+the+cabinet+are+on+the+table.&also_mask=are&layer=4&head=1", "#wayup-layer")
    expect(visit.page.locator("#wayup-layer")).to_contain_text("Layer 5 of 6, “are”")
    expect(visit.page.locator("#wayup-said")).to_contain_text("the word that was hidden")


@pytest.mark.parametrize("size", SIZES)
def test_the_picture_with_its_chips_stands_in_the_first_view(
    size: tuple[int, int], visitors: Callable[[], Visit]
) -> None:
    visit = visitors()
    visit.page.set_viewport_size({"width": size[0], "height": size[1]})
    visit.open("", "#home-figure")
    visit.page.evaluate(TWO_FRAMES)
    assert visit.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    bottom = visit.page.locator("#home-chips .chips").bounding_box()
    assert bottom is not None
    if size[0] > 640:
        assert bottom["y"] + bottom["height"] <= size[1] + 4
    else:  # a phone scrolls the sentence in its place, with the followed word in the middle
        stack = visit.page.locator(".way-stack")
        expect(stack).to_have_attribute("data-scrolls", "")
        pill = visit.page.locator("#home-figure .way-pills rect").first.bounding_box()
        assert pill is not None
        assert 0 < pill["x"] < pill["x"] + pill["width"] < size[0]
        for button in visit.page.locator("#home-figure .way-steps button").all():
            box = button.bounding_box()
            assert box is not None
            assert 0 < box["x"] < box["x"] + box["width"] < size[0], "the steps stay in view"


def test_who_asks_for_no_motion_gets_none(visitors: Callable[[], Visit]) -> None:
    visit = visitors()
    visit.page.emulate_media(reduced_motion="reduce")
    visit.open("", "#home-figure")
    assert visit.page.locator(".way-arcs.rising").count() == 0
    visit.page.emulate_media(reduced_motion="no-preference")
    visit.page.locator("#home-chips button", has_text="keys").click()
    visit.page.wait_for_selector(".way-arcs.rising", state="attached")


def test_a_text_that_is_too_long_to_draw_is_kept_and_says_why(visit: Visit) -> None:
    box = visit.page.locator("#home-text textarea")
    box.fill("cat " * 80)
    box.press("Enter")
    expect(visit.page.get_by_role("alert")).to_contain_text("Take one sentence of it")
    assert box.input_value().startswith("cat cat")
    box.fill(EXAMPLE)
    box.press("Enter")
    expect(visit.page.get_by_role("alert")).to_have_count(0)
    expect(visit.page.locator("#home-figure .way")).to_be_visible()

"""What a page does with a question that it cannot answer: what stands below is dimmed, and the way on is offered."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.visiting import Visit

pytestmark = pytest.mark.e2e

TOO_LONG = "word " * 700
BEFORE = "of the text before"


@pytest.mark.parametrize(
    ("path", "figure", "box"),
    [("attention", "#attention-figure", "Sentence A"), ("masking", "#fill-figure", "Sentence")],
)
def test_what_stands_below_a_refused_text_is_dimmed_and_called_of_the_text_before(
    visit: Visit, path: str, figure: str, box: str
) -> None:
    visit.open(path, figure)
    page = visit.page
    field = page.get_by_label(box).first
    field.fill(TOO_LONG)
    field.press("Enter")
    expect(page.locator(".notice")).to_contain_text("reads at most")
    expect(page.locator(figure)).to_have_attribute("data-stale", BEFORE)
    page.wait_for_function(f"Number(getComputedStyle(document.querySelector('{figure} .plot')).opacity) < .5")
    expect(page.locator(".said:visible").first).to_have_attribute("data-stale", BEFORE)
    before = visit.draws(figure)
    field.fill("The [MASK] barked at the mailman.")
    field.press("Enter")
    visit.wait_redrawn(figure, before)
    expect(page.locator(f"{figure}[data-stale]")).to_have_count(0)
    expect(page.locator(".notice")).to_have_count(0)


@pytest.fixture(scope="module")
def pairs(visitor: Visit) -> Visit:
    """One page for models that score no pairs."""
    visitor.open("pairs", "#pair-figure")
    return visitor


def test_albert_is_told_that_it_learned_order_and_led_there(pairs: Visit) -> None:
    pairs.choose("albert-mini")
    notice = pairs.page.locator(".notice")
    expect(notice).to_contain_text("ALBERT learned order instead")
    notice.get_by_role("button", name="Open Order").click()
    expect(pairs.page.get_by_role("tab", name=re.compile("^Order"))).to_have_attribute("aria-selected", "true")
    pairs.page.wait_for_selector("#order-figure .plot[data-drawn]")


def test_the_sliders_of_attention_end_where_the_model_does_before_anything_is_asked(pairs: Visit) -> None:
    """gpt2-mini has 4 layers of 4 heads; the page opens at layer 4 of bert-small."""
    pairs.tab("One pair")
    pairs.choose("gpt2-mini")
    expect(pairs.page.locator(".notice")).to_contain_text("GPT-2 reads from the left")
    pairs.open("attention", "#attention-figure")
    expect(pairs.page.locator("#attention-figure")).to_have_attribute("data-model", "gpt2-mini")
    for slider, last in (("layer", 3), ("head", 3)):
        ranged = pairs.page.locator(f"#attention-{slider} input[type=range]")
        expect(ranged).to_have_attribute("max", str(last))
        assert int(ranged.input_value()) <= last
    expect(pairs.page.locator(".notice")).to_have_count(0)

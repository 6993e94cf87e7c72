"""The context page in a browser: what a visitor sees, presses and types."""

from __future__ import annotations

import json
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.e2e.visiting import Visit, open_tab

pytestmark = pytest.mark.e2e

LINES, PLANE, GRID, LENS = "#context-figure", "#plane-figure", "#pairs-figure", "#lens-figure"
HOSTILE = (
    "</script><script>window.hurt = 1</script>",
    '<img src=x onerror="window.hurt = 1">',
    "\"double\" 'single' `tick` ${window.hurt = 1}",
    "a\u2028b &lt;b&gt; <b>bold</b>",
    "$x$ %{y} %{customdata} {{x}}",
)


def set_layer(visit: Visit, layer: int) -> None:
    before = visit.draws(PLANE)
    box = visit.page.locator(".layer-row input[type=number]")
    box.fill(str(layer))
    box.press("Enter")
    visit.wait_redrawn(PLANE, before)


def write(visit: Visit, sentences: str, word: str) -> None:
    visit.page.get_by_label("Sentences, one a line").fill(sentences)
    box = visit.page.get_by_label("Word", exact=True)
    box.fill(word)
    box.press("Enter")


class TestWords:
    """On one page, each from where the one before it leaves it."""

    @pytest.fixture(scope="class")
    def words(self, visitor: Visit) -> Visit:
        visitor.open("context", GRID)
        return visitor

    def test_the_page_opens_with_its_worked_example_and_both_in_view(self, words: Visit) -> None:
        page = words.page
        expect(page.locator("#context-notes")).to_contain_text("“bank” is one vector in all 6 sentences")
        figure, word = (
            page.locator(f"{LINES} .plot").bounding_box(),
            page.get_by_label("Word", exact=True).bounding_box(),
        )
        assert word["y"] >= 0
        assert figure["y"] + figure["height"] <= 800, "the axis title may end at the edge of a projector's 768"
        assert page.evaluate("document.documentElement.scrollWidth") <= 1024

    def test_the_slider_goes_down_to_the_token_embedding(self, words: Visit) -> None:
        page = words.page
        set_layer(words, -1)
        expect(page.locator("#layer-said")).to_contain_text("all 6 vectors are the same")
        expect(page.locator(PLANE)).to_contain_text("all 6 at one point")
        set_layer(words, 6)
        expect(page.locator("#layer-said")).to_contain_text("In layer 6")

    def test_a_point_of_the_lines_moves_the_layer(self, words: Visit) -> None:
        page = words.page
        before = words.draws(PLANE)
        x, y = page.evaluate(
            """(selector) => {
              const figure = document.querySelector(selector), layout = figure._fullLayout, line = figure.data.at(-1);
              return [layout._size.l + layout.xaxis.d2p(2), layout._size.t + layout.yaxis.d2p(line.y[3])];
            }""",
            f"{LINES} .plot",
        )
        box = page.locator(f"{LINES} .plot").bounding_box()
        page.mouse.move(box["x"] + x - 2, box["y"] + y)
        page.mouse.move(box["x"] + x, box["y"] + y)
        page.wait_for_selector(f"{LINES} .hoverlayer .hovertext")
        page.mouse.click(box["x"] + x, box["y"] + y)
        words.wait_redrawn(PLANE, before)
        expect(page.locator("#layer-said")).to_contain_text("In layer 2")
        expect(page.locator(".layer-row input[type=number]")).to_have_value("2")

    def test_a_sentence_without_the_word_is_named_and_the_figure_stays(self, words: Visit) -> None:
        page = words.page
        write(words, "the bank\nthe river", "bank")
        expect(page.locator(".notice").first).to_contain_text("Sentence 2 (“the river”) has no “bank”")
        expect(page.locator("#context-notes")).to_contain_text("in all 6 sentences")

    def test_a_try_button_and_the_baseline(self, words: Visit) -> None:
        page = words.page
        before = words.draws(LINES)
        page.get_by_role("button", name="One sense only").click()
        words.wait_redrawn(LINES, before)
        expect(page.locator("#context-notes")).to_contain_text("in all 4 sentences")
        before = words.draws(GRID)
        page.get_by_label("minus baseline").click()
        words.wait_redrawn(GRID, before)
        expect(page.locator(GRID)).to_contain_text("cosine minus baseline")

    def test_what_a_visitor_types_is_text_in_every_view(self, words: Visit) -> None:
        page = words.page
        for text in HOSTILE:
            before = words.draws(GRID)
            write(words, f"a bank {text} | {text[:24]}\n{text} the bank | <b>s</b>", "bank")
            words.wait_redrawn(GRID, before)
            expect(page.locator("#context-sentences")).to_contain_text(" ".join(text.split()))
        open_tab(page, "Logit lens")
        page.wait_for_selector(f"{LENS} .plot[data-drawn]")
        for text in HOSTILE:
            before = words.draws(LENS)
            page.locator("textarea:visible").first.fill(f"{text} [MASK] {text}")
            page.get_by_label("Follow a word").fill("<")
            page.get_by_role("button", name="Read every layer").click()
            words.wait_redrawn(LENS, before)
        assert page.evaluate("window.hurt") is None
        assert page.locator(".gradio-container img[src=x]").count() == 0


class TestLens:
    """Likewise."""

    @pytest.fixture(scope="class")
    def lens(self, visitor: Visit) -> Visit:
        visitor.open("context", GRID)
        open_tab(visitor.page, "Logit lens")
        visitor.page.wait_for_selector(f"{LENS} .plot[data-drawn]")
        return visitor

    def test_the_lens_reads_every_layer_and_another_mask(self, lens: Visit) -> None:
        page = lens.page
        expect(page.locator("#lens-said")).to_contain_text("the model answers “are”")
        before = lens.draws(LENS)
        page.get_by_role("button", name="Two blanks").click()
        lens.wait_redrawn(LENS, before)
        expect(page.locator("#lens-said")).to_contain_text("At position 5")
        for position in (10, 5):
            page.locator("#lens-chips button.chip").click()  # the one that is shown cannot be pressed
            expect(page.locator("#lens-said")).to_contain_text(f"At position {position}")
            expect(page.locator("#lens-chips .chip.mask")).to_have_count(1)

    def test_a_text_without_a_mask_says_so_in_place_of_the_figure(self, lens: Visit) -> None:
        page = lens.page
        page.locator("textarea:visible").first.fill("There is no blank.")
        page.get_by_role("button", name="Read every layer").click()
        expect(page.locator("#lens-said")).to_contain_text("put [MASK]")
        expect(page.locator(f"{LENS} .plot")).to_be_hidden()


def test_another_model_keeps_the_layer_within_its_depth(visit: Visit, tiny_model: str) -> None:
    visit.open("context", GRID)
    page = visit.page
    set_layer(visit, 6)
    visit.choose(tiny_model)
    expect(page.locator(".layer-row input[type=number]")).to_have_value("2")
    expect(page.locator("#layer-said")).to_contain_text("In layer 2")
    open_tab(page, "Logit lens")
    expect(page.locator("#lens-said")).to_contain_text("For the blank the model answers")


def test_probes_wait_for_their_button_and_are_drawn_of_the_pages_model(visit: Visit) -> None:
    page = visit.page
    page.goto(f"{visit.address}/context#tab=probe")
    said, bar = page.locator("#probe-said"), page.locator("[role=tabpanel]:visible .bar").first
    expect(said).to_contain_text("bert-small a probe tells the sense")
    page.get_by_label("Part of speech").click()
    expect(said).to_contain_text("bert-small a probe names the part of speech")
    visit.choose("gpt2-mini")
    expect(said).to_contain_text("gpt2-mini a probe names the part of speech")
    few = urlencode({"tab": "probe", "models": json.dumps(["electra-mini-generator"]), "penalty": "0.5"})
    page.goto("about:blank")
    page.goto(f"{visit.address}/context#{few}")
    expect(bar).to_contain_text("A worked example")
    expect(said).to_contain_text("gpt2-mini")
    page.locator("#probe-start").click()
    expect(said).to_contain_text("electra-mini-generator")
    expect(bar).to_have_text("")
    expect(page.locator("#probe-start")).to_be_visible()

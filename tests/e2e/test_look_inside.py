"""The pages that look inside a model, in a real browser."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.visiting import Visit, open_tab

pytestmark = pytest.mark.e2e

HOSTILE = (
    "</script><script>window.broken=1</script>",
    "<img src=x onerror='window.broken=1'>",
    "`${window.broken=1}` \" ' \\",
    "\u2028<!-- ]]> </title>",
    "%{y} %{customdata} $x$ <b>bold</b> {{value}}",
)
"""What must neither run nor break a figure."""

CAT = "The cat sat on the mat because it was tired."


def wait_drawn(visit: Visit, figure: str) -> None:
    visit.page.wait_for_selector(f"{figure} .plot[data-drawn]")


class TestAttention:
    """/attention, one head and all: one page, from where the test before leaves it."""

    @pytest.fixture(scope="class")
    def opened(self, visitor: Visit) -> Visit:
        visitor.open("attention", "#attention-figure")
        return visitor

    def test_it_opens_with_a_head_in_which_it_looks_at_the_cat(self, opened: Visit) -> None:
        expect(opened.page.locator("#attention-said")).to_contain_text("“it” looks at “cat”")

    def test_arcs_stand_over_the_words_and_a_word_keeps_its_own(self, opened: Visit) -> None:
        page, arcs = opened.page, opened.page.locator("#attention-arcs .arcs")
        page.wait_for_selector("#attention-arcs .arcs[data-drawn]")
        chips = page.locator("#attention-chips .chip").all_inner_texts()
        link = arcs.locator(f"g[data-from='{chips.index('it')}'][data-to='{chips.index('cat')}']")
        expect(link.locator("text")).to_have_text("81%")
        expect(link).to_have_class("strongest")
        dot, chip = link.locator("circle").bounding_box(), page.locator("#attention-chips .chip").nth(2).bounding_box()
        assert dot
        assert chip
        assert abs(dot["x"] + dot["width"] / 2 - chip["x"] - chip["width"] / 2) < 2, "the arc ends over its word"
        page.locator("#attention-chips .chip", has_text="on").first.hover()
        own = arcs.locator("g.own").evaluate_all("(all) => all.map((one) => one.dataset.from)")
        assert set(own) == {str(chips.index("on"))}
        page.mouse.move(5, 5)
        expect(arcs.locator("g.own")).to_have_count(0)

    def test_find_opens_the_head_with_a_habit(self, opened: Visit) -> None:
        opened.page.get_by_role("button", name="the previous-token head").click()
        expect(opened.page.locator("#attention-said")).to_contain_text("previous token")
        opened.page.get_by_role("button", name="the next-token head").click()
        expect(opened.page.locator("#attention-said")).to_contain_text("looks mostly at the next token")

    def test_a_pair_can_be_filtered(self, opened: Visit) -> None:
        expect(opened.page.get_by_label("A → B")).to_have_count(0)
        box = opened.page.get_by_label("Sentence B").first
        box.fill("It purred.")
        box.press("Enter")
        opened.page.get_by_label("A → B").check()
        across = opened.page.locator("#attention-figure .xtick text")
        expect(across.filter(has_text="cat")).to_have_count(0)
        assert "purred" in "".join(text or "" for text in across.all_text_contents()).replace("##", "")
        box.fill("")
        box.press("Enter")
        expect(opened.page.get_by_label("A → B")).to_have_count(0)

    def test_a_press_on_a_cell_opens_that_head(self, opened: Visit) -> None:
        open_tab(opened.page, "All heads")
        wait_drawn(opened, "#grid-figure")
        expect(opened.page.locator("#grid-notes")).to_contain_text("On this text of 13 tokens")
        plot = opened.page.locator("#grid-figure .nsewdrag")
        box = plot.bounding_box()
        assert box
        plot.click(position={"x": box["width"] * 3.5 / 12, "y": box["height"] * 1.5 / 6})
        expect(opened.page.locator("#attention-said")).to_contain_text("Layer 1, head 3")
        open_tab(opened.page, "One head")

    def test_what_cannot_be_read_is_said_and_nothing_is_lost(self, opened: Visit) -> None:
        box: Any = opened.page.get_by_label("Sentence A").first
        for text, says in (("", "Type a sentence first"), ("word " * 600, "reads at most 512")):
            box.fill(text)
            box.press("Enter")
            expect(opened.page.locator(".notice")).to_contain_text(says)
            assert opened.page.locator("#attention-chips .chip").count() > 3

    def test_no_text_runs_or_breaks_a_figure(self, opened: Visit) -> None:
        box = opened.page.get_by_label("Sentence A").first
        for number, text in enumerate(HOSTILE):
            before = opened.draws("#attention-figure")
            box.fill(f"{text} z{number}")
            box.press("Enter")
            opened.wait_redrawn("#attention-figure", before)
            expect(opened.page.locator("#attention-chips")).to_contain_text(str(number))
        assert opened.page.evaluate("window.broken") is None
        assert opened.page.locator(".figure img, .said img, .said script, .figure script").count() == 0

    def test_hiding_a_token_shows_the_change(self, opened: Visit) -> None:
        before = opened.draws("#attention-figure")
        box = opened.page.get_by_label("Sentence A").first
        box.fill(CAT)
        box.press("Enter")
        opened.wait_redrawn("#attention-figure", before)
        opened.page.get_by_label("change by what you mask").check()
        expect(opened.page.locator("#attention-notes")).to_contain_text("Press a token to hide it")
        opened.page.click("#attention-chips button:has-text('cat')")
        expect(opened.page.locator("#attention-notes")).to_contain_text("Hidden from the model: “cat”. That moved")
        expect(opened.page.locator("#attention-chips button[aria-pressed=true]")).to_have_count(1)
        opened.page.click("#attention-chips button:has-text('cat')")
        expect(opened.page.locator("#attention-notes")).to_contain_text("Press a token to hide it")


class TestSwitches:
    """/attention, heads switched off: likewise."""

    @pytest.fixture(scope="class")
    def opened(self, visitor: Visit) -> Visit:
        visitor.open("attention", "#attention-figure")
        open_tab(visitor.page, "Switch heads off")
        wait_drawn(visitor, "#switch-figure")
        return visitor

    def test_switches_are_reached_from_the_keyboard(self, opened: Visit) -> None:
        opened.page.focus("#switch-grid [data-key='0.0']")
        opened.page.keyboard.press("ArrowDown")
        opened.page.keyboard.press("ArrowRight")
        opened.page.keyboard.press("Space")
        expect(opened.page.locator("#switch-notes")).to_contain_text("Heads off: 1 of 72.")
        assert opened.page.evaluate("document.activeElement.dataset.key") == "1.1"
        opened.page.locator("#switch-grid").get_by_role("button", name="All on").click()

    def test_heads_are_switched_off_and_on_again(self, opened: Visit) -> None:
        said, notes = opened.page.locator("#switch-said"), opened.page.locator("#switch-notes")
        expect(said).to_contain_text("All 72 heads are on, and “mountain”")
        grid = opened.page.locator("#switch-grid")
        grid.get_by_role("button", name="Layer 5, head 10").click()
        expect(notes).to_contain_text("Heads off: 1 of 72.")
        grid.get_by_role("button", name="All heads of layer 5").click()
        expect(notes).to_contain_text("Heads off: 12 of 72.")
        grid.get_by_role("button", name="Head 3 of every layer").click()
        expect(notes).to_contain_text("Heads off: 17 of 72.")
        grid.get_by_role("button", name="All on").click()
        expect(said).to_contain_text("All 72 heads are on")
        grid.get_by_role("button", name=re.compile("A press switches one head")).click()
        grid.get_by_role("button", name="Layer 2, head 4").click()
        expect(notes).to_contain_text("Heads off: 11 of 72.")
        wait_drawn(opened, "#each-figure")
        expect(opened.page.locator("#each-said")).to_contain_text("leans most on layer")

    def test_no_text_runs_or_breaks_a_figure(self, opened: Visit) -> None:
        box = opened.page.get_by_label("Text, with [MASK] for a guess")
        for text in HOSTILE:
            before = opened.draws("#switch-figure")
            box.fill(f"{text} [MASK]")
            box.press("Enter")
            opened.wait_redrawn("#switch-figure", before)
        assert opened.page.evaluate("window.broken") is None
        assert opened.page.locator(".figure img, .said img, .said script, .figure script").count() == 0

    def test_a_classifier_s_heads_can_go_too(self, opened: Visit) -> None:
        open_tab(opened.page, "Heads of a classifier")
        wait_drawn(opened, "#run-switch-figure")
        said = opened.page.locator("#run-switch-said")
        expect(said).to_contain_text("All 72 heads are on, and “positive”")
        opened.page.locator("#run-switch-grid").get_by_role("button", name="All heads of layer 5").click()
        expect(said).to_contain_text("Without the heads that are off “positive” goes from")
        expect(opened.page.locator("#run-switch-notes")).to_contain_text("Heads off: 12 of 72.")


class TestAttribution:
    """/attribution: one page, on which each test writes what it asks."""

    @pytest.fixture(scope="class")
    def opened(self, visitor: Visit) -> Visit:
        visitor.open("attribution", "#attribution-bars")
        expect(visitor.page.locator("#attribution-said")).to_contain_text("“keys” pushes hardest towards “are”")
        return visitor

    def test_it_opens_with_a_worked_example_and_says_what_it_adds_up_to(self, opened: Visit) -> None:
        expect(opened.page.locator("#attribution-caption")).to_contain_text("Difference: +5.8")
        expect(opened.page.locator("#attribution-stop")).to_be_hidden()
        assert opened.page.locator("#attribution-bars .bars").count() >= 3

    def test_another_word_can_be_asked_about_and_a_wrong_one_is_refused(self, opened: Visit) -> None:
        box = opened.page.locator("#attribution-target").get_by_role("textbox")
        box.fill("is")
        box.press("Enter")
        expect(opened.page.locator("#attribution-said")).to_contain_text("towards “is”")
        box.fill("cabinetmaking")
        box.press("Enter")
        expect(opened.page.locator(".notice")).to_contain_text("cabinetmaking")
        expect(opened.page.locator("#attribution-said")).to_contain_text("towards “is”")

    def test_markup_in_a_text_stays_text(self, opened: Visit) -> None:
        opened.page.locator("#attribution-target").get_by_role("textbox").fill("")
        box = opened.page.locator("#attribution-input").get_by_role("textbox")
        box.fill("</script><script>window.broken=1</script><img src=x onerror='window.broken=1'> %{y} $x$ [MASK]")
        box.press("Enter")
        expect(opened.page.locator("#attribution-said")).to_contain_text("pushes hardest")
        expect(opened.page.locator("#attribution-said")).not_to_contain_text("keys")
        opened.page.get_by_label("text in colour").or_(
            opened.page.locator("#attribution-view input").nth(1)
        ).first.check()
        expect(opened.page.locator("#attribution-text")).to_contain_text("script")
        assert opened.page.evaluate("window.broken") is None
        assert opened.page.locator("#attribution-text img, #attribution-said img").count() == 0

    def test_long_work_shows_progress_and_stops(self, opened: Visit) -> None:
        opened.page.locator("#attribution-input").get_by_role("textbox").fill(
            "The cat sat on the mat. " * 40 + "It [MASK]."
        )
        opened.page.get_by_label("Occlusion").check()
        expect(opened.page.locator("#attribution-progress progress")).to_be_visible()
        opened.page.click("#attribution-stop")
        expect(opened.page.locator("#attribution-start")).to_be_visible()
        expect(opened.page.locator("#attribution-progress progress")).to_have_count(0)

    def test_a_fine_tuned_run_is_explained_too(self, opened: Visit) -> None:
        open_tab(opened.page, "A fine-tuned run")
        wait_drawn(opened, "#run-attribution-bars")
        expect(opened.page.locator("#run-attribution-said")).to_contain_text("pushes hardest towards “positive”")


def test_another_model_starts_with_all_its_heads(visit: Visit, tiny_model: str) -> None:
    visit.open("attention", "#attention-figure")
    open_tab(visit.page, "Switch heads off")
    wait_drawn(visit, "#switch-figure")
    visit.page.locator("#switch-grid").get_by_role("button", name="Layer 5, head 10").click()
    expect(visit.page.locator("#switch-notes")).to_contain_text("Heads off: 1 of 72.")
    visit.choose(tiny_model)
    expect(visit.page.locator("#switch-said")).to_contain_text("All 4 heads are on")
    open_tab(visit.page, "One head")
    expect(visit.page.locator("#attention-said")).to_contain_text("Layer 0, head 0")

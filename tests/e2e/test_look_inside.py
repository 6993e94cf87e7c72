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


def wait_drawn(visit: Visit, figure: str) -> None:
    visit.page.wait_for_selector(f"{figure} .plot[data-drawn]")


class TestAttention:
    """/attention."""

    def open(self, visit: Visit) -> None:
        visit.open("attention", "#attention-figure")

    def test_it_opens_with_a_head_in_which_it_looks_at_the_cat(self, visit: Visit) -> None:
        self.open(visit)
        expect(visit.page.locator("#attention-said")).to_contain_text("it looks at cat")

    def test_hiding_a_token_shows_the_change(self, visit: Visit) -> None:
        self.open(visit)
        visit.page.get_by_label("change by what you mask").check()
        expect(visit.page.locator("#attention-said")).to_contain_text("Press a token to hide it")
        visit.page.click("#attention-chips button:has-text('cat')")
        expect(visit.page.locator("#attention-said")).to_contain_text("Hidden from the model: cat. That moved")
        expect(visit.page.locator("#attention-chips button[aria-pressed=true]")).to_have_count(1)
        visit.page.click("#attention-chips button:has-text('cat')")
        expect(visit.page.locator("#attention-said")).to_contain_text("Press a token to hide it")

    def test_a_pair_can_be_filtered(self, visit: Visit) -> None:
        self.open(visit)
        expect(visit.page.get_by_label("A → B")).to_have_count(0)
        box = visit.page.get_by_label("Sentence B").first
        box.fill("It purred.")
        box.press("Enter")
        visit.page.get_by_label("A → B").check()
        across = visit.page.locator("#attention-figure .xtick text")
        expect(across.filter(has_text="cat")).to_have_count(0)
        assert "purred" in "".join(text or "" for text in across.all_text_contents()).replace("##", "")

    def test_find_opens_the_head_with_a_habit(self, visit: Visit) -> None:
        self.open(visit)
        visit.page.get_by_role("button", name="the previous-token head").click()
        expect(visit.page.locator("#attention-said")).to_contain_text("previous token")
        visit.page.get_by_role("button", name="the next-token head").click()
        expect(visit.page.locator("#attention-said")).to_contain_text("looks mostly at the next token")

    def test_a_press_on_a_cell_opens_that_head(self, visit: Visit) -> None:
        self.open(visit)
        open_tab(visit.page, "All heads")
        wait_drawn(visit, "#grid-figure")
        expect(visit.page.locator("#grid-said")).to_contain_text("entropy, bits on this text of 13 tokens")
        plot = visit.page.locator("#grid-figure .nsewdrag")
        box = plot.bounding_box()
        assert box
        plot.click(position={"x": box["width"] * 3.5 / 12, "y": box["height"] * 1.5 / 6})
        expect(visit.page.locator("#attention-said")).to_contain_text("Layer 1, head 3")

    def test_heads_are_switched_off_and_on_again(self, visit: Visit) -> None:
        self.open(visit)
        open_tab(visit.page, "Switch heads off")
        wait_drawn(visit, "#switch-figure")
        said = visit.page.locator("#switch-said")
        expect(said).to_contain_text("All 72 heads are on. mountain")
        grid = visit.page.locator("#switch-grid")
        grid.get_by_role("button", name="Layer 5, head 10").click()
        expect(said).to_contain_text("1 of 72 heads off")
        grid.get_by_role("button", name="All heads of layer 5").click()
        expect(said).to_contain_text("12 of 72 heads off")
        grid.get_by_role("button", name="Head 3 of every layer").click()
        expect(said).to_contain_text("17 of 72 heads off")
        grid.get_by_role("button", name="All on").click()
        expect(said).to_contain_text("All 72 heads are on")
        grid.get_by_role("button", name=re.compile("A press switches one head")).click()
        grid.get_by_role("button", name="Layer 2, head 4").click()
        expect(said).to_contain_text("11 of 72 heads off")
        wait_drawn(visit, "#each-figure")
        expect(visit.page.locator("#each-said")).to_contain_text("leans most on layer")

    def test_switches_are_reached_from_the_keyboard(self, visit: Visit) -> None:
        self.open(visit)
        open_tab(visit.page, "Switch heads off")
        wait_drawn(visit, "#switch-figure")
        visit.page.focus("#switch-grid [data-key='0.0']")
        visit.page.keyboard.press("ArrowDown")
        visit.page.keyboard.press("ArrowRight")
        visit.page.keyboard.press("Space")
        expect(visit.page.locator("#switch-said")).to_contain_text("1 of 72 heads off")
        assert visit.page.evaluate("document.activeElement.dataset.key") == "1.1"

    def test_a_classifier_s_heads_can_go_too(self, visit: Visit) -> None:
        self.open(visit)
        open_tab(visit.page, "…of a classifier")
        wait_drawn(visit, "#run-switch-figure")
        said = visit.page.locator("#run-switch-said")
        expect(said).to_contain_text("All 72 heads are on. positive")
        visit.page.locator("#run-switch-grid").get_by_role("button", name="All heads of layer 5").click()
        expect(said).to_contain_text("12 of 72 heads off: positive goes from")

    def test_another_model_starts_with_all_its_heads(self, visit: Visit, tiny_model: str) -> None:
        self.open(visit)
        open_tab(visit.page, "Switch heads off")
        wait_drawn(visit, "#switch-figure")
        visit.page.locator("#switch-grid").get_by_role("button", name="Layer 5, head 10").click()
        expect(visit.page.locator("#switch-said")).to_contain_text("1 of 72 heads off")
        visit.choose(tiny_model)
        expect(visit.page.locator("#switch-said")).to_contain_text("All 4 heads are on")
        open_tab(visit.page, "One head")
        expect(visit.page.locator("#attention-said")).to_contain_text("Layer 0, head 0")

    @pytest.mark.parametrize("text", ["", "word " * 600])
    def test_what_cannot_be_read_is_said_and_nothing_is_lost(self, visit: Visit, text: str) -> None:
        self.open(visit)
        box: Any = visit.page.get_by_label("Sentence A").first
        box.fill(text)
        box.press("Enter")
        expect(visit.page.locator(".notice")).to_contain_text(re.compile("Type a sentence first|reads at most 512"))
        assert visit.page.locator("#attention-chips .chip").count() > 3

    def test_no_text_runs_or_breaks_a_figure(self, visit: Visit) -> None:
        self.open(visit)
        box = visit.page.get_by_label("Sentence A").first
        for number, text in enumerate(HOSTILE):
            before = visit.draws("#attention-figure")
            box.fill(f"{text} z{number}")
            box.press("Enter")
            visit.wait_redrawn("#attention-figure", before)
            expect(visit.page.locator("#attention-chips")).to_contain_text(str(number))
        open_tab(visit.page, "Switch heads off")
        wait_drawn(visit, "#switch-figure")
        box = visit.page.get_by_label("Text, with [MASK] for a guess")
        for text in HOSTILE:
            before = visit.draws("#switch-figure")
            box.fill(f"{text} [MASK]")
            box.press("Enter")
            visit.wait_redrawn("#switch-figure", before)
        assert visit.page.evaluate("window.broken") is None
        assert visit.page.locator(".figure img, .said img, .said script, .figure script").count() == 0


class TestAttribution:
    """/attribution."""

    def open(self, visit: Visit) -> None:
        visit.open("attribution", "#attribution-bars")
        expect(visit.page.locator("#attribution-said")).to_contain_text("keys pushes hardest towards are")

    def test_it_opens_with_a_worked_example_and_says_what_it_adds_up_to(self, visit: Visit) -> None:
        self.open(visit)
        expect(visit.page.locator("#attribution-caption")).to_contain_text("Difference: +5.8")
        expect(visit.page.locator("#attribution-stop")).to_be_hidden()
        assert visit.page.locator("#attribution-bars .bars").count() >= 3

    def test_another_word_can_be_asked_about_and_a_wrong_one_is_refused(self, visit: Visit) -> None:
        self.open(visit)
        box = visit.page.locator("#attribution-target").get_by_role("textbox")
        box.fill("is")
        box.press("Enter")
        expect(visit.page.locator("#attribution-said")).to_contain_text("towards is")
        box.fill("cabinetmaking")
        box.press("Enter")
        expect(visit.page.locator(".notice")).to_contain_text("cabinetmaking")
        expect(visit.page.locator("#attribution-said")).to_contain_text("towards is")

    def test_long_work_shows_progress_and_stops(self, visit: Visit) -> None:
        self.open(visit)
        visit.page.locator("#attribution-input").get_by_role("textbox").fill(
            "The cat sat on the mat. " * 40 + "It [MASK]."
        )
        visit.page.get_by_label("Occlusion").check()
        expect(visit.page.locator("#attribution-progress progress")).to_be_visible()
        visit.page.click("#attribution-stop")
        expect(visit.page.locator("#attribution-start")).to_be_visible()
        expect(visit.page.locator("#attribution-progress progress")).to_have_count(0)

    def test_markup_in_a_text_stays_text(self, visit: Visit) -> None:
        self.open(visit)
        box = visit.page.locator("#attribution-input").get_by_role("textbox")
        box.fill("</script><script>window.broken=1</script><img src=x onerror='window.broken=1'> %{y} $x$ [MASK]")
        box.press("Enter")
        expect(visit.page.locator("#attribution-said")).to_contain_text("pushes hardest")
        expect(visit.page.locator("#attribution-said")).not_to_contain_text("keys")
        visit.page.get_by_label("text in colour").or_(
            visit.page.locator("#attribution-view input").nth(1)
        ).first.check()
        expect(visit.page.locator("#attribution-text")).to_contain_text("script")
        assert visit.page.evaluate("window.broken") is None
        assert visit.page.locator("#attribution-text img, #attribution-said img").count() == 0

    def test_a_fine_tuned_run_is_explained_too(self, visit: Visit) -> None:
        self.open(visit)
        open_tab(visit.page, "A fine-tuned run")
        wait_drawn(visit, "#run-attribution-bars")
        expect(visit.page.locator("#run-attribution-said")).to_contain_text("pushes hardest towards positive")

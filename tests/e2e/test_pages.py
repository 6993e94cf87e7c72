"""The pages in a real browser, as a visitor uses them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from explorer.serving import frontend
from tests.e2e.conftest import HUB_MODEL
from tests.e2e.visiting import PATIENCE, TWO_FRAMES, Visit
from tests.models.fake_hub import FakeHub, Faults, stuck

pytestmark = pytest.mark.e2e


def test_the_front_page_opens_with_a_prediction_and_leads_to_every_lab(visit: Visit) -> None:
    visit.open("", "#home-figure")
    expect(visit.page.locator("#home-chips button[aria-pressed=true]")).to_have_count(1)
    visit.page.click(".stations >> text=How can both sides be trained?")
    expect(visit.page.get_by_role("tab", name="Why 80, 10, 10")).to_have_attribute("aria-selected", "true")
    visit.turn_to("Pairs")
    visit.page.wait_for_selector("#pair-figure .plot[data-drawn]")


def assert_in_view(visit: Visit, figure: str) -> None:
    """Input and figure, on a projector."""
    box = visit.page.locator(figure).bounding_box()
    text = visit.page.locator("textarea:visible").first.bounding_box()
    assert box is not None
    assert text is not None
    assert text["y"] > 0
    assert box["y"] + box["height"] <= 768


class TestFilling:
    """On one page, each from where the one before it leaves it."""

    @pytest.fixture(scope="class")
    def masking(self, visitor: Visit) -> Visit:
        visitor.open("masking", "#fill-figure")
        return visitor

    def test_input_and_figure_are_in_view_on_a_projector(self, masking: Visit) -> None:
        assert_in_view(masking, "#fill-figure")

    def test_table_figure_and_script_can_be_taken_home(self, masking: Visit) -> None:
        masking.page.get_by_role("button", name="Data").first.click()
        with masking.page.expect_download() as csv:
            masking.page.get_by_role("button", name="Download CSV").first.click()
        lines = Path(csv.value.path()).read_text(encoding="utf-8").splitlines()
        assert csv.value.suggested_filename == "fill_masks.csv"
        assert lines[0] == "position,rank,token,probability"
        assert len(lines) == 6
        with masking.page.expect_download() as image:
            masking.page.click("#fill-figure button:has-text('SVG')")
        assert image.value.suggested_filename == "masked-predictions.svg"
        assert "<svg" in Path(image.value.path()).read_text(encoding="utf-8")
        masking.page.get_by_role("button", name="Copy as Python").first.click()
        expect(masking.page.locator("#script-fill_masks")).to_contain_text("explorer.run(")
        expect(masking.page.locator("#plain-fill_masks")).to_contain_text("AutoModelForMaskedLM")

    def test_pressing_a_token_hides_it_and_pressing_again_shows_it(self, masking: Visit) -> None:
        said = masking.page.locator(".said").first
        before = masking.draws("#fill-figure")
        masking.page.click("#fill-chips button:has-text('cabinet')")
        masking.wait_redrawn("#fill-figure", before)
        expect(said).to_contain_text("“cabinet”")
        masking.page.click("#fill-chips button:has-text('cabinet')")
        expect(said).not_to_contain_text("“cabinet”")

    def test_a_slider_answers_to_the_keyboard(self, masking: Visit) -> None:
        before = masking.draws("#fill-figure")
        masking.page.locator("input[type=range]:visible").first.press("ArrowRight")
        masking.wait_redrawn("#fill-figure", before)
        bars = masking.page.locator("#fill-figure .bars .point")
        expect(bars).to_have_count(6)

    def test_tokens_are_reached_and_pressed_from_the_keyboard(self, masking: Visit) -> None:
        masking.page.focus("#fill-chips button:has-text('The')")
        masking.page.keyboard.press("ArrowRight")
        masking.page.keyboard.press("Space")
        expect(masking.page.locator(".said").first).to_contain_text("“keys”")
        focused = masking.page.evaluate("document.activeElement.dataset.position")
        assert focused == "2", "the focus must stay on the pressed token after the row is redrawn"

    def test_a_typed_mask_is_filled(self, masking: Visit) -> None:
        before = masking.draws("#fill-figure")
        box = masking.page.get_by_label("Sentence")
        box.fill("The [MASK] barked at the mailman.")
        box.press("Enter")
        masking.wait_redrawn("#fill-figure", before)
        expect(masking.page.locator("#fill-chips")).to_contain_text("barked")
        expect(masking.page.locator(".said").first).to_contain_text("BERT's first guess for the blank is")
        expect(masking.page.locator("table").first).to_contain_text("probability")

    def test_a_new_text_does_not_inherit_the_old_masks(self, masking: Visit) -> None:
        box = masking.page.get_by_label("Sentence")
        box.fill("A sentence without any blank at all.")
        box.press("Enter")
        expect(masking.page.locator(".said").first).to_contain_text("Nothing is hidden yet")
        expect(masking.page.locator("#fill-chips button[aria-pressed=true]")).to_have_count(0)

    def test_markup_in_a_text_stays_text(self, masking: Visit) -> None:
        box = masking.page.get_by_label("Sentence")
        box.fill("<img src=x onerror='window.broken=1'></textarea><script>window.broken=1</script> [MASK]")
        box.press("Enter")
        expect(masking.page.locator("#fill-chips")).to_contain_text("script")
        box.fill("${window.broken=2} {{value}} [MASK] ${value}")
        box.press("Enter")
        expect(masking.page.locator("#fill-chips")).to_contain_text("{")
        assert masking.page.evaluate("window.broken") is None
        assert masking.page.locator("#fill-chips img, .said img, .said script").count() == 0

    def test_an_empty_text_says_what_to_do_and_loses_nothing(self, masking: Visit) -> None:
        box = masking.page.get_by_label("Sentence")
        box.fill("")
        box.press("Enter")
        expect(masking.page.locator(".notice")).to_contain_text("Type a sentence first")
        assert masking.page.locator("#fill-chips .chip").count() > 3
        box.fill("Rome is the capital of [MASK].")
        box.press("Enter")
        expect(masking.page.locator(".notice")).to_have_count(0)

    def test_the_corruption_tab_draws_again_and_counts(self, masking: Visit) -> None:
        masking.page.get_by_role("tab", name="Why 80, 10, 10").click()
        masking.page.wait_for_selector("#corrupt-figure .plot[data-drawn]")
        chips = masking.page.locator("#corrupt-chips")
        first = chips.inner_text()
        masking.page.get_by_role("button", name="Draw again").click()
        expect(chips).not_to_have_text(first, use_inner_text=True)
        masking.page.get_by_role("tab", name="1,000 draws").click()
        masking.page.wait_for_selector("#shares-figure .plot[data-drawn]")
        masking.page.get_by_role("tab", name="Static or dynamic").click()
        masking.page.wait_for_selector("#epochs-figure .plot[data-drawn]")
        expect(masking.page.locator(".said:visible").first).to_contain_text("10 different maskings")


class TestPairs:
    """Likewise, on another page."""

    @pytest.fixture(scope="class")
    def pairs(self, visitor: Visit) -> Visit:
        visitor.open("pairs", "#pair-figure")
        return visitor

    def test_a_pair_is_scored_swapped_and_all_pairs_are_drawn(self, pairs: Visit) -> None:
        assert_in_view(pairs, "#pair-figure")
        said = pairs.page.locator(".said").first
        expect(said).to_contain_text("P(next)")
        before = said.inner_text()
        pairs.page.get_by_role("button", name="Swap the two").click()
        expect(said).not_to_have_text(before)
        pairs.page.get_by_role("tab", name="All pairs").click()
        pairs.page.wait_for_selector("#all-pairs-figure .plot[data-drawn]")
        expect(pairs.page.locator("ol.sentences li")).to_have_count(4)

    def test_a_model_that_the_hub_lacks_leaves_the_page_with_the_bundled_one(self, pairs: Visit) -> None:
        pairs.tab("One pair")
        pairs.choose("FacebookAI/roberta-base")
        expect(pairs.page.locator(".picker-note .notice")).to_contain_text("no model called FacebookAI/roberta-base")
        expect(pairs.page.locator("#model-picker input")).to_have_value(re.compile("^bert-small · .* · bundled$"))
        pairs.page.get_by_role("button", name="Score the pair").click()
        expect(pairs.page.locator(".said").first).to_contain_text("P(next)")

    def test_another_model_redraws_what_is_in_view(self, pairs: Visit, tiny_model: str) -> None:
        pairs.page.get_by_role("tab", name="All pairs").click()
        pairs.page.wait_for_selector("#all-pairs-figure .plot[data-drawn]")
        said = pairs.page.locator(".said:visible").first
        before = said.inner_text()
        pairs.choose(tiny_model)
        expect(said).not_to_have_text(before)

    def test_a_model_without_the_head_is_told_why_and_offered_another(self, pairs: Visit, headless_model: str) -> None:
        pairs.tab("One pair")
        pairs.choose(headless_model)
        notice = pairs.page.locator(".notice")
        expect(notice).to_contain_text("cannot score the next sentence")
        expect(notice).to_contain_text("was published without a head for pairs of sentences")
        expect(pairs.page.locator("#pair-figure .plot")).to_be_hidden()
        pairs.page.click(".offer")
        expect(pairs.page.locator(".said").first).to_contain_text("P(next)")
        expect(pairs.page.locator("#model-picker input")).to_have_value(re.compile("^bert-small"))


class TestHubs:
    """Likewise, with a hub that is slow; it ends with its model."""

    @pytest.fixture(scope="class")
    def hubs(self, visitor: Visit) -> Visit:
        visitor.open("masking", "#fill-figure")
        return visitor

    def test_a_hub_that_takes_the_question_and_says_nothing_can_be_stopped(self, hubs: Visit, hub: FakeHub) -> None:
        hub.faults = Faults(mute="/api/")
        hubs.choose("class/silent-bert")
        hubs.page.get_by_role("button", name="Stop the download").click()
        expect(hubs.page.locator("#model-picker input")).to_have_value(re.compile("^bert-small"))
        expect(hubs.page.locator(".picker-note .notice")).to_have_count(0)
        hub.faults = Faults()

    def test_a_download_can_be_stopped_and_taken_up_again_with_progress(self, hubs: Visit, hub: FakeHub) -> None:
        hub.faults = stuck()
        hubs.choose(HUB_MODEL)
        note = hubs.page.locator(".picker-note .notice")
        expect(note).to_contain_text("of 5 MB")
        hubs.page.get_by_role("button", name="Stop the download").click()
        expect(hubs.page.locator("#model-picker input")).to_have_value(re.compile("^bert-small"))
        expect(note).to_have_count(0)
        hub.faults = Faults(pause=0.0005)
        hubs.choose(HUB_MODEL)
        expect(note).to_contain_text("of 5 MB")
        expect(note).to_have_count(0)
        expect(hubs.page.locator("#model-picker input")).to_have_value(HUB_MODEL)
        expect(hubs.page.locator(".model-card")).not_to_contain_text("66.4M")
        expect(hubs.page.locator("#fill-chips button[aria-pressed=true]")).to_contain_text("are")


def test_a_chosen_model_follows_the_visitor_and_compares_with_another(visit: Visit, tiny_model: str) -> None:
    visit.open("masking", "#fill-figure")
    compare = visit.page.get_by_label("Compare with")
    compare.fill(tiny_model)
    compare.press("Enter")
    visit.page.wait_for_selector("#fill-comparison .plot[data-drawn]")
    expect(visit.page.get_by_text("Side by side")).to_be_visible()
    visit.choose(tiny_model)
    expect(visit.page.locator(".model-card")).not_to_contain_text("66.4M")
    visit.turn_to("Pairs")
    visit.page.wait_for_selector("#pair-figure .plot[data-drawn]")
    expect(visit.page.locator("#model-picker input")).to_have_value(tiny_model)


def test_dark_pages_have_dark_figures(visit: Visit) -> None:
    visit.page.emulate_media(color_scheme="dark")
    visit.open("masking", "#fill-figure")
    fill = visit.page.evaluate("getComputedStyle(document.querySelector('#fill-figure .bars path')).fill")
    assert fill in ("rgb(86, 180, 233)", "rgb(240, 228, 66)"), "the dark palette's accent or highlight"


class TestTheFirstView:
    """One page for all, as it came."""

    @pytest.fixture(scope="class")
    def fetched(self, visitor: Visit) -> list[str]:
        """The names of the files of which it is made."""
        names: list[str] = []
        visitor.page.on("request", lambda request: names.append(request.url.partition("?")[0].rpartition("/")[2]))
        visitor.open("masking", "#fill-figure")
        return list(names)

    def test_the_small_style_sheets_are_fetched_as_one(self, fetched: list[str]) -> None:
        assert fetched.count("gradio.css") == 1
        assert not set(fetched) & {file.name for file in frontend._styles()}

    def test_it_is_light(self, fetched: list[str]) -> None:
        if frontend.joined() is None:
            pytest.skip("`make setup` had no npm to join scripts with")
        assert len(fetched) <= 40
        assert not {name for name in fetched if fetched.count(name) > 1} - {"predict", "line"}, "something came twice"
        assert not set(fetched) & set(frontend.joined().stubs), "a script was fetched that the joined one has"

    def test_the_footer_has_a_dot_between_links_and_nowhere_else(self, fetched: list[str], visitor: Visit) -> None:
        page = visitor.page
        shown = page.locator("footer > :visible")
        for width, links in ((390, ["Settings"]), (1024, ["Use via API", "Settings"])):
            page.set_viewport_size({"width": width, "height": 844})
            page.evaluate(TWO_FRAMES)
            assert [text.strip() for text in shown.all_inner_texts()] == links
        dot = "getComputedStyle(document.querySelector('footer .show-api'), '::after').content"
        assert page.evaluate(dot) == '"·"', "it goes with the first link"

    def test_what_gradio_fetches_later_shares_the_joined_scripts(self, fetched: list[str], visitor: Visit) -> None:
        visitor.page.get_by_role("button", name="Use via API").click()
        expect(visitor.page.get_by_text("/fill_masks").first).to_be_visible(timeout=PATIENCE)

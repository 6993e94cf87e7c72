"""Training on the fine-tune page in a real browser: runs that are watched, left, found again and stopped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress

import pytest
from playwright.sync_api import TimeoutError as PlaywrightTimeout
from playwright.sync_api import expect

from explorer.runs.examples import EARLIER
from tests.e2e.running import (
    EXAMPLE,
    LOST,
    OTHER_RANK,
    SETTLED,
    choose,
    notice,
    open_settings,
    own_run,
    set_training,
    start_long,
    step_of,
    stop,
    wait_for_step,
    with_tiny_model,
)
from tests.e2e.visiting import Visit

pytestmark = pytest.mark.e2e


def assert_moves_in_place(visit: Visit) -> None:
    """Several drawings while it trains, all at one place of a page of one length."""
    places = set()
    for _ in range(4):
        visit.wait_redrawn("#run-curves", visit.draws("#run-curves"))
        places.add(
            visit.page.evaluate(
                """() => [window.scrollY, document.documentElement.scrollHeight,
                document.querySelector("#run-curves").getBoundingClientRect().top].map(Math.round).join(" ")"""
            )
        )
    assert len(places) == 1, "the page jumped while it trained"


class TestLooking:
    """On one page, each from where the one before it leaves it."""

    @pytest.fixture(scope="class")
    def looking(self, visitor: Visit) -> Visit:
        visitor.open("finetune", "#run-curves")
        return visitor

    def test_the_page_opens_with_a_worked_example_and_a_plan(self, looking: Visit) -> None:
        expect(looking.page.locator("#run-said")).to_contain_text("LoRA r=8 · SST-2-like, bundled reaches accuracy")
        expect(looking.page.locator("#plan")).to_contain_text("148,994 of 65.9M parameters are trained")
        looking.page.wait_for_selector("#run-outcome .plot[data-drawn]")
        expect(looking.page.locator("#run-wrong")).to_contain_text("Most confident mistakes")
        expect(looking.page).to_have_url(f"{looking.address}/finetune?run={EXAMPLE}")
        expect(looking.page.locator("#stop")).to_have_count(0)

    def test_the_bundled_task_says_that_it_is_not_glues_whose_file_is_one_press_away(self, looking: Visit) -> None:
        expect(looking.page.get_by_text("They are not SST-2's")).to_be_visible()
        help_text = looking.page.locator("#own-examples").get_by_text("GLUE's own TSV files")
        expect(help_text).not_to_be_visible()
        looking.page.click("#real-task")
        expect(help_text).to_be_visible()

    def test_lora_is_drawn_with_the_settings_and_the_head_alone_has_no_such_drawing(self, looking: Visit) -> None:
        drawn = looking.page.locator("#lora-drawn")
        expect(drawn).to_contain_text("2 · 8 · 768 = 12,288")
        expect(drawn.locator("svg")).to_have_count(2)
        expect(drawn.locator("rect.lit")).to_have_count(2)
        looking.page.evaluate("scrollTo(0, 0)")
        box = drawn.locator("svg.lora").bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 768, "a projector shows it without scrolling"
        rank = looking.page.locator("#rank input[type=number]")
        rank.fill("1")
        rank.press("Enter")
        expect(drawn).to_contain_text("2 · 1 · 768 = 1,536")
        open_settings(looking)
        looking.page.get_by_label("FFN in").check()
        expect(drawn).to_contain_text("1 · (3,072 + 768) = 3,840")
        expect(drawn.locator("rect.lit")).to_have_count(3)
        choose(looking.page.locator("#method-picker input"), looking, "Head only")
        expect(drawn.locator("svg")).to_have_count(0)
        expect(drawn).to_be_hidden()

    def test_a_method_brings_its_learning_rate_and_its_own_settings(self, looking: Visit) -> None:
        open_settings(looking)
        looking.page.locator("#method-picker input").click()
        looking.page.get_by_role("option", name="Adapters (Houlsby)").click()
        expect(looking.page.get_by_label("number input for Bottleneck width")).to_be_visible()
        expect(looking.page.get_by_label("number input for Rank r")).to_have_count(0)
        looking.page.locator("#method-picker input").click()
        looking.page.get_by_role("option", name="Full fine-tuning").click()
        expect(looking.page.get_by_label("Learning rate", exact=True)).to_have_value("0.00005")
        expect(looking.page.locator("#plan")).to_contain_text("(100%)")

    def test_a_learning_rate_of_0_is_refused_and_nothing_is_lost(self, looking: Visit) -> None:
        open_settings(looking)
        rate = looking.page.get_by_label("Learning rate", exact=True)
        rate.fill("0")
        rate.press("Tab")
        looking.page.click("#train")
        expect(notice(looking)).to_contain_text("learning_rate must be a number above 0")
        expect(looking.page.locator("#run-said")).to_contain_text("LoRA r=8 · SST-2-like, bundled reaches accuracy")
        assert looking.page.url.partition("#")[0].endswith(EXAMPLE)

    def test_the_memory_of_a_run_is_taken_apart_and_gpt3_s_stands_below(self, looking: Visit) -> None:
        looking.tab("Memory")
        looking.page.wait_for_selector("#memory-figure .plot[data-drawn]")
        said = looking.page.locator("#memory-said")
        expect(said).to_contain_text("adapters (Houlsby) ")
        choose(looking.page.get_by_role("tabpanel").filter(visible=True).get_by_label("Method"), looking, "BitFit")
        expect(said).to_contain_text("BitFit ")
        expect(looking.page.locator("#memory-notes")).to_contain_text("BitFit holds")
        expect(looking.page.locator("#gpt3-notes")).to_contain_text("18.9M numbers in float16 are 37.7 MB")


class TestTraining:
    """Likewise, with a model that learns nothing, quickly."""

    @pytest.fixture(scope="class")
    def training(self, visitor: Visit, tiny_model: str) -> Visit:
        with_tiny_model(visitor, tiny_model)
        return visitor

    def test_settings_that_are_only_looked_at_stay_as_they_are(self, training: Visit) -> None:
        """An empty number field becomes 0 when the part that holds it is opened; none may be empty."""
        set_training(training, "30 steps", Epochs=1)
        expect(training.page.get_by_label("Learning rate", exact=True)).to_have_value("0.001")
        training.page.click("#train")
        expect(training.page.locator("#run-said")).to_contain_text("LoRA r=8 · SST-2-like, bundled reaches")

    def test_a_learning_rate_of_100_diverges_in_a_sentence(self, training: Visit) -> None:
        said = training.page.locator("#run-said")
        training.page.get_by_role("button", name="Head only", exact=True).click()
        expect(said).to_contain_text("Head only · SST-2-like, bundled reaches")
        training.page.get_by_role("button", name="A learning rate of 100").click()
        expect(said).to_contain_text("The learning rate 100 is too high")
        expect(training.page.locator("#run-curves .plot")).to_be_visible()
        training.page.get_by_role("button", name="Rank 1", exact=True).click()
        expect(said).to_contain_text("LoRA r=1 · SST-2-like, bundled reaches")

    def test_curves_move_in_place_until_stop_which_stands_where_train_was(self, training: Visit) -> None:
        set_training(training, "9,600 steps", Epochs=20, Batch_size=1)
        training.page.locator("#train").scroll_into_view_if_needed()
        place = training.page.locator("#train").bounding_box()
        training.page.click("#train")
        expect(training.page.locator("#stop")).to_be_visible()
        expect(training.page.locator("#train")).to_have_count(0)
        assert training.page.locator("#stop").bounding_box() == place
        wait_for_step(training, 0)
        expect(training.page.locator(".run-progress")).to_be_visible()
        assert_moves_in_place(training)
        stop(training)
        expect(training.page.locator("#run-said")).to_contain_text("what it learned is kept")
        expect(training.page.locator(".run-progress")).to_have_count(0)
        assert training.page.locator("#train").bounding_box() == place
        training.page.wait_for_selector("#run-outcome .plot[data-drawn]")


def open_going(visitor: Visit, run: str) -> None:
    """Open the page with a run that trains; if a test before failed, its run was stopped with it, and is resumed."""
    visitor.open(f"finetune?run={run}", "#run-curves")
    expect(visitor.page.locator("#stop, #resume").filter(visible=True)).to_have_count(1)
    if visitor.page.locator("#resume").is_visible():
        visitor.page.click("#resume")
    expect(visitor.page.locator("#stop")).to_be_visible()


class TestWhileItTrains:
    """One visitor's run for all; each test opens the page with it, or finds it there, and leaves it going."""

    @pytest.fixture(scope="class")
    def going(self, visitor: Visit, tiny_model: str) -> Iterator[str]:
        run = start_long(visitor, tiny_model)
        yield run
        with suppress(PlaywrightTimeout):  # it may have ended by itself
            visitor.page.click("#stop", timeout=LOST)

    def test_a_reload_finds_the_run_still_going(self, visitor: Visit, going: str) -> None:
        before = step_of(visitor)
        visitor.page.reload()
        wait_for_step(visitor, before)
        assert own_run(visitor) == going
        visitor.wait_redrawn("#run-curves", visitor.draws("#run-curves"))
        expect(visitor.page.locator("#stop")).to_be_visible()

    def test_another_page_and_back_finds_it_without_a_link(self, visitor: Visit, going: str) -> None:
        before = step_of(visitor)
        visitor.turn_to("Masking")
        visitor.page.wait_for_selector("#fill-figure .plot[data-drawn]")
        visitor.turn_to("Fine-tune")
        wait_for_step(visitor, before)
        assert own_run(visitor) == going

    def test_another_run_is_looked_at_while_one_trains(self, visitor: Visit, going: str) -> None:
        """The stream that is left says nothing more, not even as it ends."""
        choose(visitor.page.locator("#run-picker input"), visitor, re.compile("LoRA r=64"))
        expect(visitor.page.locator("#run-said")).to_contain_text("LoRA r=64 · SST-2-like, bundled reaches")
        visitor.page.wait_for_timeout(SETTLED)
        expect(visitor.page.locator("#run-said")).to_contain_text("LoRA r=64 · SST-2-like, bundled reaches")
        expect(visitor.page).to_have_url(f"{visitor.address}/finetune?run={OTHER_RANK}")
        expect(visitor.page.locator("#train")).to_be_visible()

    def test_a_second_run_waits_for_its_turn_and_can_be_called_off(self, visitor: Visit, going: str) -> None:
        open_going(visitor, going)
        visitor.page.get_by_role("button", name="Rank 1", exact=True).click()
        expect(visitor.page.locator("#run-said")).to_contain_text(
            re.compile(
                r"waits for its turn: \d+ runs? ahead of this one"
            )  # another class of tests may have left one too
        )
        own_run(visitor, other_than=going)
        stop(visitor)
        expect(visitor.page.locator("#run-said")).to_contain_text("Stopped while it waited")

    def test_a_stopped_run_is_resumed_where_it_stood(self, visitor: Visit, going: str) -> None:
        open_going(visitor, going)
        stop(visitor)
        found = re.search(r"Stopped at step (\d+) of", visitor.page.locator("#run-said").inner_text())
        assert found
        visitor.page.click("#resume")
        wait_for_step(visitor, int(found[1]))
        assert own_run(visitor) == going


def test_a_linked_runs_settings_are_taken_up_with_its_model(visit: Visit) -> None:
    visit.open(f"finetune?run={EARLIER}", "#run-curves")
    page = visit.page
    expect(page.locator("#run-said")).to_contain_text("MNLI")
    visit.choose("albert-mini")
    expect(page.locator("#plan")).not_to_contain_text("of 65.9M")
    page.get_by_role("button", name="Training settings").click()
    page.click("#use-settings")
    expect(page.locator("#model-picker input")).to_have_value(re.compile("bert-small"))
    expect(page.locator("#task-picker input")).to_have_value(re.compile("MNLI"))
    expect(page.get_by_label("number input for Epochs")).to_have_value("5")
    expect(page.get_by_label("Learning rate", exact=True)).to_have_value("0.001")
    expect(page.locator("#run-said")).to_contain_text("MNLI")
    expect(page).to_have_url(re.compile(f"run={EARLIER}"))
    visit.assert_unharmed()

"""The ΔW page in a real browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import TimeoutError as PlaywrightTimeout
from playwright.sync_api import expect

from tests.e2e.running import (
    OTHER_RANK,
    SETTLED,
    choose,
    notice,
    own_run,
    panel,
    start_long,
    stop,
    with_tiny_model,
)
from tests.e2e.visiting import Visit

pytestmark = pytest.mark.e2e

EPOCHS, LAST_STEP = 10, "4800"
"""Of the run that is looked at while it trains: a fifteenth of it passes from one figure to the next."""


@pytest.fixture(scope="module")
def opened(visitor: Visit) -> Visit:
    """The page with the worked example, for the tests that only look."""
    visitor.open("delta", "#whole-figure")
    return visitor


@pytest.fixture(scope="module")
def with_tiny(visitor: Visit, tiny_model: str) -> Visit:
    """The page with the tiny model, which trains at once."""
    with_tiny_model(visitor, tiny_model)
    visitor.open("delta", "#whole-figure")
    return visitor


def test_it_opens_with_w_beside_its_update(opened: Visit) -> None:
    expect(opened.page.locator("#whole-notes")).to_contain_text("of its 768 directions for 90.0% of its energy")
    expect(opened.page.locator("p.caption:visible", has_text="Computed beforehand")).to_have_count(1)


def test_intruders_are_counted(opened: Visit) -> None:
    opened.tab("Intruders")
    opened.page.wait_for_selector("#cosines-figure .plot[data-drawn]")
    opened.page.wait_for_selector("#intruders-figure .plot[data-drawn]")
    said = opened.page.locator("#intruders-notes")
    expect(said).to_contain_text("Below ε = 0.5, in query of 6 layers: LoRA r=8 has")
    beforehand = opened.page.locator("p.caption:visible", has_text="Computed beforehand")
    expect(beforehand).to_have_count(1)
    threshold = panel(opened).get_by_label("number input for Threshold ε")
    threshold.fill("0.9")
    threshold.press("Tab")
    expect(said).to_contain_text("Below ε = 0.9, in query of 6 layers")
    expect(beforehand).to_have_count(0)


def test_the_spectrums_slider_goes_back_in_time_and_stays_there(opened: Visit) -> None:
    opened.tab("Spectrum")
    said = opened.page.locator("#spectrum-said")
    expect(said).to_contain_text("of its energy in its first direction")
    expect(opened.page.locator("#spectrum-notes")).to_contain_text("norm ‖ΔW‖ is largest in layer")
    opened.page.wait_for_selector("#energy-figure .plot[data-drawn]")
    opened.page.wait_for_selector("#measure-figure .plot[data-drawn]")
    last = said.inner_text()
    slider = panel(opened).get_by_label("range slider for Training step")
    expect(slider).to_have_value("90")
    before = opened.draws("#spectrum-figure")
    slider.press("Home")
    opened.wait_redrawn("#spectrum-figure", before)
    expect(said).not_to_have_text(last)
    first = said.inner_text()
    opened.tab("Beside W")
    opened.tab("Spectrum")
    opened.page.wait_for_timeout(SETTLED)
    assert said.inner_text() == first
    slider.press("End")
    expect(said).to_have_text(last)


def test_two_runs_are_compared_as_a_heatmap(opened: Visit) -> None:
    opened.tab("Compare two runs")
    opened.page.wait_for_selector("#similarity-figure .plot[data-drawn]")
    expect(opened.page.locator("#similarity-figure .heatmaplayer").first).to_be_attached()
    said = opened.page.locator("#similarity-said")
    before = said.inner_text()
    choose(opened.page.locator("#other-run input"), opened, re.compile("seed 1"))
    expect(said).not_to_have_text(before)


def test_amplification_and_the_place_in_w_are_drawn(opened: Visit) -> None:
    opened.tab("Amplification")
    opened.page.wait_for_selector("#amplification-figure .plot[data-drawn]")
    opened.page.wait_for_selector("#placement-figure .plot[data-drawn]")
    said = opened.page.locator("#amplification-said")
    before = said.inner_text()
    layer = panel(opened).get_by_label("Layer", exact=False).first
    layer.fill("3")
    layer.press("Tab")
    expect(said).not_to_have_text(before)
    layer.fill("77")
    layer.press("Tab")
    expect(notice(opened)).to_contain_text("layers 0 to 5")


def test_runs_say_what_they_have_forgotten(opened: Visit) -> None:
    opened.tab("Forgetting")
    opened.page.wait_for_selector("#forgetting-figure .plot[data-drawn]")
    said = opened.page.locator("#forgetting-notes")
    expect(said).to_contain_text("held-out sentences bert-small guesses")
    expect(said).to_contain_text("After LoRA r=64, which reaches")
    expect(opened.page.locator("#forgetting-figure .ytick")).to_have_count(5)


def test_another_matrix_and_another_run_are_drawn(opened: Visit) -> None:
    opened.tab("Spectrum")
    said = opened.page.locator("#spectrum-said")
    choose(panel(opened).get_by_label("Matrix"), opened, "value")
    expect(said).to_contain_text("In value")
    choose(opened.page.locator("#run-picker input"), opened, re.compile("LoRA r=64"))
    expect(opened.page.locator("#spectrum-notes")).to_contain_text("of 64")
    expect(opened.page).to_have_url(f"{opened.address}/delta?run={OTHER_RANK}#tab=spectrum&module=value")


def test_full_fine_tuning_is_trained_beside_lora(with_tiny: Visit) -> None:
    with_tiny.tab("All layers")
    with_tiny.page.click("#experiment")
    with_tiny.page.wait_for_selector("#factors-figure .plot[data-drawn]")
    expect(with_tiny.page.locator("#factors-said")).to_contain_text("Full fine-tuning")


def test_ranks_are_swept_on_one_page_alone(with_tiny: Visit) -> None:
    expect(with_tiny.page.get_by_role("tab", name="Rank sweep")).to_be_hidden()


def wait_for_a_step(visit: Visit) -> None:
    """The next step's figure; a run that has ended meanwhile can show none, and its test is skipped."""
    try:
        visit.wait_redrawn("#spectrum-figure", visit.draws("#spectrum-figure"))
    except PlaywrightTimeout:
        step = panel(visit).get_by_label("range slider for Training step").input_value()
        if step == LAST_STEP:
            pytest.skip(f"this machine trains {LAST_STEP} steps sooner than it draws the page")
        said = visit.page.locator("#spectrum-said, #spectrum-notes, .notice").all_inner_texts()
        raise AssertionError(f"{visit.page.url} stays at step {step}: {said}") from None


class TestWhileItTrains:
    """One page that looks on; a run that is asked for meanwhile would wait until this one has ended."""

    @pytest.fixture(scope="class")
    def looking_on(self, visitor: Visit, tiny_model: str) -> Visit:
        run = start_long(visitor, tiny_model, EPOCHS)
        visitor.page.goto(f"{visitor.address}/delta?run={run}")
        visitor.tab("Spectrum")
        visitor.page.wait_for_selector("#spectrum-figure .plot[data-drawn]")
        return visitor

    def test_it_is_redrawn_as_a_run_trains_and_a_choice_stands(self, looking_on: Visit) -> None:
        choose(panel(looking_on).get_by_label("Matrix"), looking_on, "value")
        expect(looking_on.page.locator("#spectrum-said")).to_contain_text("In value")
        slider = panel(looking_on).get_by_label("range slider for Training step")
        for _ in range(2):
            step = slider.input_value()
            wait_for_a_step(looking_on)
            expect(slider).not_to_have_value(step)
            expect(looking_on.page.locator("#spectrum-said")).to_contain_text("In value")
            expect(panel(looking_on).get_by_label("Matrix")).to_have_value("value")

    def test_an_earlier_step_stands_while_the_run_trains_on(self, looking_on: Visit) -> None:
        slider = panel(looking_on).get_by_label("range slider for Training step")
        wait_for_a_step(looking_on)
        before = looking_on.draws("#spectrum-figure")
        slider.press("Home")
        looking_on.wait_redrawn("#spectrum-figure", before)
        looking_on.page.wait_for_timeout(SETTLED)
        assert slider.input_value() == "1"
        first = re.compile(
            r"largest in layer \d \(\d(\.\d+)?e-05\)"
        )  # B starts from zero, and Adam's first step is small
        expect(looking_on.page.locator("#spectrum-notes")).to_contain_text(first)

    def test_its_owner_follows_it_to_another_page_and_stops_it(self, looking_on: Visit, tiny_model: str) -> None:
        looking_on.open(f"finetune?run={own_run(looking_on)}", "#run-curves")
        said = looking_on.page.locator("#run-said")
        expect(said).to_contain_text(re.compile("step|reaches"))
        if "reaches" in said.inner_text():  # on a slow machine it has ended before the tests above
            run = start_long(looking_on, tiny_model)
            looking_on.open(f"delta?run={run}", "#whole-figure")
            looking_on.open(f"finetune?run={run}", "#run-curves")
        stop(looking_on)
        expect(looking_on.page.locator("#run-said")).to_contain_text("Stopped at step")

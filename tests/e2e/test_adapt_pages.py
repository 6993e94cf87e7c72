"""Fine-tune and Inside ΔW in a real browser: runs that are watched, left, found again, tried and taken home."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.conftest import LECTURER_KEY
from tests.e2e.visiting import PATIENCE, Visit, open_tab

pytestmark = pytest.mark.e2e

EXAMPLE, OTHER_RANK = "example-lora-8", "example-lora-64"
FINETUNE_TABS = ("Train", "Try it", "Compare all", "Runs", "Merge and take home", "Metrics")
PRESSED_FIRST = "Merge and take home"
"""The tab that draws nothing before its button is pressed."""

DELTA_TABS = ("Spectrum", "Compare two runs", "Amplification", "Rank sweep")
SETTLED = 1500
"""Milliseconds after which a stream that was left has ended."""

OWN_RUN = re.compile(r"[?&]run=(r[0-9a-f]{12})")


@pytest.fixture
def visitors(server: str, browser: Any) -> Iterator[Callable[[], Visit]]:
    """Makes visitors, each with a browser of their own."""
    made: list[tuple[Any, Visit]] = []

    def arrive() -> Visit:
        context = browser.new_context(viewport={"width": 1024, "height": 768})
        made.append((context, Visit(context.new_page(), server)))
        return made[-1][1]

    yield arrive
    for context, visitor in made:
        context.close()
        visitor.assert_unharmed()


def panel(visit: Visit) -> Locator:
    """The tab in view."""
    return visit.page.locator("[role=tabpanel]:visible")


def notice(visit: Visit) -> Locator:
    """What is wrong, above the tabs."""
    return visit.page.locator(".notice-place .notice")


def type_number(visit: Visit, label: str, number: int) -> None:
    """Into a slider's box; what is typed while Gradio still unfolds the part of the page that holds it is lost."""
    box = panel(visit).get_by_label(f"number input for {label}")
    slider = panel(visit).get_by_label(f"range slider for {label}")
    for _ in range(5):
        box.fill(str(number))
        box.press("Enter")
        visit.page.wait_for_timeout(300)
        if box.input_value() == slider.input_value() == str(number):
            return
    pytest.fail(f"{label} does not take {number}")


def choose(box: Locator, visit: Visit, name: str | re.Pattern[str]) -> None:
    """Pick from a list."""
    box.click()
    visit.page.get_by_role("option", name=name).first.click()


def with_tiny_model(visit: Visit, model: str) -> None:
    """The page with a model that learns nothing, quickly."""
    visit.open("finetune", "#run-curves")
    visit.choose(model)
    expect(visit.page.locator("#plan")).to_contain_text("of 965K numbers are trained")


def start_long(visit: Visit, model: str) -> str:
    """Start a run that takes a while; its id."""
    with_tiny_model(visit, model)
    visit.page.get_by_role("button", name="Training settings").click()
    type_number(visit, "Epochs", 20)
    type_number(visit, "Batch size", 1)
    expect(visit.page.locator("#plan")).to_contain_text("9,600 steps")
    visit.page.click("#train")
    expect(visit.page.locator("#run-said")).to_contain_text(re.compile(r"step [1-9][\d,]* of 9600"))
    return own_run(visit)


def own_run(visit: Visit) -> str:
    """The run that the URL names, once it is one of the visitor's own."""
    expect(visit.page).to_have_url(OWN_RUN)
    found = OWN_RUN.search(visit.page.url)
    assert found
    return found[1]


def stop(visit: Visit) -> None:
    visit.page.click("#stop")
    expect(visit.page.locator("#train")).to_be_visible()


def step_of(visit: Visit) -> int:
    found = re.search(r"step (\d+) of", visit.page.locator("#run-said").inner_text())
    return int(found[1]) if found else 0


def wait_for_step(visit: Visit, beyond: int) -> None:
    script = """(beyond) => {
      const found = document.querySelector("#run-said")?.innerText.match(/step (\\d+) of/);
      return found && Number(found[1]) > beyond;
    }"""
    visit.page.wait_for_function(script, arg=beyond)


@pytest.fixture
def going(visit: Visit, tiny_model: str) -> Iterator[str]:
    """The visitor's run while it trains; stopped at the end."""
    run = start_long(visit, tiny_model)
    yield run
    visit.page.goto(f"{visit.address}/finetune?run={run}")
    visit.page.wait_for_selector("#run-curves .plot[data-drawn]")
    if visit.page.locator("#stop").is_visible():
        stop(visit)


class TestTrain:
    def test_the_page_opens_with_a_worked_example_and_a_plan(self, visit: Visit) -> None:
        visit.open("finetune", "#run-curves")
        expect(visit.page.locator("#run-said")).to_contain_text("LoRA r=8 · SST-2 reaches accuracy")
        expect(visit.page.locator("#plan")).to_contain_text("148,994 of 65.9M numbers are trained")
        visit.page.wait_for_selector("#run-outcome .plot[data-drawn]")
        expect(visit.page.locator("#run-wrong")).to_contain_text("The most confidently wrong")
        expect(visit.page).to_have_url(f"{visit.address}/finetune?run={EXAMPLE}")
        expect(visit.page.locator("#stop")).to_have_count(0)

    def test_curves_move_in_place_until_stop_which_stands_where_train_was(self, visit: Visit, tiny_model: str) -> None:
        with_tiny_model(visit, tiny_model)
        visit.page.get_by_role("button", name="Training settings").click()
        type_number(visit, "Epochs", 20)
        type_number(visit, "Batch size", 1)
        expect(visit.page.locator("#plan")).to_contain_text("9,600 steps")
        visit.page.locator("#train").scroll_into_view_if_needed()
        place = visit.page.locator("#train").bounding_box()
        visit.page.click("#train")
        expect(visit.page.locator("#stop")).to_be_visible()
        expect(visit.page.locator("#train")).to_have_count(0)
        assert visit.page.locator("#stop").bounding_box() == place
        wait_for_step(visit, 0)
        expect(visit.page.locator(".run-progress")).to_be_visible()
        self.assert_moves_in_place(visit)
        stop(visit)
        expect(visit.page.locator("#run-said")).to_contain_text("what it learned is kept")
        expect(visit.page.locator(".run-progress")).to_have_count(0)
        assert visit.page.locator("#train").bounding_box() == place
        visit.page.wait_for_selector("#run-outcome .plot[data-drawn]")

    def assert_moves_in_place(self, visit: Visit) -> None:
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

    def test_a_stopped_run_is_resumed_where_it_stood(self, visit: Visit, going: str) -> None:
        stop(visit)
        found = re.search(r"Stopped at step (\d+) of", visit.page.locator("#run-said").inner_text())
        assert found
        visit.page.click("#resume")
        wait_for_step(visit, int(found[1]))
        assert own_run(visit) == going

    def test_a_reload_finds_the_run_still_going(self, visit: Visit, going: str) -> None:
        before = step_of(visit)
        visit.page.reload()
        wait_for_step(visit, before)
        assert own_run(visit) == going
        visit.wait_redrawn("#run-curves", visit.draws("#run-curves"))
        expect(visit.page.locator("#stop")).to_be_visible()

    def test_another_page_and_back_finds_it_without_a_link(self, visit: Visit, going: str) -> None:
        before = step_of(visit)
        visit.page.click(".top nav >> text=Masking")
        visit.page.wait_for_selector("#fill-figure .plot[data-drawn]")
        visit.page.click(".top nav >> text=Fine-tune")
        wait_for_step(visit, before)
        assert own_run(visit) == going

    def test_another_run_is_looked_at_while_one_trains(self, visit: Visit, going: str) -> None:
        """The stream that is left says nothing more, not even as it ends."""
        choose(visit.page.locator("#run-picker input"), visit, re.compile("LoRA r=64"))
        expect(visit.page.locator("#run-said")).to_contain_text("LoRA r=64 · SST-2 reaches")
        visit.page.wait_for_timeout(SETTLED)
        expect(visit.page.locator("#run-said")).to_contain_text("LoRA r=64 · SST-2 reaches")
        expect(visit.page).to_have_url(f"{visit.address}/finetune?run={OTHER_RANK}")
        expect(visit.page.locator("#train")).to_be_visible()

    def test_a_second_run_waits_for_its_turn_and_can_be_called_off(self, visit: Visit, going: str) -> None:
        visit.page.get_by_role("button", name="Rank 1", exact=True).click()
        expect(visit.page.locator("#run-said")).to_contain_text("waits for its turn: 1 run before it")
        assert own_run(visit) != going
        stop(visit)
        expect(visit.page.locator("#run-said")).to_contain_text("Stopped while it waited")

    def test_a_learning_rate_of_100_diverges_in_a_sentence(self, visit: Visit, tiny_model: str) -> None:
        with_tiny_model(visit, tiny_model)
        said = visit.page.locator("#run-said")
        visit.page.get_by_role("button", name="Head only", exact=True).click()
        expect(said).to_contain_text("Head only · SST-2 reaches")
        visit.page.get_by_role("button", name="A learning rate of 100").click()
        expect(said).to_contain_text("The learning rate 100 is too high")
        expect(visit.page.locator("#run-curves .plot")).to_be_visible()
        visit.page.get_by_role("button", name="Rank 1", exact=True).click()
        expect(said).to_contain_text("LoRA r=1 · SST-2 reaches")

    def test_settings_that_are_only_looked_at_stay_as_they_are(self, visit: Visit, tiny_model: str) -> None:
        """An empty number field becomes 0 when the part that holds it is opened; none may be empty."""
        with_tiny_model(visit, tiny_model)
        visit.page.get_by_role("button", name="Training settings").click()
        expect(visit.page.get_by_label("Learning rate", exact=True)).to_have_value("0.001")
        type_number(visit, "Epochs", 1)
        expect(visit.page.locator("#plan")).to_contain_text("30 steps")
        visit.page.click("#train")
        expect(visit.page.locator("#run-said")).to_contain_text("LoRA r=8 · SST-2 reaches")

    def test_a_method_brings_its_learning_rate_and_its_own_settings(self, visit: Visit) -> None:
        visit.open("finetune", "#run-curves")
        visit.page.get_by_role("button", name="Training settings").click()
        visit.page.locator("#method-picker input").click()
        visit.page.get_by_role("option", name="Adapters (Houlsby)").click()
        expect(visit.page.get_by_label("number input for Bottleneck width")).to_be_visible()
        expect(visit.page.get_by_label("number input for Rank r")).to_have_count(0)
        visit.page.locator("#method-picker input").click()
        visit.page.get_by_role("option", name="Full fine-tuning").click()
        expect(visit.page.get_by_label("Learning rate", exact=True)).to_have_value("0.00005")
        expect(visit.page.locator("#plan")).to_contain_text("(100%)")

    def test_a_learning_rate_of_0_is_refused_and_nothing_is_lost(self, visit: Visit) -> None:
        visit.open("finetune", "#run-curves")
        visit.page.get_by_role("button", name="Training settings").click()
        rate = visit.page.get_by_label("Learning rate", exact=True)
        rate.fill("0")
        rate.press("Tab")
        visit.page.click("#train")
        expect(notice(visit)).to_contain_text("learning_rate must be a number above 0")
        expect(visit.page.locator("#run-said")).to_contain_text("LoRA r=8 · SST-2 reaches accuracy")
        assert visit.page.url.endswith(EXAMPLE)


class TestVisitors:
    def test_another_visitor_sees_no_run_that_is_not_theirs_and_the_lecturer_all(
        self, visit: Visit, going: str, visitors: Callable[[], Visit]
    ) -> None:
        stranger, lecturer = visitors(), visitors()
        stranger.open("finetune", "#run-curves")
        assert self.listed(stranger).isdisjoint({going})
        assert EXAMPLE in self.listed(stranger)
        lecturer.page.goto(f"{lecturer.address}/finetune?lecturer={LECTURER_KEY}")
        lecturer.page.wait_for_selector("#run-curves .plot[data-drawn]")
        assert self.listed(lecturer) >= {going, EXAMPLE}
        stranger.page.goto(f"{stranger.address}/finetune?lecturer=guess")
        stranger.page.wait_for_selector("#run-curves .plot[data-drawn]")
        assert self.listed(stranger).isdisjoint({going})

    def test_a_link_is_for_looking_not_for_stopping(
        self, visit: Visit, going: str, visitors: Callable[[], Visit]
    ) -> None:
        guest = visitors()
        guest.open(f"finetune?run={going}", "#run-curves")
        wait_for_step(guest, 0)
        expect(guest.page.locator("#train")).to_be_visible()
        expect(guest.page.locator("#stop")).to_have_count(0)
        guest.tab("Runs")
        guest.page.click("#delete-run")
        expect(notice(guest)).to_contain_text("not yours")

    @staticmethod
    def listed(visitor: Visit) -> set[str]:
        visitor.tab("Runs")
        visitor.page.wait_for_selector("#runs-list a")
        links = visitor.page.locator("#runs-list a").evaluate_all(
            "(links) => links.map((link) => new URL(link.href).searchParams.get('run'))"
        )
        return set(links)

    def test_runs_are_listed_drawn_together_and_deleted(self, visit: Visit, tiny_model: str) -> None:
        with_tiny_model(visit, tiny_model)
        visit.page.get_by_role("button", name="Head only", exact=True).click()
        expect(visit.page.locator("#run-said")).to_contain_text("Head only · SST-2 reaches")
        run = own_run(visit)
        assert {run, EXAMPLE} <= self.listed(visit)
        visit.page.wait_for_selector("#runs-curves .plot[data-drawn]")
        expect(visit.page.locator("#runs-curves .legend")).to_contain_text("Head only")
        visit.page.click("#delete-run")
        expect(visit.page.locator(f"#runs-list a[href*={run}]")).to_have_count(0)
        expect(visit.page.locator(f"#runs-list a[href*={EXAMPLE}]").first).to_be_visible()


class TestAfterwards:
    def test_a_run_is_asked_and_several_share_a_batch(self, visit: Visit) -> None:
        visit.open("finetune", "#run-curves")
        visit.tab("Try it")
        visit.page.wait_for_selector("#try-bars .plot[data-drawn]")
        expect(visit.page.locator("#try-said")).to_contain_text("LoRA r=8 · SST-2 says positive")
        visit.page.get_by_role("button", name="a pan", exact=True).click()
        expect(visit.page.locator("#try-said")).to_contain_text("says negative")
        visit.page.fill("#try-first textarea", "What a delight!")
        visit.page.click("#ask-run")
        expect(visit.page.locator("#try-said")).to_contain_text("says positive")
        mixed = visit.page.locator("#mix-said")
        expect(mixed).to_contain_text("One batch of 3 rows, each through another adapter")
        before = mixed.inner_text()
        visit.page.click("#mix")
        expect(mixed).not_to_have_text(before)
        visit.page.fill("#try-first textarea", "")
        visit.page.click("#ask-run")
        expect(notice(visit)).to_contain_text("The sentence is empty")

    def test_merging_is_drawn_and_a_file_goes_home_and_comes_back(self, visit: Visit, tiny_model: str) -> None:
        with_tiny_model(visit, tiny_model)
        visit.page.get_by_role("button", name="Rank 1", exact=True).click()
        expect(visit.page.locator("#run-said")).to_contain_text("LoRA r=1 · SST-2 reaches")
        trained = own_run(visit)
        visit.tab("Merge and take home")
        visit.page.click("#merge")
        visit.page.wait_for_selector("#merge-figure .plot[data-drawn]")
        expect(visit.page.locator("#merge-said")).to_contain_text("gives the same logits")
        visit.page.click("#export")
        visit.page.wait_for_selector("#export-file a")
        with visit.page.expect_download() as download:
            visit.page.locator("#export-file a").first.click()
        assert download.value.suggested_filename == "lora-r-1-sst-2-adapter.zip"
        file = Path(download.value.path())
        assert {"adapter_config.json", "adapter_model.safetensors"} <= set(zipfile.ZipFile(file).namelist())
        visit.page.get_by_role("button", name="Import an adapter").click()
        self.upload(visit, "adapter.zip", file.read_bytes())
        expect(visit.page.locator("#run-picker input")).to_have_value(re.compile("Imported LoRA r=1"))
        assert own_run(visit) != trained
        visit.tab("Try it")
        expect(visit.page.locator("#try-said")).to_contain_text("Imported LoRA r=1")

    def test_a_pickle_is_refused_on_the_page_with_the_reason(self, visit: Visit) -> None:
        visit.open("finetune", "#run-curves")
        visit.tab("Merge and take home")
        visit.page.get_by_role("button", name="Import an adapter").click()
        self.upload(visit, "adapter_model.bin", b"\x80\x04}q\x00.")
        expect(notice(visit)).to_contain_text("pickle")
        expect(visit.page.locator("#run-picker input")).to_have_value(re.compile("LoRA r=8"))

    def test_an_own_file_becomes_the_chosen_task_and_a_broken_one_names_its_line(self, visit: Visit) -> None:
        visit.open("finetune", "#run-curves")
        visit.page.get_by_role("button", name="Your own examples").click()
        lines = "".join(f"Example {count} is here.,{('lies', 'truth')[count % 2]}\n" for count in range(40))
        self.upload(visit, "claims.csv", f"claim,verdict\n{lines}".encode())
        expect(visit.page.locator("#task-picker input")).to_have_value("claims.csv (your file)")
        expect(visit.page.locator("#plan")).to_contain_text("6 steps on 32 examples")
        expect(visit.page.get_by_label("Found")).to_have_value(re.compile("classes lies, truth"))
        visit.page.get_by_label("Clear", exact=True).click()
        self.upload(visit, "broken.csv", b"claim,verdict\nOne.,lies\nTwo.\n")
        expect(notice(visit)).to_contain_text("broken.csv, line 3")
        expect(visit.page.locator("#task-picker input")).to_have_value("claims.csv (your file)")

    @staticmethod
    def upload(visit: Visit, name: str, content: bytes) -> None:
        chosen = panel(visit).locator("input[type=file]")
        chosen.set_input_files({"name": name, "mimeType": "application/octet-stream", "buffer": content})

    def test_all_methods_are_compared_and_two_can_be_chosen(self, visit: Visit, tiny_model: str) -> None:
        with_tiny_model(visit, tiny_model)
        visit.tab("Compare all")
        visit.page.wait_for_selector("#compare-trade .plot[data-drawn]")
        for box in panel(visit).get_by_role("checkbox").all():
            box.set_checked(box.get_attribute("name") in ("head", "ia3"))
        type_number(visit, "Epochs", 1)
        before = visit.draws("#compare-trade")
        visit.page.click("#compare")
        expect(visit.page.locator("#compare-costs tbody tr")).to_have_count(2)
        visit.wait_redrawn("#compare-trade", before)
        expect(visit.page.locator("#compare")).to_be_visible()
        expect(visit.page.locator("#compare-trade .textpoint")).to_have_count(2)
        expect(visit.page.locator("#compare-curves .legend")).to_contain_text("IA³")
        expect(panel(visit)).to_contain_text("Hu et al. 2021, Table 2")


class TestDelta:
    def test_it_opens_with_a_spectrum_and_the_slider_goes_back_in_time(self, visit: Visit) -> None:
        visit.open("delta", "#spectrum-figure")
        said = visit.page.locator("#spectrum-said")
        expect(said).to_contain_text("norm ‖ΔW‖ is largest in layer")
        visit.page.wait_for_selector("#energy-figure .plot[data-drawn]")
        visit.page.wait_for_selector("#measure-figure .plot[data-drawn]")
        last = said.inner_text()
        slider = panel(visit).get_by_label("range slider for Training step")
        expect(slider).to_have_value("90")
        before = visit.draws("#spectrum-figure")
        slider.press("Home")
        visit.wait_redrawn("#spectrum-figure", before)
        expect(said).not_to_have_text(last)
        slider.press("End")
        expect(said).to_have_text(last)

    def test_another_matrix_and_another_run_are_drawn(self, visit: Visit) -> None:
        visit.open("delta", "#spectrum-figure")
        said = visit.page.locator("#spectrum-said")
        choose(panel(visit).get_by_label("Matrix"), visit, "value")
        expect(said).to_contain_text("In value")
        choose(visit.page.locator("#run-picker input"), visit, re.compile("LoRA r=64"))
        expect(said).to_contain_text("of 64")
        expect(visit.page).to_have_url(f"{visit.address}/delta?run={OTHER_RANK}")

    def test_it_is_redrawn_as_a_run_trains_and_a_choice_stands(self, visit: Visit, going: str) -> None:
        visit.open(f"delta?run={going}", "#spectrum-figure")
        choose(panel(visit).get_by_label("Matrix"), visit, "value")
        expect(visit.page.locator("#spectrum-said")).to_contain_text("In value")
        slider = panel(visit).get_by_label("range slider for Training step")
        for _ in range(2):
            step = slider.input_value()
            visit.wait_redrawn("#spectrum-figure", visit.draws("#spectrum-figure"))
            expect(slider).not_to_have_value(step)
            expect(visit.page.locator("#spectrum-said")).to_contain_text("In value")
            expect(panel(visit).get_by_label("Matrix")).to_have_value("value")

    def test_an_earlier_step_stands_while_the_run_trains_on(self, visit: Visit, going: str) -> None:
        visit.open(f"delta?run={going}", "#spectrum-figure")
        slider = panel(visit).get_by_label("range slider for Training step")
        visit.wait_redrawn("#spectrum-figure", visit.draws("#spectrum-figure"))
        before = visit.draws("#spectrum-figure")
        slider.press("Home")
        visit.wait_redrawn("#spectrum-figure", before)
        visit.page.wait_for_timeout(SETTLED)
        assert slider.input_value() == "1"
        first = re.compile(
            r"largest in layer \d \(\d(\.\d+)?e-05\)"
        )  # B starts from zero, and Adam's first step is small
        expect(visit.page.locator("#spectrum-said")).to_contain_text(first)

    def test_two_runs_are_compared_as_a_heatmap(self, visit: Visit) -> None:
        visit.open("delta", "#spectrum-figure")
        visit.tab("Compare two runs")
        visit.page.wait_for_selector("#similarity-figure .plot[data-drawn]")
        expect(visit.page.locator("#similarity-figure .heatmaplayer").first).to_be_attached()
        said = visit.page.locator("#similarity-said")
        before = said.inner_text()
        choose(visit.page.locator("#other-run input"), visit, re.compile("seed 1"))
        expect(said).not_to_have_text(before)

    def test_amplification_and_the_place_in_w_are_drawn(self, visit: Visit) -> None:
        visit.open("delta", "#spectrum-figure")
        visit.tab("Amplification")
        visit.page.wait_for_selector("#amplification-figure .plot[data-drawn]")
        visit.page.wait_for_selector("#placement-figure .plot[data-drawn]")
        said = visit.page.locator("#amplification-said")
        before = said.inner_text()
        layer = panel(visit).get_by_label("Layer", exact=False).first
        layer.fill("3")
        layer.press("Tab")
        expect(said).not_to_have_text(before)
        layer.fill("77")
        layer.press("Tab")
        expect(notice(visit)).to_contain_text("layers 0 to 5")

    def test_full_fine_tuning_is_trained_beside_lora(self, visit: Visit, tiny_model: str) -> None:
        with_tiny_model(visit, tiny_model)
        visit.open("delta", "#spectrum-figure")
        visit.tab("Amplification")
        visit.page.click("#experiment")
        visit.page.wait_for_selector("#factors-figure .plot[data-drawn]")
        expect(visit.page.locator("#factors-said")).to_contain_text("Full fine-tuning")

    def test_ranks_are_swept(self, visit: Visit, tiny_model: str) -> None:
        with_tiny_model(visit, tiny_model)
        visit.open("delta", "#spectrum-figure")
        visit.tab("Rank sweep")
        visit.page.wait_for_selector("#sweep-figure .plot[data-drawn]")
        expect(panel(visit)).to_contain_text("Table 6")
        panel(visit).get_by_label("Ranks").fill("1, 3")
        type_number(visit, "Epochs", 1)
        visit.page.click("#sweep")
        expect(visit.page.locator("#sweep-figure .xtick")).to_have_count(2)
        expect(visit.page.locator("#sweep")).to_be_visible()
        expect(visit.page.locator("#sweep-said")).to_contain_text("r = 3")


@pytest.mark.parametrize(("path", "tabs"), [("finetune", FINETUNE_TABS), ("delta", DELTA_TABS)])
@pytest.mark.parametrize("size", [(1440, 900), (1024, 768), (390, 844)])
def test_no_tab_is_wider_than_the_screen(
    server: str, browser: Any, path: str, tabs: tuple[str, ...], size: tuple[int, int]
) -> None:
    context = browser.new_context(viewport={"width": size[0], "height": size[1]})
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(f"{server}/{path}")
    page.wait_for_selector(".plot[data-drawn]")
    wide = {}
    for tab in tabs:
        open_tab(page, tab)
        if tab != PRESSED_FIRST:
            page.wait_for_function(
                "() => [...document.querySelectorAll('[role=tabpanel] [data-drawn]')].some((one) => one.getClientRects().length)"
            )
        folded = page.locator("[role=tabpanel]:visible button.label-wrap:not(.open)")
        while folded.count():
            folded.first.click()
        page.wait_for_timeout(300)
        wide[tab] = page.evaluate(
            "Math.max(document.documentElement.scrollWidth,"
            " document.querySelector('.gradio-container').getBoundingClientRect().width)"
        )
    context.close()
    assert max(wide.values()) <= size[0], wide


@pytest.mark.parametrize(("path", "figure"), [("finetune", "#run-curves"), ("delta", "#spectrum-figure")])
def test_dark_pages_have_dark_figures(server: str, browser: Any, path: str, figure: str) -> None:
    context = browser.new_context(viewport={"width": 1024, "height": 768}, color_scheme="dark")
    page = context.new_page()
    page.goto(f"{server}/{path}")
    page.wait_for_selector(f"{figure} .plot[data-drawn]", timeout=PATIENCE)
    stroke = page.evaluate(f"getComputedStyle(document.querySelector('{figure} .js-line')).stroke")
    context.close()
    assert stroke == "rgb(86, 180, 233)", "the dark palette's first colour"

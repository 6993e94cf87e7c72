"""The pruning page in a real browser: what matters, what can go, what really goes, and what goes home.

All tests but the first share one page, on a run of a model with four heads that was trained for two steps.
"""

from __future__ import annotations

import importlib.util
import re
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from explorer.maths.importance import SCORES
from tests.caller import Caller
from tests.e2e.looks import BEGINS, SEES
from tests.e2e.visiting import Visit, open_tab

pytestmark = pytest.mark.e2e

TABS = ("Prune and see", "What matters", "Take out", "Step by step", "Fewer bits")
STARTS = ("compare-orders", "measure-importance", "prune", "compare-steps", "quantise")

EXAMPLE, ITS_OWN = "A worked example, computed beforehand", "Computed beforehand"
"""What the bar says of an answer that stands where something else is asked, and of one to what is asked."""

ADDRESSES = {
    "tab=remove": ITS_OWN,
    "tab=steps": ITS_OWN,
    "tab=quantise": ITS_OWN,
    "tab=remove&share=0.7": EXAMPLE,
    "tab=quantise&batch=3": EXAMPLE,
    "unit=weight&score=magnitude": EXAMPLE,
}


SHOWN = {
    "tab=remove&share=0.7": {"number input for Share to take away": "0.7"},
    "tab=quantise&batch=3": {"number input for Texts in a batch": "3"},
    "unit=weight&score=magnitude": {"By which score": SCORES["magnitude"].title},
}
"""What stands in the controls then."""


@pytest.fixture(scope="module")
def tiny_run(server: str, tiny_model: str) -> str:
    """A LoRA run of the tiny model on SST-2; its id."""
    client = Caller(server)
    client.predict(model=tiny_model, task="sst2", examples=32, epochs=1, api_name="/train")
    runs = client.predict(api_name="/runs")
    table = runs if isinstance(runs, dict) else runs[-1]
    return str(table["data"][0][table["headers"].index("run")])


@pytest.fixture(scope="module")
def shared(visitor: Visit, tiny_run: str) -> Visit:
    """One visitor for all tests of this file."""
    visitor.page.add_init_script(BEGINS)
    visitor.open(f"pruning?run={tiny_run}", "#orders-figure")
    return visitor


@pytest.fixture
def pruning(shared: Visit, request: pytest.FixtureRequest) -> Visit:
    """The shared page on the tab that the test's class names, with nothing going on."""
    open_tab(shared.page, request.cls.TAB)
    expect(panel(shared).locator("progress")).to_have_count(0)
    return shared


def panel(visit: Visit) -> Locator:
    """The tab in view."""
    return visit.page.locator("[role=tabpanel]:visible")


def said(visit: Visit, name: str) -> Locator:
    return visit.page.locator(f"#{name}-said")


def press_cell(visit: Visit, layer: int, head: int) -> None:
    """On the heatmap of a model of two layers with two heads."""
    plot = visit.page.locator("#importance-heatmap .nsewdrag")
    box = plot.bounding_box()
    assert box
    plot.click(position={"x": box["width"] * (head + 0.5) / 2, "y": box["height"] * (layer + 0.5) / 2})


def take(visit: Visit, label: str, name: str) -> None:
    """Choose from a list in the tab in view."""
    panel(visit).get_by_label(label).click()
    visit.page.get_by_role("option", name=name, exact=True).click()


def test_a_run_of_ones_own_is_computed_in_no_tab_until_start_is_pressed(shared: Visit, tiny_run: str) -> None:
    # Anew, or a second try would find what the first has pressed.
    shared.open(f"pruning?run={tiny_run}", "#orders-figure")
    for name, start in zip(TABS, STARTS, strict=True):
        open_tab(shared.page, name)
        expect(panel(shared).locator(".bar").first).to_contain_text(EXAMPLE)
        expect(shared.page.locator(f"#{start}")).to_be_visible()
    assert not shared.page.evaluate("window.began"), "nobody has pressed anything"
    for name, start in zip(TABS, STARTS, strict=True):
        open_tab(shared.page, name)
        shared.page.evaluate(SEES, f"#{start}-stop")
        shared.page.click(f"#{start}")
        shared.page.wait_for_function("window.seen")
        expect(shared.page.locator(f"#{start}")).to_be_visible()
        expect(panel(shared).locator(".bar").first).to_be_empty()
    open_tab(shared.page, TABS[0])
    shared.page.click("#prune-hand")
    expect(said(shared, "hand")).to_contain_text("No head is gone")


class TestWhatMatters:
    TAB = TABS[1]

    def test_it_shows_the_importance_of_every_head_with_its_error(self, pruning: Visit) -> None:
        expect(said(pruning, "importance")).to_contain_text(re.compile(r"layer \d, head \d matters most"))
        notes = pruning.page.locator("#importance-notes")
        expect(notes).to_contain_text("Measured on other examples, the order would be")
        expect(pruning.page.locator("#importance-heatmap .ytick text")).to_have_count(2)
        expect(pruning.page.locator("#importance-asked")).to_contain_text("the task's own loss on its labels")
        for figure in ("#importance-sorted", "#importance-histogram"):
            pruning.page.wait_for_selector(f"{figure} .plot[data-drawn]")
        expect(pruning.page.locator("#importance-sorted .ytitle")).to_contain_text("2 std. errors")
        expect(pruning.page.locator("#measure-importance-stop")).to_be_hidden()

    def test_a_press_on_a_cell_takes_that_head_away_and_another_brings_it_back(self, pruning: Visit) -> None:
        press_cell(pruning, 1, 0)
        expect(said(pruning, "pressed")).to_contain_text("Without 1 of 4 heads (1.0, by layer and head): accuracy")
        expect(said(pruning, "pressed")).to_contain_text("a batch of 16 instead of")
        press_cell(pruning, 0, 1)
        expect(said(pruning, "pressed")).to_contain_text("Without 2 of 4 heads (0.1, 1.0, by layer and head)")
        press_cell(pruning, 1, 0)
        expect(said(pruning, "pressed")).to_contain_text("Without 1 of 4 heads (0.1, by layer and head): accuracy")
        press_cell(pruning, 0, 1)
        expect(said(pruning, "pressed")).to_contain_text("Press a cell to take that head away")

    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("64 examples", "matters most"),
            ("neurons", "neuron"),
            ("whole layers", "matters most"),
            ("weights by magnitude", "score highest on average"),
        ],
    )
    def test_other_units_scores_and_more_examples(self, pruning: Visit, name: str, words: str) -> None:
        before = pruning.draws("#importance-heatmap")
        panel(pruning).get_by_role("button", name=name).click()
        pruning.wait_redrawn("#importance-heatmap", before)
        expect(said(pruning, "importance")).to_contain_text(words)
        expect(pruning.page.locator("#measure-importance")).to_be_visible()

    def test_a_unit_brings_its_own_scores(self, pruning: Visit) -> None:
        panel(pruning).get_by_label("attention heads").check()
        expect(said(pruning, "importance")).to_contain_text(re.compile(r"layer \d, head \d matters most"))
        panel(pruning).get_by_label("By which score").click()
        expect(pruning.page.get_by_role("option")).to_have_count(2)
        pruning.page.keyboard.press("Escape")


class TestPruneAndSee:
    TAB = TABS[0]

    def test_three_lines_start_from_the_whole_model(self, pruning: Visit) -> None:
        expect(said(pruning, "orders")).to_contain_text("least important first")
        figure = pruning.page.locator("#orders-figure")
        expect(figure.locator(".legendtext")).to_have_count(3)
        expect(figure.locator(".ytitle")).to_have_text("Accuracy")
        expect(figure.locator(".xtitle")).to_have_text("heads left (%)")

    def test_heads_go_by_hand_but_not_all_of_them(self, pruning: Visit) -> None:
        grid = pruning.page.locator("#prune-grid")
        grid.get_by_role("button", name="All heads of layer 0").click()
        expect(said(pruning, "hand")).to_contain_text("Without 2 of 4 heads (0.0, 0.1, by layer and head): accuracy")
        grid.get_by_role("button", name="All heads of layer 1").click()
        expect(pruning.page.locator(".notice")).to_contain_text("Every head would be gone. Leave at least one.")
        expect(pruning.page.locator("#prune-hand")).to_be_visible()
        grid.get_by_role("button", name="All on").click()
        expect(said(pruning, "hand")).to_contain_text("No head is gone")
        expect(pruning.page.locator(".notice")).to_have_count(0)

    def test_single_weights_by_their_size(self, pruning: Visit) -> None:
        panel(pruning).get_by_role("button", name="weights by magnitude").click()
        expect(said(pruning, "orders")).to_contain_text("of the weights can go before")


class TestTakeOut:
    TAB = TABS[2]

    def test_parts_go_for_good_with_the_numbers_before_and_after(self, pruning: Visit) -> None:
        expect(pruning.page.locator("#prune-notes")).to_contain_text("Masked and really removed differ by")
        rows = pruning.page.locator("#before-after tbody tr")
        names = ["Accuracy", "parameters", "file size", "batch of 1", "batch of 4", "batch of 16", "batch of 64"]
        expect(rows).to_have_count(len(names))
        assert [row.locator("td").first.inner_text() for row in rows.all()] == names

    def test_the_pruned_model_goes_home_and_opens(self, pruning: Visit, tmp_path: Path) -> None:
        if (
            EXAMPLE in panel(pruning).locator(".bar").first.inner_text()
        ):  # a second try, on a page that has pruned nothing
            pruning.page.click("#prune")
            expect(pruning.page.locator("#prune-stop")).to_be_visible()
            expect(pruning.page.locator("#prune")).to_be_visible()
        pruning.page.click("#export-pruned")
        with pruning.page.expect_download() as waiting:
            pruning.page.locator("#pruned-file a").first.click()
        with zipfile.ZipFile(waiting.value.path()) as archive:
            archive.extractall(tmp_path)
        source = importlib.util.spec_from_file_location("load_pruned", tmp_path / "load_pruned.py")
        assert source is not None
        assert source.loader is not None
        script = importlib.util.module_from_spec(source)
        source.loader.exec_module(script)
        model, tokenizer = script.load_pruned(tmp_path)
        assert model(**tokenizer("A fine film.", return_tensors="pt")).logits.shape == (1, 2)

    def test_neurons_alone_evenly_open_plainly(self, pruning: Visit) -> None:
        panel(pruning).get_by_role("button", name="half the neurons, evenly").click()
        expect(pruning.page.locator("#prune-notes")).to_contain_text("Plain from_pretrained opens what goes home.")

    def test_a_budget_that_no_layer_has_is_refused(self, pruning: Visit) -> None:
        panel(pruning).get_by_role("button", name="to a budget").click()
        expect(pruning.page.locator(".notice")).to_contain_text("A layer has 2 heads, so it cannot keep 8.")
        expect(pruning.page.locator("#prune")).to_be_visible()
        expect(pruning.page.locator("#prune-stop")).to_be_hidden()
        panel(pruning).get_by_role("button", name="a third of the heads").click()
        expect(pruning.page.locator("#prune-notes")).to_contain_text("of the heads: accuracy")
        expect(pruning.page.locator(".notice")).to_have_count(0)

    @pytest.mark.parametrize("typed", ["0", "1", "1.5"])
    def test_a_share_that_takes_all_or_nothing_cannot_be_asked_for(self, pruning: Visit, typed: str) -> None:
        box = panel(pruning).get_by_label("number input for Share to take away")
        box.fill(typed)
        box.press("Enter")
        pruning.page.click("#prune")
        expect(pruning.page.locator("#prune")).to_be_visible()
        expect(pruning.page.locator("#prune-stop")).to_be_hidden()
        assert 0.05 <= float(box.input_value()) <= 0.95


class TestStepByStep:
    TAB = TABS[3]

    def test_one_step_beside_many_and_the_papers_own_contrast(self, pruning: Visit) -> None:
        expect(pruning.page.locator("#steps-notes")).to_contain_text("many steps")
        expect(panel(pruning)).to_contain_text("45.35")
        expect(panel(pruning)).to_contain_text("91.95")

    def test_single_weights_go_in_steps_with_training_between(self, pruning: Visit) -> None:
        panel(pruning).get_by_role("button", name="weights by magnitude").click()
        notes = pruning.page.locator("#steps-notes")
        expect(notes).to_contain_text(re.compile(r"80% of the weights .* training between \d+\.\d%"))
        expect(pruning.page.locator("#compare-steps")).to_be_visible()
        expect(pruning.page.locator("#steps-figure .legendtext")).to_have_count(3)


class TestFewerBits:
    TAB = TABS[4]

    def test_the_three_forms_are_measured(self, pruning: Visit) -> None:
        expect(said(pruning, "quantise")).to_contain_text("times smaller than fp32")
        notes = pruning.page.locator("#quantise-notes")
        expect(notes).to_contain_text("Measured on this server's CPU")
        expect(notes).to_contain_text("int8 is")
        expect(pruning.page.locator("#quantise-figure .ytick text")).to_have_count(3)

    def test_and_combined_with_pruning(self, pruning: Visit) -> None:
        panel(pruning).get_by_role("button", name="and half of it pruned").click()
        expect(pruning.page.locator("#quantise-notes")).to_contain_text("50% pruned, int8")


def test_an_address_starts_nothing_and_what_it_sets_waits_for_start(visit: Visit) -> None:
    visit.page.add_init_script(BEGINS)
    for fragment, says in ADDRESSES.items():
        visit.page.goto("about:blank")
        visit.page.goto(f"{visit.address}/pruning#{fragment}")
        expect(panel(visit).locator(".bar").first, fragment).to_contain_text(says)
        for control, value in SHOWN.get(fragment, {}).items():
            expect(panel(visit).get_by_label(control), fragment).to_have_value(value)
        assert visit.page.locator(".notice").count() == 0, fragment
        assert not visit.page.evaluate("window.began"), fragment
    visit.page.click("#compare-orders")
    expect(visit.page.locator("#orders-figure .xtitle")).to_have_text("weights left (%)")
    visit.page.click("#compare-orders-stop")


class TestAWorkedExample:
    """The page as a first visitor meets it; that each tab opens with one, and starts nothing, is in test_every_tab."""

    def test_it_is_of_the_bundled_run_and_long_work_tells_how_long_and_stops(self, visit: Visit) -> None:
        visit.open("pruning", "#orders-figure")
        open_tab(visit.page, "What matters")
        expect(said(visit, "importance")).to_contain_text("LoRA r=8 · SST-2-like, bundled: layer")
        expect(visit.page.locator("#importance-asked")).to_contain_text("128 of the 256 examples")
        open_tab(visit.page, "Prune and see")
        expect(panel(visit).locator(".bar").first).to_contain_text("Computed beforehand")
        visit.page.click("#compare-orders")
        expect(panel(visit).locator(".bar").first).to_contain_text("left")
        visit.page.click("#compare-orders-stop")
        expect(visit.page.locator("#compare-orders")).to_be_visible()
        visit.page.wait_for_selector("#orders-figure .plot[data-drawn]")
        reached = said(visit, "orders").inner_text()
        visit.page.wait_for_timeout(1500)
        assert said(visit, "orders").inner_text() == reached, "what was stopped stands still"

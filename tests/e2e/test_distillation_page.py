"""Train and Ablation on the distillation page in a real browser: students that are started, stopped, left and found again."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, expect

from explorer.runs.examples import EVERY, SEEDS
from tests.e2e.looks import SEES
from tests.e2e.running import LOST, TRIES, panel, type_number
from tests.e2e.visiting import PATIENCE, Visit, open_tab

pytestmark = pytest.mark.e2e


def text_of(sentences: int) -> str:
    return " ".join(f"The number {number} stands in this sentence." for number in range(sentences))


@pytest.fixture(scope="module")
def student_page(visitor: Visit, tiny_model: str) -> Visit:
    """One visitor for the tests below, with the tiny model chosen and the tab with students open."""
    visitor.open("distillation", "#soft-figure")
    visitor.choose(tiny_model)
    expect(visitor.page.locator("#soft-said")).to_contain_text(tiny_model.rpartition("/")[2])
    open_tab(visitor.page, "Train a student")
    visitor.page.wait_for_selector("#distill-curves .plot[data-drawn]")
    return visitor


def said(visit: Visit, where: str = "#distill-said") -> Locator:
    return visit.page.locator(where)


def learn_from_text(visit: Visit, epochs: int, sentences: int = 24) -> None:
    """Choose a text of one's own, in the tab in view."""
    panel(visit).get_by_label("masked words of a text").check()
    panel(visit).get_by_label("Text", exact=True).fill(text_of(sentences))
    set_number(visit, "Epochs", epochs)


def set_number(visit: Visit, label: str, number: int) -> None:
    """What is typed while Gradio still unfolds the settings is lost, and typed again."""
    if not panel(visit).get_by_label(f"number input for {label}").is_visible():
        panel(visit).get_by_role("button", name="More:").click()
    for patience in (*[LOST] * TRIES, PATIENCE):
        try:
            return type_number(visit, label, number, patience)
        except AssertionError:
            if patience == PATIENCE:
                raise


def test_it_opens_with_a_worked_example_beside_distilberts_figures(student_page: Visit) -> None:
    expect(said(student_page)).to_contain_text("The student reaches accuracy 8")
    expect(said(student_page, "#seeds-said")).to_contain_text("The teacher helps: +")
    expect(said(student_page, "#seeds-said")).to_contain_text(f"over {SEEDS} seeds")
    student_page.page.wait_for_selector("#seeds-figure .plot[data-drawn]")
    assert student_page.page.locator("#seeds-list tbody tr").count() == SEEDS + 1
    sizes = student_page.page.locator("#distill-sizes")
    expect(sizes).to_contain_text("Not weighed and timed on this machine yet")
    student_page.page.click("#distill-time")
    expect(sizes).to_contain_text("Measured here, now")
    expect(student_page.page.locator("#distill-time")).to_be_hidden()
    expect(student_page.page.locator("#distilbert")).to_contain_text("66M of BERT-base's 110M (40% fewer)")
    expect(student_page.page.locator("#distill-curves .plot")).to_have_attribute(
        "aria-label", re.compile("The student reaches accuracy")
    )
    expect(panel(student_page).get_by_label("Students so far")).to_have_value(re.compile("3-layer student"))


def test_the_other_example_is_one_press_away(student_page: Visit) -> None:
    page = student_page.page
    page.get_by_role("button", name="All labels known").click()
    expect(said(student_page, "#seeds-said")).to_contain_text(f"over {len(EVERY)} seeds")
    expect(said(student_page)).to_contain_text(", on the labels alone")
    page.get_by_role("button", name="32 known labels").click()
    expect(said(student_page, "#seeds-list")).to_contain_text("Both know the same 32 labels")


def test_choosing_a_text_says_who_teaches_and_asks_for_no_labels(student_page: Visit) -> None:
    labels = student_page.page.locator("#student-labelled input")
    labels.fill("32")
    radio = panel(student_page).get_by_label("masked words of a text")
    radio.check()
    expect(student_page.page.locator("#student-about")).to_contain_text("The teacher is the model at the top")
    expect(labels).to_have_value("0")
    expect(student_page.page.locator("#student-text")).to_be_visible()
    panel(student_page).get_by_label("the teacher's task").check()
    expect(student_page.page.locator("#student-text")).to_have_count(0)
    expect(student_page.page.locator("#student-about")).to_contain_text("the run chosen above")


def test_a_text_that_is_too_short_is_refused_in_a_sentence(student_page: Visit) -> None:
    panel(student_page).get_by_label("masked words of a text").check()
    panel(student_page).get_by_label("Text", exact=True).fill("Too short.")
    student_page.page.click("#distill")
    expect(student_page.page.locator(".notice-place .notice")).to_contain_text("at least 8 are needed")
    expect(student_page.page.locator("#distill")).to_be_visible()


def test_a_student_trains_on_ones_own_text_and_is_weighed(student_page: Visit) -> None:
    learn_from_text(student_page, 1)
    student_page.page.click("#distill")
    expect(said(student_page)).to_contain_text(", on the hidden words alone")
    expect(student_page.page.locator(".notice-place .notice")).to_have_count(0)
    sizes = student_page.page.locator("#distill-sizes")
    expect(sizes).to_contain_text("Measured here, now")
    expect(sizes).to_contain_text("fewer")
    assert sizes.locator("tbody tr").count() == 3
    drawn = student_page.page.locator("#distill-curves .plot")
    axes = drawn.evaluate("(plot) => [...new Set(plot.data.map((trace) => trace.yaxis))].sort()")
    assert axes == ["y", "y2", "y3"]
    expect(panel(student_page).get_by_label("Students so far")).to_have_value(
        re.compile("1-layer student.*Masked words")
    )


def test_stop_stands_where_train_was_and_keeps_what_was_learned(student_page: Visit) -> None:
    learn_from_text(student_page, 20, sentences=1600)  # so many that it trains on while a slow machine finds Stop
    place = student_page.page.locator("#distill").bounding_box()
    student_page.page.click("#distill")
    stop = student_page.page.locator("#distill-stop")
    expect(stop).to_be_visible()
    expect(student_page.page.locator("#distill")).to_have_count(0)
    now = stop.bounding_box()
    assert place
    assert now
    assert now["x"] == place["x"]
    expect(said(student_page)).to_contain_text(re.compile(r"step [1-9]\d* of"))
    stop.click()
    expect(said(student_page)).to_contain_text("Stopped", timeout=PATIENCE)
    expect(student_page.page.locator("#distill")).to_be_visible()
    expect(student_page.page.locator("#distill-resume")).to_be_visible()


def test_whoever_comes_back_finds_the_student(student_page: Visit) -> None:
    page = student_page.page
    page.reload()
    expect(said(student_page)).to_contain_text(re.compile("Stopped|hidden words"))
    expect(panel(student_page).get_by_label("Students so far")).to_have_value(re.compile("Masked words"))


def test_the_ablation_draws_the_example_then_ones_own_five_students(student_page: Visit) -> None:
    page = student_page.page
    open_tab(page, "Ablation")
    page.wait_for_selector("#ablation-figure .plot[data-drawn]")
    expect(said(student_page, "#ablation-said")).to_contain_text(
        re.compile("What costs most is the line|No line costs anything")
    )
    for quoted in ("−2.96", "−1.46", "−0.31", "−3.69", "Table 4"):
        expect(page.locator("#ablation-list")).to_contain_text(quoted)
    learn_from_text(student_page, 1)
    page.evaluate(SEES, "#ablation-figure[data-stale='of the run before'] .plot")
    page.click("#ablate")
    page.wait_for_function("window.seen")
    expect(page.locator("#ablation-list")).to_contain_text("without the hidden words")
    expect(said(student_page, "#ablation-said")).to_contain_text("With all three terms the student reaches")
    assert page.locator("#ablation-list tbody tr").count() == 5
    expect(page.locator("#ablate")).to_be_visible()

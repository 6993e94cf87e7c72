"""The tab Metrics in a real browser: a cell is changed, and figure, formulas and table follow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from explorer.labs.finetune.metrics import MATRICES, SCATTERS
from tests.e2e.visiting import SIZES, TWO_FRAMES, Visit, open_tab, width_of

pytestmark = pytest.mark.e2e

BOUNDS = "(element) => { const box = element.getBoundingClientRect(); return [box.top, box.bottom]; }"


@pytest.fixture(scope="module")
def opened(visitor: Any) -> Visit:
    """One page with the tab for all tests of this file; each sets the table that it looks at."""
    visitor.open("finetune", "#run-curves")
    open_tab(visitor.page, "Metrics")
    visitor.page.wait_for_selector("#matrix-figure .plot[data-drawn]")
    return visitor  # type: ignore[no-any-return]


@pytest.fixture
def classes(opened: Visit) -> Page:
    """The page with the first matrix."""
    opened.tab("Classes")
    take(opened.page, "A coin")  # so that what comes next is seen to have come, and replaces nothing that is typed
    expect(formula(opened.page, "matrix", "Accuracy")).to_contain_text("= 0.500")
    take(opened.page, "A good classifier")
    expect(formula(opened.page, "matrix", "Accuracy")).to_contain_text("= 0.850")
    expect(opened.page.locator(".notice")).to_have_count(0)
    return opened.page


@pytest.fixture
def scores(opened: Visit) -> Page:
    """The page with the first points."""
    opened.tab("Scores")
    take(opened.page, "No relation")
    expect(opened.page.locator("#scatter-said")).not_to_contain_text("near a rising line")
    take(opened.page, "A noisy line")
    expect(opened.page.locator("#scatter-said")).to_contain_text("near a rising line")
    return opened.page


def take(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def cell(page: Page, table: str, row: int, column: int) -> Any:
    return page.locator(f'#{table}-panel [data-testid="cell-{row}-{column}"]')


def formula(page: Page, table: str, metric: str) -> Any:
    return page.locator(f"#{table}-formulas tr", has_text=metric)


def holds(place: Any, text: str) -> None:
    expect(place).to_have_text(text, use_inner_text=True)  # without the menu that is not shown


def write(page: Page, place: Any, text: str) -> None:
    place.click()
    expect(place).to_be_focused()
    page.keyboard.type(text)
    page.keyboard.press("Enter")


def test_what_is_typed_on_a_cell_replaces_it_and_everything_follows(classes: Page, opened: Visit) -> None:
    classes.get_by_role("button", name="Copy as Python").locator("visible=true").first.click()
    before = opened.draws("#matrix-figure")
    write(classes, cell(classes, "matrix", 0, 1), "1234")
    holds(cell(classes, "matrix", 0, 1), "1234")
    expect(formula(classes, "matrix", "Accuracy")).to_contain_text("= 0.988")
    opened.wait_redrawn("#matrix-figure", before)
    expect(classes.locator("#matrix-figure .plot")).to_contain_text("TN 1,234")
    expect(classes.locator("#script-take_metrics_apart")).to_contain_text("((1234, 10), (5, 45))")
    expect(classes.locator("#plain-take_metrics_apart")).to_contain_text("((1234, 10), (5, 45))")
    classes.get_by_role("button", name="Data").locator("visible=true").first.click()
    with classes.expect_download() as csv:
        classes.get_by_role("button", name="Download CSV").locator("visible=true").first.click()
    lines = Path(csv.value.path()).read_text(encoding="utf-8").splitlines()
    assert csv.value.suggested_filename == "take_metrics_apart.csv"
    assert lines[0] == "metric,value,formula"
    assert lines[1].endswith("(45 + 1234) / 1294 = 0.988")


def test_cells_are_reached_and_changed_from_the_keyboard(classes: Page) -> None:
    cell(classes, "matrix", 0, 1).click()
    expect(cell(classes, "matrix", 0, 1)).to_be_focused()
    moved = cell(classes, "matrix", 1, 2)
    for key in ("ArrowDown", "ArrowRight"):
        classes.keyboard.press(key)
    expect(moved).to_be_focused()
    classes.keyboard.press("Enter")
    expect(moved.locator("textarea")).to_be_focused()  # no hand is as quick as this test was
    for key in ("Control+a", "9", "0", "Tab"):
        classes.keyboard.press(key)
    holds(moved, "90")
    expect(formula(classes, "matrix", "Recall")).to_contain_text("= 0.947")


@pytest.mark.parametrize("name", MATRICES)
def test_every_matrix_is_one_click(classes: Page, name: str) -> None:
    take(classes, name)
    matrix = MATRICES[name]
    right = sum(matrix[place][place] for place in range(len(matrix)))
    expect(formula(classes, "matrix", "Accuracy")).to_contain_text(f"= {right / sum(map(sum, matrix)):.3f}")
    for row, counts in enumerate(matrix):
        for column, count in enumerate(counts, start=1):
            holds(cell(classes, "matrix", row, column), str(count))


def test_the_classes_change_places_and_the_same_example_undoes_it(classes: Page) -> None:
    take(classes, "Call the other class positive")
    holds(cell(classes, "matrix", 0, 1), "45")
    expect(formula(classes, "matrix", "F1")).to_contain_text("= 0.842")
    take(classes, "A good classifier")
    holds(cell(classes, "matrix", 0, 1), "40")


@pytest.mark.parametrize(
    ("typed", "says"),
    [("-3", "got '-3'"), ("1.5", "got '1.5'"), ("many", "got 'many'"), ("99999999999", "to 1,000,000,000")],
)
def test_a_bad_cell_is_named_and_stays_as_it_was_typed(classes: Page, typed: str, says: str) -> None:
    write(classes, cell(classes, "matrix", 0, 2), "11")
    expect(formula(classes, "matrix", "Accuracy")).to_contain_text("= 0.842")
    write(classes, cell(classes, "matrix", 1, 1), typed)
    notice = classes.locator(".notice")
    expect(notice).to_contain_text("In the cell “true positive, predicted negative”")
    expect(notice).to_contain_text(says)
    holds(cell(classes, "matrix", 1, 1), typed)
    holds(cell(classes, "matrix", 0, 2), "11")
    expect(formula(classes, "matrix", "Accuracy")).to_contain_text("= 0.842")
    write(classes, cell(classes, "matrix", 1, 1), "4")
    expect(formula(classes, "matrix", "Accuracy")).to_contain_text("= 0.850")
    expect(notice).to_have_count(0)


def test_an_emptied_cell_and_a_matrix_of_nothing_say_so(classes: Page) -> None:
    cell(classes, "matrix", 1, 1).click()
    expect(cell(classes, "matrix", 1, 1)).to_be_focused()
    classes.keyboard.press("Delete")
    notice = classes.locator(".notice")
    expect(notice).to_contain_text("“true positive, predicted negative” is empty")
    for row, column in ((0, 1), (0, 2), (1, 1), (1, 2)):
        write(classes, cell(classes, "matrix", row, column), "0")
    expect(notice).to_contain_text("nothing to measure")
    take(classes, "Always the majority")
    expect(notice).to_have_count(0)
    expect(classes.locator("#matrix-notes")).to_contain_text("Matthews is undefined, by convention 0")
    expect(formula(classes, "matrix", "Matthews")).to_contain_text("0 / 0")


def test_a_moved_point_takes_the_correlations_along(scores: Page, opened: Visit) -> None:
    before = opened.draws("#scatter-figure")
    write(scores, cell(scores, "scatter", 0, 2), "5")
    expect(scores.locator("#scatter-notes")).to_contain_text("The one of 20 that decides is (0.20, 5.00)")
    opened.wait_redrawn("#scatter-figure", before)
    write(scores, cell(scores, "scatter", 0, 2), "high")
    expect(scores.locator(".notice")).to_contain_text("“predicted score of pair 1”: A score is a number")
    holds(cell(scores, "scatter", 0, 2), "high")
    expect(scores.locator("#scatter-notes")).to_contain_text("decides is (0.20, 5.00)")


def test_a_pair_without_scores_is_left_out(scores: Page) -> None:
    take(scores, "One outlier")
    expect(scores.locator("#scatter-notes")).to_contain_text("decides is (4.80, 4.70)")
    count = len(SCATTERS["One outlier"])
    cell(scores, "scatter", 0, 1).click()
    expect(cell(scores, "scatter", 0, 1)).to_be_focused()
    scores.keyboard.press("Control+End")
    expect(cell(scores, "scatter", count - 1, 2)).to_be_focused()
    scores.keyboard.press("Delete")
    expect(scores.locator(".notice")).to_contain_text(f"“predicted score of pair {count}” is empty")
    scores.keyboard.press("ArrowLeft")
    scores.keyboard.press("Delete")
    expect(scores.locator(".notice")).to_have_count(0)
    expect(scores.locator("#scatter-said")).to_contain_text("knows next to nothing")


@pytest.mark.parametrize("table", ["matrix", "scatter"])
def test_table_and_figure_are_in_view_together_and_nothing_is_wider_than_the_screen(opened: Visit, table: str) -> None:
    page = opened.page
    opened.tab({"matrix": "Classes", "scatter": "Scores"}[table])
    take(page, {"matrix": "Three classes", "scatter": "One outlier"}[table])
    page.wait_for_selector(f"#{table}-figure .plot[data-drawn]")
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate(TWO_FRAMES)
        assert width_of(page) <= width
        if (width, height) == (1024, 768):
            page.evaluate("scrollTo(0, 0)")
            for part in (f"#{table}-panel", f"#{table}-figure .plot"):
                top, bottom = page.locator(part).evaluate(BOUNDS)
                assert 0 <= top < bottom <= height, part
    page.set_viewport_size({"width": 1024, "height": 768})

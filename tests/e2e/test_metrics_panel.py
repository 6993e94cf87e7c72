"""The panel of a confusion matrix in a real browser: its JavaScript against the same sums in Python, and as visitors use it."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from explorer.labs.finetune.metrics_compute import take_metrics_apart
from explorer.labs.finetune.metrics_schema import CLASS_NAMES, MATRICES, THREE_CLASSES, ConfusionParams
from tests.e2e.metrics import assert_same, open_metrics, open_panel, shown
from tests.e2e.visiting import SIZES, TWO_FRAMES, Visit, width_of

pytestmark = pytest.mark.e2e


@pytest.fixture
def classes(metrics_page: Page) -> Page:
    """The page with the first experiment's matrix."""
    metrics_page.get_by_role("tab", name="Classes", exact=True).click()
    metrics_page.get_by_role("button", name=MATRICES[0].name, exact=True).click()
    expect(cell(metrics_page, 0, 0)).to_have_value(str(MATRICES[0].data[0][0]))
    expect(metrics_page.locator("#matrix-panel .notice")).to_be_hidden()
    return metrics_page


def cell(page: Page, row: int, column: int) -> Any:
    return page.locator(f'#matrix-panel [data-cell="{row},{column}"]')


def fill(page: Page, matrix: Any) -> None:
    page.get_by_role("button", name=f"{len(matrix)} × {len(matrix)}").click()
    expect(page.locator("#matrix-panel [data-cell]")).to_have_count(len(matrix) ** 2)
    for i, row in enumerate(matrix):
        for j, count in enumerate(row):
            cell(page, i, j).fill(str(count))


_CHANCE = random.Random(11)
FILLED: list[Any] = [
    ((0, 0), (0, 1)),
    ((1_000_000_000, 999_999_999), (999_999_998, 1_000_000_000)),
    ((15, 0), (0, 1)),
    ((7, 8), (9, 1)),
    ((3, 0, 1), (2, 0, 4), (0, 0, 9)),
    *[
        tuple(tuple(_CHANCE.randrange(60) for _ in range(size)) for _ in range(size))
        for size in (2, 3)
        for _ in range(6)
    ],
]
"""Undefined metrics, the largest counts, ties in rounding, a class that is never predicted, and any other matrix."""


@pytest.mark.parametrize("matrix", FILLED, ids=str)
def test_a_typed_matrix_gives_what_python_gives(classes: Page, matrix: Any) -> None:
    fill(classes, matrix)
    assert_same(classes, "#matrix-panel", take_metrics_apart(ConfusionParams(matrix)))


@pytest.mark.parametrize("experiment", MATRICES, ids=lambda experiment: experiment.name)
def test_every_experiment_is_one_click(classes: Page, experiment: Any) -> None:
    classes.get_by_role("button", name=experiment.name, exact=True).click()
    assert_same(classes, "#matrix-panel", take_metrics_apart(ConfusionParams(experiment.data)))


def test_the_majority_is_seen_through(classes: Page) -> None:
    classes.get_by_role("button", name="Always the majority").click()
    expect(classes.locator("#matrix-panel .said")).to_have_text(
        "Accuracy 90.0% hides that no positive is found: F1 is 0 and Matthews is undefined, by convention 0."
    )


SENTENCES = {
    "one class": (((40, 10), (0, 0)), "all 50 examples are negative"),
    "all positive": (((0, 90), (0, 10)), "come from calling everything positive"),
    "worse than chance": (((5, 45), (40, 10)), "worse than guessing"),
    "below the majority": (((80, 10), (5, 5)), "no better than always saying negative (90.0%)"),
    "unbalanced": (((88, 2), (5, 5)), "3.0 points above always saying negative (90.0%)"),
    "never predicted": (((3, 0, 1), (2, 0, 4), (0, 0, 9)), "neutral is never predicted"),
}


@pytest.mark.parametrize(("matrix", "says"), SENTENCES.values(), ids=SENTENCES.keys())
def test_the_sentence_says_what_is_peculiar(classes: Page, matrix: Any, says: str) -> None:
    fill(classes, matrix)
    expect(classes.locator("#matrix-panel .said")).to_contain_text(says)


def test_the_figure_has_changed_when_the_key_is_up(classes: Page) -> None:
    """The sums and the picture take far less than the 100 ms after which a change no longer feels immediate."""
    script = """(input) => {
      const before = document.querySelector('#matrix-panel [data-metric="accuracy"]').dataset.value;
      const began = performance.now();
      input.value = 41;
      input.dispatchEvent(new Event("input"));
      const spent = performance.now() - began;
      return [spent, before, document.querySelector('#matrix-panel [data-metric="accuracy"]').dataset.value];
    }"""
    spent, before, after = cell(classes, 0, 0).evaluate(script)
    assert float(before) == pytest.approx(0.85)
    assert float(after) == pytest.approx(86 / 101)
    assert spent < 100


def test_cells_step_by_button_and_by_arrow_key(classes: Page) -> None:
    classes.get_by_role("button", name="one more: true negative, predicted positive").click()
    expect(cell(classes, 0, 1)).to_have_value("11")
    cell(classes, 0, 1).press("ArrowDown")
    cell(classes, 0, 1).press("ArrowDown")
    expect(cell(classes, 0, 1)).to_have_value("9")
    assert_same(classes, "#matrix-panel", take_metrics_apart(ConfusionParams(((40, 9), (5, 45)))))
    fill(classes, ((0, 9), (5, 45)))
    classes.get_by_role("button", name="one fewer: true negative, predicted negative").click()
    expect(cell(classes, 0, 0)).to_have_value("0")


def test_every_cell_has_a_name_of_its_own(classes: Page) -> None:
    for true in CLASS_NAMES[2]:
        for predicted in CLASS_NAMES[2]:
            expect(classes.get_by_label(f"true {true}, predicted {predicted}", exact=True)).to_have_count(1)


@pytest.mark.parametrize(
    ("typed", "says"),
    [("-3", "holds −3"), ("", "is empty"), ("1.5", "holds 1.5"), ("99999999999", "holds 99999999999")],
)
def test_a_cell_that_counts_nothing_is_named_and_nothing_else_changes(classes: Page, typed: str, says: str) -> None:
    before = shown(classes, "#matrix-panel")
    cell(classes, 1, 0).fill(typed)
    notice = classes.locator("#matrix-panel .notice")
    expect(notice).to_contain_text(f"The cell “true positive, predicted negative” {says}")
    expect(cell(classes, 1, 0)).to_have_attribute("aria-invalid", "true")
    assert shown(classes, "#matrix-panel") == before
    cell(classes, 1, 0).fill("6")
    expect(notice).to_be_hidden()
    assert_same(classes, "#matrix-panel", take_metrics_apart(ConfusionParams(((40, 10), (6, 45)))))


def test_an_all_zero_matrix_says_so_and_keeps_the_last_figures(classes: Page) -> None:
    fill(classes, ((0, 0), (0, 0)))
    expect(classes.locator("#matrix-panel .notice")).to_contain_text("nothing to measure")
    assert_same(classes, "#matrix-panel", take_metrics_apart(ConfusionParams(((0, 0), (0, 45)))))
    classes.get_by_role("button", name="A coin").click()
    expect(classes.locator("#matrix-panel .notice")).to_be_hidden()


def test_the_classes_change_places_and_the_same_experiment_undoes_it(classes: Page) -> None:
    classes.get_by_role("button", name="Call the other class positive").click()
    expect(cell(classes, 0, 0)).to_have_value("45")
    assert_same(classes, "#matrix-panel", take_metrics_apart(ConfusionParams(((45, 5), (10, 40)))))
    classes.get_by_role("button", name=MATRICES[0].name).click()
    expect(cell(classes, 0, 0)).to_have_value("40")


def test_three_classes_and_back_again(classes: Page) -> None:
    cell(classes, 0, 0).fill("77")
    fill(classes, THREE_CLASSES)
    assert_same(classes, "#matrix-panel", take_metrics_apart(ConfusionParams(THREE_CLASSES)))
    classes.get_by_role("button", name="2 × 2").click()
    expect(cell(classes, 0, 0)).to_have_value("77")
    classes.get_by_role("button", name="3 × 3").click()
    expect(cell(classes, 1, 1)).to_have_value(str(THREE_CLASSES[1][1]))


def test_table_and_script_follow_what_is_typed(classes: Page) -> None:
    classes.get_by_role("button", name="Copy as Python").locator("visible=true").first.click()
    cell(classes, 0, 0).fill("1234")
    expect(classes.locator("#script-take_metrics_apart")).to_contain_text("[[1234, 10], [5, 45]]")
    classes.get_by_role("button", name="Data").locator("visible=true").first.click()
    with classes.expect_download() as csv:
        classes.get_by_role("button", name="Download CSV").locator("visible=true").first.click()
    lines = Path(csv.value.path()).read_text(encoding="utf-8").splitlines()
    assert csv.value.suggested_filename == "take_metrics_apart.csv"
    assert lines[0] == "metric,value,formula"
    assert lines[1].endswith("(45 + 1234) / 1294 = 0.988")


@pytest.mark.parametrize("panel", ["matrix-panel", "scatter-panel"])
def test_pictures_can_be_saved(metrics_page: Page, panel: str) -> None:
    open_panel(metrics_page, panel)
    contents = {}
    for kind in ("SVG", "PNG"):
        with metrics_page.expect_download() as picture:
            metrics_page.locator(f"#{panel}").get_by_role("button", name=f"Save as {kind}").click()
        contents[kind] = Path(picture.value.path()).read_bytes()
        assert picture.value.suggested_filename.endswith(kind.lower())
    assert b"<svg" in contents["SVG"]
    assert b"Matthews" in contents["SVG"] or b"Pearson" in contents["SVG"]
    assert contents["PNG"].startswith(b"\x89PNG")


def test_the_panels_are_dark_where_the_page_is_and_never_wider_than_the_screen(visit: Visit) -> None:
    visit.page.emulate_media(color_scheme="dark")
    page = open_metrics(visit)
    fill = page.locator('#matrix-panel [data-metric="accuracy"] .bar').get_attribute("fill")
    assert fill == "#56B4E9", "the dark palette's first colour"
    page.get_by_role("button", name="3 × 3").click()
    page.get_by_role("button", name="Why: which metric judges").click()
    for panel in ("matrix-panel", "scatter-panel"):
        open_panel(page, panel)
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            page.evaluate(TWO_FRAMES)
            assert width_of(page) <= width

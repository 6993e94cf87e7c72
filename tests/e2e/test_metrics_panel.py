"""The Metrics tab in a real browser: its JavaScript against the same sums in Python, and the panels as visitors use them."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from explorer.labs.finetune.metrics_compute import correlate, linear, take_metrics_apart
from explorer.labs.finetune.metrics_schema import (
    CLASS_NAMES,
    MATRICES,
    SCATTERS,
    THREE_CLASSES,
    ConfusionParams,
    PointsParams,
    TakenApart,
)
from tests.e2e.visiting import open_tab

pytestmark = pytest.mark.e2e
PATIENCE = 60_000
expect.set_options(timeout=PATIENCE)


def open_metrics(context: Any, server: str) -> Page:
    page: Page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(f"{server}/finetune")
    page.wait_for_selector("#run-curves .plot[data-drawn]")
    open_tab(page, "Metrics")
    page.wait_for_selector("#matrix-panel svg[data-drawn]")
    return page


@pytest.fixture(scope="module")
def shared(server: str, browser: Any) -> Iterator[Page]:
    """One page for all tests of this file; each sets the panel that it looks at."""
    context = browser.new_context(viewport={"width": 1024, "height": 768})
    page = open_metrics(context, server)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    context.close()
    assert errors == []


@pytest.fixture
def classes(shared: Page) -> Page:
    """The page with the first experiment's matrix."""
    shared.get_by_role("tab", name="Classes", exact=True).click()
    shared.get_by_role("button", name=MATRICES[0].name, exact=True).click()
    expect(cell(shared, 0, 0)).to_have_value(str(MATRICES[0].data[0][0]))
    expect(shared.locator("#matrix-panel .notice")).to_be_hidden()
    return shared


@pytest.fixture
def scores(shared: Page) -> Page:
    """The page with the first experiment's points."""
    shared.get_by_role("tab", name="Scores", exact=True).click()
    shared.wait_for_selector("#scatter-panel svg[data-drawn]")
    shared.get_by_role("button", name=SCATTERS[0].name, exact=True).click()
    expect(shared.locator("#scatter-panel .hit")).to_have_count(20)
    assert_same(shared, "#scatter-panel", correlate(PointsParams(SCATTERS[0].data)))
    return shared


def cell(page: Page, row: int, column: int) -> Any:
    return page.locator(f'#matrix-panel [data-cell="{row},{column}"]')


def fill(page: Page, matrix: Any) -> None:
    page.get_by_role("button", name=f"{len(matrix)} × {len(matrix)}").click()
    expect(page.locator("#matrix-panel [data-cell]")).to_have_count(len(matrix) ** 2)
    for i, row in enumerate(matrix):
        for j, count in enumerate(row):
            cell(page, i, j).fill(str(count))


def shown(page: Page, panel: str) -> dict[str, tuple[str, str]]:
    """Each metric's value and formula as the panel has them."""
    script = """(groups) => groups.map((group) =>
        [group.dataset.metric, group.dataset.value, group.querySelector("title:not(.hit title)").textContent])"""
    rows = page.locator(f"{panel} [data-metric]").evaluate_all(script)
    return {slug: (value, formula) for slug, value, formula in rows}


def assert_same(page: Page, panel: str, result: TakenApart) -> None:
    """What JavaScript shows is what Python computes: formulas to the letter, values to rounding."""
    formulas = {metric.slug: linear(metric) for metric in result.metrics}
    selector = f'{panel} [data-metric="{result.metrics[0].slug}"] > title, {panel} [data-metric] > .formula > title'
    expect(page.locator(selector).first).to_have_text(formulas[result.metrics[0].slug])
    found = shown(page, panel)
    assert {slug: formula for slug, (_, formula) in found.items()} == formulas
    for metric in result.metrics:
        value = found[metric.slug][0]
        assert (value == "") == (metric.value is None)
        if metric.value is not None:
            assert float(value) == pytest.approx(metric.value, abs=1e-12)


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


@pytest.mark.parametrize("experiment", SCATTERS, ids=lambda experiment: experiment.name)
def test_every_scatter_gives_what_python_gives(scores: Page, experiment: Any) -> None:
    scores.get_by_role("button", name=experiment.name, exact=True).click()
    assert_same(scores, "#scatter-panel", correlate(PointsParams(experiment.data)))


def standing(page: Page) -> list[list[float]]:
    """The points on the panel, in their order, from the names that screen readers are told."""
    dots = page.locator("#scatter-panel .hit").evaluate_all(
        "(dots) => dots.map((dot) => [Number(dot.dataset.point), dot.getAttribute('aria-label')])"
    )
    return [[float(number) for number in re.findall(r"\d+\.\d+", name)] for _, name in sorted(dots)]


def middle(page: Page, point: int) -> tuple[float, float]:
    box = page.locator(f'#scatter-panel [data-point="{point}"] circle').first.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_a_dragged_point_takes_the_correlations_along(scores: Page) -> None:
    scores.get_by_role("button", name="One outlier").click()
    expect(scores.locator("#scatter-panel .said")).to_contain_text("without (4.80, 4.70) Pearson would be")
    scores.locator("#scatter-panel svg").scroll_into_view_if_needed()
    x, y = middle(scores, 19)
    scores.mouse.move(x, y)
    scores.mouse.down()
    scores.mouse.move(x - 30, y + 40, steps=4)
    scores.mouse.move(x - 5, y + 90, steps=4)
    scores.mouse.up()
    points = standing(scores)
    assert len(points) == 20
    assert points[19][1] < 4
    assert points[:19] == [list(point) for point in SCATTERS[1].data[:19]]
    assert_same(scores, "#scatter-panel", correlate(PointsParams(points)))


def test_a_click_beside_the_points_adds_one_and_delete_removes_it(scores: Page) -> None:
    ground = scores.locator("#scatter-panel .ground")
    box = ground.bounding_box()
    assert box is not None
    ground.click(position={"x": box["width"] * 0.9, "y": box["height"] * 0.9})
    points = standing(scores)
    assert points[20] == pytest.approx([4.5, 0.5], abs=0.05)
    assert_same(scores, "#scatter-panel", correlate(PointsParams(points)))
    expect(scores.locator("#scatter-panel .said")).to_contain_text("Pearson")
    scores.locator('#scatter-panel [data-point="20"]').press("Delete")
    expect(scores.locator("#scatter-panel .hit")).to_have_count(20)
    assert standing(scores) == [list(point) for point in SCATTERS[0].data]


def test_points_move_from_the_keyboard_and_keep_the_focus(scores: Page) -> None:
    scores.locator('#scatter-panel [data-point="0"]').focus()
    for key in ("PageDown", "ArrowUp", "Shift+ArrowRight"):
        scores.keyboard.press(key)
    x, y = SCATTERS[0].data[1]
    assert standing(scores)[1] == pytest.approx([x + 0.5, y + 0.1])
    assert scores.evaluate("document.activeElement.dataset.point") == "1"


def test_fields_move_the_chosen_point_and_refuse_what_is_no_score(scores: Page) -> None:
    scores.get_by_role("button", name="next point").click()
    field = scores.get_by_label("Predicted score", exact=True)
    field.fill("4.5")
    points = standing(scores)
    assert points[1] == [SCATTERS[0].data[1][0], 4.5]
    assert_same(scores, "#scatter-panel", correlate(PointsParams(points)))
    notice = scores.locator("#scatter-panel .notice")
    for typed, says in (("-1", "is −1"), ("", "is empty"), ("7", "is 7")):
        field.fill(typed)
        expect(notice).to_contain_text(f"The predicted score {says}")
        assert standing(scores) == points
    field.fill("3")
    expect(notice).to_be_hidden()


def test_two_points_are_the_fewest_and_equal_scores_are_undefined(scores: Page) -> None:
    remove = scores.get_by_role("button", name="Remove it")
    for _ in range(18):
        remove.click()
    expect(scores.locator("#scatter-panel .said")).to_contain_text("Any two points lie on a line")
    remove.click()
    expect(scores.locator("#scatter-panel .notice")).to_contain_text("at least two points")
    for _ in range(2):
        scores.get_by_role("button", name="next point").click()
        scores.get_by_label("Predicted score", exact=True).fill("2")
    expect(scores.locator("#scatter-panel .said")).to_contain_text("All predicted scores are equal")
    assert_same(scores, "#scatter-panel", correlate(PointsParams(standing(scores))))


@pytest.mark.parametrize("panel", ["matrix-panel", "scatter-panel"])
def test_pictures_can_be_saved(shared: Page, panel: str) -> None:
    tab = {"matrix-panel": "Classes", "scatter-panel": "Scores"}[panel]
    shared.get_by_role("tab", name=tab, exact=True).click()
    shared.wait_for_selector(f"#{panel} svg[data-drawn]")
    contents = {}
    for kind in ("SVG", "PNG"):
        with shared.expect_download() as picture:
            shared.locator(f"#{panel}").get_by_role("button", name=f"Save as {kind}").click()
        contents[kind] = Path(picture.value.path()).read_bytes()
        assert picture.value.suggested_filename.endswith(kind.lower())
    assert b"<svg" in contents["SVG"]
    assert b"Matthews" in contents["SVG"] or b"Pearson" in contents["SVG"]
    assert contents["PNG"].startswith(b"\x89PNG")


@pytest.mark.parametrize("size", [(1440, 900), (1024, 768), (390, 844)])
def test_neither_panel_is_wider_than_the_screen(server: str, browser: Any, size: tuple[int, int]) -> None:
    context = browser.new_context(viewport={"width": size[0], "height": size[1]})
    page = open_metrics(context, server)
    page.get_by_role("button", name="3 × 3").click()
    page.get_by_role("button", name="Which GLUE task").click()
    widths = [page.evaluate("document.documentElement.scrollWidth")]
    page.get_by_role("tab", name="Scores", exact=True).click()
    page.wait_for_selector("#scatter-panel svg[data-drawn]")
    widths.append(page.evaluate("document.documentElement.scrollWidth"))
    context.close()
    assert max(widths) <= size[0]


def test_the_panels_are_dark_where_the_page_is(server: str, browser: Any) -> None:
    context = browser.new_context(viewport={"width": 1024, "height": 768}, color_scheme="dark")
    page = open_metrics(context, server)
    fill = page.locator('#matrix-panel [data-metric="accuracy"] .bar').get_attribute("fill")
    context.close()
    assert fill == "#56B4E9", "the dark palette's first colour"

"""The panel of a scatter in a real browser: its JavaScript against the same sums in Python, and as visitors use it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from explorer.labs.finetune.metrics_compute import correlate
from explorer.labs.finetune.metrics_schema import SCATTERS, PointsParams
from tests.e2e.metrics import assert_same, open_panel

pytestmark = pytest.mark.e2e


@pytest.fixture
def scores(metrics_page: Page) -> Page:
    """The page with the first experiment's points."""
    open_panel(metrics_page, "scatter-panel")
    metrics_page.get_by_role("button", name=SCATTERS[0].name, exact=True).click()
    expect(metrics_page.locator("#scatter-panel .hit")).to_have_count(20)
    assert_same(metrics_page, "#scatter-panel", correlate(PointsParams(SCATTERS[0].data)))
    return metrics_page


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

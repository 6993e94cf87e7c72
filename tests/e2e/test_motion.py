"""A value that changes moves to where it is now, and doesn't for those who ask for no motion."""

from __future__ import annotations

import pytest

from tests.e2e.visiting import Visit

pytestmark = pytest.mark.e2e

WATCHED = """() => {
  window.moved = 0;
  const isBar = (one) => one.matches("#fill-figure .bars .point path");
  document.addEventListener("transitionrun", (event) => { window.moved += isBar(event.target); });
}"""


def moves(visit: Visit, sentence: str) -> int:
    """How many bars set out for another place while a sentence is answered."""
    page, figure = visit.page, "#fill-figure"
    before = visit.draws(figure)
    page.evaluate(WATCHED)
    box = page.locator("textarea:visible").first
    box.fill(sentence)
    box.press("Enter")
    visit.wait_redrawn(figure, before)
    page.wait_for_timeout(100)
    return int(page.evaluate("window.moved"))


def test_bars_move_to_their_new_values_unless_no_motion_is_wanted(visit: Visit) -> None:
    visit.page.emulate_media(reduced_motion="no-preference")
    visit.open("masking", "#fill-figure")
    assert moves(visit, "The capital of France is [MASK].") >= 3
    visit.page.emulate_media(reduced_motion="reduce")
    assert moves(visit, "The keys to the cabinet [MASK] on the table.") == 0

"""A value that changes moves to where it is now, and doesn't for those who ask for no motion."""

from __future__ import annotations

import pytest

from tests.e2e.visiting import Visit

pytestmark = pytest.mark.e2e

WATCHED = """() => {
  const bar = document.querySelector("#fill-figure .bars .point path");
  window.widths = new Set();
  const look = () => {
    window.widths.add(Math.round(bar.getBoundingClientRect().width));
    if (bar.isConnected) requestAnimationFrame(look);
  };
  look();
}"""


def widths(visit: Visit, sentence: str) -> int:
    """How many widths the first bar is seen to have while another sentence is answered."""
    page, figure = visit.page, "#fill-figure"
    before = visit.draws(figure)
    page.evaluate(WATCHED)
    box = page.locator("textarea:visible").first
    box.fill(sentence)
    box.press("Enter")
    visit.wait_redrawn(figure, before)
    page.wait_for_timeout(400)
    return int(page.evaluate("window.widths.size"))


def test_bars_move_in_a_quarter_of_a_second_unless_no_motion_is_wanted(visit: Visit) -> None:
    visit.page.emulate_media(reduced_motion="no-preference")
    visit.open("masking", "#fill-figure")
    assert widths(visit, "The capital of France is [MASK].") > 4
    visit.page.emulate_media(reduced_motion="reduce")
    assert widths(visit, "The keys to the cabinet [MASK] on the table.") <= 3

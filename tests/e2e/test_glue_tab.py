"""The tab GLUE in a real browser: it opens with the worked examples, another row of the paper takes one's place, and a run in it
is opened."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from explorer.runs.examples import EARLIER
from tests.e2e.visiting import SIZES, TWO_FRAMES, Visit, open_tab, width_of

pytestmark = pytest.mark.e2e


def test_the_worked_examples_stand_in_their_rows_beside_any_row_of_the_paper(visit: Visit) -> None:
    visit.open("finetune", "#run-curves")
    page = visit.page
    open_tab(page, "GLUE")
    rows = page.locator("#glue-tasks tbody tr")
    expect(rows).to_have_count(9)
    mnli = rows.filter(has_text="MNLI")
    expect(mnli).to_contain_text("bundled, not comparable")
    expect(mnli).to_contain_text("87.5")
    expect(rows.filter(has_text="QNLI")).to_contain_text("none yet")
    chosen = page.get_by_label("Beside, from LoRA's Table 2")
    chosen.click()
    page.get_by_role("option", name="DeBERTa-XXL, LoRA 4.7M").click()
    expect(mnli).to_contain_text("91.9")
    expect(page.locator("#glue-tasks")).to_contain_text("DeBERTa-XXL, LoRA 4.7M has 91.3 over all 8")
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate(TWO_FRAMES)
        assert width_of(page) <= width
    mnli.get_by_role("link").click()
    page.wait_for_url(f"**/finetune?run={EARLIER}*")
    visit.assert_unharmed()

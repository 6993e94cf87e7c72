"""Sweeps of any setting, the time of a batch, the loss's axis and the best step, in a real browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.running import panel, set_training, type_number, with_tiny_model
from tests.e2e.visiting import Visit

pytestmark = pytest.mark.e2e


def test_a_setting_is_swept_with_seeds(visit: Visit, tiny_model: str) -> None:
    with_tiny_model(visit, tiny_model)
    visit.tab("Sweep")
    visit.page.wait_for_selector("#sweep-figure .plot[data-drawn]")
    expect(visit.page.locator("#sweep-said")).to_contain_text("the rank hardly matters here")
    panel(visit).get_by_role("button", name="Which matrices").click()
    values = panel(visit).get_by_label("Values")
    expect(values).to_have_value("q, k, v, o, q+k, q+v, q+k+v+o, ffn_in+ffn_out")
    values.fill("q+v, o")
    type_number(visit, "Seeds", 2)
    panel(visit).get_by_role("button", name="More settings").click()
    type_number(visit, "Epochs", 1)
    visit.page.click("#sweep")
    expect(visit.page.locator("#sweep-said")).to_contain_text("LoRA: best at matrices")
    expect(visit.page.locator("#sweep-figure .xtick")).to_have_count(2)
    expect(visit.page.locator("#sweep-rows")).to_contain_text("mean of 2 seeds")
    expect(visit.page.locator("#sweep-rows tbody tr")).to_have_count(2)


def test_the_best_step_is_kept_and_the_losss_axis_is_turned(visit: Visit, tiny_model: str) -> None:
    with_tiny_model(visit, tiny_model)
    set_training(visit, "30 steps", Epochs=1)
    panel(visit).get_by_label("Keep the best step").check()
    visit.page.click("#train")
    expect(visit.page.locator("#run-notes")).to_contain_text("These are the numbers of step")
    expect(visit.page.locator("#run-curves")).to_contain_text("loss, dashed: held out")
    before = visit.draws("#run-curves")
    panel(visit).get_by_label("logarithmic").check()
    visit.wait_redrawn("#run-curves", before)
    expect(visit.page.locator("#run-notes")).to_contain_text("These are the numbers of step")


def test_every_method_is_timed(visit: Visit, tiny_model: str) -> None:
    with_tiny_model(visit, tiny_model)
    visit.tab("Compare all")
    visit.page.wait_for_selector("#latency-figure .plot[data-drawn], #latency-said:has-text('Timing')")
    type_number(visit, "Tokens a text", 16)
    visit.page.click("#latency")
    expect(visit.page.locator("#latency-said")).to_contain_text(
        re.compile("Slower|Faster|No difference|The machine is busy")
    )
    expect(visit.page.locator("#latency-figure")).to_contain_text("LoRA, merged")

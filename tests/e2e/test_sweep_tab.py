"""Sweeps of any setting, the time of a batch, the loss's axis and the best step, in a real browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Route, expect

from tests.e2e.running import panel, set_training, type_number, with_tiny_model
from tests.e2e.visiting import Visit, open_tab

pytestmark = pytest.mark.e2e

JOIN = re.compile("/queue/join")
"""Where a stream is asked for."""


@pytest.fixture(scope="module")
def tiny(visitor: Visit, tiny_model: str) -> Visit:
    """The page with a model that is quick, of which each test opens a tab."""
    with_tiny_model(visitor, tiny_model)
    return visitor


def test_a_setting_is_swept_with_seeds(tiny: Visit) -> None:
    tiny.tab("Sweep")
    tiny.page.wait_for_selector("#sweep-figure .plot[data-drawn]")
    expect(tiny.page.locator("#sweep-said")).to_contain_text("the rank hardly matters here")
    panel(tiny).get_by_role("button", name="Which matrices").click()
    values = panel(tiny).get_by_label("Values")
    expect(values).to_have_value("q, k, v, o, q+k, q+v, q+k+v+o, ffn_in+ffn_out")
    panel(tiny).get_by_role("button", name="More settings").click()
    type_number(tiny, "Epochs", 1)
    type_number(tiny, "Seeds", 2)
    values.fill("q+v, o")
    tiny.page.click("#sweep")
    expect(tiny.page.locator("#sweep-said")).to_contain_text("LoRA: best at matrices")
    expect(tiny.page.locator("#sweep-figure .xtick")).to_have_count(2)
    expect(tiny.page.locator("#sweep-rows")).to_contain_text("mean of 2 seeds")
    expect(tiny.page.locator("#sweep-rows tbody tr")).to_have_count(2)


def test_the_best_step_is_kept_and_the_losss_axis_is_turned(tiny: Visit) -> None:
    tiny.tab("Train")
    set_training(tiny, "30 steps", Epochs=1)
    panel(tiny).get_by_label("Keep the best step").check()
    tiny.page.click("#train")
    expect(tiny.page.locator("#run-notes")).to_contain_text("These are the numbers of step")
    expect(tiny.page.locator("#run-curves")).to_contain_text("loss, dashed: held out")
    before = tiny.draws("#run-curves")
    panel(tiny).get_by_label("logarithmic").check()
    tiny.wait_redrawn("#run-curves", before)
    expect(tiny.page.locator("#run-notes")).to_contain_text("These are the numbers of step")


def test_every_method_is_timed(tiny: Visit) -> None:
    open_tab(tiny.page, "Time of a batch")
    tiny.page.wait_for_selector("#latency-figure .plot[data-drawn], #latency-said:has-text('Timing')")
    type_number(tiny, "Tokens a text", 16)
    tiny.page.click("#latency")
    expect(tiny.page.locator("#latency-figure")).to_have_attribute("data-model", "tiny")  # and not the worked example's
    expect(tiny.page.locator("#latency")).to_be_visible()  # again, at the end
    expect(tiny.page.locator("#latency-said")).to_contain_text(
        re.compile("Slower|Faster|No difference|The machine is busy")
    )
    expect(tiny.page.locator("#latency-figure")).to_contain_text("merged LoRA")


def test_timing_tells_what_is_left_and_stops_with_what_it_has(tiny: Visit) -> None:
    open_tab(tiny.page, "Time of a batch")
    bar = tiny.page.locator("#latency-said ~ .bar").first
    type_number(tiny, "Tokens a text", 64)
    panel(tiny).get_by_label("32", exact=True).check()
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    tiny.page.route(JOIN, hold)
    with tiny.page.expect_request(JOIN):
        tiny.page.click("#latency")
    expect(tiny.page.locator("#latency-stop")).to_be_visible()  # before anything is measured
    held[0].continue_()
    tiny.page.unroute(JOIN)
    expect(bar).to_contain_text(re.compile(r"\d+ of 40 rounds, about [\d.]+ (s|min) left"))
    tiny.page.click("#latency-stop")
    expect(bar).to_have_text("Stopped. What was timed until then stays.")
    expect(tiny.page.locator("#latency")).to_be_visible()
    expect(tiny.page.locator("#latency-figure")).to_contain_text("time of a batch")
    tiny.page.wait_for_timeout(1000)  # what was under way might still arrive
    expect(bar).to_have_text("Stopped. What was timed until then stays.")

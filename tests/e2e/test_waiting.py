"""What a page says and keeps while it waits for the server: early presses, old figures, places for new ones."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Route, expect

from tests.e2e.looks import SAYS_SO
from tests.e2e.running import open_settings, own_run, set_training, type_number
from tests.e2e.visiting import PATIENCE, Visit

pytestmark = pytest.mark.e2e

PRESS = "(selector) => { const button = document.querySelector(selector); button.click(); return button.dataset.said; }"
NEVER_BY_ITSELF = """{
  const real = window.setTimeout.bind(window);
  window.setTimeout = (act, after, ...rest) => (after === 60000 ? 0 : real(act, after, ...rest));
}"""
"""What is marked for a minute at most stays marked for ever."""

WIDTHS = """window.widths = new Set();
(function look() {
  const box = document.querySelector(".top nav")?.getBoundingClientRect();
  if (box?.width) window.widths.add(`${Math.round(box.x)} ${Math.round(box.width)}`);
  requestAnimationFrame(look);
})();"""


class Held:
    """Answers of the server that are held back until they are released."""

    def __init__(self, visit: Visit) -> None:
        self.held: list[Route] | None = []
        visit.page.route("**/run/predict*", self._take)

    def _take(self, route: Route) -> None:
        if self.held is None:
            route.continue_()
        else:
            self.held.append(route)

    def release(self) -> None:
        routes, self.held = self.held or [], None
        for route in routes:
            route.continue_()

    def hold(self) -> None:
        self.held = []


def test_what_is_done_before_the_page_knows_its_model_and_run_is_kept(visit: Visit, tiny_model: str) -> None:
    held = Held(visit)
    visit.page.goto(f"{visit.address}/finetune")
    visit.choose(tiny_model)
    visit.page.click("#train")
    expect(visit.page.locator("#train")).to_have_attribute("data-said", "One moment…")
    held.release()
    own_run(visit)
    expect(visit.page.locator("#model-picker input")).to_have_value(tiny_model)
    expect(visit.page.locator(".run-label:visible")).to_contain_text(f"Run of {Path(tiny_model).name}")
    expect(visit.page.locator("#run-said")).to_contain_text("reaches")
    set_training(visit, "9,600 steps", Epochs=20, Batch_size=1)
    assert visit.page.evaluate(PRESS, "#train") == "Starting…"
    expect(visit.page.locator("#stop")).to_be_visible()
    assert visit.page.evaluate(PRESS, "#stop") == "Stopping…"
    expect(visit.page.locator("#train")).to_be_visible()
    expect(visit.page.locator("#train")).not_to_have_attribute("data-said", "Starting…")


def test_of_two_controls_the_one_moved_last_is_answered_though_its_answer_comes_first(visit: Visit) -> None:
    visit.open("finetune", "#run-curves")
    plan = visit.page.locator("#plan")
    expect(plan).to_contain_text("of 65.9M parameters are trained")
    open_settings(visit)
    late: list[tuple[Route, Any]] = []
    on_its_way = [True]
    visit.page.route(
        "**/run/predict*",
        lambda route: late.append((route, route.fetch())) if on_its_way[0] else route.continue_(),
    )
    type_number(visit, "Epochs", 20)
    tries = PATIENCE // 100
    while not (first := [answer for _, answer in late if "600 steps" in answer.text()]) and (tries := tries - 1):
        visit.page.wait_for_timeout(100)
    assert first, "asked by the first control"
    on_its_way[0] = False
    type_number(visit, "Batch size", 1)
    expect(plan).to_contain_text("9,600 steps")
    for route, answer in late:
        route.fulfill(response=answer)
    visit.page.wait_for_timeout(1000)
    expect(plan).to_contain_text("9,600 steps")


def test_a_figure_has_its_place_from_the_first_and_says_when_it_is_computed_anew(visit: Visit, tiny_model: str) -> None:
    visit.page.add_init_script(WIDTHS)
    held = Held(visit)
    visit.page.goto(f"{visit.address}/masking")
    figure: Any = visit.page.locator("#fill-figure")
    expect(figure).to_have_attribute("data-awaited", "")
    box = figure.bounding_box()
    assert box is not None
    assert box["height"] >= 200
    held.release()
    visit.page.wait_for_selector("#fill-figure .plot[data-drawn]")
    expect(figure).to_have_attribute("data-model", "bert-small")
    expect(figure).not_to_have_attribute("data-awaited", "")
    held.hold()
    visit.choose(tiny_model)
    expect(visit.page.locator(".model-card")).not_to_contain_text("66,405,702")
    held.release()
    expect(figure).to_have_attribute("data-model", Path(tiny_model).name)
    held.hold()
    visit.page.locator("input[type=range]:visible").first.press("ArrowRight")
    expect(figure).to_have_attribute("data-waiting", f"computing with {Path(tiny_model).name}…")
    held.release()
    expect(figure).not_to_have_attribute("data-waiting", f"computing with {Path(tiny_model).name}…")
    visit.tab("Why 80, 10, 10")
    visit.page.wait_for_function(
        "() => [...document.querySelectorAll('.plot[data-drawn]')].some((p) => p.offsetParent)"
    )
    widths = visit.page.evaluate("[...window.widths]")
    visit.open("models#tab=bars", "")
    widths += visit.page.evaluate("[...window.widths]")
    assert len(set(widths)) == 1, "the page's width jumped"


def test_a_figure_that_waits_long_says_how_many_questions_stand_before_its_own(visit: Visit) -> None:
    visit.open("masking", "#fill-figure")
    answers = [{"questions": 0, "seconds": 0}, {"questions": 14, "seconds": 2.4}]
    visit.page.route("**/explorer/line*", lambda route: route.fulfill(json=answers[-1]))
    held, figure = Held(visit), visit.page.locator("#fill-figure")
    visit.page.locator("input[type=range]:visible").first.press("ArrowRight")
    expect(figure).to_have_attribute("data-waiting", "14 questions before this one: about 3 s")
    answers.pop()
    expect(figure).to_have_attribute("data-waiting", "computing with bert-small…")
    held.release()
    expect(figure).not_to_have_attribute("data-waiting", re.compile("."))


def test_a_model_that_is_chosen_while_the_page_opens_stays_though_it_is_the_first_of_the_list(
    visit: Visit, tiny_model: str
) -> None:
    visit.open("masking", "#fill-figure")
    visit.choose(tiny_model)
    expect(visit.page.locator("#fill-figure")).to_have_attribute("data-model", Path(tiny_model).name)
    held = Held(visit)
    visit.page.goto(f"{visit.address}/masking")
    visit.page.locator("#model-picker input").click()
    visit.page.get_by_role("option", name="bert-small").first.click()
    held.release()
    expect(visit.page.locator("#fill-figure")).to_have_attribute("data-model", "bert-small")
    expect(visit.page.locator("#model-picker input")).to_have_value(re.compile("^bert-small"))
    visit.open("masking", "#fill-figure")
    expect(visit.page.locator("#fill-figure")).to_have_attribute("data-model", "bert-small")


def test_a_stream_that_draws_nothing_leaves_no_figure_marked(visit: Visit) -> None:
    visit.page.add_init_script(NEVER_BY_ITSELF)
    visit.open("distillation", "#soft-figure")
    visit.tab("Train a student")
    visit.page.wait_for_selector("#seeds-figure .plot[data-drawn]")
    drawn = visit.draws("#distill-curves")
    student = visit.page.get_by_label("Students so far")
    for run in ("example-student-text", "example-student-words"):
        student.fill(run)
        student.press("Enter")
        visit.wait_redrawn("#distill-curves", drawn)
        drawn = visit.draws("#distill-curves")
        expect(visit.page.locator("#seeds-said")).to_contain_text("One seed says little")
    expect(visit.page.locator("#seeds-figure")).not_to_have_attribute("data-waiting", re.compile("."))
    expect(visit.page.locator(".figure[data-waiting]")).to_have_count(0)


def test_a_question_that_is_answered_before_an_older_one_leaves_no_figure_marked(visit: Visit) -> None:
    """Of a list of runs that is as before nothing is drawn, and its lines are asked for while it comes."""
    visit.page.add_init_script(NEVER_BY_ITSELF)
    visit.open("finetune", "#run-curves")
    for tab, shown in (
        ("Runs", "#runs-curves .plot[data-drawn]"),
        ("GLUE", "#glue-tasks tbody tr"),
        ("Runs", "#runs-curves"),
    ):
        visit.tab(tab)
        visit.page.locator(shown).first.wait_for(state="visible")
    visit.page.wait_for_timeout(SAYS_SO)
    expect(visit.page.locator(".figure[data-waiting]")).to_have_count(0)


def test_what_ends_because_the_page_is_left_is_told_to_nobody(visit: Visit) -> None:
    told: list[str] = []
    visit.page.on("console", lambda message: told.append(message.text))
    visit.page.add_init_script("addEventListener('beforeunload', () => console.error('the stream was closed'))")
    visit.open("pairs", "#pair-figure")
    with visit.page.expect_console_message(lambda message: message.text == "heard"):
        visit.page.evaluate("console.error('heard')")
    visit.open("masking", "#fill-figure")
    assert "the stream was closed" not in told

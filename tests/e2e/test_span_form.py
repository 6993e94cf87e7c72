"""Try it for a run that finds answers in a text: its own form, the figure, and what stands in the form's place for other runs."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.e2e.visiting import Visit

ANSWERS = "example-squad"


def test_a_run_that_finds_answers_is_asked_by_a_question_and_a_text(visit: Visit) -> None:
    visit.page.goto(f"{visit.address}/finetune?run={ANSWERS}")
    expect(visit.page.locator("#run-said")).to_contain_text("SQuAD-like, bundled reaches F1")
    expect(visit.page.locator("#run-wrong")).to_contain_text("Held out")
    visit.tab("Try it")
    expect(visit.page.locator("#try-first")).to_have_count(0)
    visit.page.wait_for_selector("#span-bars .plot[data-drawn]")
    said = visit.page.locator("#span-said")
    expect(said).to_contain_text("answers “Clara Webb”")
    expect(visit.page.locator("#span-chips .chip.answer")).to_contain_text(["Clara", re.compile("^W")])
    expect(visit.page.locator("#span-list tbody tr").first).to_contain_text("Clara Webb")
    expect(visit.page.locator("#span-list tbody tr")).to_have_count(6)
    before = visit.draws("#span-bars")
    visit.page.get_by_role("button", name="when", exact=True).click()
    visit.wait_redrawn("#span-bars", before)
    expect(said).to_contain_text("1933")
    visit.page.locator("#span-question textarea").fill(" ")
    visit.page.click("#ask-span")
    expect(visit.page.locator(".notice-place .notice")).to_contain_text("The question is empty")
    visit.assert_unharmed()


def test_the_form_follows_the_chosen_run(visit: Visit) -> None:
    visit.open("finetune", "#run-curves")
    visit.tab("Try it")
    visit.page.wait_for_selector("#try-bars .plot[data-drawn]")
    expect(visit.page.locator("#span-question")).to_have_count(0)
    visit.page.locator("#run-picker input").click()
    visit.page.get_by_role("option", name=re.compile("SQuAD-like")).first.click()
    expect(visit.page.locator("#span-question")).to_be_visible()
    expect(visit.page.locator("#try-first")).to_have_count(0)
    visit.page.wait_for_selector("#span-bars .plot[data-drawn]")

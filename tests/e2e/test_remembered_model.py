"""A browser that remembers another model than the first: each page asks that one as it opens, and names whose its figures are."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Route, expect

from tests.e2e.visiting import Visit

pytestmark = pytest.mark.e2e

ALERT = ".notice-place [role=alert]"


@pytest.fixture(scope="module")
def of_gpt2(visitor: Visit) -> Visit:
    visitor.open("masking", "#fill-figure")
    visitor.choose("gpt2-mini")
    expect(visitor.page.locator(".model-card")).to_contain_text("GPT-2")
    expect(visitor.page.locator(ALERT).first).to_contain_text("gpt2-mini cannot fill masks")
    return visitor


def test_it_is_asked_as_a_page_opens(of_gpt2: Visit) -> None:
    of_gpt2.open("context", "#context-figure")
    for figure in ("#context-figure", "#plane-figure", "#pairs-figure"):
        expect(of_gpt2.page.locator(figure)).to_have_attribute("data-model", "gpt2-mini")
    of_gpt2.page.goto(f"{of_gpt2.address}/pairs")
    expect(of_gpt2.page.locator(ALERT).first).to_contain_text("gpt2-mini cannot score the next sentence")
    expect(of_gpt2.page.locator("#pair-figure")).not_to_have_attribute("data-model", "bert-small")


@pytest.mark.parametrize(
    ("address", "figure"),
    [
        ("pruning", "#orders-figure"),
        ("pruning#tab=remove", "#left-figure"),
        ("distillation#tab=losses", "#losses-figure"),
        ("attribution#tab=run", "#run-attribution-bars"),
    ],
)
def test_a_run_s_figures_are_of_the_run_s_model(of_gpt2: Visit, address: str, figure: str) -> None:
    of_gpt2.open(address, figure)
    expect(of_gpt2.page.locator(figure)).to_have_attribute("data-model", "bert-small")


def test_an_answer_that_is_read_late_takes_no_alert_away(of_gpt2: Visit) -> None:
    """The front page asks two things: the blank, which is refused, and the way up, whose long answer can be read last."""
    page, late = of_gpt2.page, list[tuple[Route, dict[str, Any]]]()

    def hold(route: Route) -> None:
        answer = route.fetch()
        if "What comes next" not in answer.text():
            return route.fulfill(response=answer)
        body = answer.json()
        body["data"][0] = ""  # what the server says if it answers this first
        return late.append((route, body))

    page.route("**/run/predict*", hold)
    page.goto(f"{of_gpt2.address}/")
    expect(page.locator(ALERT).first).to_contain_text("gpt2-mini cannot fill masks")
    while not late:
        page.wait_for_timeout(50)
    route, body = late.pop()
    with page.expect_event("requestfinished"):
        route.fulfill(status=200, content_type="application/json", body=json.dumps(body))
    page.wait_for_timeout(500)  # nothing tells when an answer that draws nothing has been taken up
    expect(page.locator(ALERT).first).to_contain_text("gpt2-mini cannot fill masks")
    page.unroute("**/run/predict*")

"""What a browser makes of the pages' policy, and the page that asks for a class's password.

That no page offends against its own policy is looked at by every visitor of these tests (`Visit`), on all pages and tabs.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from explorer.serving.class_door import ClassDoor, Entry
from explorer.serving.front_door import FrontDoor
from tests.e2e.sites import OTHER_SITES, another_site, serving
from tests.e2e.visiting import Visit

pytestmark = pytest.mark.e2e

HANDLER = """() => {
  const image = document.createElement("div");
  image.innerHTML = "<img src='data:,' onerror='window.hacked = 1'>";
  document.body.append(image);
  const script = document.createElement("script");
  script.textContent = "window.hacked = 1";
  document.body.append(script);
}"""


def test_what_comes_into_a_page_as_html_runs_nothing_and_is_noticed(visit: Visit) -> None:
    visit.open("masking", "#fill-figure")
    assert visit.errors == []
    with visit.page.expect_console_message(lambda said: "script-src" in said.text):
        visit.page.evaluate(HANDLER)
    visit.page.wait_for_timeout(100)
    assert visit.page.evaluate("window.hacked") is None
    assert any("Content Security Policy" in error for error in visit.errors)
    visit.errors.clear()


def test_a_refusal_is_read_above_the_figure_until_a_question_is_answered(visit: Visit) -> None:
    visit.open("masking", "#fill-figure")
    refusal = {"error": "Too many <b>questions</b>.", "detail": ""}
    visit.page.route("**/gradio_api/run/**", lambda route: route.fulfill(status=429, json=refusal))
    slider = visit.page.locator("input[type=range]:visible").first
    slider.press("ArrowRight")
    expect(visit.page.locator(".refused")).to_have_text("Too many <b>questions</b>.")
    with visit.page.expect_response("**/gradio_api/run/**"):
        slider.press("ArrowRight")
    expect(visit.page.get_by_role("alert")).to_have_count(1)
    visit.page.unroute("**/gradio_api/run/**")
    slider.press("ArrowRight")
    expect(visit.page.locator(".refused")).to_have_count(0)


@pytest.fixture(scope="module")
def closed() -> Iterator[str]:
    """The address of a server behind both doors."""

    async def page(request: Request) -> HTMLResponse:
        return HTMLResponse(f"<h1>inside {request.query_params}</h1>")

    entry = Entry("winter")
    doors = [
        Middleware(FrontDoor, is_lecturer=lambda key: False, entry=entry, sites=OTHER_SITES),
        Middleware(ClassDoor, entry, sites=OTHER_SITES),
    ]
    with serving(Starlette(routes=[Route("/masking", page)], middleware=doors)) as port:
        yield f"http://127.0.0.1:{port}"


def test_a_class_comes_in_by_the_keyboard(closed: str, visit: Visit) -> None:
    visit.address = closed
    visit.page.goto(f"{closed}/masking?run=r1")
    field = visit.page.get_by_label("Password of the class")
    expect(field).to_be_focused()
    visit.page.keyboard.type("summer")
    visit.page.keyboard.press("Enter")
    expect(visit.page.get_by_role("alert")).to_contain_text("not the class's password")
    expect(field).to_be_focused()
    visit.page.keyboard.type("winter")
    visit.page.keyboard.press("Enter")
    expect(visit.page.get_by_role("heading")).to_have_text("inside run=r1")


def test_in_a_frame_that_keeps_no_cookies_a_class_is_sent_to_a_tab_of_its_own(closed: str, visit: Visit) -> None:
    visit.address = closed
    with another_site(f"{closed}/masking?run=r1") as site:
        visit.page.goto(site)
        framed = visit.page.frame_locator("iframe")
        framed.get_by_label("Password of the class").fill("winter")
        framed.get_by_role("button", name="Come in").click()
        expect(framed.get_by_role("alert")).to_contain_text("keeps no cookies here")
        with visit.page.context.expect_page() as opened:
            framed.get_by_role("link", name="Open this page in a tab of its own").click()
        opened.value.get_by_label("Password of the class").fill("winter")
        opened.value.keyboard.press("Enter")
        expect(opened.value.get_by_role("heading")).to_have_text("inside run=r1")
        assert visit.outside == [site]
    visit.outside.clear()

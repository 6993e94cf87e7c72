"""Whose runs a visitor sees, what a link allows, and the list of runs, in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from gradio_client import Client
from playwright.sync_api import expect

from tests.caller import Caller
from tests.e2e.conftest import LECTURER_KEY
from tests.e2e.running import EXAMPLE, notice, own_run, wait_for_step, with_tiny_model
from tests.e2e.visiting import Visit

pytestmark = pytest.mark.e2e


def listed(visitor: Visit) -> set[str]:
    """The runs of which the tab Runs has a link."""
    visitor.tab("Runs")
    visitor.page.wait_for_selector("#runs-list a")
    links = visitor.page.locator("#runs-list a").evaluate_all(
        "(links) => links.map((link) => new URL(link.href).searchParams.get('run'))"
    )
    return set(links)


LONG_EPOCHS = 20
"""Of 480 steps each."""


@pytest.fixture(scope="module")
def somebody(server: str) -> Client:
    return Caller(server)


def start(client: Client, **asked: Any) -> str:
    """A client's run from when it has made a step; its id."""
    stream = client.submit(**asked, api_name="/train")
    next(shown for shown in stream if len(shown[-1]["data"]) > 1)
    stream.cancel()
    table = client.predict(api_name="/runs")[-1]
    return str(dict(zip(table["headers"], table["data"][0], strict=True))["run"])


class TestSomebodysRun:
    def test_another_visitor_sees_no_run_that_is_not_theirs_and_the_lecturer_all(
        self, somebody: Client, tiny_model: str, visit: Visit, visitors: Callable[[], Visit]
    ) -> None:
        run = start(somebody, model=tiny_model, examples=32, epochs=1)
        stranger, lecturer = visit, visitors()
        stranger.open("finetune", "#run-curves")
        assert EXAMPLE in listed(stranger)
        assert run not in listed(stranger)
        asked: list[str] = []
        lecturer.page.on("request", lambda request: asked.append(request.url))
        lecturer.open(f"finetune?lecturer={LECTURER_KEY}", "#run-curves")
        assert listed(lecturer) >= {run, EXAMPLE}
        assert "lecturer" not in lecturer.page.url
        assert len(asked) > 1
        assert not [url for url in asked[1:] if LECTURER_KEY in url], "the key is in an address beyond the first"
        stranger.open("finetune?lecturer=guess", "#run-curves")
        assert EXAMPLE in listed(stranger)
        assert run not in listed(stranger)

    def test_a_link_is_for_looking_not_for_stopping(self, somebody: Client, tiny_model: str, visit: Visit) -> None:
        run = start(somebody, model=tiny_model, epochs=LONG_EPOCHS, batch_size=1)
        visit.open(f"finetune?run={run}", "#run-curves")
        wait_for_step(visit, 0)
        expect(visit.page.locator("#train")).to_be_visible()
        expect(visit.page.locator("#stop")).to_have_count(0)
        visit.tab("Runs")
        visit.page.click("#delete-run")
        expect(notice(visit)).to_contain_text("not yours")
        somebody.predict(run=run, api_name="/stop_run")


def test_runs_are_listed_drawn_together_and_deleted(visit: Visit, tiny_model: str) -> None:
    with_tiny_model(visit, tiny_model)
    visit.page.get_by_role("button", name="Head only", exact=True).click()
    expect(visit.page.locator("#run-said")).to_contain_text("Head only · SST-2-like, bundled reaches")
    run = own_run(visit)
    assert {run, EXAMPLE} <= listed(visit)
    visit.page.wait_for_selector("#runs-curves .plot[data-drawn]")
    expect(visit.page.locator("#runs-curves .legend")).to_contain_text("Head only")
    visit.page.click("#delete-run")
    expect(visit.page.locator(f"#runs-list a[href*={run}]")).to_have_count(0)
    expect(visit.page.locator(f"#runs-list a[href*={EXAMPLE}]").first).to_be_visible()

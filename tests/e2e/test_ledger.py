"""The ledger along the path: filled station by station with what the endpoints say, kept, taken home and emptied."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from gradio_client import Client
from playwright.sync_api import expect

from explorer.charts.words import compact
from explorer.ledger import CELLS, ROWS
from tests.e2e.visiting import Visit

pytestmark = pytest.mark.e2e

SENTENCE = "The old violin was played by a girl from Prague in the rain."
ELECTRA = "electra-mini-discriminator"
BATCH = "8 texts of 64 tokens"


@pytest.fixture(scope="module")
def client(server: str) -> Client:
    """Asks the endpoints, as anybody may."""
    return Client(server, verbose=False)


def rows_of(client: Client, name: str, **given: Any) -> list[dict[str, Any]]:
    """The table that an endpoint returns last."""
    *_, table = client.predict(**given, api_name=f"/{name}")
    return [dict(zip(table["headers"], row, strict=True)) for row in table["data"]]


def stored(client: Client, model: str) -> str:
    return compact(
        next(row["count"] for row in rows_of(client, "count_parameters", base=model) if row["part"] == "all")
    )


def typed(visit: Visit) -> None:
    """A sentence, on the first station."""
    visit.page.goto(f"{visit.address}/")
    visit.page.wait_for_selector("#home-figure .plot[data-drawn]")
    box = visit.page.locator("#home-text textarea")
    box.fill(SENTENCE)
    box.press("Enter")
    visit.page.wait_for_function(
        "(text) => (sessionStorage.getItem('explorer-sentence') || '').includes(text)", arg=SENTENCE
    )


def been(visit: Visit, station: str) -> None:
    """Stay at a station until what belongs to it is measured."""
    visit.page.goto(f"{visit.address}/{station}")
    line = visit.page.locator(".of-ledger:visible")
    expect(line).to_contain_text("rows.")
    names = [name for name, cell in CELLS.items() if cell.to == station]
    visit.page.wait_for_function(
        "(names) => names.every((name) => (JSON.parse(sessionStorage.getItem('explorer-ledger')) || {})[name])",
        arg=names,
    )


def shown(visit: Visit) -> dict[str, str]:
    """The filled cells of the front page, without the stations."""
    visit.page.wait_for_selector("#ledger[data-shown]", state="attached")
    script = (
        "Object.fromEntries([...document.querySelectorAll('[data-cell]')].filter((one) => !one.children[0].hidden)"
        ".map((one) => [one.dataset.cell, one.children[0].firstChild.textContent]))"
    )
    found: dict[str, str] = visit.page.evaluate(script)
    return found


def test_a_walk_fills_the_ledger_with_what_the_endpoints_say(visit: Visit, client: Client) -> None:
    typed(visit)
    for station in ("masking#tab=corrupt", "models#tab=sizes", "replaced"):
        been(visit, station)
    expect(visit.page.locator(".of-ledger:visible")).to_contain_text("Your ledger: 3 of 7 rows. ELECTRA: 100.0 signals")
    visit.page.locator(".of-ledger:visible a").click()
    expect(visit.page.locator("#ledger")).to_have_attribute("open", "")
    cells = shown(visit)
    assert cells.keys() == {
        "bert.signal",
        *(f"{row}.{column}" for row in ("albert", "electra") for column in ("signal", "stored", "time")),
    }
    for row, model in (("bert", "bert-mini"), ("albert", "albert-mini")):
        drawn = rows_of(client, "corrupt", model=model, text=SENTENCE)
        taught = sum(one["fate"] != "untouched" for one in drawn)
        assert taught > 0
        assert cells[f"{row}.signal"] == f"{100 * taught / (len(drawn) - 2):.1f}"  # a special token at either end
    judged = rows_of(client, "replaced_tokens", model=ELECTRA, text=SENTENCE)
    assert all(isinstance(one["probability"], float) for one in judged)
    assert cells["electra.signal"] == "100.0"
    assert (cells["albert.stored"], cells["electra.stored"]) == (stored(client, "albert-mini"), stored(client, ELECTRA))
    assert all(float(cells[f"{row}.time"].removesuffix(" ms")) > 0 for row in ("albert", "electra"))
    expect(visit.page.locator("#ledger q")).to_have_text(SENTENCE)
    expect(visit.page.locator("#ledger")).to_contain_text(BATCH)
    expect(visit.page.locator("[data-cell='bert.stored'] a")).to_have_text("at station 4")
    visit.page.reload()
    assert shown(visit) == cells
    visit.page.locator("#ledger summary").click()
    with visit.page.expect_download() as download:
        visit.page.get_by_role("button", name="Take home as CSV").click()
    with Path(download.value.path()).open(encoding="utf-8", newline="") as file:
        saved = list(csv.DictReader(file))
    assert len(saved) == len(cells)
    assert {one["sentence"] for one in saved} == {SENTENCE, ""}
    visit.page.get_by_role("button", name="Empty it").click()
    assert shown(visit) == {}
    visit.page.reload()
    assert shown(visit) == {}


def test_another_sentence_is_another_signal_for_all_that_have_one(visit: Visit) -> None:
    visit.page.goto(f"{visit.address}/masking#tab=corrupt")
    been(visit, "masking#tab=corrupt")
    typed(visit)
    been(visit, "replaced")
    texts = visit.page.evaluate(
        "Object.values(JSON.parse(sessionStorage.getItem('explorer-ledger'))).map((cell) => cell.text).filter(Boolean)"
    )
    assert texts == [SENTENCE, SENTENCE]


def test_all_of_it_is_filled_at_once(visit: Visit, client: Client) -> None:
    visit.page.goto(f"{visit.address}/#ledger")
    expect(visit.page.locator("#ledger")).to_have_attribute("open", "")
    visit.page.get_by_role("button", name="Fill all").click()
    expect(visit.page.locator("#ledger [role=status]")).to_contain_text(f"of {len(CELLS)}…")
    expect(visit.page.locator("#ledger [role=status]")).to_have_text("")
    cells = shown(visit)
    assert cells.keys() == CELLS.keys()
    assert {name.split(".")[0] for name in cells} == ROWS.keys()
    trained = [
        sum(row["trainable"] for row in rows_of(client, "plan_run", model="bert-mini", method=method))
        for method in ("full", "lora")
    ]
    assert [cells["bert.trained"], cells["lora.trained"]] == [compact(count) for count in trained]
    *_, left = rows_of(client, "prune", model="bert-mini", share="0.5", examples=8, held_out=8)
    assert cells["pruned.stored"] == compact(left["parameters"])
    assert float(cells["pruned.time"].split()[0]) > 0
    sources = visit.page.evaluate(
        "Object.values(JSON.parse(sessionStorage.getItem('explorer-ledger'))).map((cell) => cell.source)"
    )
    assert "prune, bert-mini: the two in turns, on a batch of 16" in sources, "and not one after the other"


def test_what_takes_many_seconds_is_measured_after_a_press(visit: Visit) -> None:
    visit.page.goto(f"{visit.address}/pruning")
    line = visit.page.locator(".of-ledger:visible")
    expect(line).to_contain_text("Your ledger: 0 of 7 rows.")
    line.get_by_role("button", name="Measure it here").click()
    expect(line).to_contain_text("BERT, pruned by half: ")
    expect(line.get_by_role("button")).to_have_count(0)
    visit.page.goto(f"{visit.address}/#ledger")
    assert shown(visit).keys() == {"pruned.stored", "pruned.time"}


def test_what_cannot_be_measured_is_said(visit: Visit) -> None:
    visit.page.goto(f"{visit.address}/masking")
    body = "{ method: 'POST', body: JSON.stringify({ cell, text: '' }) }"
    asked = f"(cell) => fetch('explorer/ledger', {body}).then((one) => one.json())"
    assert visit.page.evaluate(asked, "bert.signal")["error"].startswith("Type a sentence first")
    assert visit.page.evaluate(asked, "bert.none")["error"] == "The ledger has no such cell."


def test_what_a_busy_machine_has_timed_says_so_and_is_taken_again_at_its_station(visit: Visit) -> None:
    told = {"row": "ELECTRA", "column": "time", "station": 6, "text": "", "source": "latency", "unit": "ms"}
    busy = {"electra.time": {**told, "value": 1, "said": "1 ms", "phrase": "1 ms a forward pass", "busy": True}}
    visit.page.goto(f"{visit.address}/")
    visit.page.evaluate("(cells) => sessionStorage.setItem('explorer-ledger', JSON.stringify(cells))", busy)
    visit.page.reload()
    assert shown(visit) == {"electra.time": "1 ms"}
    expect(visit.page.locator("[data-cell='electra.time'] small").first).to_have_text("busy, station 6")
    visit.page.goto(f"{visit.address}/replaced")
    visit.page.wait_for_function("JSON.parse(sessionStorage.getItem('explorer-ledger'))['electra.time'].value > 1")

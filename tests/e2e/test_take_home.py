"""A tab taken home: a report that opens without a network, and a notebook."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.folds import open_data, saved
from tests.e2e.visiting import Visit

pytestmark = pytest.mark.e2e

HOSTILE = (
    "<img src=x onerror='window.hacked=1'></script><script>window.hacked=1</script> An old [MASK] <!-- <script> played."
)
CELL_ID = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")


def taken(visit: Visit, kind: str) -> Path:
    """What the foot of the tab in view hands over."""
    with visit.page.expect_download() as download:
        visit.page.locator(f"[data-take={kind}]:visible").click()
    path = Path(download.value.path())
    return path.rename(path.with_name(f"{path.name}-{download.value.suggested_filename}"))


@pytest.fixture
def at_home(browser: Any) -> Iterator[Callable[[Path], Page]]:
    """Opens files from the disk, in a browser without a network in which nothing may go wrong."""
    context = browser.new_context(offline=True)
    wrong: list[str] = []

    def opened(file: Path) -> Page:
        page: Page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
        page.on("request", lambda asked: None if asked.url.startswith(("file:", "data:")) else wrong.append(asked.url))
        page.goto(file.as_uri())
        return page

    yield opened
    context.close()
    assert wrong == []


def typed_hostile(visit: Visit) -> Visit:
    """On the masking page, with a text in view that would be markup."""
    visit.open("masking", "#fill-figure")
    before, said = visit.draws("#fill-figure"), visit.page.locator("#fill-figure-said").first
    of_the_example = said.inner_text()
    box = visit.page.locator("textarea:visible").first
    box.fill(HOSTILE)
    box.press("Enter")
    visit.wait_redrawn("#fill-figure", before)
    expect(said).not_to_have_text(of_the_example)
    expect(visit.page).to_have_url(re.compile("text="))
    return visit


def rows_of(page: Page) -> list[list[str]]:
    """Of a report's first table, every digit."""
    read = "(row) => [...row.cells].map((one) => one.title || one.innerText)"
    rows = page.evaluate(f"[...document.querySelector('.table tbody').rows].map({read})")
    return [[str(cell) for cell in row] for row in rows]


def test_a_report_holds_what_is_in_view_and_runs_nothing_that_was_typed(
    visit: Visit, at_home: Callable[[Path], Page]
) -> None:
    typed_hostile(visit)
    sentence = visit.page.locator("#fill-figure-said").first.inner_text().strip()
    tokens = visit.page.locator("#fill-chips button.chip").all_inner_texts()
    address = visit.page.url
    report = at_home(taken(visit, "report"))
    expect(report.locator(".figure .main-svg").first).to_be_visible()
    assert report.evaluate("document.querySelector('.figure').data[0].x.length") == 5
    assert report.evaluate("window.hacked") is None
    assert report.evaluate("document.images.length") == 0
    expect(report.locator("h1")).to_have_text("Masking: Fill the blank")
    expect(report.locator("section")).to_contain_text(sentence)
    body = report.locator("body").inner_text().split()
    assert all(token.strip() in body for token in tokens if token.strip().isalpha())
    expect(report.locator(".facts")).to_contain_text(HOSTILE)
    expect(report.locator(".facts")).to_contain_text("bert-small")
    expect(report.locator(".facts a")).to_have_attribute("href", address)
    script = report.locator("pre").inner_text()
    assert "import explorer" not in script
    assert repr(HOSTILE) in script or json.dumps(HOSTILE) in script
    compile(script, "script", "exec")
    assert rows_of(report) == saved(visit, open_data(visit))[1:]


def test_a_report_is_drawn_in_the_colours_of_who_opens_it(visit: Visit, at_home: Callable[[Path], Page]) -> None:
    visit.open("masking", "#fill-figure")
    report = at_home(taken(visit, "report"))
    expect(report.locator(".figure .main-svg").first).to_be_visible()
    colour = "document.querySelector('.figure').layout.font?.color + getComputedStyle(document.querySelector('section *')).color"
    by_day = report.evaluate(colour)
    report.emulate_media(color_scheme="dark")
    report.wait_for_function(f"(before) => {colour} !== before", arg=by_day)
    report.emulate_media(color_scheme="light")
    report.wait_for_function(f"(before) => {colour} === before", arg=by_day)


def test_a_page_of_several_figures_is_taken_whole(visit: Visit, at_home: Callable[[Path], Page]) -> None:
    visit.open("directions", "#directions-figure")
    visit.page.wait_for_selector(".block.figure .plot[data-drawn]:visible >> nth=1")
    shown = visit.page.locator(".block.figure .plot[data-drawn]:visible").count()
    report = at_home(taken(visit, "report"))
    expect(report.locator(".figure .main-svg").first).to_be_visible()
    assert report.locator(".figure").count() == shown > 1
    expect(report.locator("h1")).to_have_text("Directions: One blank")
    assert rows_of(report) == saved(visit, open_data(visit))[1:]


def test_a_notebook_has_the_script_and_the_table_and_escapes_what_was_typed(visit: Visit) -> None:
    typed_hostile(visit)
    file = taken(visit, "notebook")
    assert file.name.endswith("masking.ipynb")
    notebook = json.loads(file.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    cells = notebook["cells"]
    assert len({cell["id"] for cell in cells}) == len(cells)
    for cell in cells:
        assert CELL_ID.match(cell["id"])
        assert cell.keys() == {"id", "cell_type", "metadata", "source"} | (
            {"execution_count", "outputs"} if cell["cell_type"] == "code" else set()
        )
    texts = {
        kind: ["".join(one["source"]) for one in cells if one["cell_type"] == kind] for kind in ("markdown", "code")
    }
    opening, *explained = texts["markdown"]
    assert opening.startswith("# Masking: Fill the blank")
    assert "What would BERT put in the blank?" in opening
    assert "<img" not in opening
    assert "&lt;img src=x onerror" in opening
    assert f"<{visit.page.url}>" in opening
    assert any("$$p(v" in text for text in explained)
    script, table = texts["code"]
    compile(script, "script", "exec")
    assert HOSTILE in [node.value for node in ast.walk(ast.parse(script)) if isinstance(node, ast.Constant)]
    found: dict[str, Any] = {}
    exec(compile(table, "table", "exec"), found)  # imports the standard library and nothing else
    header, *rows = saved(visit, open_data(visit))
    assert found["rows"] == [dict(zip(header, row, strict=True)) for row in rows]
    assert list(csv.reader(io.StringIO(found["TABLE"]))) == [header, *rows]


def test_where_nothing_is_computed_the_line_says_so(visit: Visit) -> None:
    visit.open("masking", "#fill-figure")
    visit.page.evaluate(
        "const take = explorerReport.take; explorerReport.take = (spec, values) => take(spec, values.map(() => null));"
        "document.querySelectorAll('.plot').forEach((one) => { one.hidden = true; });"
    )
    visit.page.locator("[data-take=report]:visible").click()
    expect(visit.page.locator(".take-home:visible [role=status]")).to_have_text("Nothing is computed here yet.")


def test_what_is_shown_a_step_at_a_time_goes_home_whole(visit: Visit, at_home: Callable[[Path], Page]) -> None:
    visit.page.goto(f"{visit.address}/pretrain")
    visit.page.wait_for_selector("#row-drawn .row-documents")
    expect(visit.page.locator(".row-step:visible")).to_have_count(1)
    page = at_home(taken(visit, "report"))
    expect(page.get_by_text("Both losses are added")).to_be_visible()
    expect(page.locator(".figure .main-svg").first).to_be_visible()
    expect(visit.page.locator(".row-step:visible")).to_have_count(1)

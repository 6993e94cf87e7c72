"""bertviz's views in a real browser: drawn offline, used, saved, and fed what nobody should type."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Frame, Page, expect

from explorer.labs.attention.page import EXAMPLES
from explorer.labs.attention.views_page import OPENING_HEAD, PARAGRAPH
from tests.e2e.hostile import HOSTILE
from tests.e2e.visiting import PATIENCE, Visit, open_tab

pytestmark = pytest.mark.e2e

VIEWS = "Head view, model view"
EXAMPLE_TOKENS = 13


def draws(visit: Visit) -> int:
    return int(visit.page.get_attribute("#view-frame .view-frame", "data-drawn") or 0)


def wait_redrawn(visit: Visit, before: int) -> None:
    script = "(n) => Number(document.querySelector('#view-frame .view-frame').dataset.drawn || 0) > n"
    visit.page.wait_for_function(script, arg=before, timeout=PATIENCE)


def inside(visit: Visit) -> Frame:
    """The sandboxed document."""
    handle = visit.page.query_selector("#view-frame iframe")
    assert handle is not None
    frame = handle.content_frame()
    assert frame is not None
    return frame


def open_views(visit: Visit) -> Frame:
    visit.page.goto(f"{visit.address}/attention")
    visit.page.wait_for_selector("#attention-figure .plot[data-drawn]")
    open_tab(visit.page, VIEWS)
    visit.page.wait_for_selector("#view-frame .view-frame[data-drawn]")
    return inside(visit)


def write(visit: Visit, first: str, second: str = "") -> None:
    """Into the boxes above the tabs, and read."""
    before = draws(visit)
    visit.page.get_by_label("Sentence B", exact=True).fill(second)
    box = visit.page.get_by_label("Sentence A", exact=True)
    box.fill(first)
    box.press("Enter")
    wait_redrawn(visit, before)


def press(visit: Visit, role: Any, name: str) -> None:
    before = draws(visit)
    visit.page.get_by_role(role, name=name, exact=True).click()
    wait_redrawn(visit, before)


def tokens_of(frame: Frame | Page, side: str) -> list[str]:
    return list(frame.locator(f"#{side} text").all_text_contents())


def assert_calm(visit: Visit, frame: Frame) -> None:
    """No script of the text ran, neither in the page nor in the document, and no element of it is there."""
    assert visit.page.evaluate("window.hacked") is None
    assert frame.evaluate("window.hacked") is None
    assert frame.locator("#bertviz img, #bertviz script, #bertviz foreignObject, #bertviz b").count() == 0


class TestViews:
    """On one page, each from where the one before it leaves it."""

    @pytest.fixture(scope="class")
    def views(self, visitor: Visit) -> Visit:
        open_views(visitor)
        return visitor

    def test_the_head_view_is_drawn_without_a_network_in_a_sandbox(self, views: Visit) -> None:
        frame = inside(views)
        assert tokens_of(frame, "left") == tokens_of(frame, "right")
        assert len(tokens_of(frame, "left")) == EXAMPLE_TOKENS
        assert frame.locator("#attention line").count() > 1000
        seen = frame.evaluate("window.explorerConfig.headVis")
        assert [head for head, on in enumerate(seen) if on] == [OPENING_HEAD], "the head that leads from it to cat"
        assert views.page.get_attribute("#view-frame iframe", "sandbox") == "allow-scripts"
        assert views.page.get_attribute("#view-frame iframe", "title") == "Attention of bert-small: layer 4, all heads"
        assert frame.evaluate("window.origin") == "null"

    def test_pointing_at_a_token_shows_its_lines_alone(self, views: Visit) -> None:
        frame = inside(views)
        frame.locator("#left > g:last-child > g").nth(3).hover()
        shown = frame.locator("#attention line[visibility=visible]")
        assert shown.count() > 50
        assert set(shown.evaluate_all("lines => lines.map(line => line.getAttribute('left-token-index'))")) == {"3"}
        lines = shown.evaluate_all("lines => lines.map(line => [line.getAttribute('y2'), line.__data__.to])")
        assert {float(y) for y, _ in lines} == {30 + 22.5 * to + 11.25 for _, to in lines}
        views.page.mouse.move(0, 0)

    def test_the_document_stays_while_its_contents_change(self, views: Visit) -> None:
        frame = inside(views)
        frame.evaluate("window.same = true")
        write(views, "Another text.")
        press(views, "radio", "Model view")
        assert frame.evaluate("window.same") is True

    def test_a_long_text_is_drawn_in_part_and_says_so(self, views: Visit) -> None:
        frame = inside(views)
        press(views, "radio", "Head view")
        press(views, "button", "A paragraph")
        expect(views.page.locator("#view-notes")).to_contain_text(re.compile(r"Weights of [\d.]+% and more are drawn"))
        assert 10_000 < frame.locator("#attention line").count() < 42_000
        press(views, "button", "Every head at once")
        assert 10_000 < frame.locator("#vis line").count() < 42_000
        height = views.page.locator("#view-frame iframe").bounding_box()
        assert height is not None
        assert height["height"] <= 600, "the document scrolls within its frame"

    def test_the_longest_text_is_drawn_too(self, views: Visit) -> None:
        frame = inside(views)
        press(views, "radio", "Head view")
        write(views, " ".join(PARAGRAPH.split()[:100] * 4))
        assert len(tokens_of(frame, "left")) > 430
        assert 10_000 < frame.locator("#attention line").count() < 48_000

    def test_everything_is_reached_from_the_keyboard(self, views: Visit) -> None:
        frame = inside(views)
        write(views, *EXAMPLES[0])
        named = "document.activeElement.getAttribute('aria-label')"
        views.page.focus("#view-frame iframe")
        views.page.keyboard.press("Tab")
        assert frame.evaluate(named) == "[CLS]: where it looks"
        views.page.keyboard.press("ArrowDown")
        assert frame.evaluate(named) == "The: where it looks"
        assert frame.locator("#attention line[visibility=visible]").count() > 50
        views.page.keyboard.press("Tab")
        assert frame.evaluate(named) == "[CLS]: who looks at it"
        views.page.keyboard.press("Tab")
        assert frame.evaluate(named).startswith("head 0")
        views.page.keyboard.press("ArrowRight")
        views.page.keyboard.press("Enter")
        assert frame.evaluate("explorerConfig.headVis.indexOf(false)") == 1

    def test_a_head_stays_alone_in_another_layer(self, views: Visit) -> None:
        frame = inside(views)
        frame.locator("#vis svg > g:last-of-type rect").nth(2).dblclick()
        assert frame.evaluate("explorerConfig.headVis.indexOf(true)") == 2
        before = draws(views)
        views.page.locator("#view-layer input[type=range]").press("ArrowRight")
        wait_redrawn(views, before)
        expect(views.page.locator("#view-notes")).to_contain_text("Layer 5, 12 heads")
        assert frame.evaluate("explorerConfig.headVis.filter(Boolean).length") == 1

    def test_the_model_view_enlarges_a_head(self, views: Visit) -> None:
        frame = inside(views)
        press(views, "radio", "Model view")
        expect(views.page.locator("#view-notes")).to_contain_text("6 layers × 12 heads")
        thumbnails = frame.locator("#vis svg > g:not(.detail) > rect:last-child")
        expect(thumbnails).to_have_count(72)
        thumbnails.nth(25).click()
        expect(frame.locator("text.detail")).to_have_text("Layer 2, Head 1")
        expect(frame.locator("text.token")).to_have_count(2 * EXAMPLE_TOKENS)
        thumbnails.nth(25).click()
        expect(frame.locator(".detail")).to_have_count(0)

    def test_a_pair_is_filtered(self, views: Visit) -> None:
        frame = inside(views)
        press(views, "radio", "Head view")
        press(views, "button", "A pair of texts")
        both = tokens_of(frame, "left")
        parts = {}
        for kind in ("A → Sentence A", "B → Sentence B", "A → Sentence B", "B → Sentence A"):
            frame.locator("#filter").select_option(label=f"Sentence {kind}")
            parts[kind[0] + kind[-1]] = (tokens_of(frame, "left"), tokens_of(frame, "right"))
        first, second = parts["AB"]
        assert first + second == both
        assert parts == {"AA": (first, first), "BB": (second, second), "AB": (first, second), "BA": (second, first)}


class TestSaving:
    """On one page, the model view last."""

    @pytest.fixture(scope="class")
    def hostile(self, visitor: Visit) -> Visit:
        open_views(visitor)
        write(visitor, " ".join(HOSTILE[:8]), HOSTILE[8])
        return visitor

    @staticmethod
    def save(visit: Visit, name: str) -> Path:
        with visit.page.expect_download() as download:
            visit.page.locator("#view-frame").get_by_role("button", name=name, exact=True).click()
        return Path(download.value.path())

    def test_the_svg_is_well_formed_and_holds_the_tokens(self, hostile: Visit) -> None:
        tree = ElementTree.fromstring(self.save(hostile, "SVG").read_text(encoding="utf-8"))
        texts = ["".join(node.itertext()) for node in tree.iter("{http://www.w3.org/2000/svg}text")]
        frame = inside(hostile)
        assert texts == [*tokens_of(frame, "left"), *tokens_of(frame, "right")]
        assert not list(tree.iter("{http://www.w3.org/2000/svg}script"))

    def test_the_png_is_an_image_of_some_size(self, hostile: Visit) -> None:
        content = self.save(hostile, "PNG").read_bytes()
        assert content.startswith(b"\x89PNG")
        assert int.from_bytes(content[16:20], "big") > 500
        assert len(content) > 20_000

    @pytest.mark.parametrize("view", ["Head view", "Model view"])
    def test_the_saved_document_opens_from_a_disk(
        self, hostile: Visit, browser: Any, tmp_path: Path, view: str
    ) -> None:
        if view == "Model view":
            press(hostile, "radio", view)
        file = tmp_path / "saved.html"
        file.write_bytes(self.save(hostile, "Download HTML").read_bytes())
        context = browser.new_context(offline=True)
        page = context.new_page()
        alone = Visit(page, "file://")
        page.goto(file.as_uri())
        expect(page.locator("h1")).to_contain_text("Attention of bert-small")
        expect(page.locator("#vis line").first).to_be_attached()
        if view == "Head view":
            assert len(tokens_of(page, "left")) == len(tokens_of(inside(hostile), "left"))
        else:
            expect(page.locator("#vis svg > g:not(.detail) > rect:last-child")).to_have_count(72)
        page.locator("#filter").select_option(label="Sentence B → Sentence B")
        assert page.evaluate("window.hacked") is None
        assert page.locator("#bertviz img").count() == 0
        context.close()
        alone.assert_unharmed()


class TestAnotherModel:
    """On one page, which ends in the dark with a model of four heads: in them a text is drawn quicker."""

    def test_it_follows_light_and_dark_and_another_model(self, visitor: Visit, tiny_model: str) -> None:
        frame = open_views(visitor)
        before = draws(visitor)
        visitor.page.evaluate("document.body.classList.toggle('dark')")
        wait_redrawn(visitor, before)
        assert frame.evaluate("document.documentElement.className") == "dark"
        assert frame.evaluate("getComputedStyle(document.querySelector('#left text')).fill") != "rgb(0, 0, 0)"
        before = draws(visitor)
        visitor.choose(tiny_model)
        wait_redrawn(visitor, before)
        expect(visitor.page.locator("#view-notes")).to_contain_text("Layer 0, 2 heads")

    def test_no_text_runs_or_breaks_a_view(self, visitor: Visit) -> None:
        frame = inside(visitor)
        for text in (*HOSTILE, " ".join(HOSTILE)):
            write(visitor, text, "a second " + text)
            assert len(tokens_of(frame, "left")) >= 4, text
            assert_calm(visitor, frame)
        press(visitor, "radio", "Model view")
        expect(visitor.page.locator("#view-notes")).to_contain_text("layers ×")
        frame.locator("#vis svg > g:not(.detail) > rect:last-child").first.click()
        expect(frame.locator("text.token").first).to_be_attached()
        assert_calm(visitor, frame)

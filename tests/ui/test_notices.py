"""A refusal stays until a question that was asked after it is answered."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import gradio as gr
from starlette.requests import Request

from explorer.serving.notices import ACTION, TOLD, Notice, NoticingPages
from explorer.serving.sessions import VisitorState
from explorer.ui.components import notice_place
from tests import loops
from tests.rows import each_row

SKIPPED = gr.skip()
REFUSED = '<div class="notice" role="alert">Write a text.</div>'


class Asking:
    """A page with a figure drawn by a stream and one drawn at once, for a visitor."""

    def __init__(self) -> None:
        self.first_result = asyncio.Event()
        with NoticingPages() as self.pages:
            notice, streamed, drawn = notice_place(), gr.Textbox(), gr.Textbox()
            text = gr.Textbox()

            async def stream(text: str) -> AsyncIterator[list[str]]:
                await self.first_result.wait()
                yield ["", text]

            async def draw(text: str) -> list[str]:
                return ["", text] if text else [REFUSED, ""]

            async def follow(text: str) -> list[str]:
                return ["", text]

            setattr(draw, ACTION, "draw")
            setattr(follow, ACTION, "follow")
            self.events = {
                "follow": text.change(follow, [text], [notice, drawn], queue=False),
                "stream": text.change(stream, [text], [notice, streamed]),
                "draw": text.change(draw, [text], [notice, drawn], queue=False),
            }
        self.filled = ",".join(str(component._id) for component in (notice, drawn))
        self.state = VisitorState(self.pages)

    def told(self, number: int) -> str:
        """What the page shows of a refusal: its number, and what the refused question would have filled."""
        return f'<div class="notice" role="alert" data-told="{number}" data-by="{self.filled}">Write a text.</div>'

    async def notice(self, name: str, text: str, state: VisitorState | None = None, shown: str | None = None) -> Any:
        """What an event says where the notice stands. shown: the alert that the page says it showed."""
        headers = [] if shown is None else [(TOLD.encode(), shown.encode())]
        request = gr.Request(Request({"type": "http", "headers": headers, "query_string": b"", "path": "/"}))
        answer = await self.pages.process_api(self.events[name]["id"], [text], state or self.state, request)
        return answer["data"][0]


def test_an_answer_asked_before_a_refusal_leaves_it_and_one_asked_since_takes_it_away() -> None:
    async def ask() -> None:
        page = Asking()
        earlier = asyncio.create_task(page.notice("stream", "a"))
        await asyncio.sleep(0.02)
        assert await page.notice("draw", "") == page.told(1)
        page.first_result.set()
        assert await earlier == SKIPPED
        assert await page.notice("stream", "b") == "", "asked since"
        assert await page.notice("stream", "c") == "", "nothing stands there"

    loops.run(ask())


def test_what_a_page_asked_before_it_showed_a_refusal_leaves_it_though_it_came_later() -> None:
    async def ask() -> None:
        page = Asking()
        page.first_result.set()
        assert await page.notice("draw", "", shown="0") == page.told(1)
        assert await page.notice("stream", "a", shown="0") == SKIPPED, "the refusal was on its way"
        assert await page.notice("stream", "b", shown="1") == ""
        assert await page.notice("draw", "", shown="1") == page.told(2)
        assert await page.notice("stream", "c", shown="1") == SKIPPED
        assert await page.notice("draw", "d", shown="1") == "", "the same action is all right now"
        for nonsense in ("-1", "two", "", "²"):
            assert await page.notice("draw", "", shown="0") != ""
            assert await page.notice("stream", "e", shown=nonsense) == "", "as of a client that tells nothing"

    loops.run(ask())


@each_row(
    ("by", "asked", "gone"),
    [((1, 2), 2, True), ((1, 2), 0.5, False), ((1, 3), 2, False), ((1, 3), 3.5, True)],
)
def test_a_refusal_asked_at_1_and_given_at_3_goes(by: tuple[int, ...], asked: float, gone: bool) -> None:
    """A text mended while it was being refused: the same action's next answer tells that all is well."""
    assert Notice((1, 2), asked=1, given=3).out_of_date(by, asked) is gone


def test_another_action_that_fills_the_same_leaves_a_refusal_that_its_page_did_not_show() -> None:
    """The page asks by itself how a student stands, just after Train was pressed and before its refusal has come."""
    refusal = Notice((1, 2), asked=1, given=3, number=1, action="distill")
    assert refusal.out_of_date((1, 2), 2, 0, "distill")
    assert not refusal.out_of_date((1, 2), 2, 0, "follow_student")
    assert refusal.out_of_date((1, 2), 4, 1, "follow_student")

    async def ask() -> None:
        page = Asking()
        assert await page.notice("draw", "", shown="0") == page.told(1)
        assert await page.notice("follow", "a", shown="0") == SKIPPED
        assert await page.notice("draw", "b", shown="0") == ""

    loops.run(ask())


def test_visitors_have_notices_of_their_own() -> None:
    async def ask() -> None:
        page = Asking()
        other = VisitorState(page.pages)
        earlier = asyncio.create_task(page.notice("stream", "a", other))
        await asyncio.sleep(0.02)
        assert await page.notice("draw", "") == page.told(1)
        page.first_result.set()
        assert await earlier == ""

    loops.run(ask())

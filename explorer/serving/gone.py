"""Ends the computation of an answer when a script closes its stream, so that others get its place.

Gradio 6.31 notices such an end, and may leave the question where it is all the same: its clean-up can be cancelled with
the stream at its first `await`, and a question in work is looked at only between two results. Forty questions whose
askers had gone were computed to the end, with everybody else waiting behind them. For a browser's page, whose questions
share one stream, Gradio watches a heartbeat.
"""

from __future__ import annotations

import asyncio
import re

from starlette.types import ASGIApp, Message, Receive, Scope, Send

CALL = re.compile(r"/gradio_api/call/(?:v2/)?[^/]+/([^/]+)")
MARK = "<gradio-sep>"
"""The separator between a task's name and its event, as in gradio.utils.set_task_name."""


class Gone:
    """ASGI middleware that takes such questions back."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request on, and if an answer's stream ends before the answer does, take its question back."""
        found = CALL.fullmatch(scope["path"]) if scope["type"] == "http" and scope["method"] == "GET" else None
        if found is None:
            await self.app(scope, receive, send)
            return
        is_whole = False

        async def noting(message: Message) -> None:
            nonlocal is_whole
            is_whole = message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        try:
            await self.app(scope, receive, noting)
        finally:
            if not is_whole:
                # Shielded: this request's task is being cancelled itself.
                await asyncio.shield(_take_back(scope, found[1]))


async def _take_back(scope: Scope, event: str) -> None:
    """Cancel the tasks that work on an event, and remove it from the queue."""
    for task in asyncio.all_tasks():
        if task.get_name().endswith(MARK + event):
            task.cancel()
    await scope["app"].get_blocks()._queue.clean_events(session_hash=event, event_id=event)

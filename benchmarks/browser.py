"""Asks a server as a class's browsers do: connections stay open, and an answer is read to its end.

By aiohttp, a question of which takes 1.0 ms of the two cores that the server has as well; one of httpx takes 3.5, more than
half of what the server itself spends on it besides the model.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

FAILURES = (aiohttp.ClientError, TimeoutError, RuntimeError)
"""What a question that gets no answer raises."""


class Browser:
    """The browsers of a class at one address. Every call raises for an answer that is an error."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    async def post(self, path: str, data: Any, headers: Mapping[str, str] | None = None) -> Any:
        """Send JSON and return the answer's."""
        async with self._session.post(path, json=data, headers=headers) as answer:
            return await answer.json()

    async def get(
        self, path: str, params: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None
    ) -> Any:
        """Return the answer's JSON."""
        async with self._session.get(path, params=params, headers=headers) as answer:
            return await answer.json()

    async def text(self, path: str) -> str:
        """Return a page, or a stream of messages once it has ended."""
        async with self._session.get(path) as answer:
            return await answer.text()


@asynccontextmanager
async def browsers(address: str, longest: float, kept_open: float = 15.0) -> AsyncIterator[Browser]:
    """Open as many browsers as ask. longest: seconds that a question may take. kept_open: seconds for which an idle
    connection is used again.
    """
    async with aiohttp.ClientSession(
        address,
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=kept_open),
        timeout=aiohttp.ClientTimeout(total=longest),
        raise_for_status=True,
    ) as session:
        yield Browser(session)

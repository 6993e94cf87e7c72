"""What is between browsers and a server: a line that can go silent, as a lost network does, and break."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any

PIECE = 65_536


class Line:
    """Passes bytes between this machine's port `port` and `server_port`. Its methods may be called from any thread."""

    def __init__(self, server_port: int) -> None:
        self.port, self._server_port = 0, server_port
        self._loop = asyncio.new_event_loop()
        self._open = asyncio.Event()
        self._ends: set[asyncio.StreamWriter] = set()

    def go_silent(self) -> None:
        """Nothing arrives any more on either side, and nobody is told."""
        self._do(self._silence())

    def come_back(self) -> None:
        """All connections of before are broken; new ones work."""
        self._do(self._renew())

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _silence(self) -> None:
        self._open.clear()

    async def _renew(self) -> None:
        for end in self._ends:
            end.transport.abort()
        self._ends.clear()
        self._open.set()

    async def _start(self) -> None:
        self._open.set()
        server = await asyncio.start_server(self._connect, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]

    async def _stop(self) -> None:
        passing = asyncio.all_tasks() - {asyncio.current_task()}
        for task in passing:
            task.cancel()
        await asyncio.gather(*passing, return_exceptions=True)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # cancelled as the line ends, it must not say so: asyncio's streams would log that as an error
        with suppress(OSError, asyncio.CancelledError):
            await self._open.wait()
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._server_port)
            self._ends |= {writer, far_writer}
            await asyncio.gather(self._pass(reader, far_writer), self._pass(far_reader, writer))
            self._ends -= {writer, far_writer}

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while piece := await reader.read(PIECE):
                await self._open.wait()
                writer.write(piece)
                await writer.drain()
        writer.close()


@contextmanager
def line_to(address: str) -> Iterator[Line]:
    """A line to a server of this machine, such as http://127.0.0.1:7860."""
    line = Line(int(address.rpartition(":")[2].strip("/")))
    thread = threading.Thread(target=line._loop.run_forever, daemon=True)
    thread.start()
    line._do(line._start())
    try:
        yield line
    finally:
        line._do(line._stop())
        line._loop.call_soon_threadsafe(line._loop.stop)
        thread.join()

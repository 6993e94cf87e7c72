"""Where a test's servers listen."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gradio as gr


def free_port() -> int:
    """A port of this machine that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(app: gr.Blocks, **options: Any) -> Iterator[str]:
    """The address of an app in this process, while it is served.

    Without a port Gradio takes the first free one after 7860. Two of the suite's processes may find the same, and the one that
    comes second tries the next, which a server that also serves assistants cannot: its sessions are opened once.
    """
    given = {"server_name": "127.0.0.1", "server_port": free_port(), "prevent_thread_lock": True, "quiet": True}
    yield app.launch(**{**given, **options})[1]
    app.close()

"""How the server starts, keeps its connections, and ends: settings for which Gradio 6.31 has no option."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from contextlib import suppress
from typing import Any

import gradio as gr

from explorer.runs.cpu_share import LEAVING

KEPT_OPEN = 320
"""Seconds for which an idle connection stays open: longer than browsers keep one (Chromium 300, Firefox 115), so that
the server closes none just as its visitor asks again. Uvicorn closes them after 5.
"""

LAST_WORDS = 1
"""Seconds that answers under way have when the server ends."""

CHECKPOINT_SECONDS = 3.0
"""Seconds that the end waits for runs that train."""

END_SECONDS = 4.5
"""Seconds after which the process ends, whatever still runs in it: `docker stop` kills after 10, others sooner."""


def install() -> None:
    """Have Gradio start its server as ours, and trust that server that it answers."""
    from gradio import http_server, networking
    from gradio.exceptions import ServerFailedToStartError

    # Gradio gives its server 5 s to begin.
    class PatientServer(
        http_server.Server
    ):  # here, since the module reads GRADIO_SERVER_PORT before we could complain of it
        """Uvicorn's, which keeps connections open and may take its time to begin."""

        def __init__(self, config: Any, *given: Any, **named: Any) -> None:
            config.timeout_keep_alive, config.timeout_graceful_shutdown = KEPT_OPEN, LAST_WORDS
            super().__init__(config, *given, **named)

        def run_in_thread(self) -> None:
            """Start as Gradio does; raises only if the thread has ended, as it does if another program has the port."""
            try:
                super().run_in_thread()  # type: ignore[no-untyped-call]
            except ServerFailedToStartError:
                while self.thread.is_alive() and not self.started:
                    time.sleep(0.01)
                if not self.started:
                    raise

    http_server.Server = PatientServer  # type: ignore[misc]
    # Gradio asks its own first page, once and for 3 s, and gives up with "a shareable link must be created": a busy
    # machine needs longer.
    networking.url_ok = lambda url: True
    _open_many()


def _open_many() -> None:
    """Let the process have as many connections as its system allows: two hundred browsers keep six open each."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def serve_until_told(app: gr.Blocks) -> None:
    """Serve until the process is told to end, by SIGTERM or Ctrl-C; then keep what trains, close the server, and leave."""
    told = threading.Event()
    for one in (signal.SIGTERM, signal.SIGINT):
        signal.signal(one, lambda *_: told.set())
    while not told.wait(1):  # not for ever: Windows hears no signal while a lock is waited for
        pass
    for one in (signal.SIGTERM, signal.SIGINT):
        signal.signal(one, signal.SIG_DFL)  # a second signal ends the process at once
    last = threading.Timer(END_SECONDS, os._exit, [0])
    last.daemon = True
    last.start()
    print("Ending: what trains writes a checkpoint first.", flush=True)
    LEAVING.begin(CHECKPOINT_SECONDS)
    app.close(verbose=False)
    sys.exit(0)

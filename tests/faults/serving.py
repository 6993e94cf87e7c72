"""The app in a process of its own that can be killed and started again on the same folder."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path

from explorer.settings import ROOT
from tests.ports import free_port

PATIENCE = 300.0
"""Seconds: far more than anything here takes, so that a busy machine fails no test."""


def environment(data: Path, **more: str) -> dict[str, str]:
    """What a process needs to keep its runs in `data` and to ask no network."""
    return os.environ | {"EXPLORER_DATA": str(data), "HF_HUB_OFFLINE": "1", "NO_PROXY": "127.0.0.1", **more}


def until(condition: Callable[[], bool]) -> None:
    """Wait for something that another process does."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


class Server:
    """`python app.py` on a free port, of this repository or of another folder. before: a command that starts it."""

    def __init__(self, data: Path, log: Path, folder: Path = ROOT, before: Sequence[str] = ()) -> None:
        port = free_port()
        self.address = f"http://127.0.0.1:{port}"
        with log.open("ab") as out:
            self.process = subprocess.Popen(
                [*before, sys.executable, "app.py"],
                cwd=folder,
                env=environment(data, GRADIO_SERVER_PORT=str(port), GRADIO_SERVER_NAME="127.0.0.1"),
                stdout=out,
                stderr=out,
            )
        until(self._answers)

    def _answers(self) -> bool:
        assert self.process.poll() is None, "the server did not start"
        try:
            urllib.request.urlopen(self.address, timeout=5).read()
        except OSError:
            return False
        return True

    def kill(self) -> None:
        """By SIGKILL: nothing is told to it, nothing is written any more."""
        self.process.kill()
        self.process.wait(PATIENCE)

"""Start a server in a process of its own and wait for its first page."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@contextmanager
def served(*command: str) -> Iterator[tuple[str, float]]:
    """Run `python COMMAND` with a free port; yields its address and the seconds from start to first page."""
    began = time.perf_counter()
    with listening(*command) as (address, _):
        yield address, time.perf_counter() - began


@contextmanager
def listening(*command: str) -> Iterator[tuple[str, int]]:
    """The same; yields the address, once the first page has come, and the process's id."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = os.environ | {"GRADIO_SERVER_PORT": str(port), "HF_HUB_OFFLINE": "1", "GRADIO_ANALYTICS_ENABLED": "0"}
    process = subprocess.Popen(
        [sys.executable, *command], cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        address = f"http://127.0.0.1:{port}/"
        while True:
            try:
                urllib.request.urlopen(address, timeout=30).read()
                break
            except OSError:
                if process.poll() is not None:
                    raise RuntimeError(f"{command} ended with {process.returncode}") from None
                time.sleep(0.01)
        yield address, process.pid
    finally:
        process.terminate()
        process.wait()

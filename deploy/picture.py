"""Makes the README's picture, and the one that a link to the app shows, from the running app: `make picture`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from urllib.error import URLError
from urllib.request import urlopen

from playwright.sync_api import sync_playwright

from explorer.settings import ROOT

PORT = 7899
LONGEST = 120
"""Seconds in which the app has to answer."""

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser")

WIDTH, HEIGHT = 1440, 900
PICTURES = {"screenshot.png": (0, HEIGHT), "picture.png": (144, 756)}
"""What is cut out of the page: from which line on, and how many. The second has the shape that readers of links like."""


def main() -> None:
    """Start the app with nothing remembered, open its first page, and save what is seen."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "EXPLORER_DATA": folder, "GRADIO_SERVER_PORT": str(PORT)}
        app = subprocess.Popen([sys.executable, str(ROOT / "app.py")], env=environment)
        try:
            _wait()
            _take()
        finally:
            app.terminate()
            app.wait()


def _wait() -> None:
    until = time.monotonic() + LONGEST
    while time.monotonic() < until:
        try:
            with urlopen(f"http://127.0.0.1:{PORT}/"):
                return
        except URLError:
            time.sleep(1)
    raise SystemExit("the app did not start")


def _take() -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=next(filter(None, map(shutil.which, BROWSERS))))
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.emulate_media(reduced_motion="reduce")
        page.goto(f"http://127.0.0.1:{PORT}/")
        page.wait_for_selector("#home-figure .plot[data-drawn]")
        page.wait_for_timeout(500)  # typefaces, and the last layout
        for name, (top, height) in PICTURES.items():
            page.screenshot(path=ROOT / "assets" / name, clip={"x": 0, "y": top, "width": WIDTH, "height": height})
        browser.close()


if __name__ == "__main__":
    main()

"""What a browser fetches for its first page, and how long after the HTML the figure is drawn.

Beside it the same app with Gradio's and Plotly's files as they come, which is what a machine without npm serves.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from statistics import median

from playwright.sync_api import Browser, BrowserContext, Request, sync_playwright

from benchmarks.serving import listening

VISITS = 7
PLAIN = "import explorer.serving.frontend as frontend; frontend.MADE = (); import app; app.main()"
DRAWN = "#{} .plot[data-drawn]"


@dataclass(frozen=True)
class View:
    """Of one page: requests, bytes that came, seconds from the HTML's last byte to the figure."""

    requests: int
    size: int
    seconds: float

    def __str__(self) -> str:
        return f"{self.requests} requests, {self.size / 1e6:.2f} MB, figure {self.seconds:.2f} s after the HTML"


def _view(context: BrowserContext, address: str, figure: str) -> View:
    """Open a page and wait for its figure; what comes in the second after that belongs to it."""
    page = context.new_page()
    ended: list[Request] = []
    page.on("requestfinished", lambda request: ended.append(request))
    page.goto(address, wait_until="commit")
    page.wait_for_selector(DRAWN.format(figure), timeout=120_000)
    seconds = page.evaluate("(performance.now() - performance.getEntriesByType('navigation')[0].responseEnd) / 1000")
    time.sleep(1)
    size = sum(request.sizes()["responseBodySize"] for request in ended)
    view = View(len(ended), size, seconds)
    page.close()
    return view


def _views(browser: Browser, address: str) -> tuple[View, View]:
    """The first page of a browser that has nothing, and its second."""
    context = browser.new_context(viewport={"width": 1024, "height": 768})
    first = _view(context, f"{address}masking", "fill-figure")
    second = _view(context, f"{address}pairs", "pair-figure")
    context.close()
    return first, second


def _typical(views: list[View]) -> View:
    return View(
        round(median(view.requests for view in views)),
        round(median(view.size for view in views)),
        median(view.seconds for view in views),
    )


def measure() -> str:
    """Visits to both, alternating; what is asked is known to the server by then."""
    joined, plain = [], []
    with (
        sync_playwright() as driver,
        listening("app.py") as (ours, _),
        listening("-c", PLAIN) as (theirs, _),
    ):
        browser = driver.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"])
        for visit in range(VISITS + 1):
            pair = _views(browser, ours), _views(browser, theirs)
            if visit:  # the first one loads models
                joined.append(pair[0])
                plain.append(pair[1])
        browser.close()
    first, second = (_typical([views[page] for views in joined]) for page in (0, 1))
    whole, later = (_typical([views[page] for views in plain]) for page in (0, 1))
    return (
        f"first view of /masking, cold: {first} (wanted: at most 40, 1.2 MB, 2 s)\n"
        f"  with Gradio's own files: {whole}; ours in {first.seconds / whole.seconds:.2f} of the time\n"
        f"  /pairs after it: {second}, with Gradio's own files {later}"
    )

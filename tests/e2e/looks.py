"""What is looked at on every tab: that it is computed and whole, keeps nobody out, and fits every screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import axe_playwright_python

from tests.e2e.visiting import SIZES, TWO_FRAMES, width_of

LEAST = 12
"""Pixels of height from which an empty figure is seen as a hole."""

SAYS_SO = 400
"""Milliseconds after which a figure that is computed says so, which it does after 300."""

STANDS = """(least) => {
  const seen = (one) => one.checkVisibility({ visibilityProperty: true });
  const named = (one) => one.id || one.className;
  const figures = [...document.querySelectorAll(".block.figure")].filter(seen);
  const busy = figures.filter((one) => one.dataset.waiting || one.dataset.awaited !== undefined);
  const stops = [...document.querySelectorAll("button.stop")].filter(seen).map((one) => one.textContent.trim())
    .filter((name) => name.startsWith("Stop"));
  if (busy.length) return null;
  return {
    notices: [...document.querySelectorAll(".notice")].filter(seen).map((one) => one.textContent.trim()),
    stops,
    holes: figures.filter((one) => !one.querySelector(".plot:not([hidden])") && one.clientHeight > least).map(named),
  };
}"""
"""What stands on the tab once its figures are there; null before that."""

NOTHING: dict[str, list[str]] = {"notices": [], "stops": [], "holes": []}

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")

EVERY_RULE = {"rules": {"label-content-name-mismatch": {"enabled": True}}}
"""Of those that axe runs by itself, and one that it has to be asked for."""

CONTRAST = {"runOnly": ["color-contrast"]}
"""What differs between light and dark."""

STILL = "*, *::before, *::after { transition: none !important; animation: none !important; }"
"""A colour on its way from light to dark is neither."""

FINDINGS = """async ([options, whole]) => {
  const unseen = [...document.querySelectorAll("[role=tabpanel]")].filter((panel) => !panel.checkVisibility());
  const away = [...document.querySelectorAll(".plot svg"), ...unseen.flatMap((panel) => [...panel.children])]
    .map((one) => [one, document.createComment("")]);
  away.forEach(([one, place]) => one.replaceWith(place));  // axe reads it all, which takes longer than the rest
  try {
    return (await axe.run(
      {  // what is around the tabs is the same for all of them
        ...(whole ? {} : {include: [...document.querySelectorAll("[role=tabpanel]")].filter((panel) => panel.offsetParent)}),
        exclude: [[".plot svg"]],  // to a screen reader a figure is one image
      },
      {resultTypes: ["violations"], selectors: false, ...options},
    )).violations
    .filter((rule) => rule.impact !== "minor")
    .flatMap((rule) => rule.nodes.map((node) => [rule.id, node.html.slice(0, 200), node.failureSummary]));
  } finally {
    away.reverse().forEach(([one, place]) => place.replaceWith(one));
  }
}"""

NAMED_TWICE = """() => {
  const meant = [...document.querySelectorAll("[aria-labelledby], [aria-describedby], [aria-controls], [for]")].flatMap((one) =>
    ["aria-labelledby", "aria-describedby", "aria-controls", "for"].flatMap((name) => (one.getAttribute(name) || "").split(" ")));
  return [...new Set(meant)].filter((id) => id && document.querySelectorAll(`[id=${CSS.escape(id)}]`).length > 1);
}"""
"""The names by which parts of the page mean one another, and which two have: axe sees them on one tab only."""

OTHER_COLOURS = """async () => {
  const { react } = window.Plotly || {};
  const stands = (frame) => frame.on && !frame.checkVisibility();  // one that is drawn for the first time is not left out
  if (react) window.Plotly.react = (frame, ...rest) => stands(frame) ? Promise.resolve() : react(frame, ...rest);
  document.body.classList.toggle("dark");
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  if (react) window.Plotly.react = react;
}"""
"""From light to dark or back; drawn figures that nobody sees keep theirs, which saves half of what a page's last tabs take."""

SEES = """(selector) => {
  window.seen = false;
  new MutationObserver(() => { window.seen ||= Boolean(document.querySelector(selector)?.checkVisibility()); })
    .observe(document, { childList: true, subtree: true, attributes: true });
}"""
"""Notes in `window.seen` that an element stood there, were it for a moment: a tiny model answers within one look."""

BEGINS = """new MutationObserver(() => {
  window.began ||= [...document.querySelectorAll("progress")].some((bar) => bar.offsetParent);
}).observe(document, { childList: true, subtree: true });"""
"""Notes in `window.began` that work of some length was on its way, were it for a moment."""

SETTLED = """() => new Promise((done) => {
  const size = () => [document.documentElement.scrollWidth, document.documentElement.scrollHeight].join();
  const look = (last, same) => (same > 20 ? done() : requestAnimationFrame(() => look(size(), size() === last ? same + 1 : 0)));
  look("", 0);
})"""
"""What was unfolded has its size: the same for twenty frames."""

BEGINS_AT = """(answers) => {
  const seen = [...document.querySelectorAll(answers)].filter((one) => one.checkVisibility({ visibilityProperty: true }))
    .filter((one) => one.textContent.trim() || one.firstElementChild).map((one) => one.getBoundingClientRect());
  return Math.min(...seen.filter((box) => box.height).map((box) => box.top + scrollY));
}"""
"""How far down the first of some answers begins."""

SETTINGS = """(open) => document.querySelectorAll(`.settings-fold[aria-expanded=${!open}]`).forEach((button) => button.click())"""
"""Opens, or closes, what a phone keeps behind a button."""

UNFOLD = """async () => {
  const laid_out = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const folded = () => [...document.querySelectorAll("[role=tabpanel] button.label-wrap:not(.open)")]
    .filter((one) => one.checkVisibility());
  for (let some = folded(); some.length; some = folded()) {
    some.forEach((one) => one.click());
    await laid_out();
  }
}"""
"""Opens all that is folded on the tab in view, and what lies folded in that."""


def what_stands(page: Any) -> dict[str, list[str]]:
    """On the tab that was just opened."""
    page.wait_for_timeout(SAYS_SO)
    stands: dict[str, list[str]] = page.wait_for_function(STANDS, arg=LEAST, polling=200).json_value()
    return stands


class Looked(NamedTuple):
    """What was seen of a tab on all three screens."""

    begins: float
    """How far down a phone's visitor finds the tab's sentence, its figure, or whatever else is its answer."""
    found: list[list[str]]
    """What keeps somebody out on a laptop, in these colours and in the other ones."""
    wide: dict[int, float]
    """The screens beyond whose sides something reaches, each with how far."""


def look_over(page: Any, answer: str, whole: bool, unfolded: bool) -> Looked:
    """Look at a tab on each screen once, since each is another layout of all that is drawn; the window ends as it was.

    unfolded: everything is opened before it is measured, which takes the phone a second time.
    """
    laptop, phone = SIZES[0], SIZES[-1]
    before, wide = page.viewport_size, {}
    resize(page, *phone)
    page.evaluate(TWO_FRAMES)  # the first of which folds the settings
    page.evaluate(SETTINGS, False)
    begins = float(page.evaluate(BEGINS_AT, f".said, .plot, {answer}"))
    if not unfolded:
        wide[phone[0]] = _reaches(page)
    resize(page, *laptop)
    found = findings(page, whole)
    if unfolded:
        unfold(page)
    wide[laptop[0]] = _reaches(page)
    for width, height in SIZES[:0:-1]:
        if width not in wide:
            resize(page, width, height)
            wide[width] = _reaches(page)
    if page.viewport_size != before:
        resize(page, before["width"], before["height"])
    return Looked(begins, found, _beyond(wide))


def findings(page: Any, whole: bool) -> list[list[str]]:
    """What keeps somebody out, in these colours and in the other ones, which stay."""
    found: list[list[str]] = page.evaluate(FINDINGS, [EVERY_RULE, whole])
    page.evaluate(OTHER_COLOURS)
    return found + page.evaluate(FINDINGS, [CONTRAST, whole])


def resize(page: Any, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.evaluate(TWO_FRAMES)


def unfold(page: Any) -> None:
    """Everything on the tab in view."""
    page.evaluate(SETTINGS, True)
    page.evaluate(UNFOLD)
    page.evaluate(SETTLED)


def too_wide(page: Any) -> dict[int, float]:
    """The screen as it is, with how far something reaches, if that is beyond its side."""
    return _beyond({page.viewport_size["width"]: _reaches(page)})


def _reaches(page: Any) -> float:
    page.evaluate(TWO_FRAMES)
    page.evaluate(SETTINGS, True)
    return width_of(page)


def _beyond(reached: dict[int, float]) -> dict[int, float]:
    return {width: reaches for width, reaches in reached.items() if reaches > width}

// Present: what is shown and nothing else, large enough for the last row. P turns it on, Escape off; Right goes on to the question
// that the tab leaves open, or to the lesson's next step, Left back. `present=1` in a page's address opens it so.
window.explorerPresent = (() => {
  const on = () => document.body?.classList.contains("present");

  function turn(present) {
    document.body.classList.toggle("present", present);
    window.explorerAddress.write();
    if (present) scrollTo(0, 0);
  }

  const types = (element) => element.closest?.("input:not([type=range], [type=radio], [type=checkbox]), textarea, select, [contenteditable], dialog[open]");

  function follow() {
    if (window.explorerLesson.on()) return window.explorerLesson.turn(1);
    const link = [...document.querySelectorAll(".foot .lead a")].find((one) => one.offsetParent);
    if (!link) return;
    const to = new URL(link.href);
    const parts = new URLSearchParams(to.hash.slice(1));
    parts.set("present", "1");
    location.assign(`${to.pathname}${to.search}#${parts}`);
  }

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || types(event.target)) return;
    if (event.key.toLowerCase() === "p") turn(!on());
    else if (!on()) return;
    else if (event.key === "Escape") turn(false);
    else if (event.target.closest?.("[role=tab], .chips, input")) return;  // which have arrows of their own
    else if (event.key === "ArrowRight") follow();
    else if (event.key === "ArrowLeft" && window.explorerLesson.on()) window.explorerLesson.turn(-1);
    else if (event.key === "ArrowLeft") history.back();
    else return;
    event.preventDefault();
  });

  // Before anything is computed, so that a lecture goes from page to page without a flicker, and Escape is heard at once.
  if (new URLSearchParams(location.hash.slice(1)).get("present") === "1") document.body.classList.add("present");

  return { on };
})();

// What is larger than its place scrolls there, and is then a stop for Tab with a name, so that the arrows move it too.
(() => {
  const SCROLLS = ".cm-scroller, .wide, .way-stack, .aligned, .losses-list, .held-out, .beside > *";
  const NAME = "Larger than its place: the arrow keys scroll it";

  function look(part) {
    const { overflowX, overflowY } = getComputedStyle(part);
    const moves = (overflow, whole, seen) => ["auto", "scroll"].includes(overflow) && whole > seen + 1;
    const scrolls = moves(overflowX, part.scrollWidth, part.clientWidth) || moves(overflowY, part.scrollHeight, part.clientHeight);
    if (scrolls === part.hasAttribute("data-scrolls")) return;
    part.toggleAttribute("data-scrolls", scrolls);
    if (!scrolls) {
      part.removeAttribute("tabindex");
      if (part.ariaLabel === NAME) ["role", "aria-label"].forEach((name) => part.removeAttribute(name));
      return;
    }
    part.tabIndex = 0;
    if (!part.hasAttribute("role")) {
      part.setAttribute("role", "group");
      part.setAttribute("aria-label", NAME);
    }
  }

  const sized = new ResizeObserver((parts) => parts.forEach(({ target }) => { if (target.isConnected) look(target); }));
  let waiting = false;
  const soon = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      document.querySelectorAll(SCROLLS).forEach((part) => {
        sized.observe(part); // once each, however often it is told
        if (part.offsetParent) look(part);
      });
    });
  };
  const begin = () => {
    new MutationObserver(soon).observe(document.body, { childList: true, subtree: true });
    soon();
  };
  if (document.body) begin();
  else document.addEventListener("DOMContentLoaded", begin);
})();

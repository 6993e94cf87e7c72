// On a phone the answer stands in the first view: of a column of controls what is asked and Start stay above it, and the rest
// waits behind a button, between the two, so that the order on the screen is the order of the keyboard. A column that has little
// more stays as it is.
(() => {
  const LITTLE = 80;         // pixels: the button itself takes half of it
  const narrow = matchMedia("(max-width: 640px)");
  const isText = (item) => item.querySelector("[data-testid=textbox]") && !item.querySelector("table");
  const isStart = (item) => item.matches("button.primary, button.stop");
  const isExtra = (item) => item.hasAttribute("data-extra");
  const isButton = (item) => item.classList.contains("settings-fold");

  // What stands in a column, that of Gradio's forms one by one.
  function itemsOf(column) {
    const inner = [...column.children].flatMap((one) => (one.matches(".form") ? [...one.children] : [one]));
    return inner.filter((one) => !one.matches(".wrap"));
  }

  // A text that the column begins with, or the two of a pair; of those above the tabs the first.
  function keptOf(column, items) {
    const texts = items.filter((one, at) => isText(one) && (at === 0 || (at === 1 && !column.matches(".texts") && one.querySelector("textarea"))));
    return [...texts, ...items.filter(isStart)];
  }

  function fold(column) {
    const items = itemsOf(column).filter((one) => !isButton(one));
    const kept = keptOf(column, items);
    const rest = items.filter((one) => !kept.includes(one) && !one.matches(".said") && (isExtra(one) || one.offsetHeight));
    if (!column.dataset.settings && rest.reduce((sum, one) => sum + one.offsetHeight, 0) < LITTLE) return;
    items.forEach((one) => one.toggleAttribute("data-extra", rest.includes(one)));
    column.querySelectorAll(":scope > .form").forEach((form) => form.toggleAttribute("data-extra", [...form.children].every((one) => isExtra(one) || isButton(one))));
    column.dataset.settings ||= "folded";
    if (column.querySelector(":scope > .settings-fold, :scope > .form > .settings-fold")) return;
    const button = Object.assign(document.createElement("button"), { type: "button", className: "settings-fold", textContent: "Settings" });
    button.setAttribute("aria-expanded", "false");
    button.addEventListener("click", () => {
      const open = column.dataset.settings === "folded";
      column.dataset.settings = open ? "open" : "folded";
      button.setAttribute("aria-expanded", String(open));
    });
    const last = kept.filter(isText).at(-1) || kept.find((one) => one.offsetHeight);
    if (last) last.after(button);
    else column.prepend(button);
  }

  let waiting = false;
  const soon = () => {
    if (waiting || !narrow.matches) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      document.querySelectorAll(".controls, .texts").forEach((column) => { if (column.offsetParent) fold(column); });
    });
  };
  narrow.addEventListener("change", soon);
  const begin = () => {
    new MutationObserver(soon).observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ["aria-selected"] });
    soon();
  };
  if (document.body) begin();
  else document.addEventListener("DOMContentLoaded", begin);
})();

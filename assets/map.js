// All pages and tabs, with a search: on the home page, and on every page by Ctrl-K.
(() => {
  let pages = null;
  const load = async () => (pages ||= await (await fetch("explorer/map.json")).json());

  function element(name, options, ...inside) {
    const made = Object.assign(document.createElement(name), options);
    made.append(...inside);
    return made;
  }

  const matches = (words, ...texts) => words.every((word) => texts.some((text) => text.toLowerCase().includes(word)));

  function list(place, wanted) {
    const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
    const found = pages.map((page) => {
      const whole = matches(words, page.title, page.question, page.about, page.chapter);
      const tabs = page.tabs.filter((tab) => whole || matches(words, page.title, tab.title, tab.question, tab.controls));
      if (!whole && !tabs.length) return null;
      const link = ({ title, to, question }) => element("a", { href: to, textContent: title, title: question });
      return element("div", { className: "map-page" }, element("b", {}, link(page)), element("small", { textContent: page.question }), ...tabs.map(link));
    }).filter(Boolean);
    place.replaceChildren(...(found.length ? found : [element("p", { className: "map-none", textContent: `Nothing here has “${wanted}” in its name, its question or its controls.` })]));
  }

  async function fill(map) {
    if (map.firstChild) return map.querySelector("input");
    const box = element("input", { type: "search", placeholder: "Find a page, a tab or a question" });
    box.setAttribute("aria-label", "Find a page, a tab or a question");
    const place = element("div", { className: "map-pages" });
    map.append(box, place);
    await load();
    list(place, "");
    box.addEventListener("input", () => list(place, box.value.trim()));
    box.addEventListener("keydown", (event) => {
      if (event.key === "Enter") place.querySelector("a")?.click();
      if (event.key === "ArrowDown") { event.preventDefault(); place.querySelector("a")?.focus(); }
    });
    return box;
  }

  async function open() {
    let dialog = document.querySelector("dialog.map-dialog");
    if (!dialog) {
      dialog = element("dialog", { className: "map-dialog" }, element("div", { className: "map" }));
      dialog.setAttribute("aria-label", "All pages and tabs");
      // Within Gradio's container, whose colours and letters it takes.
      (document.querySelector(".gradio-container") || document.body).append(dialog);
      // A search box takes the first Escape for itself.
      dialog.addEventListener("keydown", (event) => { if (event.key === "Escape") { event.preventDefault(); dialog.close(); } });
      dialog.addEventListener("click", (event) => { if (event.target === dialog || event.target.closest("a")) dialog.close(); });
    }
    if (!dialog.open) dialog.showModal();
    const box = await fill(dialog.firstChild);
    box.focus();
    box.select();
  }

  addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    event.preventDefault();
    open();
  });
  document.addEventListener("click", (event) => { if (event.target.closest?.(".map-open")) open(); });
  document.addEventListener("toggle", (event) => {
    const map = event.target.open && event.target.querySelector?.("[data-map]");
    if (map) fill(map);
  }, true);
})();

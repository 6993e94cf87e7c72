// The page's address: its tab, its texts and its settings in the fragment, by the parameters' names, as explorer/ui/address.py
// reads them. Controls that change replace the address, tabs make history.
window.explorerAddress = (() => {
  const LONGEST = 6000;      // characters of a value, encoded: some 2,000 in an alphabet of three bytes each are left out
  const PAUSE = 250;         // milliseconds: browsers refuse a page that changes its address a hundred times in a few seconds
  const SETTLED = 400;       // milliseconds after which a page that opens has set what it sets
  const MOST_TIMES = 3;
  const LEAVE = { __type__: "update" };
  let spec = { kept: [], tabs: {} };
  let begun = false;         // before that nothing is known of the page, and its address stays
  let values = [];
  let chosen = {};
  let leaving = false;       // on the way to another address, which a late change here must not overwrite
  let touched = false;       // what a page sets by itself, as it opens, is no news to the address
  let waiting = 0;
  let asked = {};            // what the address asked for, by the place in `kept`, until a visitor touches the page
  let again = 0;             // how often what the page set by itself, as it opened, has been set back to that

  for (const name of ["pointerdown", "keydown", "input"]) {  // dictation writes without a key
    addEventListener(name, (event) => {
      if (!event.isTrusted) return;
      touched = true;
      asked = {};
    }, { capture: true, passive: true });
  }

  const isAddress = (hash) => hash === "" || hash.includes("=");
  const hashNow = () => location.hash.slice(1);

  function written(value) {
    if (value === null || value === undefined) return "";
    if (value?.headers && value?.data) return JSON.stringify(value.data);
    return typeof value === "object" ? JSON.stringify(value) : String(value);
  }

  const inView = (places) => places.every(([tabs, tab]) => chosen[tabs] === tab);

  function path() {
    const way = [];
    const all = Object.entries(spec.tabs);
    for (let next = find(); next; next = find()) way.push(next);
    function find() {
      const here = all.find(([, one]) => one.in.length === way.length && one.in.every(([tabs, tab], at) => way[at][0] === String(tabs) && way[at][1] === tab));
      return here && [here[0], chosen[here[0]]];
    }
    while (way.length && way.at(-1)[1] === spec.tabs[way.at(-1)[0]].first) way.pop();
    return way.map(([, tab]) => tab).join("/");
  }

  function compose() {
    const parts = new URLSearchParams();
    const tab = path();
    if (tab) parts.set("tab", tab);
    const left = [];
    spec.kept.forEach((one, at) => {
      const text = written(values[at]);
      if (!inView(one.tabs) || text === written(one.value)) return;
      if (encodeURIComponent(text).length > LONGEST) left.push(one.name);
      else parts.set(one.name, text);
    });
    if (left.length) parts.set("left_out", left.join(", "));
    window.explorerLesson.inAddress().forEach(([name, value]) => parts.set(name, value));
    if (window.explorerPresent.on()) parts.set("present", "1");
    return parts.toString();
  }

  function write(push) {
    clearTimeout(waiting);
    waiting = 0;
    if (leaving || !begun) return;
    const hash = compose();
    if (hash === hashNow()) return;
    const address = location.pathname + location.search + (hash && `#${hash}`);
    history[push ? "pushState" : "replaceState"](history.state, "", address);
    tellSpace(hash);
  }

  // On a Space the app is a frame; its documentation names the message that keeps the outer address up.
  function tellSpace(hash) {
    if (window.parent === window || !location.hostname.endsWith(".hf.space")) return;
    window.parent.postMessage({ queryString: location.search.slice(1), hash }, "https://huggingface.co");
  }

  const overwritten = () => Object.entries(asked).some(([at, value]) => written(values[at]) !== written(value));

  function turn(tabs, tab) {
    if (chosen[tabs] === tab) return;
    chosen[tabs] = tab;
    write(touched);
    window.explorerThread?.refresh(false);
  }

  function setBack() {
    if (!overwritten()) return;
    again += 1;
    document.getElementById("address-again")?.click();
  }

  addEventListener("pageshow", (event) => { if (event.persisted) leaving = false; });

  const soon = () => { waiting = waiting || setTimeout(write, PAUSE, false); };

  // Back and Forward between tabs of a page as it stands turn to the tab; any other address is opened anew.
  addEventListener("popstate", () => {
    const hash = hashNow();
    leaving = false; // what was on its way has been given up for this
    if (!isAddress(hash) || hash === compose()) return;
    const before = chosen;
    chosen = { ...chosen, ...wayTo(new URLSearchParams(hash).get("tab") || "") };
    if (compose() !== hash) {
      leaving = true;
      return location.reload();
    }
    const turned = Object.entries(chosen).filter(([tabs, tab]) => before[tabs] !== tab);
    turned.forEach(([, tab]) => button(tab)?.click());
  });

  // Read off the page: Gradio runs what opening a tab starts in turn, so that an event of ours would wait for a stream's end.
  new MutationObserver((changes) => changes.forEach(({ target }) => {
    if (target.getAttribute("aria-selected") !== "true" || !target.dataset.tabId) return;
    const found = Object.entries(spec.tabs).find(([, one]) => inView(one.in) && one.tabs.includes(target.dataset.tabId));
    if (found) turn(found[0], target.dataset.tabId);
  })).observe(document, { subtree: true, attributes: true, attributeFilter: ["aria-selected"] });

  // The tab of each Tabs on the way to the one that is named, and the first tab of the others on it.
  function wayTo(name) {
    const way = {};
    const names = name ? name.split("/") : [];
    const outer = (places) => places.every(([tabs, tab]) => way[tabs] === tab);
    const all = Object.entries(spec.tabs).sort(([, one], [, other]) => one.in.length - other.in.length);
    all.forEach(([tabs, one]) => { if (outer(one.in)) way[tabs] = names[one.in.length] || one.first; });
    return way;
  }

  const button = (tab) => [...document.querySelectorAll("[role=tab][data-tab-id]")].find((one) => one.dataset.tabId === tab);

  return {
    // As the page opens: what it keeps. Returns what its address says.
    begin(given) {
      spec = given;
      begun = true;
      values = given.kept.map((one) => one.value);
      chosen = Object.fromEntries(Object.entries(given.tabs).map(([tabs, one]) => [tabs, one.first]));
      const parts = new URLSearchParams(isAddress(hashNow()) ? hashNow() : "");
      parts.delete("present");  // present.js has seen to it
      const taught = window.explorerLesson.begin(parts);
      const brought = window.explorerThread?.brought(given);
      // A step shows what its author saw, and no sentence from another page.
      return parts.toString() || (!taught && brought) || "";
    },
    // The sentence in view, and whether a visitor wrote it.
    sentence() {
      const at = spec.kept.findIndex((one, place) => one.sentence && inView(one.tabs) && written(values[place]));
      return at < 0 ? null : { text: written(values[at]), own: written(values[at]) !== written(spec.kept[at].value) };
    },
    // What the address asks for, in the order of the controls, the Tabs and the folds, in which what it sets can be seen.
    values(answer, [controls, tabs, folds]) {
      const { values: given, tabs: turned, folds: open, said } = answer.address;
      Object.assign(chosen, turned);
      spec.kept.forEach((one, at) => { if (one.id in given) values[at] = asked[at] = given[one.id]; });
      touched = true;
      const of = (all, make) => (id) => (id in all ? make(all[id]) : LEAVE);
      return [
        ...controls.map(of(given, (value) => ({ ...LEAVE, value }))),
        ...tabs.map(of(turned, (selected) => ({ ...LEAVE, selected }))),
        ...folds.map((id) => (open.includes(id) ? { ...LEAVE, open: true } : LEAVE)),
        said,
        Date.now(),
      ];
    },
    inView,
    // Everything that is set for what is in view, and the run.
    settings() {
      const run = new URLSearchParams(location.search).get("run");
      const shown = spec.kept.map((one, at) => [one, written(values[at])]).filter(([one, text]) => text && text !== "[]" && inView(one.tabs));
      return [...(run ? [["run", run]] : []), ...shown.map(([one, text]) => [one.name, text])];
    },
    // The controls' values, in the order of `kept`.
    keep(given) {
      values = given;
      if (touched) soon();
      window.explorerThread?.refresh(touched);
      if (overwritten() && again < MOST_TIMES) setTimeout(setBack, SETTLED);
      return [];
    },
    // What the page's own defaults, those of a run or a method, have been written over since.
    asked(controls) {
      const at = (id) => spec.kept.findIndex((one) => one.id === id);
      return controls.map((id) => (at(id) in asked ? { ...LEAVE, value: asked[at(id)] } : LEAVE));
    },
    write: () => write(false),
    // To another view, of this page or another, which is opened anew. replace: this one is not to be come back to.
    go(to, replace = false) {
      leaving = true;
      const { href, pathname, search } = new URL(to, document.baseURI);
      const stays = pathname === location.pathname && search === location.search;
      location[replace ? "replace" : "assign"](href);
      if (stays) location.reload(); // what differs in its fragment alone does not load by itself
    },
  };
})();

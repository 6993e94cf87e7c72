// Marks the first place of each word of ENTRIES in a text, and says what it means while it is pointed at or focused.
(() => {
  const TEXTS = ".said, .measures, .caption, .md";
  const UNTOUCHED = "a, button, abbr, code, pre, h1, h2, h3, label, .katex, textarea";
  const LETTER = "[\\p{L}\\p{N}_]";
  const page = location.pathname.replace(/\/+$/, "").split("/").pop();
  const fitting = ENTRIES.filter((entry) => !entry.pages.length || entry.pages.includes(page));
  const byWord = new Map(fitting.map((entry) => [entry.word.toLowerCase(), entry]));
  const words = [...byWord.keys()].sort((one, other) => other.length - one.length);
  const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const pattern = new RegExp(`(?<!${LETTER})(?:${escaped.join("|")})(?!${LETTER})`, "giu");
  const read = new WeakMap(); // text -> what it said and how many words were marked when it was read last

  const terms = (element) => [...element.querySelectorAll("abbr.term")];
  const state = (text) => `${terms(text).length} ${text.textContent}`;
  const scopeOf = (text) => (text.matches(".md") ? text : (text.closest("[role=tabpanel]") ?? document.body));

  function termOf(entry, word) {
    const term = document.createElement("abbr");
    term.className = "term";
    term.tabIndex = 0;
    term.dataset.says = entry.says;
    term.textContent = word;
    return term;
  }

  function markNode(node, known) {
    const pieces = [];
    let from = 0;
    for (const found of node.data.matchAll(pattern)) {
      const entry = byWord.get(found[0].toLowerCase());
      if (known.has(entry.word) || (entry.exact && found[0] !== entry.word)) continue;
      known.add(entry.word);
      pieces.push(node.data.slice(from, found.index), termOf(entry, found[0]));
      from = found.index + found[0].length;
    }
    if (pieces.length) node.replaceWith(...pieces, node.data.slice(from));
  }

  function mark(text) {
    if (read.get(text) === state(text)) return;
    const known = new Set(terms(scopeOf(text)).map((term) => byWord.get(term.textContent.toLowerCase())?.word));
    const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
    const nodes = [];
    while (walker.nextNode()) nodes.push(walker.currentNode);
    for (const node of nodes) {
      const isMath = node.data.includes("$"); // not drawn yet
      if (!isMath && !node.parentElement.closest(UNTOUCHED)) markNode(node, known);
    }
    read.set(text, state(text));
  }

  const note = document.createElement("div");
  note.id = "term-note";
  note.setAttribute("role", "tooltip");
  note.hidden = true;

  function say(term) {
    if (!note.isConnected) document.body.append(note);
    note.textContent = term.dataset.says;
    note.hidden = false;
    term.setAttribute("aria-describedby", note.id);
    const [at, size] = [term.getBoundingClientRect(), note.getBoundingClientRect()];
    const below = at.bottom + 6 + size.height < innerHeight;
    note.style.left = `${Math.max(8, Math.min(at.left, innerWidth - size.width - 8))}px`;
    note.style.top = `${below ? at.bottom + 6 : at.top - 6 - size.height}px`;
  }

  const silence = () => (note.hidden = true);
  const onTerm = (act) => (event) => event.target.matches?.("abbr.term") && act(event.target);
  for (const begins of ["focusin", "mouseover"]) document.addEventListener(begins, onTerm(say));
  for (const ends of ["focusout", "mouseout"]) document.addEventListener(ends, onTerm(silence));
  document.addEventListener("keydown", (event) => event.key === "Escape" && silence());
  // A word that is reached by the keyboard is scrolled into view: its note goes along.
  const follow = () => {
    const focused = document.activeElement?.closest("abbr.term");
    if (focused && !note.hidden) say(focused);
    else silence();
  };
  document.addEventListener("scroll", follow, true);

  let waiting = false;
  const markAll = () => {
    waiting = false;
    document.querySelectorAll(TEXTS).forEach(mark);
  };
  const later = () => {
    if (!waiting) setTimeout(markAll, 200);
    waiting = true;
  };
  const begin = () => {
    new MutationObserver(later).observe(document.body, { childList: true, subtree: true, characterData: true });
    later();
  };
  if (document.body) begin();
  else document.addEventListener("DOMContentLoaded", begin);
})();

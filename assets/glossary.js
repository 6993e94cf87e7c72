// Marks the first place of each word of ENTRIES on a page's tab, and says what it means while it is pointed at or focused.
(() => {
  const TEXTS = [".said, .measures, .caption, .family-card > p:not(.paper)", ".md"]; // explanations come after all else
  const UNTOUCHED = "a, button, abbr, code, pre, sub, h1, h2, h3, label, .katex, textarea";
  // What stands in quotation marks is somebody's text, and what hangs on a hyphen is another word or a model's name.
  const [BEFORE, AFTER] = ["[\\p{L}\\p{N}_“-]", "[\\p{L}\\p{N}_”-]"];
  const page = location.pathname.replace(/\/+$/, "").split("/").pop();
  const fitting = ENTRIES.filter((entry) => !entry.pages.length || entry.pages.includes(page));
  const formsOf = (entry) => [entry.word, ...entry.also];
  const plain = (word) => word.toLowerCase().replace(/\s+/g, " ");
  const byForm = new Map(fitting.flatMap((entry) => formsOf(entry).map((form) => [plain(form), entry])));
  const forms = [...byForm.keys()].sort((one, other) => other.length - one.length);
  const escaped = forms.map((form) => form.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/ /g, "\\s+"));
  const pattern = new RegExp(`(?<!${BEFORE})(?:${escaped.join("|")})(?!${AFTER})`, "giu");
  const read = new WeakMap(); // text -> what it said, its marks and what was known before it when it was read last

  const state = (text, known) => `${text.querySelectorAll("abbr.term").length} ${[...known]} ${text.textContent}`;

  const isQuoted = ({ parentElement: bold }) => bold.matches("strong") && bold.previousSibling?.data?.endsWith("“");
  const isOpen = (node) => !node.parentElement.closest(UNTOUCHED) && !isQuoted(node) && !node.data.includes("$"); // $: not drawn yet

  // The tab that a text is on, whatever tabs are inside it; null outside all tabs.
  function tabOf(text) {
    let tab = null;
    for (let part = text; (part = part.closest("[role=tabpanel]")); part = part.parentElement) tab = part;
    return tab;
  }

  function termOf(entry, word) {
    const term = document.createElement("abbr");
    term.className = "term";
    term.tabIndex = 0;
    term.dataset.word = entry.word;
    term.dataset.says = entry.says;
    term.textContent = word;
    return term;
  }

  function markNode(node, known) {
    const pieces = [];
    let from = 0;
    for (const found of node.data.matchAll(pattern)) {
      const entry = byForm.get(plain(found[0]));
      if (known.has(entry.word) || (entry.exact && !formsOf(entry).includes(found[0]))) continue;
      known.add(entry.word);
      pieces.push(node.data.slice(from, found.index), termOf(entry, found[0]));
      from = found.index + found[0].length;
    }
    if (pieces.length) node.replaceWith(...pieces, node.data.slice(from));
  }

  // Marks what is not known yet, and takes back marks of what has come to be known by a text above.
  function mark(text, known) {
    if (read.get(text) === state(text, known)) {
      for (const term of text.querySelectorAll("abbr.term")) known.add(term.dataset.word);
      return;
    }
    const before = new Set(known);
    const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
    const nodes = [];
    while (walker.nextNode()) nodes.push(walker.currentNode);
    for (const node of nodes) {
      const term = node.parentElement.closest("abbr.term");
      if (term && known.has(term.dataset.word)) term.replaceWith(node);
      else if (term) known.add(term.dataset.word);
      else if (isOpen(node)) markNode(node, known);
    }
    read.set(text, state(text, before));
  }

  function markAll() {
    const known = new Map([[null, new Set()]]); // tab -> the words that are marked there
    const texts = TEXTS.flatMap((kind) => [...document.querySelectorAll(kind)]);
    for (const text of texts.filter((one) => !one.parentElement.closest(TEXTS.join()))) {
      const tab = tabOf(text);
      if (!known.has(tab)) known.set(tab, new Set(known.get(null)));
      mark(text, known.get(tab));
    }
    if (explained && !explained.isConnected) silence();
  }

  const note = document.createElement("div");
  note.id = "term-note";
  note.setAttribute("role", "tooltip");
  note.hidden = true;

  let explained = null; // the term that the note is about

  function say(term) {
    explained = term;
    if (!note.isConnected) document.body.append(note);
    note.textContent = term.dataset.says;
    note.hidden = false;
    term.setAttribute("aria-describedby", note.id);
    const [at, size] = [term.getBoundingClientRect(), note.getBoundingClientRect()];
    const below = at.bottom + 6 + size.height < innerHeight;
    const right = document.body.clientWidth; // the scroll bar's place, which is kept free, hides what reaches into it
    note.style.left = `${Math.max(8, Math.min(at.left, right - size.width - 8))}px`;
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
  const later = () => {
    if (waiting) return;
    waiting = true;
    setTimeout(() => {
      waiting = false;
      markAll();
    }, 200);
  };
  const begin = () => {
    new MutationObserver(later).observe(document.body, { childList: true, subtree: true, characterData: true });
    later();
  };
  if (document.body) begin();
  else document.addEventListener("DOMContentLoaded", begin);
})();

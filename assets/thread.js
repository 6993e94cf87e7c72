// The sentence goes along: what a visitor typed is kept in this tab of the browser, comes with them to the next page that
// reads a sentence, and stands in the links to other pages at the foot of each tab.
window.explorerThread = (() => {
  const KEY = "explorer-sentence";
  const PAUSE = 300;         // milliseconds
  const MASK = /\[MASK\]|<mask>/;
  let spec = {};
  let pressed = null;        // the tokens that are hidden in the text that the page shows, as parts of that text
  let waiting = 0;
  let here = "";
  let cameAs = "";           // the sentence as this page took it, which is not what was typed

  function stored() {
    try { return JSON.parse(sessionStorage.getItem(KEY)); } catch { return null; }
  }

  function store(sentence) {
    try { sessionStorage.setItem(KEY, JSON.stringify(sentence)); } catch { /* a browser that keeps nothing */ }
  }

  // The word to hide where a page asks for one: the one that is hidden, or the last that isn't short.
  function hiddenSpan({ text, spans }) {
    if (spans?.length) return spans[0];
    const words = [...text.matchAll(/\p{L}+/gu)];
    const long = words.filter(([word]) => word.length > 3);
    const last = (long.length ? long : words).at(-1);
    return last && [last.index, last.index + last[0].length];
  }

  // A page's parameters for a sentence, by how it reads one (explorer/action.py); nothing where it can't.
  function parameters({ name, how }, sentence) {
    const { text } = sentence;
    const blank = MASK.exec(text);
    if (how === "any") return { [name]: text };
    if (how === "whole") return blank ? null : { [name]: text };
    if (how === "prefix") {
      const end = blank ? blank.index : sentence.spans?.length ? sentence.spans[0][0] : text.length;
      return text.slice(0, end).trim() ? { [name]: text.slice(0, end).trim() } : null;
    }
    const span = hiddenSpan(sentence);
    if (blank || !span) return { [name]: text };
    if (how === "hidden") return { [name]: text, also_mask: text.slice(...span) };
    return { [name]: `${text.slice(0, span[0])}[MASK]${text.slice(span[1])}` };
  }

  function current() {
    const shown = window.explorerAddress.sentence();
    if (!shown) return stored();
    return { ...shown, spans: pressed?.text === shown.text ? pressed.spans : [] };
  }

  // The sentence is kept at once, and the links follow when a visitor pauses or comes near them: there are some seventy.
  function refresh(touched) {
    const sentence = current();
    if (touched && sentence?.own && sentence.text !== cameAs && !window.explorerLesson.on()) keep(sentence);
    clearTimeout(waiting);
    waiting = setTimeout(renew, PAUSE);
  }

  function renew() {
    clearTimeout(waiting);
    waiting = 0;
    const sentence = current();
    document.querySelectorAll(".foot a[data-reads]").forEach((link) => {
      const reads = JSON.parse(link.dataset.reads);
      const given = sentence?.text && parameters(reads, sentence);
      link.parentElement.hidden = !given;
      if (given) link.href = `${reads.to}#${new URLSearchParams({ ...(reads.tab && { tab: reads.tab }), ...given })}`;
    });
    const run = new URLSearchParams(location.search).get("run");
    document.querySelectorAll(".foot .of-run").forEach((line) => { line.hidden = !run; });
    document.querySelectorAll(".foot a[data-run]").forEach((link) => {
      const [to, fragment] = link.dataset.run.split("#");
      link.href = `${to}?run=${encodeURIComponent(run || "")}${fragment ? `#${fragment}` : ""}`;
    });
    document.querySelectorAll(".foot .of-sentence").forEach((line) => { line.hidden = !line.querySelector("span:not([hidden]) > a"); });
  }

  function keep({ text, spans }) {
    const before = stored();
    const from = before?.text === text ? before.from : spec.title;
    store({ text, spans, from, own: before?.text === text ? before.own : [] });
  }

  document.addEventListener("explorer:chips", (event) => { pressed = event.detail; refresh(false); });

  for (const name of ["pointerover", "focusin"]) {
    document.addEventListener(name, (event) => { if (waiting && event.target.closest?.(".foot")) renew(); });
  }

  document.addEventListener("click", (event) => {
    if (!event.target.closest?.("[data-own]")) return;
    const sentence = stored();
    if (sentence) store({ ...sentence, own: [...(sentence.own || []), here] });
    history.replaceState(history.state, "", location.pathname + location.search);
    location.reload();
  });

  return {
    refresh,
    // What the next page takes up of the sentence that came along, written as an address would have it.
    brought(given) {
      spec = given;
      here = location.pathname;
      setTimeout(refresh, 0, false);
      const sentence = stored();
      if (!sentence || !given.reads || sentence.own?.includes(here)) return "";
      const taken = parameters(given.reads, sentence);
      cameAs = taken?.[given.reads.name] || "";
      return taken ? new URLSearchParams({ carried: given.reads.tab, from: sentence.from, ...taken }).toString() : "";
    },
  };
})();

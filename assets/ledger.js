// The ledger along the path: a station's cells are measured while a visitor is there, and kept in this tab of the browser.
// explorer/ledger.py has the cells, and measures one at a time.
(() => {
  const KEY = "explorer-ledger";
  const STAYED = 1500;       // milliseconds after which a visitor is at a station
  const LOOK = 500;
  const called = location.hash === "#ledger";  // as the page opens: the address soon holds what is asked there
  let filling = false;

  function kept() {
    try { return JSON.parse(sessionStorage.getItem(KEY)) || {}; } catch { return {}; }
  }

  function keep(cells) {
    try { sessionStorage.setItem(KEY, JSON.stringify(cells)); } catch { /* a browser that keeps nothing */ }
  }

  const MASK = /\[MASK\]|<mask>/;
  // What was typed (thread.js), unless a blank stands in it: a token that isn't there can't be hidden.
  function sentence() {
    let typed = "";
    try { typed = JSON.parse(sessionStorage.getItem("explorer-sentence"))?.text || ""; } catch { /* none was kept */ }
    return typed && !MASK.test(typed) ? typed : document.querySelector("[data-example]").dataset.example;
  }

  async function measured(name, text) {
    const root = (window.gradio_config?.root || "").replace(/\/$/, "");
    const answer = await fetch(`${root}/explorer/ledger`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ cell: name, text }),
    });
    const told = await answer.json();
    if (!answer.ok) throw new Error(told.error || "The server didn't answer.");
    return told;
  }

  // Signals are compared on one sentence: with another one, those that are there are measured again. So is what a busy machine
  // has timed, at each visit.
  async function fill(names, told) {
    if (filling) return;
    filling = true;
    const text = sentence();
    const before = kept();
    const old = Object.keys(before).filter((name) => before[name].text && before[name].text !== text);
    const wanted = [...new Set([...names.filter((name) => !before[name] || before[name].busy), ...old])];
    let count = 0;
    let said = "";
    try {
      for (const name of wanted) {
        told(`measuring ${count += 1} of ${wanted.length}…`);
        const cell = await measured(name, text);
        keep({ ...kept(), [name]: cell });
        show();
      }
    } catch (error) { said = error.message; }
    filling = false;
    show();
    told(said);
  }

  // "ALBERT: 17.6 signals per 100 tokens, 4.15M parameters stored."
  function inWords(cells) {
    const phrases = new Map();
    cells.forEach(({ row, phrase }) => phrases.set(row, [...(phrases.get(row) || []), phrase]));
    return [...phrases].map(([row, all]) => `${row}: ${all.join(", ")}.`).join(" ");
  }

  function show() {
    const cells = kept();
    const filled = new Set(Object.keys(cells).map((name) => name.split(".")[0]));
    document.querySelectorAll(".of-ledger").forEach((line) => {
      const all = JSON.parse(line.dataset.cells);
      const names = all.filter((name) => cells[name]);
      const asks = line.querySelector("button");
      asks.hidden = JSON.parse(line.dataset.atOnce).length > 0 || names.length === all.length;
      if (!names.length && asks.hidden) return;
      const place = line.querySelector("[role=status]");
      place.textContent = `Your ledger: ${filled.size} of ${line.dataset.rows} rows. ${inWords(names.map((name) => cells[name]))}`;
      line.hidden = false;
    });
    document.querySelectorAll("[data-cell]").forEach((place) => {
      const cell = cells[place.dataset.cell];
      const [full, empty] = place.children;
      empty.hidden = Boolean(cell);
      full.hidden = !cell;
      full.replaceChildren(...(cell ? [cell.said, Object.assign(document.createElement("small"), { textContent: `${cell.busy ? "busy, " : ""}station ${cell.station}` })] : []));
      full.title = cell ? `${cell.source} (${cell.value} ${cell.unit})` : "";
    });
    const measuredOn = Object.values(cells).find((cell) => cell.text)?.text;
    document.querySelectorAll("#ledger q").forEach((place) => { place.textContent = measuredOn || sentence(); });
  }

  function save() {
    const heads = ["model", "column", "value", "unit", "source", "station", "sentence"];
    const rows = Object.values(kept()).map((cell) => [cell.row, cell.column, cell.value, cell.unit, cell.source, cell.station, cell.text]);
    if (rows.length) window.explorerSaving.save("ledger.csv", window.explorerSaving.csv(heads, rows), "text/csv");
    return rows.length ? "" : "There is nothing in it yet.";
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("[data-ledger]");
    if (!button) return;
    const told = (said) => { button.parentElement.querySelector("[role=status]").textContent = said; };
    if (button.dataset.ledger === "fill") fill([...document.querySelectorAll("[data-cell]")].map((one) => one.dataset.cell), told);
    else if (button.dataset.ledger === "save") told(save());
    else if (button.dataset.ledger === "here") fillHere(button.parentElement, "cells");
    else { keep({}); show(); told(""); }
  });

  function fillHere(line, which) {
    fill(JSON.parse(line.dataset[which]), (said) => {
      if (!said) return;
      line.querySelector("[role=status]").textContent = `Your ledger: ${said}`;
      line.hidden = false;
    });
  }

  // A station is where a visitor stays; what the page itself is asked comes first.
  let since = 0;
  let station = null;
  setInterval(() => {
    const drawn = [...document.querySelectorAll("#ledger, .of-ledger")].filter((one) => one.dataset.shown === undefined);
    if (drawn.length) {  // by Gradio, some time after this script ran
      drawn.forEach((one) => { one.dataset.shown = ""; });
      show();
      if (drawn[0].id && called) { drawn[0].open = true; drawn[0].scrollIntoView(); }
    }
    const line = [...document.querySelectorAll(".of-ledger")].find((one) => one.parentElement.offsetParent);
    if (line !== station) [station, since] = [line, Date.now()];
    if (!line || line.dataset.been || Date.now() - since < STAYED) return;
    if ([...document.querySelectorAll(".figure[data-waiting], .figure[data-awaited]")].some((one) => one.offsetParent)) return;
    if (filling || document.hidden) return;
    line.dataset.been = "";
    fillHere(line, "atOnce");
  }, LOOK);

})();

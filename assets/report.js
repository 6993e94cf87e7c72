// A tab taken home: what is in view as one HTML file that opens without a network, or as a notebook (notebook.js). Everything is
// on the page already; explorer/ui/take_home.py says where, and hands over the tables and scripts of folds that were never opened.
window.explorerReport = (() => {
  const root = () => (window.gradio_config?.root || "").replace(/\/$/, "");
  const NOTHING = "Nothing is computed here yet.";
  let kind = "report";

  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("[data-take]");
    if (!button) return;
    kind = button.dataset.take;
    say("One moment…");
    document.getElementById("take-home-ask")?.click();
  });

  const said = () => [...document.querySelectorAll(".take-home [role=status]")].find((one) => one.parentElement.offsetParent);
  const say = (words) => { const place = said(); if (place) place.textContent = words; };

  const text = (selector) => document.querySelector(selector)?.innerText.trim() || "";
  const plotOf = (element) => element.querySelector(":scope .plot:not(.way, .waylayer)");  // a drawing of our own is copied as it stands
  const seen = (element) => element && element.checkVisibility() && (plotOf(element) ? !plotOf(element).hidden : element.innerText.trim() || element.querySelector("svg"));
  const inOrder = (one, other) => (one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1);

  // What one question of the tab shows, but for what another has shown before it; null where it has shown nothing.
  function section({ name, shown, table, script, plain }, values, before) {
    const elements = [...new Set(shown.map((id) => document.getElementById(id)))].filter((one) => seen(one) && !before.has(one)).sort(inOrder);
    elements.forEach((one) => before.add(one));
    const rows = values[table]?.data?.length ? values[table] : null;
    if (!rows && !elements.some((one) => one.querySelector(":scope .plot"))) return null;
    const own = plain === null || !/^(?!# What is asked)/.test(values[plain] || "") ? "" : values[plain];
    const needsUs = !own && values[script] || "";
    return { name, elements, table: rows, script: own || needsUs, label: own ? "Python, from the model itself" : "Python, with the Explorer's package" };
  }

  function gathered(spec, values) {
    const address = window.explorerAddress;
    const asked = spec.asked.filter((one) => address.inView(one.tabs));
    const before = new Set();
    const sections = asked.map((one) => section(one, values, before)).filter(Boolean);
    sections.sort(({ elements: [one] }, { elements: [other] }) => (one && other ? inOrder(one, other) : Boolean(other) - Boolean(one)));
    const models = [...new Set(sections.flatMap(({ elements }) => elements.map((one) => one.dataset.model)).filter(Boolean))];
    const settings = address.settings();
    if (!models.length) models.push(...settings.filter(([name]) => name === "model").map(([, value]) => value));
    const whys = spec.whys.filter((one) => address.inView(one.tabs)).map((one) => [one.title, values[one.text]]).filter(([, why]) => why);
    return {
      title: text(".question h1"), question: text(".question p"), tab: asked[0]?.title || "", sections, models, settings, whys,
      address: location.href, date: new Date().toLocaleString("sv").slice(0, 16),
    };
  }

  // Runs in the report itself, where nothing else is: draws each figure with the colours of the day or of the night.
  function inReport(coloured) {
    const night = matchMedia("(prefers-color-scheme: dark)");
    const all = JSON.parse(document.getElementById("figures").textContent);
    function draw(palette) {
      all.forEach(({ value, palettes }, at) => {
        const place = document.getElementById(`figure-${at}`);
        const layout = place.clientWidth < 560 && value.narrow ? value.narrow : value.layout;
        const { data, layout: drawn } = coloured({ data: value.data, layout }, palettes[palette]);
        place.style.height = `${drawn.height}px`;
        window.Plotly.react(place, data, drawn, { responsive: true, displaylogo: false });
      });
    }
    const now = () => draw(night.matches ? "dark" : "light");
    night.addEventListener("change", now);
    addEventListener("beforeprint", () => draw("light"));
    addEventListener("afterprint", now);
    now();
  }

  function element(into, name, content, ...inside) {
    const made = into.createElement(name);
    made.textContent = content;
    made.append(...inside);
    return made;
  }

  function tableOf(into, { headers, data, metadata }) {
    const make = (name, content) => element(into, name, String(content ?? ""));
    const head = element(into, "thead", "", element(into, "tr", "", ...headers.map((one) => make("th", one))));
    const rows = data.map((row, at) => element(into, "tr", "", ...row.map((cell, place) => {
      const made = make("td", metadata?.display_value?.[at]?.[place] ?? cell);
      if (typeof cell === "number") made.title = String(cell);
      return made;
    })));
    const made = element(into, "div", "", element(into, "table", "", head, element(into, "tbody", "", ...rows)));
    made.className = "table";
    return made;
  }

  function factsOf(into, parts) {
    const line = (name, ...what) => element(into, "tr", "", element(into, "th", name), element(into, "td", "", ...what));
    const link = element(into, "a", parts.address);
    link.href = parts.address;
    const facts = [line("address", link), line("date", parts.date)];
    if (parts.models.length) facts.unshift(line("model", parts.models.join(", ")));
    facts.push(...parts.settings.filter(([name]) => name !== "model" || parts.models.length > 1).map(([name, value]) => line(name, value)));
    const made = element(into, "table", "", element(into, "tbody", "", ...facts));
    made.className = "facts";
    return made;
  }

  // Each question's parts in their order: what stands still is copied, what Plotly draws gets a place to be drawn in.
  function sectionOf(into, one, figures, copyOf) {
    const made = element(into, "section", "");
    for (const part of one.elements) {
      const frame = plotOf(part);
      if (!frame) { made.append(copyOf(part)); continue; }
      const place = element(into, "div", "");
      place.id = `figure-${figures.length}`;
      place.className = "figure";
      place.setAttribute("role", "img");
      place.setAttribute("aria-label", frame.getAttribute("aria-label") || "figure");
      figures.push(frame.explorerFigure);
      made.append(place);
    }
    if (one.table) made.append(element(into, "h2", `Data: ${one.name}`), tableOf(into, one.table));
    if (one.script) made.append(element(into, "h2", one.label), element(into, "pre", "", element(into, "code", one.script)));
    return made;
  }

  const STYLE = `
    :root { color-scheme: light dark; --text: #1f2933; --muted: #5b6775; --line: #d5dbe3; --paper: #fff; --chip: #f4f6f9; --link: #0068a3; }
    @media screen and (prefers-color-scheme: dark) { :root { --text: #e6eaf0; --muted: #a3aebb; --line: #3a4452; --paper: #0f172a; --chip: #1b2433; --link: #56b4e9; } }
    @media print { :root { color-scheme: light; } body { max-width: none !important; } .table, pre { max-height: none !important; overflow: visible !important; }
      tr, .figure { break-inside: avoid; } h2 { break-after: avoid; } pre { white-space: pre-wrap; } }
    body { max-width: 1080px; margin: 0 auto; padding: 20px 16px 40px; background: var(--paper); color: var(--text); font: 17px/1.45 system-ui, "Segoe UI", Roboto, sans-serif; }
    h1 { font-size: 28px; margin: 0; } h2 { font-size: 18px; margin: 26px 0 6px; } .question { margin: 2px 0 14px; color: var(--muted); font-size: 19px; }
    .figure { width: 100%; } a { color: var(--link); overflow-wrap: anywhere; }
    .table { max-height: 460px; overflow: auto; border: 1px solid var(--line); border-radius: 8px; }
    .table table, .facts { border-collapse: collapse; font-size: 15px; } .table table { width: 100%; }
    .table th, .table td { padding: 4px 10px; text-align: left; border-top: 1px solid var(--line); overflow-wrap: break-word; } .table thead th { white-space: nowrap; position: sticky; top: 0; background: var(--chip); border: 0; }
    .facts th { padding: 2px 16px 2px 0; text-align: left; vertical-align: top; font-weight: 400; color: var(--muted); } .facts td { overflow-wrap: anywhere; }
    pre { max-height: 460px; overflow: auto; padding: 10px 12px; border: 1px solid var(--line); border-radius: 8px; background: var(--chip); font: 14px/1.4 ui-monospace, Menlo, Consolas, monospace; }`;

  async function document_(parts) {
    const heading = [parts.title, parts.tab].filter(Boolean).join(": ");
    const into = document.implementation.createHTMLDocument(heading);
    const still = parts.sections.flatMap(({ elements }) => elements.filter((one) => !plotOf(one)));
    const { copies, css } = window.explorerFrozen.frozen(still, into);
    const figures = [];
    const question = element(into, "p", parts.question);
    question.className = "question";
    into.body.append(element(into, "h1", heading), question);
    parts.sections.forEach((one) => into.body.append(sectionOf(into, one, figures, (part) => copies[still.indexOf(part)])));
    into.body.append(element(into, "h2", "Where this is from"), factsOf(into, parts));
    // A word that was made up just now lets these scripts run and no other, whatever got into the file.
    const nonce = [...crypto.getRandomValues(new Uint8Array(16))].map((one) => one.toString(16).padStart(2, "0")).join("");
    const policy = element(into, "meta", "");
    policy.httpEquiv = "Content-Security-Policy";
    policy.content = `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'unsafe-inline'; img-src data: blob:`;
    const view = element(into, "meta", "");
    Object.assign(view, { name: "viewport", content: "width=device-width, initial-scale=1" });
    const charset = element(into, "meta", "");
    charset.setAttribute("charset", "utf-8");
    into.head.prepend(charset, policy, view);
    into.head.append(element(into, "style", `${STYLE}\n${css}`));
    const scripts = figures.length ? await scriptsFor(figures, nonce) : "";
    return `<!doctype html>\n<html lang="en">${into.head.outerHTML}${into.body.outerHTML.replace(/<\/body>$/, "")}${scripts}</body></html>\n`;
  }

  async function scriptsFor(figures, nonce) {
    const answer = await fetch(`${root()}/explorer/plotly.min.js`);
    if (!answer.ok) throw new Error("plotly.min.js did not come");
    // Within a script neither its end nor a comment may begin; a "<" that is written so is the same to a string and to a pattern.
    const plotly = (await answer.text()).replace(/<(?=!--|\/?script)/gi, "\\x3c");
    const script = (attributes, content) => `<script ${attributes}>${content}<\/script>\n`;
    return script('type="application/json" id="figures"', JSON.stringify(figures).replaceAll("<", "\\u003c"))
      + script(`nonce="${nonce}"`, plotly) + script(`nonce="${nonce}"`, `(${inReport})(${window.explorerColoured});`);
  }

  // Of the page and its tab: "masking-several".
  function fileName() {
    const page = location.pathname.split("/").pop() || "bert-explorer";
    const tab = new URLSearchParams(location.hash.slice(1)).get("tab");
    return [page, tab].filter(Boolean).join("-").replace(/[^\w-]+/g, "-");
  }

  // What is shown a step at a time goes home with all steps: they are in view meanwhile, and nothing is painted.
  function whole(work) {
    const stepped = [...document.querySelectorAll(".stepped[data-step]")].map((one) => [one, one.dataset.step]);
    stepped.forEach(([one]) => delete one.dataset.step);
    try { return work(); } finally { stepped.forEach(([one, step]) => { one.dataset.step = step; }); }
  }

  async function make(spec, values) {
    const made = whole(() => {
      const parts = gathered(spec, values);
      if (!parts.sections.length) return null;
      return kind === "report" ? document_(parts) : window.explorerNotebook(parts);  // it has its copies before it first waits
    });
    if (!made) return say(NOTHING);
    if (kind === "report") window.explorerSaving.save(`${fileName()}.html`, await made, "text/html");
    else window.explorerSaving.save(`${fileName()}.ipynb`, made, "application/x-ipynb+json");
    return say("Saved.");
  }

  return {
    take(spec, values) {
      make(spec, values).catch((error) => say(`That couldn't be saved: ${error.message}.`));
      return [];
    },
  };
})();

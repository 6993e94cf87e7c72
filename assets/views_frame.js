// Runs inside the document of bertviz's views: stands in for require.js, unpacks the weights, makes every part reachable
// from the keyboard, and talks to the page around it. Text of visitors is only ever set as text.
var explorerView = "";
(() => {
  const runs = {};
  const root = document.getElementById("bertviz");
  const inPage = window.parent !== window;
  let data = null;
  let params = null;
  let width = 0;
  let text = "";

  window.explorerConfig = null;
  window.explorerParams = () => params;
  window.require = { config() {} };
  window.requirejs = (names, run) => { runs[explorerView] = run; };

  // One weight: bertviz reads it as a number or as text, and asks it which token it goes to.
  class Weight {
    constructor(to, value) { this.to = to; this.value = value; }
    valueOf() { return this.value; }
    toString() { return String(this.value); }
  }

  function numbers(text) {
    return new Uint16Array(Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0)).buffer);
  }

  // rows[layer][head][from] = [Weight, ...]
  function unpacked() {
    const counts = numbers(data.counts), targets = numbers(data.targets), weights = numbers(data.weights);
    let row = 0, place = 0;
    const oneRow = () => Array.from({ length: counts[row++] }, () => new Weight(targets[place], weights[place++] / 10000));
    const oneHead = () => data.tokens.map(oneRow);
    return data.layers.map(() => Array.from({ length: data.heads }, oneHead));
  }

  // What looks from `left` at `right`, each a [start, stop] of token positions.
  function part(rows, left, right) {
    const inside = (row) => row
      .filter((weight) => weight.to >= right[0] && weight.to < right[1])
      .map((weight) => new Weight(weight.to - right[0], weight.value));
    return rows.map((heads) => heads.map((head) => {
      const kept = head.slice(left[0], left[1]).map(inside);
      return data.view === "head" ? kept.map((row) => filled(row, right[1] - right[0])) : forThumbnail(kept);
    }));
  }

  function filled(row, length) {
    const all = new Array(length).fill(0);
    row.forEach((weight) => { all[weight.to] = weight.value; });
    all.drawn = row;
    return all;
  }

  function forThumbnail(rows) {
    const strong = rows.map((row) => row.filter((weight) => weight.value * 10000 >= data.drawn_from - 0.5));
    strong.whole = rows;
    return strong;
  }

  const measure = document.createElement("canvas").getContext("2d");

  function fitted(token, pixels, size) {
    measure.font = size + 'px "Helvetica Neue", Helvetica, Arial, sans-serif';
    if (measure.measureText(token).width <= pixels) return token;
    const signs = Array.from(token);
    let low = 0, high = signs.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (measure.measureText(signs.slice(0, middle).join("") + "…").width <= pixels) low = middle; else high = middle;
    }
    return signs.slice(0, low).join("") + "…";
  }

  function filters(tokens) {
    const end = tokens.length, half = data.second_starts;
    const rows = unpacked();
    const a = [0, half], b = [half, end], all = [0, end];
    const kinds = half === null
      ? [[null, all, all]]
      : [["All", all, all], ["Sentence A → Sentence A", a, a], ["Sentence B → Sentence B", b, b],
        ["Sentence A → Sentence B", a, b], ["Sentence B → Sentence A", b, a]];
    return kinds.map(([name, left, right]) => {
      let attn = null; // made when it is looked at
      return {
        name, left_text: tokens.slice(...left), right_text: tokens.slice(...right),
        get attn() { return (attn = attn || part(rows, left, right)); },
      };
    });
  }

  function widths() {
    const room = Math.max(280, root.clientWidth);
    measure.font = '15px "Helvetica Neue", Helvetica, Arial, sans-serif';
    const longest = Math.max(...data.tokens.map((token) => measure.measureText(token).width));
    const box = Math.round(Math.max(70, Math.min(longest + 16, 220, (room - 110) / 2)));
    return { box_width: box, matrix_width: Math.round(Math.max(100, Math.min(480, room - 2 * box))), width: Math.max(620, room) };
  }

  // The chosen filter and heads survive another text or layer where they still fit it.
  function kept(entries) {
    const before = window.explorerConfig;
    if (!before) return { default_filter: "0", heads: data.opening || null };
    const heads = before.headVis && before.headVis.length === data.heads && !before.headVis.every(Boolean)
      ? before.headVis.flatMap((on, head) => (on ? [head] : [])) : null;
    return { default_filter: entries[before.filter] ? before.filter : "0", heads };
  }

  function line(entries, chosen) {
    if (entries.length === 1) return [];
    const label = document.createElement("label");
    label.textContent = "Attention:";
    const select = document.createElement("select");
    select.id = "filter";
    entries.forEach((entry, number) => select.append(new Option(entry.name, number)));
    select.value = chosen;
    label.append(select);
    return [label];
  }

  function draw() {
    if (!data) return;
    width = root.clientWidth;
    const size = widths();
    const fit = data.view === "head" ? [size.box_width - 12, 15] : [76, 13];
    const entries = filters(data.tokens.map((token) => fitted(token, ...fit)));
    const state = kept(entries);
    const vis = document.createElement("div");
    vis.id = "vis";
    root.replaceChildren(...line(entries, state.default_filter), vis);
    new MutationObserver(decorate).observe(vis, { childList: true });
    const numbersOf = (count) => Array.from({ length: count }, (_, number) => number);
    params = {
      ...size, ...state, attention: entries, root_div_id: "bertviz", include_layers: data.layers, layer: data.layers[0],
      include_heads: numbersOf(data.heads), total_heads: data.heads,
      display_mode: isDark() ? "dark" : "light",
      thumbnail_height: Math.max(56, Math.min(130, 700 / data.layers.length)),
    };
    const sameText = text === JSON.stringify(data.tokens);
    const opened = sameText && data.view === "model" && window.explorerConfig;
    runs[data.view](window.jQuery, window.d3);
    if (opened && Number.isInteger(opened.detail_layer)) reopen(opened.detail_layer * data.heads + opened.detail_head);
    if (!sameText) window.scrollTo(0, 0);
    text = JSON.stringify(data.tokens);
    tell("drawn", { height: Math.ceil(document.documentElement.getBoundingClientRect().height) });
  }

  function isDark() { return document.documentElement.classList.contains("dark"); }

  function reopen(number) {
    const picture = thumbnails()[number];
    if (picture) picture.dispatchEvent(new MouseEvent("click"));
  }

  function thumbnails() {
    return [...root.querySelectorAll("svg > g:not(.detail)")].map((group) => group.lastElementChild);
  }

  // After each drawing: colours, and one tab stop for each kind of thing, within which the arrow keys move.
  function decorate() {
    const svg = root.querySelector("svg");
    if (!svg) return;
    svg.setAttribute("class", isDark() ? "dark" : "");
    svg.setAttribute("role", "group");
    svg.setAttribute("aria-label", data.title);
    if (data.view === "head") decorateHead(svg); else decorateModel(svg);
  }

  function decorateHead(svg) {
    const squares = [...svg.lastElementChild.children];
    rove(squares, 1, (number) => `head ${number}: switch on or off, with Shift alone`, (square, event) => {
      square.dispatchEvent(new MouseEvent(event.shiftKey ? "dblclick" : "click"));
    });
    const sides = window.explorerConfig.attention[window.explorerConfig.filter];
    ["left", "right"].forEach((side) => {
      const group = svg.querySelector("#" + side);
      const tokens = [...group.lastElementChild.children];
      rove(tokens, 1, (number) => sides[side + "_text"][number] + (side === "left" ? ": where it looks" : ": who looks at it"));
      tokens.forEach((token) => {
        token.addEventListener("focus", () => token.dispatchEvent(new MouseEvent("mouseover")));
        token.addEventListener("blur", () => group.dispatchEvent(new MouseEvent("mouseleave")));
      });
    });
  }

  function decorateModel(svg) {
    const box = Math.min(7 * (12 / data.heads), params.thumbnail_height / data.tokens.length);
    svg.style.setProperty("--stroke", Math.max(0.5, Math.min(2.2, box / 3)) + "px");
    const name = (number) => `layer ${data.layers[Math.floor(number / data.heads)]}, head ${number % data.heads}: enlarge`;
    rove(thumbnails(), data.heads, name, (picture) => picture.dispatchEvent(new MouseEvent("click")));
  }

  function rove(items, columns, name, act) {
    items.forEach((item, number) => {
      item.setAttribute("tabindex", number === 0 ? "0" : "-1");
      item.setAttribute("role", act ? "button" : "img");
      item.setAttribute("aria-label", name(number));
      item.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }[event.key];
        if (step && items[number + step]) {
          item.setAttribute("tabindex", "-1");
          items[number + step].setAttribute("tabindex", "0");
          items[number + step].focus();
        } else if (act && (event.key === "Enter" || event.key === " ")) {
          act(item, event);
        } else if (!step) {
          return;
        }
        event.preventDefault();
      });
    });
  }

  function savedSvg() {
    const svg = root.querySelector("svg");
    const { width: across, height: down } = svg.getBoundingClientRect();
    const box = data.view === "head" ? 2 * params.box_width + params.matrix_width : across;
    const copy = svg.cloneNode(true);
    copy.querySelectorAll("rect").forEach((rect) => { if (rect.style.opacity === "0") rect.remove(); });
    copy.querySelectorAll("[tabindex]").forEach((item) => ["tabindex", "role", "aria-label"].forEach((name) => item.removeAttribute(name)));
    const size = { width: Math.ceil(box), height: Math.ceil(down) };
    Object.entries({ xmlns: "http://www.w3.org/2000/svg", ...size, viewBox: `0 0 ${size.width} ${size.height}` })
      .forEach(([name, value]) => copy.setAttribute(name, value));
    const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    Object.entries({ class: "paper", width: "100%", height: "100%" }).forEach(([name, value]) => paper.setAttribute(name, value));
    const style = document.createElementNS("http://www.w3.org/2000/svg", "style");
    const stroke = svg.style.getPropertyValue("--stroke");
    style.textContent = document.getElementById("drawing").textContent
      + (data.view === "model" ? `svg > g:not(.detail) > g > line { stroke-width: ${stroke}; }` : "");
    copy.prepend(style, paper);
    return { svg: new XMLSerializer().serializeToString(copy), ...size };
  }

  function tell(kind, more) {
    if (inPage) window.parent.postMessage({ explorer: kind, ...more }, "*");
  }

  function heard(message) {
    if (message.explorer === "draw") {
      data = message.data;
      document.documentElement.classList.toggle("dark", message.dark);
      draw();
    } else if (message.explorer === "save" && data) {
      tell("saved", { format: message.format, ...savedSvg() });
    }
  }

  function standAlone() {
    data = JSON.parse(document.getElementById("data").textContent);
    if (!data) return;
    const header = document.querySelector("header");
    header.hidden = false;
    document.title = data.title;
    header.querySelector("h1").textContent = data.title;
    header.querySelector(".note").textContent = data.note;
    header.querySelector(".hint").textContent = data.hint;
    draw();
  }

  window.explorerStart = () => {
    new ResizeObserver(() => { if (Math.abs(root.clientWidth - width) > 12) draw(); }).observe(document.body);
    if (!inPage) { standAlone(); return; }
    window.addEventListener("message", (event) => { if (event.source === window.parent) heard(event.data); });
    tell("ready");
  };
})();

// The picture of a sentence's way up, over the row of chips that stands below it: what the embeddings add up to, a row of states for
// each layer with arcs of what attention moves, the followed token's column with the head's guess at each depth, the answer at the
// top. Everything is drawn from numbers of the model (explorer/labs/wayup/figures.py); text goes in as text.
const frame = element.querySelector(".way");
const stack = element.closest(".way-stack");
const BARS = 5, RISE = 90, WEAK = 300, LEAST = 280;
let shownFor = null;   // the value that is drawn
let since = 0;         // when it was drawn first: a redraw, as of another size, goes on with what rises
let step = 0;
let bar = null;

// Letters for a desk, or for the last row of a hall.
const isPresent = () => document.body.classList.contains("present");
const letter = () => (isPresent() ? 20 : 15);
const barHeight = () => letter() + 9;
const topHeight = () => BARS * barHeight() + 34;

const calm = matchMedia("(prefers-reduced-motion: reduce)");

const percent = (share) => (share >= 0.9995 && share < 1 ? "99.9%" : `${Number((100 * share).toPrecision(3))}%`);
const chipsOf = () => [...stack.querySelectorAll(".chips > .chip")];

// A press on something that is drawn, by the pointer or by the keyboard.
function pressable(part, label, press) {
  part.setAttribute("role", "button");
  part.setAttribute("tabindex", "0");
  part.setAttribute("aria-label", label);
  make("title", {}, part, label);
  part.addEventListener("click", press);
  part.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    press();
  });
}

// As high as the screen lets it be with the chips in view, and no row so low that its guess has no room.
function rowOf({ depth, opened }, below) {
  if (opened !== null) return 30;  // what is opened comes nearer
  const top = stack.getBoundingClientRect().top + window.scrollY;
  const room = window.innerHeight - top - topHeight() - 34 - chipsOf()[0].parentElement.offsetHeight - 24 - below;
  return Math.min(Math.max(room / depth, 30), 66);
}

// The chips are as large as lets the whole row be seen, down to what can still be read; beyond that the row scrolls.
function fit(value, pills) {
  const chips = chipsOf();
  chips.forEach((chip) => { chip.style.minWidth = ""; });
  if (chips[value.position]) chips[value.position].style.minWidth = `${pills + 4}px`;
  stack.style.setProperty("--way-letter", `${letter()}px`);
  for (const size of isPresent() ? [28, 26, 24, 22, 20] : [18, 17, 16, 15, 14]) {
    stack.style.setProperty("--way-chip", `${size}px`);
    stack.style.setProperty("--way-air", `${Math.min(7, size - 11)}px`);
    if (stack.scrollWidth <= stack.clientWidth + 1) break;
  }
}

function widest(value) {
  const pen = (widest.pen ||= document.createElement("canvas").getContext("2d"));
  pen.font = `${letter()}px ${getComputedStyle(stack.querySelector(".chips")).fontFamily}`;
  return Math.max(...value.rungs.map(([[token, share]]) => pen.measureText(`${token} ${percent(share)}`).width)) + 20;
}

function draw() {
  const value = props.value;
  frame.hidden = !value || !value.tokens || chipsOf().length !== value.tokens.length;
  if (frame.hidden) {
    if (!value || !value.tokens) say("drawn");
    return;
  }
  frame.setAttribute("aria-label", value.described);
  const pills = widest(value);
  fit(value, pills);
  const origin = frame.getBoundingClientRect();
  if (!origin.width) return;  // out of sight: drawn when it comes into view
  const xs = chipsOf().map((chip) => { const box = chip.getBoundingClientRect(); return box.left + box.width / 2 - origin.left; });
  const width = Math.max(origin.width, xs[xs.length - 1] + 60);
  const bars = barsPlace(xs[value.position], width);
  const row = rowOf(value, beside(bars) ? 0 : 38);
  const bottom = topHeight() + value.depth * row;
  const place = { value, xs, pills, row, bars, width, y: (layer) => bottom - layer * row, height: bottom + 30 };
  const svg = make("svg", { class: "way-svg", width: place.width, height: place.height, "aria-hidden": "false" });
  const before = barsOf();
  column(svg, place);
  threads(svg, place);
  if (shownFor !== value) since = performance.now();
  arcs(svg, place);
  dots(svg, place);
  pillsOf(svg, place);
  labels(svg, place);
  sums(svg, place);
  answer(svg, place, before);
  frame.querySelector("svg.way-svg")?.remove();
  frame.prepend(svg);
  if (shownFor !== value) stack.scrollLeft = xs[value.position] - stack.clientWidth / 2;
  follow();
  if (shownFor !== value) {
    frame.dataset.drawn = String(Number(frame.dataset.drawn || 0) + 1);
    shownFor = value;
  }
  told(value);
  say("drawn");
}

// The column of the followed token: as full as the final answer is likely at each depth.
function column(svg, { value, xs, y, row }) {
  const g = make("g", { class: "way-column" }, svg), x = xs[value.position];
  value.filled.forEach((share, layer) => {
    make("rect", { x: x - 17, y: y(layer) - row / 2, width: 34, height: row, "fill-opacity": 0.06 + 0.6 * share }, g);
  });
}

// For every other token its widest arc, thin and grey: where the rest of the sentence looks meanwhile.
function threads(svg, { value, xs, y }) {
  const g = make("g", { class: "way-threads" }, svg);
  value.layers.forEach(({ arcs: rows }, layer) => rows.forEach((sources, to) => {
    if (to === value.position) return;
    const [from, share] = Object.entries(sources).reduce((best, one) => (one[1] > best[1] ? one : best), ["", 0]);
    if (share >= WEAK && Number(from) !== to) make("path", { d: curve(xs[from], y(layer), xs[to], y(layer + 1)) }, g);
  }));
}

const curve = (x, y, toX, toY) => `M${x},${y} C${x},${y - 0.55 * (y - toY)} ${toX},${toY + 0.55 * (y - toY)} ${toX},${toY}`;

function arcsInto(g, { value, xs, y }, layer, to) {
  Object.entries(value.layers[layer].arcs[to]).forEach(([from, share]) => {
    const special = value.tokens[from].special;
    const path = make("path", { d: curve(xs[from], y(layer), xs[to], y(layer + 1)), class: special ? "special" : "" }, g);
    path.style.strokeWidth = `${1 + share / 120}px`;
    path.style.strokeOpacity = String(0.2 + 0.75 * share / 1000);
    make("title", {}, path, `layer ${layer + 1}, head ${value.layers[layer].head}: ${share / 10}% of what it moves to “${value.tokens[to].shown}” comes from “${value.tokens[from].shown}”`);
  });
}

// Redrawn from below: each layer's arcs come a moment after those of the layer under it.
function arcs(svg, place) {
  const gone = performance.now() - since, rising = !calm.matches && gone < (place.value.depth + 2) * RISE;
  place.value.layers.forEach((one, layer) => {
    const g = make("g", { class: rising ? "way-arcs rising" : "way-arcs" }, svg);
    g.style.animationDelay = `${layer * RISE - gone}ms`;
    arcsInto(g, place, layer, place.value.position);
  });
  make("g", { class: "way-arcs over" }, svg);
}

function dots(svg, place) {
  const { value, xs, y } = place;
  const g = make("g", { class: "way-dots" }, svg);
  for (let layer = 0; layer <= value.depth; layer += 1) {
    xs.forEach((x, token) => {
      if (token === value.position) return;
      const turned = layer ? value.layers[layer - 1].turned[token] : 0;
      const dot = make("circle", { cx: x, cy: y(layer), r: 7 }, g);
      dot.style.setProperty("--turned", `${Math.round(100 * Math.min(1, turned / 0.5))}%`);
      const state = layer ? `“${value.tokens[token].shown}” after layer ${layer}, turned by ${turned.toFixed(2)} (1 − cos)` : `“${value.tokens[token].shown}” before the layers`;
      make("title", {}, dot, `${state}. Press to follow it.`);
      dot.addEventListener("click", () => trigger("select", { position: token }));
      if (!layer) return;
      const over = () => svg.querySelector(".way-arcs.over");
      dot.addEventListener("pointerenter", () => { svg.classList.add("peeking"); arcsInto(over(), place, layer - 1, token); });
      dot.addEventListener("pointerleave", () => { svg.classList.remove("peeking"); over().textContent = ""; });
    });
  }
}

// What the head would answer after each layer, in the column.
function pillsOf(svg, { value, xs, y, pills }) {
  const g = make("g", { class: "way-pills" }, svg), x = xs[value.position];
  value.rungs.forEach(([[token, share]], layer) => {
    const pill = make("g", { class: token === value.hidden ? "true" : "" }, g);
    const strength = Math.round(100 * share);
    pill.style.setProperty("--share", `${strength}%`);
    // The ink that its fill asks for, by day and by night (explorer/charts/colours.py).
    if (share > 0.94) pill.classList.add("full");
    if (share > 0.64) pill.classList.add("most");
    make("rect", { x: x - pills / 2, y: y(layer) - 13, width: pills, height: 26, rx: 13 }, pill);
    make("text", { x, y: y(layer) + letter() / 3, "text-anchor": "middle" }, pill, `${token} ${percent(share)}`);
    make("title", {}, pill, `${layer ? `after layer ${layer}` : "before the layers"}: ${value.rungs[layer].map(([one, its]) => `${one} ${percent(its)}`).join(", ")}`);
  });
}

function labels(svg, { value, y, row, xs }) {
  const g = make("g", { class: "way-labels" }, svg);
  make("text", { x: 8, y: y(0) + 11 }, g, "sum");
  for (let layer = 1; layer <= value.depth; layer += 1) {
    const open = value.opened === layer - 1;
    const label = make("g", { class: open ? "open" : "" }, g);
    make("rect", { x: 0, y: y(layer) + row / 2 - 12, width: 4.3 * letter(), height: 24, rx: 6 }, label);
    make("text", { x: 8, y: y(layer) + row / 2 + 5 }, label, `layer ${layer}`);
    label.setAttribute("aria-pressed", String(open));
    pressable(label, open ? `Close layer ${layer}` : `Open layer ${layer}`, () => trigger("select", { layer: open ? -1 : layer - 1 }));
  }
}

// Under each column, what is added up: as wide as each vector is long.
function sums(svg, { value, xs, y }) {
  const g = make("g", { class: "way-sums" }, svg);
  const whole = (token) => value.added.reduce((all, [, lengths]) => all + lengths[token], 0);
  const most = Math.max(...xs.map((x, token) => whole(token)));
  xs.forEach((x, token) => {
    const scale = 36 / most;
    let left = x - scale * whole(token) / 2;
    value.added.forEach(([kind, lengths]) => {
      const part = make("rect", { x: left, y: y(0) + 17, width: scale * lengths[token], height: 7, class: kind }, g);
      make("title", {}, part, `${kind}: length ${lengths[token]}`);
      left += scale * lengths[token];
    });
  });
}

const barsOf = () => new Map([...frame.querySelectorAll(".way-bars > g")].map((one) => [one.dataset.token, one.dataset]));

// The head's answer. A token that was there before moves to its new place.
function answer(svg, { value, xs, y, bars: { left, wide } }, before) {
  const top = value.rungs[value.rungs.length - 1], most = top[0][1];
  const g = make("g", { class: "way-bars" }, svg);
  const name = 0.42 * wide, room = wide - name - 4 * letter();
  make("path", { class: "way-lead", d: `M${xs[value.position]},${y(value.depth) - 14} L${xs[value.position]},${BARS * barHeight() + 4}` }, make("g", {}, svg));
  top.forEach(([token, share], rank) => {
    const one = make("g", { class: token === value.hidden ? "true" : "" }, g);
    one.dataset.token = token;
    one.dataset.rank = rank;
    one.dataset.share = share;
    make("text", { x: left + name - 8, y: letter() + 3, "text-anchor": "end" }, one, token);
    const strip = make("rect", { x: left + name, y: 4, width: Math.max(2, room * share / most), height: letter() + 2, rx: 3 }, one);
    make("text", { x: left + name + Math.max(2, room * share / most) + 6, y: letter() + 3, class: "share" }, one, percent(share));
    const was = before.get(token);
    const to = `translate(0px, ${rank * barHeight()}px)`;
    one.style.transform = to;
    if (!was || calm.matches || shownFor === value) return;
    one.style.transform = `translate(0px, ${was.rank * barHeight()}px)`;
    strip.style.transform = `scaleX(${Math.min(3, was.share / share)})`;
    requestAnimationFrame(() => requestAnimationFrame(() => { one.style.transform = to; strip.style.transform = ""; }));
  });
}

// Where the bars stand: over the column, and in view.
function barsPlace(x, width) {
  const wide = Math.min(20 * letter(), stack.clientWidth - 30);
  const seen = Math.max(0, Math.min(x - stack.clientWidth / 2, width - stack.clientWidth));
  return { wide, seen, left: Math.min(Math.max(x - wide / 3, seen + 4), seen + stack.clientWidth - wide - 4) };
}

// The steps stand beside the bars, where there is room. Returns whether they do.
function beside({ left, wide, seen }) {
  if (!bar) stepsBar();
  const right = left + wide + 24, before = left - seen, after = seen + stack.clientWidth - right;
  const room = Math.max(before, after) - 12, there = room > LEAST;
  const steps = bar.parentElement;
  steps.classList.toggle("beside", there);
  steps.style.left = there ? `${before >= after ? seen : right}px` : "0";
  steps.style.width = there ? `${Math.min(room, 620)}px` : "";
  return there;
}

// Nine stages for a lecture: what is not spoken of steps back, and a sentence says the rest.
function stepsBar() {
  const place = document.createElement("div");
  place.className = "way-steps";
  const says = document.createElement("p");
  bar = stepper({
    name: "the way up",
    first: 0,
    last: 9,
    at: 0,
    says: (at) => (at ? `step ${at} of 9` : "steps"),
    show: (at) => {
      step = at;
      frame.dataset.step = at;
      if (at >= 3 && at <= 8 && shownFor && shownFor.opened === null) trigger("select", { layer: 0 });
      told(props.value);
    },
  });
  place.append(bar, says);
  frame.append(place);
}

function told(value) {
  const says = frame.querySelector(".way-steps p");
  if (!says || !value || !value.stages) return;
  says.textContent = "";
  document.dispatchEvent(new CustomEvent("explorer:stage", { detail: { step, by: element } }));
  if (!step) return;
  const { title, says: sentence, to } = value.stages[step - 1];
  const name = document.createElement("strong"), link = document.createElement("a");
  name.textContent = `${title}. `;
  link.textContent = "More →";
  link.href = to;
  says.append(name, `${sentence} `, link);
}

// The layers' names and the steps stay in view while a long sentence scrolls.
function follow() {
  for (const part of frame.querySelectorAll(".way-labels, .way-steps")) {
    part.style.transform = part.classList.contains("beside") ? "" : `translateX(${stack.scrollLeft}px)`;
  }
}

stack.addEventListener("scroll", follow);
drawnOver(stack, draw);

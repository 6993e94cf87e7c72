// One layer taken apart, for one head and the followed token: query and keys, scores, softmax, heads joined, the two sums, the
// feed-forward net. Every strip and square is the model's numbers (explorer/labs/wayup/figures.py); the shape of what is handed on
// stands at each arrow, and each part leads to the page that has more of it, with the same sentence.
const frame = element.querySelector(".waylayer");
const PARTS = [
  { step: 3, title: "Query and keys", shape: (b, n) => `${n} × ${b.size}` },
  { step: 3, title: "Scores", shape: (b, n) => `${n} × ${n}` },
  { step: 4, title: "Softmax", shape: (b, n) => `${n} × ${n}` },
  { step: 5, title: "Heads joined, W_O", shape: (b, n) => `${n} × ${b.width}` },
  { step: 6, title: "Added", shape: (b, n) => `${n} × ${b.width}` },
  { step: 7, title: "Feed-forward", shape: (b, n) => `${n} × ${b.inner}` },
  { step: 8, title: "Added again", shape: (b, n) => `${n} × ${b.width}` },
];

function add(into, name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  into.append(made);
  return made;
}

function pressed(into, text, label, on, press) {
  const button = add(into, "button", "way-head", text);
  button.type = "button";
  button.setAttribute("aria-label", label);
  button.setAttribute("aria-pressed", String(on));
  button.addEventListener("click", press);
}

// A colour of the page for a number between -1 and 1: paper at 0.
const palette = () => (document.body.classList.contains("dark") ? [[15, 23, 42], [86, 180, 233], [230, 159, 0]] : [[255, 255, 255], [0, 114, 178], [179, 71, 0]]);

function paint(canvas, rows, most, marks = []) {
  const [paper, above, below] = palette();
  const pen = canvas.getContext("2d"), width = rows[0].length, height = rows.length;
  Object.assign(canvas, { width, height });
  const image = pen.createImageData(width, height);
  rows.forEach((row, y) => row.forEach((value, x) => {
    const share = Math.min(1, Math.abs(value) / most || 0), full = value < 0 ? below : above;
    image.data.set([...paper.map((channel, at) => channel + share * (full[at] - channel)), 255], 4 * (y * width + x));
  }));
  marks.forEach(([y, x]) => image.data.set([138, 148, 163, 255], 4 * (y * width + x)));
  pen.putImageData(image, 0, 0);
}

const mostOf = (rows) => rows.reduce((most, row) => row.reduce((all, one) => Math.max(all, Math.abs(one)), most), 0);

// A few numbers of a state are many times as large as all others: a strip is full at what 98% of them stay below.
const usual = (vector) => vector.map(Math.abs).sort((one, other) => one - other)[Math.floor(0.98 * (vector.length - 1))];

// A vector as a strip, with its length; from, to: the part of it that is this head's.
function strip(into, name, vector, note, head) {
  const line = add(into, "div", "way-strip");
  add(line, "span", "", name);
  const holds = add(line, "div", "way-cells");
  const canvas = add(holds, "canvas");
  paint(canvas, [vector], usual(vector));
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${name}: ${vector.length} numbers`);
  canvas.title = `${vector.length} numbers, from ${Math.min(...vector)} to ${Math.max(...vector)}`;
  if (head) {
    const own = add(holds, "i");
    Object.assign(own.style, { left: `${100 * head[0]}%`, width: `${100 * (head[1] - head[0])}%` });
  }
  add(line, "small", "", note);
}

function square(into, name, rows, at, { most = mostOf(rows), marks = [], outlined = true } = {}) {
  const holds = add(into, "div", "way-square");
  const canvas = add(holds, "canvas");
  paint(canvas, rows, most, marks);
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${name}: ${rows.length} rows of ${rows[0].length}`);
  if (!outlined) return;
  const own = add(holds, "i");
  Object.assign(own.style, { top: `${100 * at / rows.length}%`, height: `${100 / rows.length}%`, left: 0, width: "100%" });
}

function most(tokens, row, count) {
  return row.map((value, at) => [value, tokens[at]]).sort((one, other) => other[0] - one[0]).slice(0, count);
}

const percent = (share) => `${Number((100 * share).toPrecision(3))}%`;

function fill(value) {
  const { build: b, position: at, tokens, vectors: v, lengths: l, head } = value;
  const length = (name) => `length ${l[name]}`;
  const cells = PARTS.map((part) => {
    const cell = add(grid, "section", `way-part of-${part.step}`);
    const title = add(cell, "h4", "", part.title);
    const link = add(title, "a", "", "→");
    link.href = value.leads[part.step - 1];
    link.setAttribute("aria-label", `${part.title}: the page with more`);
    add(cell, "div", "way-shape", part.shape(b, tokens.length));
    return cell;
  });
  const [ask, score, soft, join, sum, net, again] = cells;
  strip(ask, `q of “${tokens[at]}”`, value.query, "");
  square(ask, "keys", value.keys, at);
  add(ask, "small", "", "keys, a row for each token");
  square(score, "scores", value.scores, at, { marks: value.unseen });
  add(score, "small", "", `q·k × ${Number(b.scaling.toPrecision(2))}; blue above 0${b.disentangled ? ". Terms of position are added" : ""}`);
  square(soft, "weights", value.weights, at, { most: 1 });
  const list = add(soft, "ol", "way-most");
  most(tokens, value.weights[at], 3).forEach(([share, token]) => add(list, "li", "", `${token} ${percent(share)}`));
  square(join, "values", value.values, at, { outlined: false });
  add(join, "small", "", "values, a row for each token");
  strip(join, "taken from them, all heads", v.joined, `head ${head} marked`, [head / b.heads, (head + 1) / b.heads]);
  strip(join, "after W_O", v.attended, length("attended"));
  strip(sum, "state", v.before, length("before"));
  strip(sum, "+ attention", v.attended, length("attended"));
  strip(sum, "= sum", v.first_sum, length("first_sum"));
  if (!b.normFirst) strip(sum, b.norm, v.ffn_reads, length("ffn_reads"));
  if (b.normFirst) strip(net, b.norm, v.ffn_reads, length("ffn_reads"));
  strip(net, `W₁, ${b.activation}`, v.inner, `${value.active.toLocaleString("en")} of ${b.inner.toLocaleString("en")} above 0`);
  strip(net, "W₂", v.ffn, length("ffn"));
  strip(again, b.normFirst ? "sum" : "normed sum", b.normFirst ? v.first_sum : v.ffn_reads, "");
  strip(again, "+ feed-forward", v.ffn, length("ffn"));
  strip(again, "= sum", v.second_sum, length("second_sum"));
  if (!b.normFirst) strip(again, b.norm, v.after, length("after"));
}

let grid = null;
let wasPressed = false;  // an address may open a layer too, and then nothing moves

function draw() {
  const value = props.value, opens = frame.hidden;
  frame.textContent = "";
  frame.hidden = !value || !value.build;
  if (!frame.hidden) {
    const { build: b, head, layer } = value;
    frame.setAttribute("aria-label", value.described);
    const top = add(frame, "div", "way-top");
    add(top, "h3", "", `Layer ${layer + 1}${b.depth > 1 ? ` of ${b.depth}` : ""}, “${value.tokens[value.position]}”`);
    const heads = add(top, "div", "way-heads");
    heads.setAttribute("role", "group");
    heads.setAttribute("aria-label", "Head");
    pressed(heads, "strongest", "The head that moves most, in each layer", !value.chosen, () => trigger("select", { head: -1 }));
    for (let one = 0; one < b.heads; one += 1) pressed(heads, String(one), `Head ${one}`, one === head, () => trigger("select", { head: one }));
    const close = add(top, "button", "way-head", "Close");
    close.type = "button";
    close.addEventListener("click", () => trigger("select", { layer: -1 }));
    add(frame, "p", "caption", value.said.join(" "));
    grid = add(frame, "div", "way-grid");
    fill(value);
    if (opens && wasPressed) frame.scrollIntoView({ block: "nearest", behavior: "smooth" });
    frame.dataset.drawn = String(Number(frame.dataset.drawn || 0) + 1);
  }
  element.dispatchEvent(new CustomEvent("explorer:drawn", { bubbles: true, detail: props.value?.of }));
}

draw();
watch("value", draw);
document.addEventListener("click", (event) => { wasPressed = Boolean(event.target.closest?.(".way-labels")); });
// The picture above tells which of the nine stages is spoken of.
document.addEventListener("explorer:stage", (event) => { frame.dataset.step = event.detail.step; });
let night = document.body.classList.contains("dark");
new MutationObserver(() => {
  if (night === document.body.classList.contains("dark")) return;
  night = !night;
  draw();
}).observe(document.body, { attributes: true, attributeFilter: ["class"] });

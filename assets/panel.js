// What the two panels of the Metrics tab share: elements, numbers, formulas drawn in SVG, the page's palette, saved images.
// It stands in front of confusion.js and correlation.js; each panel runs in a function of its own.
const SVG = "http://www.w3.org/2000/svg";
const MINUS = "−";
const ruler = document.createElement("canvas").getContext("2d");

function make(parent, tag, attributes = {}, text = null) {
  const made = document.createElement(tag);
  Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
  if (text !== null) made.textContent = text;
  parent.append(made);
  return made;
}

// As make, in SVG; "@role" is a colour of the page's palette, written into the picture so that a saved one keeps it.
function draw(parent, tag, attributes = {}, text = null) {
  const palette = props.palettes[document.body.classList.contains("dark") ? "dark" : "light"];
  const made = document.createElementNS(SVG, tag);
  Object.entries(attributes).forEach(([name, value]) => {
    const role = typeof value === "string" && value.startsWith("@") ? palette[value.slice(1)] : null;
    made.setAttribute(name, role || value);
  });
  if (text !== null) made.textContent = text;
  parent.append(made);
  return made;
}

function label(parent, x, y, text, more = {}) {
  return draw(parent, "text", { x, y, fill: "@text", "font-size": 15, ...more }, text);
}

// Rounded half away from zero, as metrics_compute.decimals; never "−0.000".
function decimals(value, places = 3) {
  const text = value.toFixed(places);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", MINUS);
}

// As explorer.figures.percent.
function percent(share) {
  const value = 100 * share;
  if (value > 0 && value < 1e-4) return "<0.0001%";
  if (value >= 99.95 && share < 1) return Math.min(value, 99.9999).toFixed(4).replace(/0+$/, "") + "%";
  return value === 0 ? "0%" : value.toPrecision(3).replace(/\.$/, "") + "%";
}

const bracketed = (part) => (part.includes(" ") && !part.startsWith("√") ? `(${part})` : part);

// The formula on one line: symbols, then numbers, then the value.
function linear(metric) {
  const steps = [0, 1].map((place) => `${bracketed(metric.top[place])} / ${bracketed(metric.bottom[place])}`);
  return [...steps, metric.value === null ? "undefined" : decimals(metric.value)].join(" = ");
}

// Sentences: plain texts, and [text] for what is strong.
function say(place, parts) {
  place.textContent = "";
  parts.forEach((part) => (Array.isArray(part) ? make(place, "strong", {}, part[0]) : place.append(part)));
}

const rooted = (text) => (text.startsWith("√(") ? text.slice(2, -1) : null);

function widthOf(text, size, weight = 400) {
  ruler.font = `${weight} ${size}px ${props.font}`;
  return ruler.measureText(text).width;
}

const partWidth = (text, size) => (rooted(text) === null ? widthOf(text, size) : widthOf(rooted(text), size) + 14);

// Half of a fraction, centred on x; a root gets its sign and a line above.
function drawPart(parent, x, y, text, size) {
  const inside = rooted(text);
  if (inside === null) return label(parent, x, y, text, { "font-size": size, "text-anchor": "middle" });
  const start = x - partWidth(text, size) / 2;
  const path = `M${start} ${y - 5}l3 -2l4 8l5 -${size + 2}h${widthOf(inside, size) + 2}`;
  draw(parent, "path", { d: path, fill: "none", stroke: "@text", "stroke-width": 1.2 });
  return label(parent, start + 13, y, inside, { "font-size": size });
}

const LINE = 40;
const signWidth = (size) => widthOf("=", size) + 14;
const pieceWidth = (piece, size) =>
  Array.isArray(piece) ? Math.max(...piece.map((part) => partWidth(part, size))) + 6 : widthOf(piece, size, 700);

// The metric's formula with its numbers, then `last`, from (x, top) on: in one line where a size fits, else in as many as
// the width asks for. Returns its lower edge.
function drawFormula(parent, metric, x, top, right, last = []) {
  const pieces = [...[0, 1].map((place) => [metric.top[place], metric.bottom[place]]), ...last];
  const whole = (size) => pieces.reduce((width, piece) => width + pieceWidth(piece, size) + signWidth(size), -signWidth(size));
  const size = x + whole(15) <= right ? 15 : 14;
  let left = x;
  let middle = top + LINE / 2;
  pieces.forEach((piece, place) => {
    const fraction = Array.isArray(piece);
    const width = pieceWidth(piece, size);
    const sign = place ? signWidth(size) : 0;
    if (place && left + sign + width > right) [left, middle] = [x, middle + (fraction ? LINE : LINE - 10)];
    if (place) label(parent, left + 7, middle + 5, "=", { "font-size": size });
    left += sign;
    if (fraction) {
      drawPart(parent, left + width / 2, middle - 5, piece[0], size);
      draw(parent, "line", { x1: left, x2: left + width, y1: middle, y2: middle, stroke: "@text", "stroke-width": 1 });
      drawPart(parent, left + width / 2, middle + size + 2, piece[1], size);
    } else label(parent, left, middle + 5, piece, { "font-size": size, "font-weight": 700 });
    left += width;
  });
  return middle + LINE / 2;
}

// An empty picture as wide as its place; `described` is its text for screen readers.
function blank(svg, described) {
  svg.textContent = "";
  svg.setAttribute("font-family", props.font);
  svg.setAttribute("aria-label", described);
  return svg.parentElement.clientWidth;
}

function sized(svg, width, height) {
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("width", width);
  svg.setAttribute("height", height);
  svg.dataset.drawn = String(Number(svg.dataset.drawn || 0) + 1);
}

function download(url, name) {
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
}

async function save(svg, format, name) {
  const copy = svg.cloneNode(true);
  const [width, height] = ["width", "height"].map((side) => Number(svg.getAttribute(side)));
  copy.setAttribute("xmlns", SVG);
  const ground = document.createElementNS(SVG, "rect");
  Object.entries({ width, height, fill: getComputedStyle(document.body).backgroundColor }).forEach(([key, value]) =>
    ground.setAttribute(key, value));
  copy.prepend(ground);
  const text = new XMLSerializer().serializeToString(copy);
  const address = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
  if (format === "svg") return download(address, `${name}.svg`);
  const image = new Image();
  image.src = address;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [2 * width, 2 * height];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return download(canvas.toDataURL("image/png"), `${name}.png`);
}

function offerSaving(parent, svg, name) {
  const row = make(parent, "div", { class: "saves" });
  ["PNG", "SVG"].forEach((format) => {
    const button = make(row, "button", { type: "button", class: "plain" }, `Save as ${format}`);
    button.addEventListener("click", () => save(svg, format.toLowerCase(), name));
  });
}

// Tell the server what stands, once the visitor rests: it fills the folded table and the script. Until a panel is ready it
// shows what it was opened with, which the server knows.
let resting = null;
let ready = false;
function report(data) {
  if (!ready) return;
  clearTimeout(resting);
  resting = setTimeout(() => trigger("select", data), 150);
}

// Draw again when the visitor switches between light and dark, and when the place gets another width.
function redrawWith(redraw, place) {
  new MutationObserver(redraw).observe(document.body, { attributes: true, attributeFilter: ["class"] });
  let before = 0;
  new ResizeObserver(() => {
    if (place.clientWidth && place.clientWidth !== before) {
      before = place.clientWidth;
      redraw();
    }
  }).observe(place);
}

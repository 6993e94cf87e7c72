// Soft targets as the temperature moves: p = softmax(z / T) over all classes, computed here at each movement of the slider.
// The picture comes from explorer/labs/distillation/soft_figures.py, drawn at some T; only what depends on T is computed again.
// It stands behind plot.js, which is the function `drawing`.
const slider = element.querySelector("input");
const shown = element.querySelector("output");
const sent = new Set();
let temperature = null;
let logits = new Float32Array(0);
let figure = {};
let redraw = () => {};
let waiting = false;

function decoded(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Float32Array(bytes.buffer);
}

// Largest first, as the logits are, so the sums are exact over the whole vocabulary; from small to large for their digits.
function softened(T) {
  const p = new Float64Array(logits.length);
  let total = 0;
  for (let k = p.length - 1; k >= 0; k--) total += p[k] = Math.exp((logits[k] - logits[0]) / T);
  let dark = 0;
  let entropy = 0;
  let rest = 0;
  for (let k = p.length - 1; k >= 0; k--) {
    p[k] /= total;
    if (p[k] > 0) entropy -= p[k] * Math.log(p[k]);
    if (k >= 1) dark += p[k];
    if (k >= props.value.named) rest += p[k];
  }
  return { p, dark, rest, entropy: Math.max(0, entropy) };
}

// As explorer.figures.percent.
function percent(share) {
  const value = 100 * share;
  if (value > 0 && value < 1e-4) return "<0.0001%";
  if (value >= 99.95 && share < 1) return Math.min(value, 99.9999).toFixed(4).replace(/0+$/, "") + "%";
  return value === 0 ? "0%" : value.toPrecision(3).replace(/\.$/, "") + "%";
}

function filled(T) {
  const { p, dark, rest, entropy } = softened(T);
  const shares = [...p.slice(0, props.value.named), ...(props.value.named < p.length ? [rest] : [])];
  const [hard, soft, entropies, entropyNow, darks, darkNow] = props.value.data;
  return [
    hard,
    { ...soft, x: shares, text: shares.map(percent), textposition: shares.map((share) => (share > 0.7 ? "inside" : "outside")) },
    entropies,
    { ...entropyNow, x: [T, T], y: [0, entropy] },
    darks,
    { ...darkNow, x: [T, T], y: [0, dark] },
  ];
}

function say() {
  shown.textContent = `T = ${temperature.toPrecision(3)}`;
  slider.setAttribute("aria-valuetext", shown.textContent);
  figure = { ...props.value, data: filled(temperature) };
}

// Only what has moved is handed to Plotly: with the layout that it has, it answers several times as fast.
function move() {
  waiting = false;
  if (temperature === null || !logits.length) return;
  say();
  const frame = element.querySelector(".plot");
  if (!frame.data || frame.data.length !== figure.data.length) return redraw();
  const moved = ({ x, y, text, textposition }) => ({ x, y, ...(text ? { text, textposition } : {}) });
  const data = frame.data.map((trace, place) => ({ ...trace, ...moved(figure.data[place]) }));
  window.Plotly.react(frame, data, frame.layout);
  frame.dataset.drawn = String(Number(frame.dataset.drawn || 0) + 1);
}

function receive() {
  const value = props.value;
  element.querySelector(".softening").hidden = !value || !value.logits;
  logits = value && value.logits ? decoded(value.logits) : new Float32Array(0);
  figure = value || {};
  if (logits.length && !sent.has(value.temperature)) {
    temperature = value.temperature;
    slider.value = Math.log10(temperature);
  }
  if (logits.length) say();
  redraw();
}

slider.addEventListener("input", () => {
  temperature = Number((10 ** Number(slider.value)).toPrecision(3));
  if (!waiting) requestAnimationFrame(move);
  waiting = true;
});
slider.addEventListener("change", () => {
  sent.add(temperature);
  trigger("select", { temperature });
});

drawing(element, { get value() { return figure; }, palettes: props.palettes, filename: props.filename },
  (name, again) => { redraw = again; }, () => {});
receive();
watch("value", receive);

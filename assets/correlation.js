// Points of true against predicted score that can be moved, beside their ranks, with Pearson of both: the second is Spearman.
// Computed here so that they move with the point; metrics_compute.correlate is the same in Python, and a test compares them.
const MOST = 60;
const HIGHEST = 5;
const SIZES = { left: 50, bottom: 50, top: 30, dot: 7, reach: 18 };

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

// The place of each value in rising order, from 1; equal values share the mean of their places.
function ranks(values) {
  return values.map((value) => {
    const below = values.filter((other) => other < value).length;
    const equal = values.filter((other) => other === value).length;
    return below + (equal + 1) / 2;
  });
}

const unzip = (points) => [0, 1].map((side) => points.map((point) => point[side]));

function sumsOf(points) {
  const apart = unzip(points).map((values) => {
    const mean = sum(values) / values.length;
    const same = values.every((value) => value === values[0]);
    return values.map((value) => (same ? 0 : value - mean));
  });
  const product = (first, second) => sum(first.map((value, place) => value * second[place]));
  return { both: product(...apart), xs: product(apart[0], apart[0]), ys: product(apart[1], apart[1]) };
}

function pearson(points) {
  const { both, xs, ys } = sumsOf(points);
  return xs && ys ? Math.max(-1, Math.min(1, both / Math.sqrt(xs * ys))) : null;
}

function rankPoints(points) {
  const [x, y] = unzip(points).map(ranks);
  return x.map((value, place) => [value, y[place]]);
}

function taken(slug, title, points, [x, y]) {
  const { both, xs, ys } = sumsOf(points);
  const [left, right] = [x, y].map((letter) => `(${letter} − ${letter}\u0304)`);
  return {
    slug, title, value: pearson(points),
    top: [`Σ ${left}·${right}`, decimals(both, 2)],
    bottom: [`√(Σ ${left}² · Σ ${right}²)`, `√(${decimals(xs, 2)} · ${decimals(ys, 2)})`],
  };
}

const correlate = (points) => [
  taken("pearson", "Pearson", points, ["x", "y"]),
  taken("spearman", "Spearman", rankPoints(points), ["p", "q"]),
];

// The point without which Pearson would be most different, and both correlations then.
function decisive(points, value) {
  const others = points.map((_, place) => points.filter((_, other) => other !== place));
  const changes = others.map((rest) => (pearson(rest) === null ? 0 : Math.abs(pearson(rest) - value)));
  const place = changes.indexOf(Math.max(...changes));
  return { place, change: changes[place], pearson: pearson(others[place]), spearman: pearson(rankPoints(others[place])) };
}

const where = ([x, y]) => `(${decimals(x, 2)}, ${decimals(y, 2)})`;

// What the points show, in one or two sentences.
function sentence(points, [first, second]) {
  if (first.value === null) {
    const side = new Set(points.map((point) => point[1])).size === 1 ? "predicted" : "true";
    return [`All ${side} scores are equal. Without spread `, ["both correlations are undefined"], " (0/0): a model that says the same of every pair ends here."];
  }
  if (points.length === 2) return ["Any two points lie on a line: ", [`Pearson is ${decimals(first.value)}`], " whatever they are. Add more."];
  const one = decisive(points, first.value);
  if (one.change > 0.15) {
    return [`One of ${points.length} points decides: without ${where(points[one.place])} `, [`Pearson would be ${signed(one.pearson)}`], `, not ${decimals(first.value)}. Spearman, which sees only its rank, goes from ${signed(one.spearman)} to `, [decimals(second.value)], "."];
  }
  if (second.value - first.value > 0.08) return ["The order is right, ", [`Spearman ${decimals(second.value)}`], ", but the points bend away from a line: ", [`Pearson ${decimals(first.value)}`], "."];
  if (Math.abs(first.value) < 0.25) return [[`Pearson ${decimals(first.value)}`], ` and Spearman ${decimals(second.value)}: whoever knows the prediction knows next to nothing about the true score.`];
  if (first.value < 0) return [[`Pearson ${decimals(first.value)}`], ": the predictions fall where the true scores rise."];
  const how = first.value > 0.7 ? "the points lie near a rising line." : "the predictions rise with the true scores, but loosely.";
  return [[`Pearson ${decimals(first.value)}`], `: ${how} By their order alone, `, [`Spearman ${decimals(second.value)}`], "."];
}

const signed = (value) => (value === null ? "undefined" : decimals(value));

// ---- the picture ----
const panel = element.querySelector(".panel");
const controls = make(panel, "div", { class: "panel-controls" });
const figure = make(panel, "div", { class: "panel-figure" });
const spoken = make(figure, "p", { class: "said" });
const svg = draw(make(figure, "div", { class: "canvas" }), "svg", { role: "group" });
offerSaving(figure, svg, "correlation");

let points = props.value.points;
let chosen = 0;
let area = null;

function axes(group, box, ticks, titles) {
  draw(group, "rect", { class: box.ground, x: box.x, y: box.y, width: box.width, height: box.height, fill: "@background" });
  ticks.forEach((tick) => {
    const [x, y] = box.at([tick, tick]);
    draw(group, "line", { x1: x, x2: x, y1: box.y, y2: box.y + box.height, stroke: "@grid" });
    draw(group, "line", { x1: box.x, x2: box.x + box.width, y1: y, y2: y, stroke: "@grid" });
    label(group, x, box.y + box.height + 17, tick, { "font-size": 14, "text-anchor": "middle" });
    label(group, box.x - 7, y + 5, tick, { "font-size": 14, "text-anchor": "end" });
  });
  const [middle, centre] = [box.x + box.width / 2, box.y + box.height / 2];
  label(group, middle, box.y + box.height + 38, titles[0], { "text-anchor": "middle" });
  label(group, 0, 0, titles[1], { "text-anchor": "middle", transform: `translate(${box.x - 34} ${centre}) rotate(-90)` });
}

// The line of least squares, cut at the box.
function fitted(group, box, values) {
  const { both, xs } = sumsOf(values);
  if (!xs) return;
  const [x, y] = unzip(values).map((side) => sum(side) / side.length);
  const slope = both / xs;
  const crossings = box.ends.map((at) => [at, y + slope * (at - x)]);
  if (slope) box.ends.forEach((at) => crossings.push([x + (at - y) / slope, at]));
  const inside = crossings.filter((end) => end.every((side) => side >= box.ends[0] - 1e-9 && side <= box.ends[1] + 1e-9));
  inside.sort((first, second) => first[0] - second[0]);
  if (inside.length < 2) return;
  const [[x1, y1], [x2, y2]] = [inside[0], inside[inside.length - 1]].map(box.at);
  draw(group, "line", { class: "fit", x1, y1, x2, y2, stroke: "@muted", "stroke-width": 2, "stroke-dasharray": "7 5" });
}

function boxOf(x, y, side, height, ends, ground) {
  const box = { x: x + SIZES.left, y: y + SIZES.top, width: side - SIZES.left - 12, height: height - SIZES.top - SIZES.bottom, ends, ground };
  const share = (value) => (value - ends[0]) / (ends[1] - ends[0]);
  box.at = ([first, second]) => [box.x + box.width * share(first), box.y + box.height * (1 - share(second))];
  return box;
}

function dots(group, box, values, movable) {
  const order = values.map((_, place) => place).sort((first, second) => (first === chosen) - (second === chosen));
  order.forEach((place) => {
    const [cx, cy] = box.at(values[place]);
    const marked = place === chosen;
    const look = { r: marked ? SIZES.dot + 2 : SIZES.dot, fill: marked ? "@second" : "@first", stroke: "@inside", "stroke-width": 1.5 };
    const dot = draw(group, "circle", { cx, cy, ...look });
    if (!movable) return;
    const name = `point ${place + 1}: true ${decimals(values[place][0], 2)}, predicted ${decimals(values[place][1], 2)}`;
    dot.remove();
    const held = draw(group, "g", { class: "hit", role: "button", tabindex: marked ? 0 : -1, "aria-label": name, "data-point": place });
    held.append(dot);
    draw(held, "circle", { cx, cy, r: SIZES.reach, fill: "@background" });
    draw(held, "title", {}, name);
  });
}

function drawBoth() {
  const focused = document.activeElement && svg.contains(document.activeElement);
  const metrics = correlate(points);
  say(spoken, sentence(points, metrics));
  if (!figure.clientWidth) return;
  const described = [spoken.textContent, ...metrics.map((metric) => `${metric.title}: ${linear(metric)}.`)].join(" ");
  const width = blank(svg, described);
  const wide = width >= 540;
  const side = wide ? (width - 20) / 2 : width;
  const height = Math.min(330, 0.76 * side);
  const last = points.length + 1;
  const places = ticksTo(points.length);
  const plots = [
    { values: points, ends: [0, HIGHEST], ticks: [0, 1, 2, 3, 4, 5], titles: ["x: true score", "y: predicted score"], note: "of the scores" },
    { values: rankPoints(points), ends: [0, last], ticks: places, titles: ["p: rank of true score", "q: rank of prediction"], note: "of their ranks" },
  ];
  let lower = 0;
  plots.forEach((plot, place) => {
    const [x, y] = wide ? [place * (side + 20), 0] : [0, place ? lower + 14 : 0];
    const metric = metrics[place];
    const group = draw(svg, "g", { "data-metric": metric.slug, "data-value": metric.value === null ? "" : metric.value });
    const box = boxOf(x, y, side, height, plot.ends, place ? "" : "ground");
    if (!place) area = box;
    const value = metric.value === null ? "undefined" : decimals(metric.value);
    const title = label(group, box.x, y + 18, `${metric.title} ${value} `, { "font-size": 17, "font-weight": 700 });
    draw(title, "tspan", { "font-weight": 400, fill: "@text" }, plot.note);
    axes(group, box, plot.ticks, plot.titles);
    fitted(group, box, plot.values);
    dots(group, box, plot.values, !place);
    const formula = draw(group, "g", { class: "formula" });
    draw(formula, "title", {}, linear(metric));
    lower = Math.max(wide ? lower : 0, drawFormula(formula, metric, box.x - 34, y + height + 2, x + side));
  });
  sized(svg, width, lower + 4);
  if (focused) svg.querySelector(`[data-point="${chosen}"]`).focus({ preventScroll: true });
}

function ticksTo(count) {
  const step = [1, 2, 5, 10, 20].find((size) => count / size <= 5);
  return Array.from({ length: Math.floor(count / step) }, (_, place) => (place + 1) * step);
}

// ---- the chosen point, in fields ----
const picker = make(controls, "div", { class: "point" });
const before = make(picker, "button", { type: "button", "aria-label": "previous point" }, "‹");
const which = make(picker, "b", { "aria-live": "polite" });
const after = make(picker, "button", { type: "button", "aria-label": "next point" }, "›");
const fields = ["True score", "Predicted score"].map((name, side) => {
  const row = make(controls, "div", { class: "score" });
  const id = `score-${side}-${Math.random().toString(36).slice(2)}`;
  make(row, "label", { for: id }, name);
  const range = make(row, "input", { type: "range", min: 0, max: HIGHEST, step: 0.05, "aria-label": `${name}, slider` });
  const number = make(row, "input", { type: "number", id, min: 0, max: HIGHEST, step: 0.1 });
  [range, number].forEach((input) => input.addEventListener("input", () => type(side, input)));
  return { range, number };
});
const buttons = make(controls, "div", { class: "two" });
const add = make(buttons, "button", { type: "button" }, "Add a point");
const remove = make(buttons, "button", { type: "button" }, "Remove it");
const problem = make(controls, "p", { class: "notice", role: "alert", hidden: "" });
make(controls, "p", { class: "caption" }, "Drag a point of the left plot, or click beside them to add one. From the keyboard: arrows move the chosen point, Page Up and Page Down choose another, Delete removes it.");

function type(side, input) {
  const number = Number(input.value);
  const fits = input.value !== "" && number >= 0 && number <= HIGHEST;
  input.setAttribute("aria-invalid", String(!fits));
  if (!fits) {
    const held = input.value === "" ? "is empty or holds no number" : `is ${input.value.replace("-", MINUS)}`;
    return complain(`The ${side ? "predicted" : "true"} score ${held}. Type a number from 0 to ${HIGHEST}; the plots still show the last one.`);
  }
  return move(chosen, side ? [points[chosen][0], number] : [number, points[chosen][1]], input);
}

function complain(text) {
  problem.textContent = text;
  problem.hidden = false;
}

const fit = (score) => Math.round(100 * Math.min(HIGHEST, Math.max(0, score))) / 100;

function move(place, [x, y], typing = null) {
  points = points.map((point, other) => (other === place ? [fit(x), fit(y)] : point));
  chosen = place;
  show(typing);
}

function insert(point) {
  if (points.length >= MOST) return complain(`There is room for ${MOST} points. Remove one first.`);
  points = [...points, point.map(fit)];
  chosen = points.length - 1;
  return show();
}

function drop() {
  if (points.length <= 2) return complain("A correlation takes at least two points. Add one before this one goes.");
  points = points.filter((_, place) => place !== chosen);
  chosen = Math.min(chosen, points.length - 1);
  return show();
}

function choose(place) {
  chosen = (place + points.length) % points.length;
  show();
}

// typing: the field in use, which keeps what the visitor has typed so far.
function show(typing = null) {
  problem.hidden = true;
  which.textContent = `Point ${chosen + 1} of ${points.length}`;
  fields.forEach(({ range, number }, side) => [range, number].filter((input) => input !== typing).forEach((input) => {
    input.value = points[chosen][side];
    input.setAttribute("aria-invalid", "false");
  }));
  drawBoth();
  report({ points });
}

before.addEventListener("click", () => choose(chosen - 1));
after.addEventListener("click", () => choose(chosen + 1));
add.addEventListener("click", () => insert([HIGHEST / 2, HIGHEST / 2]));
remove.addEventListener("click", drop);

// ---- pointer and keyboard on the left plot ----
let dragged = null;

function scoreAt(event) {
  const corner = svg.getBoundingClientRect();
  const scale = Number(svg.getAttribute("width")) / corner.width;
  const [x, y] = [(event.clientX - corner.left) * scale, (event.clientY - corner.top) * scale];
  return [(HIGHEST * (x - area.x)) / area.width, HIGHEST * (1 - (y - area.y) / area.height)];
}

// The point next to a place on the plot, where it is within reach.
function nearest(score) {
  const far = points.map((point) => Math.hypot(((point[0] - score[0]) * area.width) / HIGHEST, ((point[1] - score[1]) * area.height) / HIGHEST));
  const place = far.indexOf(Math.min(...far));
  return far[place] <= SIZES.reach ? place : null;
}

svg.addEventListener("pointerdown", (event) => {
  const start = scoreAt(event);
  const place = nearest(start);
  if (place === null || event.button) return;
  event.preventDefault();
  dragged = { place, off: [0, 1].map((side) => points[place][side] - start[side]) };
  svg.setPointerCapture(event.pointerId);
  choose(place);
  svg.querySelector(`[data-point="${place}"]`).focus({ preventScroll: true });
});
svg.addEventListener("pointermove", (event) => {
  if (dragged) move(dragged.place, scoreAt(event).map((score, side) => score + dragged.off[side]));
});
["pointerup", "pointercancel", "lostpointercapture"].forEach((name) => svg.addEventListener(name, () => { dragged = null; }));
svg.addEventListener("click", (event) => {
  if (event.target.classList.contains("ground") && nearest(scoreAt(event)) === null) insert(scoreAt(event));
});
svg.addEventListener("keydown", (event) => {
  const step = event.shiftKey ? 0.5 : 0.1;
  const [x, y] = points[chosen];
  const moves = { ArrowLeft: [x - step, y], ArrowRight: [x + step, y], ArrowUp: [x, y + step], ArrowDown: [x, y - step] };
  if (moves[event.key]) move(chosen, moves[event.key]);
  else if (event.key === "PageUp") choose(chosen - 1);
  else if (event.key === "PageDown") choose(chosen + 1);
  else if (event.key === "Delete" || event.key === "Backspace") drop();
  else return;
  event.preventDefault();
});

// A Try button sends points, and which of them is marked.
function take() {
  const value = props.value || {};
  if (!value.points) return;
  points = value.points;
  choose(value.chosen || 0);
}

take();
ready = true;
watch("value", take);
redrawWith(drawBoth, figure);

// A confusion matrix that can be edited, and the metrics that follow from it, computed here so that they move while a
// visitor types. metrics_compute.take_metrics_apart is the same in Python; a browser test compares the two.
const LARGEST = 1e9;
const COLOURS = { accuracy: "@first", precision: "@sixth", recall: "@sixth", f1: "@third", matthews: "@second" };
const TAGS = [["TN", "FP"], ["FN", "TP"]];

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
const ratio = (part, whole) => (whole ? part / whole : null);
const columnOf = (matrix, place) => matrix.map((row) => row[place]);
const low = (place) => String.fromCharCode(0x2081 + place);

// Gorodkin's formula in whole numbers of any size, as Python has them.
function gorodkin(matrix) {
  const places = matrix.map((_, place) => place);
  const big = (numbers) => numbers.map((number) => BigInt(number));
  const times = (first, second) => places.reduce((total, place) => total + first[place] * second[place], 0n);
  const truth = big(places.map((place) => sum(matrix[place])));
  const guessed = big(places.map((place) => sum(columnOf(matrix, place))));
  const right = BigInt(sum(places.map((place) => matrix[place][place])));
  const all = truth.reduce((total, number) => total + number, 0n);
  const [both, guesses, truths] = [times(guessed, truth), times(guessed, guessed), times(truth, truth)];
  const spread = (all * all - guesses) * (all * all - truths);
  const value = spread ? Number(right * all - both) / Math.sqrt(Number(spread)) : null;
  return { value, right, all, both, guesses, truths };
}

function ofTwo(matrix) {
  const [[tn, fp], [fn, tp]] = matrix;
  const all = tn + fp + fn + tp;
  const entry = (title, value, top, bottom) => ({ slug: title.toLowerCase(), title, value, top, bottom });
  return [
    entry("Accuracy", ratio(tp + tn, all), ["TP + TN", `${tp} + ${tn}`], ["N", `${all}`]),
    entry("Precision", ratio(tp, tp + fp), ["TP", `${tp}`], ["TP + FP", `${tp} + ${fp}`]),
    entry("Recall", ratio(tp, tp + fn), ["TP", `${tp}`], ["TP + FN", `${tp} + ${fn}`]),
    entry("F1", ratio(2 * tp, 2 * tp + fp + fn), ["2·TP", `2·${tp}`], ["2·TP + FP + FN", `2·${tp} + ${fp} + ${fn}`]),
    entry("Matthews", gorodkin(matrix).value, ["TP·TN − FP·FN", `${tp}·${tn} − ${fp}·${fn}`],
      ["√((TP+FP)(TP+FN)(TN+FP)(TN+FN))", `√(${tp + fp}·${tp + fn}·${tn + fp}·${tn + fn})`]),
  ];
}

// One class against the rest: [precision, recall, F1], null where a value is 0/0.
function ofClass(matrix, place) {
  const right = matrix[place][place];
  const [truth, guessed] = [sum(matrix[place]), sum(columnOf(matrix, place))];
  return [ratio(right, guessed), ratio(right, truth), ratio(2 * right, guessed + truth)];
}

function ofMany(matrix) {
  const places = matrix.map((_, place) => place);
  const right = places.map((place) => matrix[place][place]);
  const all = sum(matrix.map(sum));
  const symbols = (letter) => places.map((place) => letter + low(place)).join(" + ");
  const whole = gorodkin(matrix);
  const square = whole.all * whole.all;
  const means = [["precision", "Precision, mean", "P"], ["recall", "Recall, mean", "R"], ["f1", "F1, mean", "F"]];
  return [
    { slug: "accuracy", title: "Accuracy", value: ratio(sum(right), all), top: [symbols("c"), right.join(" + ")], bottom: ["s", `${all}`] },
    ...means.map(([slug, title, letter], kind) => {
      const values = places.map((place) => ofClass(matrix, place)[kind] || 0);
      const top = [symbols(letter), values.map((value) => decimals(value)).join(" + ")];
      return { slug, title, value: sum(values) / places.length, top, bottom: [`${places.length}`, `${places.length}`] };
    }),
    { slug: "matthews", title: "Matthews", value: whole.value,
      top: ["c·s − Σ pₖ·tₖ", `${whole.right}·${whole.all} − ${whole.both}`],
      bottom: ["√((s² − Σ pₖ²)·(s² − Σ tₖ²))", `√((${square} − ${whole.guesses})·(${square} − ${whole.truths}))`] },
  ];
}

const takeApart = (matrix) => (matrix.length === 2 ? ofTwo(matrix) : ofMany(matrix));

const UNDEFINED = "undefined, by convention 0";

// What the matrix shows, in one or two sentences.
function sentence(matrix, metrics) {
  const [accuracy, , recall, f1, matthews] = metrics.map((metric) => metric.value);
  const all = sum(matrix.map(sum));
  const truth = matrix.map(sum);
  const guessed = matrix.map((_, place) => sum(columnOf(matrix, place)));
  const names = props.names[matrix.length];
  const share = [`Accuracy ${percent(accuracy)}`];
  if (truth.includes(all)) {
    const only = names[truth.indexOf(all)];
    return [share, `, but all ${all.toLocaleString("en")} examples are ${only}: Matthews is ${UNDEFINED}, for with one class there is nothing to tell apart.`];
  }
  if (matrix.length > 2) return sentenceOfMany(matrix, share, f1, matthews, guessed, names);
  const [most, usual] = [Math.max(...truth) / all, names[truth[1] > truth[0] ? 1 : 0]];
  if (guessed[1] === 0) return [share, " hides that no positive is found: F1 is ", ["0"], " and Matthews is ", [UNDEFINED], "."];
  if (guessed[0] === 0) return [share, ` and F1 ${decimals(f1)} come from calling everything positive: Matthews is `, [UNDEFINED], "."];
  if (Math.abs(matthews) < 0.05) return [share, ` and F1 ${decimals(f1)}, but `, [`Matthews ${decimals(matthews)}`], ": the predictions say next to nothing about the truth."];
  if (matthews < 0) return [[`Matthews ${decimals(matthews)}`], `: worse than guessing, whatever accuracy (${percent(accuracy)}) says. With every answer turned round it would be ${decimals(-matthews)}.`];
  if (accuracy <= most) return [share, ` is no better than always saying ${usual} (${percent(most)}); `, [`Matthews ${decimals(matthews)}`], ` and F1 ${decimals(f1)} say that something was learnt all the same.`];
  if (most >= 0.7) return [share, ` is ${decimals(100 * (accuracy - most), 1)} points above always saying ${usual} (${percent(most)}). Of the positives ${percent(recall)} are found: `, [`F1 ${decimals(f1)}`], ", ", [`Matthews ${decimals(matthews)}`], "."];
  return ["With balanced classes the metrics agree: ", [`accuracy ${percent(accuracy)}`], `, F1 ${decimals(f1)}, Matthews ${decimals(matthews)} (a coin: about 50%, 0.5 and 0).`];
}

function sentenceOfMany(matrix, share, f1, matthews, guessed, names) {
  const each = matrix.map((_, place) => ofClass(matrix, place)[2] || 0);
  const never = guessed.indexOf(0);
  const last = never >= 0 ? never : each.indexOf(Math.min(...each));
  const weakest = never >= 0 ? `${names[last]} is never predicted and counts as 0` : `${names[last]} is weakest with ${decimals(each[last])}`;
  return [share, ". The mean F1 weighs every class alike: ", [decimals(f1)], `; ${weakest}.${matthews === null ? ` Matthews is ${UNDEFINED}.` : ""}`];
}

// One bar a metric with its formula below; Matthews goes from −1 to 1.
function drawBars(svg, matrix, metrics) {
  const described = [spoken.textContent, ...metrics.map((metric) => `${metric.title}: ${linear(metric)}.`)].join(" ");
  const width = blank(svg, described);
  const wide = width >= 480;
  const longest = Math.max(...metrics.map((metric) => widthOf(metric.title, 17, 600)));
  const [left, right] = wide ? [longest + 20, width - 96] : [0, width];
  let top = 2;
  metrics.forEach((metric) => {
    const group = draw(svg, "g", { "data-metric": metric.slug, "data-value": metric.value === null ? "" : metric.value });
    draw(group, "title", {}, linear(metric));
    const shares = ["accuracy", "precision", "recall"].includes(metric.slug);
    const value = metric.value === null ? "undefined" : shares ? percent(metric.value) : decimals(metric.value);
    label(group, 0, top + 16, metric.title, { "font-size": 17, "font-weight": 600 });
    label(group, wide ? right + 10 : right, top + 16, value, { "font-size": 17, "font-weight": 700, "text-anchor": wide ? "start" : "end" });
    const y = wide ? top + 2 : top + 24;
    drawBar(group, metric, left, y, right - left);
    const last = metric.value === null ? "0 / 0, undefined" : decimals(metric.value);
    top = drawFormula(group, metric, left, y + (metric.slug === "matthews" ? 32 : 17), wide ? width : right, [last]) + 5;
  });
  sized(svg, width, top);
}

function drawBar(group, metric, x, y, width) {
  const low = metric.slug === "matthews" ? -1 : 0;
  const at = (value) => x + (width * (value - low)) / (1 - low);
  draw(group, "rect", { x, y, width, height: 16, rx: 3, fill: "@untouched" });
  if (metric.value) {
    const [from, to] = [Math.min(0, metric.value), Math.max(0, metric.value)].map(at);
    draw(group, "rect", { class: "bar", x: from, y, width: to - from, height: 16, rx: 3, fill: COLOURS[metric.slug] });
  }
  if (low === 0) return;
  draw(group, "line", { x1: at(0), x2: at(0), y1: y - 2, y2: y + 19, stroke: "@text", "stroke-width": 1.5 });
  [[-1, "start", MINUS + "1"], [0, "middle", "0"], [1, "end", "1"]].forEach(([value, anchor, text]) =>
    label(group, at(value), y + 31, text, { "font-size": 14, "text-anchor": anchor }));
}

// ---- the matrix itself ----
const panel = element.querySelector(".panel");
const controls = make(panel, "div", { class: "panel-controls" });
const sizes = make(controls, "div", { class: "sizes", role: "group", "aria-label": "number of classes" });
const table = make(controls, "table", { class: "cells" });
const problem = make(controls, "p", { class: "notice", role: "alert", hidden: "" });
make(controls, "p", { class: "caption" }, "A row for what is true, a column for what was predicted. Type a count, or press the arrow keys in a cell.");
const figure = make(panel, "div", { class: "panel-figure" });
const spoken = make(figure, "p", { class: "said" });
const svg = draw(make(figure, "div", { class: "canvas" }), "svg", { role: "img" });
offerSaving(figure, svg, "metrics");

let matrix = props.value.matrix;
const kept = { 2: props.value.matrix, 3: props.three };

Object.keys(kept).forEach((size) => {
  const button = make(sizes, "button", { type: "button", "data-size": size }, `${size} × ${size}`);
  button.addEventListener("click", () => stand(kept[size]));
});

function layOut() {
  const names = props.names[matrix.length];
  table.textContent = "";
  table.className = `cells of-${matrix.length}`;
  const head = make(make(table, "thead"), "tr");
  make(head, "td");
  names.forEach((name) => named(make(head, "th", { scope: "col" }), "predicted", name));
  make(head, "th", { scope: "col", class: "total" }, "all");
  const body = make(table, "tbody");
  matrix.forEach((row, i) => {
    const line = make(body, "tr");
    named(make(line, "th", { scope: "row" }), "true", names[i]);
    row.forEach((_, j) => cell(make(line, "td", { class: i === j ? "right" : "wrong" }), i, j, names));
    make(line, "td", { class: "total", "data-row": i });
  });
  const foot = make(body, "tr", { class: "totals" });
  make(foot, "th", { scope: "row", class: "total" }, "all");
  [...names, "all"].forEach((_, j) => make(foot, "td", { class: "total", "data-column": j }));
}

function named(place, kind, name) {
  make(place, "small", {}, kind);
  place.append(` ${name.replace(/^(contra|entail)/, "$1\u00AD")}`); // where a narrow column may break it
}

function cell(place, i, j, names) {
  const name = `true ${names[i]}, predicted ${names[j]}`;
  if (matrix.length === 2) make(place, "span", { class: "tag", "aria-hidden": "true" }, TAGS[i][j]);
  const input = make(place, "input", { type: "number", min: 0, max: LARGEST, step: 1, inputmode: "numeric", "aria-label": name, "data-cell": `${i},${j}` });
  const steps = make(place, "div", { class: "steps" });
  [[-1, MINUS, "one fewer"], [1, "+", "one more"]].forEach(([by, sign, words]) => {
    const button = make(steps, "button", { type: "button", "aria-label": `${words}: ${name}` }, sign);
    button.addEventListener("click", () => {
      input.value = Math.min(LARGEST, Math.max(0, matrix[i][j] + by));
      read();
    });
  });
  input.addEventListener("input", read);
  input.addEventListener("focus", () => input.select());
}

function inputs() {
  return [...table.querySelectorAll("input")];
}

// The cells as they are typed; what cannot be counted leaves everything as it stands, and is named.
function read() {
  const bad = inputs().find((input) => !countOf(input));
  inputs().forEach((input) => input.setAttribute("aria-invalid", String(!countOf(input))));
  if (bad) {
    const held = bad.value === "" && !bad.validity.badInput ? "is empty" : bad.validity.badInput ? "holds no number" : `holds ${bad.value.replace("-", MINUS)}`;
    return complain(`The cell “${bad.getAttribute("aria-label")}” ${held}. Type a whole number from 0 to ${LARGEST.toLocaleString("en")}; the figures still show the last matrix.`);
  }
  const typed = matrix.map((row, i) => row.map((_, j) => Number(inputs()[i * matrix.length + j].value)));
  if (!sum(typed.map(sum))) {
    return complain("Every cell is 0: without examples there is nothing to measure. Type a count into one of them; the figures still show the last matrix.");
  }
  matrix = kept[matrix.length] = typed;
  return show();
}

function countOf(input) {
  const number = Number(input.value);
  return input.value !== "" && Number.isInteger(number) && number >= 0 && number <= LARGEST;
}

function complain(text) {
  problem.textContent = text;
  problem.hidden = false;
}

function show() {
  problem.hidden = true;
  matrix.forEach((row, i) => { table.querySelector(`[data-row="${i}"]`).textContent = sum(row).toLocaleString("en"); });
  [...matrix.map((_, j) => sum(columnOf(matrix, j))), sum(matrix.map(sum))].forEach((total, j) => {
    table.querySelector(`[data-column="${j}"]`).textContent = total.toLocaleString("en");
  });
  redraw();
  report({ matrix });
}

function redraw() {
  const metrics = takeApart(matrix);
  say(spoken, sentence(matrix, metrics));
  if (figure.clientWidth) drawBars(svg, matrix, metrics);
}

// Put a whole matrix on the page.
function stand(given) {
  const other = given.length !== matrix.length || !table.rows.length;
  matrix = kept[given.length] = given;
  if (other) layOut();
  inputs().forEach((input, place) => {
    input.value = matrix[Math.floor(place / matrix.length)][place % matrix.length];
    input.setAttribute("aria-invalid", "false");
  });
  [...sizes.children].forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.size === String(matrix.length))));
  show();
}

// A Try button sends a matrix, or asks for the same one with its classes in the other order.
function take() {
  const value = props.value || {};
  if (value.matrix) stand(value.matrix);
  else if (value.flip) stand([...matrix].reverse().map((row) => [...row].reverse()));
}

take();
ready = true;
watch("value", take);
redrawWith(redraw, figure);

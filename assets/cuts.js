// How a word is cut: a block for each tokenizer, a row for each step. The slider and the buttons go back and forth between
// the steps; what comes later is dimmed, so that nothing jumps. Everything a visitor typed goes in as text.
const place = element.querySelector(".cuts");

function add(parent, tag, name, text) {
  const item = document.createElement(tag);
  if (name) item.className = name;
  if (text !== undefined) item.textContent = text;
  parent.append(item);
  return item;
}

function chips(parent, pieces) {
  const list = add(parent, "div", "chips");
  (pieces || []).forEach((piece) => {
    const item = add(list, "span", "chip " + piece.style);
    add(item, "span", "chip-text", piece.text);
    if (piece.below) add(item, "span", "chip-below", piece.below);
  });
  return list;
}

function addStepper(block, rows, name) {
  if (rows.length < 2) return;
  const show = (step) =>
    rows.forEach((row, index) => {
      row.classList.toggle("later", index >= step);
      row.classList.toggle("current", index === step - 1 && step < rows.length);
    });
  const last = rows.length;
  block.querySelector(".cut-result").after(
    stepper({ name, first: 1, last, at: last, show, says: (step) => `step ${step} of ${last}` }));
}

function drawPart(block, part, rows) {
  if (part.title) add(block, "p", "cut-part", part.title);
  if (part.alternatives.length) {
    add(block, "p", "cut-method", `${part.method} Log p below each piece:`);
    const list = add(block, "ol", "cut-steps");
    part.alternatives.forEach((other) => {
      const item = add(list, "li");
      chips(item, other.chips);
      add(item, "p", "cut-note", other.note);
    });
    add(block, "p", "cut-method", "How it is found: the best cut of each beginning.");
  } else {
    add(block, "p", "cut-method", part.method);
  }
  const list = add(block, "ol", "cut-steps");
  part.rows.forEach((row) => {
    const item = add(list, "li");
    chips(item, row.chips);
    const note = add(item, "p", "cut-note", row.note);
    row.tried.forEach((tried) => {
      note.append(" ");
      add(note, tried.startsWith("… ") ? "span" : "s", "", tried);
    });
    rows.push(item);
  });
}

function draw() {
  const value = props.value || {};
  place.setAttribute("aria-label", value.label || "Steps");
  place.textContent = "";
  (value.blocks || []).forEach((block) => {
    const part = add(place, "section", "cut");
    const head = add(part, "p", "pieces-head");
    add(head, "b", "", block.name);
    add(head, "span", "", block.kind);
    if (block.problem) {
      add(part, "p", "pieces-problem", block.problem);
      return;
    }
    const result = chips(part, block.result);
    result.classList.add("cut-result");
    if (block.before) add(part, "p", "cut-method", block.before);
    const rows = [];
    block.parts.forEach((each) => drawPart(part, each, rows));
    addStepper(part, rows, block.name);
  });
}

draw();
watch("value", draw);

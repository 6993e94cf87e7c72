// A text in pieces, a row of chips for each tokenizer. Everything a visitor typed goes in as text, never as markup.
// Pressing a chip tells the server which stretch of the text its word is, and the row stays as it is.
const place = element.querySelector(".pieces");

function add(parent, tag, name, text) {
  const item = document.createElement(tag);
  if (name) item.className = name;
  if (text !== undefined) item.textContent = text;
  parent.append(item);
  return item;
}

function chip(list, piece) {
  const pressable = Boolean(piece.press);
  const item = add(list, pressable ? "button" : "span", "chip " + piece.style + (piece.joined ? " joined" : ""));
  item.title = piece.title || "";
  if (pressable) {
    item.type = "button";
    item.addEventListener("click", () => trigger("select", piece.press));
    item.addEventListener("pointerenter", () => light(piece.word));
    item.addEventListener("pointerleave", () => light(null));
    item.dataset.word = piece.word;
  }
  const text = add(item, "span", "chip-text", piece.text);
  if (piece.lost) add(text, "s", "lost", " " + piece.lost);
  if (piece.below) add(item, "span", "chip-below", piece.below);
}

// The same word in every row.
function light(word) {
  place.querySelectorAll("button.chip").forEach((item) => {
    item.classList.toggle("lit", word !== null && item.dataset.word === String(word));
  });
}

function draw() {
  const value = props.value || {};
  place.setAttribute("aria-label", value.label || "Pieces");
  place.textContent = "";
  (value.rows || []).forEach((row) => {
    const part = add(place, "section", "pieces-row");
    const head = add(part, "p", "pieces-head");
    add(head, "b", "", row.name);
    if (row.kind) add(head, "span", "", row.kind);
    if (row.facts) add(head, "span", "pieces-facts", row.facts);
    if (row.problem) add(part, "p", "pieces-problem", row.problem);
    const list = add(part, "div", "chips");
    row.chips.forEach((piece) => chip(list, piece));
    if (row.more) add(list, "span", "chip special", `and ${row.more.toLocaleString("en")} more`);
  });
}

draw();
watch("value", draw);

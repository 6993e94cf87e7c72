// Several rows of one text, token under token. Where it's too long for one line it goes on in a further block of all rows, so
// that what belongs together stays together at any width. Everything a visitor typed goes in as text, never as markup.
const place = element.querySelector(".aligned");
let width = 0;

function add(parent, tag, name, role) {
  const item = document.createElement(tag);
  item.className = name;
  if (role) item.setAttribute("role", role);
  parent.append(item);
  return item;
}

function drawChip(parent, chip) {
  const item = add(parent, "span", "chip " + chip.style + (chip.joined ? " joined" : ""), "cell");
  item.title = chip.title;
  add(item, "span", "chip-text").textContent = chip.text;
  if (chip.below) add(item, "span", "chip-below").textContent = chip.below;
}

// A block of all rows for some of the tokens; its first column says what each row is.
function drawBlock(rows, from, to) {
  const block = add(place, "div", "aligned-block", "table");
  block.setAttribute("aria-label", props.value.label);
  block.style.gridTemplateColumns = `repeat(${to - from + 1}, max-content)`;
  for (const row of rows) {
    const line = add(block, "div", "aligned-row", "row");
    const head = add(line, "span", "aligned-name", "rowheader");
    add(head, "span", "aligned-who").textContent = row.who;
    head.append(row.does);
    row.chips.slice(from, to).forEach((chip) => drawChip(line, chip));
  }
  return block;
}

// How many tokens stand in each block: drawn once in one line, for their widths, and cut where the place ends.
function cuts(rows) {
  const block = drawBlock(rows, 0, rows[0].chips.length);
  const gap = parseFloat(getComputedStyle(block).columnGap) || 0;
  const [head, ...columns] = getComputedStyle(block).gridTemplateColumns.split(" ").map(parseFloat);
  const starts = [0];
  let used = head;
  columns.forEach((column, index) => {
    if (used + gap + column > width && index > starts[starts.length - 1]) {
      starts.push(index);
      used = head;
    }
    used += gap + column;
  });
  block.remove();
  return starts;
}

function draw() {
  width = place.clientWidth;
  place.textContent = "";
  const rows = (props.value || {}).rows || [];
  if (!rows.length || !width) return;
  cuts(rows).forEach((start, index, starts) => drawBlock(rows, start, starts[index + 1] ?? rows[0].chips.length));
}

new ResizeObserver(() => { if (place.clientWidth !== width) draw(); }).observe(place);
draw();
watch("value", draw);

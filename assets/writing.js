// Continuations: a row for each decoding, its tokens as buttons in the colour of their probability. What is pressed is told with
// the ids before it. Everything that a model or a visitor wrote goes in as text, never as markup.
const place = element.querySelector(".writing");

function make(tag, style, text) {
  const item = document.createElement(tag);
  item.className = style;
  if (text !== undefined) item.textContent = text;
  return item;
}

function draw() {
  const value = props.value || {};
  const held = place.contains(document.activeElement) ? document.activeElement.dataset.at : null;
  place.setAttribute("aria-label", value.label || "Continuations");
  place.textContent = "";
  (value.rows || []).forEach((row, number) => {
    const block = make("div", "written");
    block.dataset.decoding = row.decoding;
    const head = make("div", "written-head");
    head.append(make("b", "", row.name), make("span", "", row.facts));
    const line = make("div", "written-line");
    line.setAttribute("role", "group");
    line.setAttribute("aria-label", row.name);
    row.tokens.forEach((token, at) => {
      const item = make("button", "piece" + (token.joined ? " joined" : "") + (token.chosen ? " by-hand" : ""), token.text);
      item.type = "button";
      item.title = token.title;
      item.dataset.at = `${number}.${at}`;
      item.setAttribute("aria-pressed", "false");
      item.style.background = `color-mix(in srgb, var(--mask) ${100 * token.share}%, var(--body-background-fill))`;
      item.style.color = token.ink.startsWith("@") ? `var(--${token.ink.slice(1)})` : token.ink;
      line.append(item);
    });
    if (row.end) line.append(make("span", "written-end", row.end));
    if (row.going) line.append(make("span", "written-end", "…"));
    block.append(head, line);
    place.append(block);
  });
  if (held !== null) place.querySelector(`[data-at="${held}"]`)?.focus();
}

place.addEventListener("click", (event) => {
  const item = event.target.closest("button.piece");
  if (!item) return;
  const [number, at] = item.dataset.at.split(".").map(Number);
  const row = props.value.rows[number];
  place.querySelectorAll('[aria-pressed="true"]').forEach((other) => other.setAttribute("aria-pressed", "false"));
  item.setAttribute("aria-pressed", "true");
  const branch = row.tokens.slice(0, at).map((token) => token.id);
  trigger("select", { branch, decoding: row.decoding, chosen: row.tokens[at].id });
});

// Left and right move between tokens, up and down between rows.
place.addEventListener("keydown", (event) => {
  const moves = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
  const item = event.target.closest("button.piece");
  if (!item || !(event.key in moves)) return;
  const [row, at] = item.dataset.at.split(".").map(Number);
  const [down, right] = moves[event.key];
  const next = place.querySelector(`[data-at="${row + down}.${at + right}"]`);
  if (next) {
    event.preventDefault();
    next.focus();
  }
});

draw();
watch("value", draw);

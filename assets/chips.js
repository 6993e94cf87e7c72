// Token chips: one button or label for each token. Everything a visitor typed goes in as text, never as markup.
// Pressing a chip flips it at once, then tells the server all pressed positions; the answer redraws the row.
const list = element.querySelector(".chips");

function draw() {
  const value = props.value || {};
  const chips = value.chips || [];
  const focused = list.contains(document.activeElement) ? document.activeElement.dataset.index : null;
  list.setAttribute("aria-label", value.label || "Tokens");
  list.textContent = "";
  chips.forEach((chip, index) => {
    const clickable = chip.position !== null && chip.position !== undefined;
    const item = document.createElement(clickable ? "button" : "span");
    item.className = "chip " + chip.style + (chip.joined ? " joined" : "");
    item.dataset.index = index;
    item.title = chip.title;
    if (clickable) {
      item.type = "button";
      item.dataset.position = chip.position;
      item.setAttribute("aria-pressed", chip.pressed ? "true" : "false");
    }
    const text = document.createElement("span");
    text.className = "chip-text";
    text.textContent = chip.text;
    item.append(text);
    if (chip.below) {
      const below = document.createElement("span");
      below.className = "chip-below";
      below.textContent = chip.below;
      item.append(below);
    }
    list.append(item);
  });
  const spans = chips.filter((chip) => chip.pressed && chip.span).map((chip) => chip.span);
  if (value.source) element.dispatchEvent(new CustomEvent("explorer:chips", { bubbles: true, detail: { text: value.source.text, spans } }));
  if (focused !== null) {
    const again = list.querySelector(`[data-index="${focused}"]`);
    if (again) again.focus();
  }
}

function press(item) {
  const pressed = item.getAttribute("aria-pressed") !== "true";
  item.setAttribute("aria-pressed", pressed ? "true" : "false");
  item.classList.toggle("mask", pressed);
  const positions = [...list.querySelectorAll('button[aria-pressed="true"]')].map((b) => Number(b.dataset.position));
  trigger("select", { positions, last: Number(item.dataset.position) });
}

list.addEventListener("click", (event) => {
  const item = event.target.closest("button.chip");
  if (item) press(item);
});

// Left and right move between chips; space and enter press, as on any button.
list.addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const item = event.target.closest("button.chip");
  if (!step || !item) return;
  const buttons = [...list.querySelectorAll("button.chip")];
  const next = buttons[buttons.indexOf(item) + step];
  if (next) {
    event.preventDefault();
    next.focus();
  }
});

draw();
watch("value", draw);

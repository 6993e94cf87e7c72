// A switch for every head: layers down, heads across. A press on a number switches its whole row or column; with "leave only
// this" a press switches off all others of the layer. The new state is drawn at once, then told to the server.
const place = element.querySelector(".heads");
let only = false;

function button(text, label, press) {
  const item = document.createElement("button");
  item.type = "button";
  item.textContent = text;
  item.setAttribute("aria-label", label);
  item.addEventListener("click", press);
  return item;
}

function tell(off) {
  const heads = [...off].map((key) => key.split(".").map(Number));
  heads.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  trigger("select", { off: heads });
}

function draw() {
  const value = props.value || {};
  const { layers = 0, heads = 0 } = value;
  const off = new Set((value.off || []).map(([layer, head]) => `${layer}.${head}`));
  const focused = place.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  const change = (edit) => {
    edit();
    paint();
    tell(off);
  };
  const flip = (keys) => {
    const allOff = keys.every((key) => off.has(key));
    keys.forEach((key) => (allOff ? off.delete(key) : off.add(key)));
  };
  const all = (count) => [...Array(count).keys()];

  function paint() {
    place.querySelectorAll("button[data-head]").forEach((item) => {
      const isOff = off.has(item.dataset.key);
      item.setAttribute("aria-pressed", isOff ? "true" : "false");
      item.classList.toggle("off", isOff);
    });
  }

  place.textContent = "";
  if (!layers) return;
  place.setAttribute("aria-label", value.label || "Heads");
  const tools = document.createElement("div");
  tools.className = "head-tools";
  const mode = button("", "", () => {
    only = !only;
    name();
  });
  const name = () => {
    mode.textContent = only ? "A press leaves only that head of its layer" : "A press switches one head";
    mode.setAttribute("aria-label", `${mode.textContent}; press to change`);
  };
  name();
  tools.append(mode, button("All on", "All on", () => change(() => off.clear())));
  const grid = document.createElement("div");
  grid.className = "head-grid";
  grid.style.gridTemplateColumns = `2.6em repeat(${heads}, minmax(0, 1fr))`;
  const corner = document.createElement("span");
  corner.className = "head-corner";
  corner.textContent = "";
  grid.append(corner);
  all(heads).forEach((head) => {
    const keys = all(layers).map((layer) => `${layer}.${head}`);
    const item = button(String(head), `${head}: head ${head} of every layer`, () => change(() => flip(keys)));
    item.className = "head-name";
    item.dataset.key = `c${head}`;
    grid.append(item);
  });
  all(layers).forEach((layer) => {
    const keys = all(heads).map((head) => `${layer}.${head}`);
    const row = button(`L${layer}`, `L${layer}: all heads of layer ${layer}`, () => change(() => flip(keys)));
    row.className = "head-name";
    row.dataset.key = `r${layer}`;
    grid.append(row);
    all(heads).forEach((head) => {
      const key = `${layer}.${head}`;
      const item = button("", `Layer ${layer}, head ${head}`, () =>
        change(() => {
          if (only) {
            keys.forEach((other) => off.add(other));
            off.delete(key);
          } else if (!off.delete(key)) off.add(key);
        }),
      );
      item.className = "head";
      item.dataset.key = key;
      item.dataset.head = head;
      item.title = `layer ${layer}, head ${head}`;
      grid.append(item);
    });
  });
  place.append(tools, grid);
  paint();
  if (focused) place.querySelector(`[data-key="${focused}"]`)?.focus();
}

// Arrows move between the switches; space and enter press, as on any button.
place.addEventListener("keydown", (event) => {
  const move = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
  const key = event.target.dataset ? event.target.dataset.key : "";
  if (!move || !/^\d+\.\d+$/.test(key || "")) return;
  const [layer, head] = key.split(".").map(Number);
  const next = place.querySelector(`[data-key="${layer + move[0]}.${head + move[1]}"]`);
  if (next) {
    event.preventDefault();
    next.focus();
  }
});

draw();
watch("value", draw);

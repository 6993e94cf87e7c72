// One head's weights as arcs over the row of chips: from the token that looks to the one that it looks at, which has the dot; as wide
// as the weight. A chip under the pointer or the keyboard's focus keeps its own arcs and says their weights.
const frame = element.querySelector(".arcs");
const stack = element.closest(".arc-stack");
const HIGHEST = 128, LOWEST = 26, GAP = 4;

const chipsOf = () => [...stack.querySelectorAll(".chips > .chip")];

const percent = (weight) => `${Math.round(100 * weight)}%`;

// Long arcs are higher, and those of one token are seldom one over the other.
function curve(from, to, span, floor) {
  const high = LOWEST + (HIGHEST - LOWEST) * Math.sqrt(Math.abs(to - from) / span);
  const top = floor - 1.33 * high;
  if (from === to) return `M${from - 5},${floor} C${from - 14},${floor - 30} ${from + 14},${floor - 30} ${from + 5},${floor}`;
  return `M${from},${floor} C${from},${top} ${to},${top} ${to},${floor}`;
}

function draw() {
  const value = props.value;
  const chips = chipsOf();
  frame.hidden = !value || !value.links || chips.length !== value.count;
  if (frame.hidden) {
    if (!value || !value.links) say("drawn");
    return;
  }
  frame.setAttribute("aria-label", value.described);
  stack.style.setProperty("--tokens", value.count);  // no wider than their words need
  const origin = frame.getBoundingClientRect();
  if (!origin.width) return;  // out of sight: drawn when it comes into view
  const xs = chips.map((chip) => { const box = chip.getBoundingClientRect(); return box.left + box.width / 2 - origin.left; });
  const floor = HIGHEST + 12, span = Math.max(1, xs[xs.length - 1] - xs[0]);
  const svg = make("svg", { width: Math.max(origin.width, xs[xs.length - 1] + 40), height: floor + GAP, "aria-hidden": "true" });
  value.links.forEach(([from, to, weight]) => {
    const strongest = value.strongest && value.strongest[0] === from && value.strongest[1] === to;
    const kind = `${value.special.includes(to) ? "special" : ""} ${strongest ? "strongest" : ""}`.trim();
    const one = make("g", { class: kind, "data-from": from, "data-to": to }, svg);
    const path = make("path", { d: curve(xs[from], xs[to], span, floor) }, one);
    path.style.strokeWidth = `${1 + 6 * weight}px`;
    path.style.setProperty("--weight", weight);
    make("circle", { cx: xs[to], cy: floor, r: 3 + 2 * weight }, one).style.fillOpacity = String(0.25 + 0.75 * weight);
    // Beside the dot, so that the weights of one token that looks stand apart.
    make("text", { x: xs[to], y: floor - 10, "text-anchor": "middle" }, one, percent(weight));
  });
  frame.querySelector("svg")?.remove();
  frame.append(svg);
  frame.dataset.drawn = String(Number(frame.dataset.drawn || 0) + 1);
  say("drawn");
}

function look(chip) {
  const at = chip ? chipsOf().indexOf(chip) : -1;
  frame.classList.toggle("looking", at >= 0);
  frame.querySelectorAll("g").forEach((one) => one.classList.toggle("own", Number(one.dataset.from) === at));
}

stack.addEventListener("pointerover", (event) => look(event.target.closest(".chip")));
stack.addEventListener("pointerleave", () => look(null));
stack.addEventListener("focusin", (event) => { if (event.target.matches(":focus-visible")) look(event.target.closest(".chip")); });
stack.addEventListener("focusout", () => look(null));
drawnOver(stack, draw);

// For what is drawn in SVG over a row of chips (way.js, arcs.js): its elements, and when it is drawn again.
const SVG = "http://www.w3.org/2000/svg";

function make(name, attributes, inside, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  if (inside) inside.append(made);
  return made;
}

function say(what) {
  element.dispatchEvent(new CustomEvent(`explorer:${what}`, { bubbles: true, detail: props.value?.of }));
}

// Now, with each value, and when the chips, the room or the letters are other ones.
function drawnOver(stack, draw) {
  draw();
  say("mounted");
  watch("value", draw);
  const again = () => requestAnimationFrame(draw);
  new MutationObserver(again).observe(stack.querySelector(".chips") || stack, { childList: true });
  new ResizeObserver(again).observe(stack);
  document.fonts.ready.then(again);
}

// Back, Next and a slider from the first to the last of some steps, for the scripts that have this one before them.
// show: is told the step, also at the start. Returns the bar.
function stepper({ name, first, last, at, show, says }) {
  const bar = document.createElement("div");
  bar.className = "stepper";
  const button = (text, by) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.addEventListener("click", () => move(Number(range.value) + by));
    bar.append(made);
    return made;
  };
  const back = button("Back", -1);
  const next = button("Next", 1);
  const range = document.createElement("input");
  Object.assign(range, { type: "range", min: first, max: last, value: at });
  range.setAttribute("aria-label", `Step of ${name}`);
  const told = document.createElement("span");
  bar.append(range, told);
  const move = (step) => {
    range.value = step;
    told.textContent = says(step);
    range.setAttribute("aria-valuetext", told.textContent);
    back.disabled = step === first;
    next.disabled = step === last;
    show(step);
  };
  range.addEventListener("input", () => move(Number(range.value)));
  move(at);
  return bar;
}

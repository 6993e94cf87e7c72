// What stands on a page as numbered steps, one at a time or, behind the last, all at once: the part around them that has the class
// "stepped" is told the step, and the style sheet shows what is of it. Nothing is taken away, so what is typed stays.
const place = element.querySelector(".steps");
const around = element.closest(".stepped");
const { name, count } = props.value;
const all = document.createElement("button");
const stepOf = (at) => (at === "all" ? count + 1 : at);

const bar = stepper({
  name,
  first: 1,
  last: count + 1,
  at: stepOf(props.value.at),
  says: (step) => (step <= count ? `step ${step} of ${count}` : `all ${count} steps`),
  show: (step) => {
    if (step <= count) around.dataset.step = step;
    else delete around.dataset.step;
    all.disabled = step > count;
    const at = step <= count ? step : "all";
    if (props.value.at !== at) props.value = { ...props.value, at };
  },
});
Object.assign(all, { type: "button", textContent: "All steps" });
const range = bar.querySelector("input");
const turn = (step) => {
  if (Number(range.value) === step) return;
  range.value = step;
  range.dispatchEvent(new Event("input"));
};
all.addEventListener("click", () => turn(count + 1));
watch("value", () => turn(stepOf(props.value.at)));  // as the address says
bar.append(all);
place.setAttribute("aria-label", `Steps of ${name}`);
place.append(bar);

// What stands on a page as numbered steps, one at a time or, behind the last, all at once: the part around them that has the class
// "stepped" is told the step, and the style sheet shows what is of it. Nothing is taken away, so what is typed stays.
const place = element.querySelector(".steps");
const around = element.closest(".stepped");
const { name, count } = props.value;
const all = document.createElement("button");

const bar = stepper({
  name,
  first: 1,
  last: count + 1,
  at: 1,
  says: (step) => (step <= count ? `step ${step} of ${count}` : `all ${count} steps`),
  show: (step) => {
    if (step <= count) around.dataset.step = step;
    else delete around.dataset.step;
    all.disabled = step > count;
  },
});
Object.assign(all, { type: "button", textContent: "All steps" });
all.addEventListener("click", () => {
  const range = bar.querySelector("input");
  range.value = count + 1;
  range.dispatchEvent(new Event("input"));
});
bar.append(all);
place.setAttribute("aria-label", `Steps of ${name}`);
place.append(bar);

// What stands on a page as numbered steps, all at once or one at a time: the part around them that has the class "stepped" is
// told the step, and the style sheet shows what is of it. Nothing is taken away, so what is typed stays.
const place = element.querySelector(".steps");
const around = element.closest(".stepped");
const { name, count } = props.value;

const bar = stepper({
  name,
  first: 0,
  last: count,
  at: 0,
  says: (step) => (step ? `step ${step} of ${count}` : `all ${count} steps`),
  show: (step) => {
    if (step) around.dataset.step = step;
    else delete around.dataset.step;
  },
});
place.setAttribute("aria-label", `Steps of ${name}`);
place.append(bar);

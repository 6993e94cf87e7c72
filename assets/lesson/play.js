// A lesson beside the page: its step's question, the guess that shows the answer, and the way to the other steps.
import { element, get, post } from "./ask.js";
import { bars, box, compared } from "./answers.js";
import { lead, keyOf, own } from "./lead.js";

const guessKey = (state) => `explorer-guess:${state.class || state.lesson}/${state.step}`;

function stored(key) {
  try { return JSON.parse(sessionStorage.getItem(key)); } catch { return null; }
}

function store(key, value) {
  try { sessionStorage.setItem(key, JSON.stringify(value)); } catch { /* a browser that keeps nothing */ }
}

// Which lesson the address names: a bundled one, one of this browser, or that of a class.
async function lessonOf(state) {
  if (state.class) return get(`class/${encodeURIComponent(state.class)}/lesson`, keyOf(state.class));
  return own(state.lesson) || get(`lessons/${encodeURIComponent(state.lesson)}.json`);
}

// A step's address with the lesson in it.
export function addressOf(step, names) {
  const [before, fragment] = step.at.split("#");
  const parts = new URLSearchParams(fragment || "");
  window.explorerLesson.inAddress(names).forEach(([name, value]) => value && parts.set(name, value));
  if (document.body.classList.contains("present")) parts.set("present", "1");
  return `${before || "./"}#${parts}`;
}

function isHere(step) {
  const to = new URL(step.at.split("#")[0] || "./", document.baseURI);
  return to.pathname === location.pathname && (to.searchParams.get("run") || "") === (new URLSearchParams(location.search).get("run") || to.searchParams.get("run") || "");
}

export async function begin(state, parts) {
  let lesson;
  try { lesson = await lessonOf(state); } catch (error) { return failed(error); }
  const number = Math.min(Math.max(1, Number.parseInt(state.step, 10) || 1), lesson.steps.length);
  state.step = String(number);
  const step = lesson.steps[number - 1];
  // A short address names the step alone: go to what the step shows.
  const wanted = step.at.split("#")[1] || "";
  if (!isHere(step) || (wanted && ![...parts.keys()].length)) {
    window.explorerAddress.go(addressOf(step, state), true);
    return null;
  }
  return show(lesson, state, step, number);
}

// On a page that is none of the lesson's: the way back to it.
export function back({ address, title }) {
  place(element("div", { className: "lesson-head" }, element("span", { className: "lesson-where", textContent: title }), element("a", { href: address, textContent: "Back to the lesson" }), leave()));
}

function failed(error) {
  document.body.classList.remove("guessing");
  place(element("p", { className: "lesson-said", textContent: error.message }), leave());
  return null;
}

function place(...inside) {
  document.querySelector(".lesson-bar")?.remove();
  const bar = element("section", { className: "lesson-bar" }, ...inside);
  bar.setAttribute("aria-label", "Lesson");
  (document.querySelector(".gradio-container") || document.body).append(bar);
  new ResizeObserver(() => document.body.style.setProperty("--lesson-bar", `${bar.offsetHeight}px`)).observe(bar);
  document.body.classList.add("has-lesson");
  return bar;
}

function leave() {
  const button = element("button", { type: "button", className: "lesson-plain", textContent: "Leave the lesson" });
  button.addEventListener("click", () => {
    document.querySelector(".lesson-bar").remove();
    document.body.classList.remove("has-lesson");
    window.explorerLesson.leave();
  });
  return button;
}

function show(lesson, state, step, number) {
  const asked = step.answer;
  const head = element("div", { className: "lesson-head" });
  const body = element("div", { className: "lesson-body" });
  const turn = (by) => {
    const next = number + by;
    if (next < 1 || next > lesson.steps.length) return;
    window.explorerAddress.go(addressOf(lesson.steps[next - 1], { ...state, step: String(next) }));
  };
  fill(head, lesson, state, step, number);
  window.explorerLesson.remember(`${lesson.title} · ${number} of ${lesson.steps.length}`);
  const bar = place(head, body);
  const hide = (hidden) => document.body.classList.toggle("guessing", hidden);
  if (state.class) {
    lead(state, lesson, step, body, hide);
  } else {
    alone(state, step, asked, body, hide);
  }
  bar.querySelectorAll("[data-by]").forEach((button) => button.addEventListener("click", () => turn(Number(button.dataset.by))));
  return { turn };
}

function fill(head, lesson, state, step, number) {
  const arrow = (by, label, sign) => {
    const button = element("button", { type: "button", className: "lesson-arrow", textContent: sign, data: { by } });
    button.setAttribute("aria-label", label);
    button.disabled = number + by < 1 || number + by > lesson.steps.length;
    return button;
  };
  const where = element("span", { className: "lesson-where", textContent: `${lesson.title} · ${number} of ${lesson.steps.length}` });
  const parts = [arrow(-1, "The step before", "‹"), arrow(1, "The next step", "›"), where, element("b", { textContent: step.title })];
  if (step.say) {
    const note = element("p", { className: "lesson-note", textContent: step.say, hidden: true });
    const open = element("button", { type: "button", className: "lesson-plain", textContent: "Note" });
    open.setAttribute("aria-expanded", "false");
    open.addEventListener("click", () => {
      note.hidden = !note.hidden;
      open.setAttribute("aria-expanded", String(!note.hidden));
    });
    parts.push(open, leave(), note);
  } else {
    parts.push(leave());
  }
  head.append(...parts);
}

// A visitor by themselves: the guess, then the answer.
function alone(state, step, asked, body, hide) {
  const guessed = stored(guessKey(state));
  if (!step.question) return hide(false);
  body.append(element("p", { className: "lesson-question", textContent: step.question }));
  if (!asked || guessed) return reveal(step, asked, guessed?.said ?? null, body, hide);
  hide(step.hides);
  const take = (said) => {
    store(guessKey(state), { said });
    body.querySelectorAll(".lesson-box, .lesson-choices, .lesson-plain").forEach((one) => one.remove());
    reveal(step, asked, said, body, hide);
  };
  const skip = element("button", { type: "button", className: "lesson-plain", textContent: "I don't know" });
  skip.addEventListener("click", () => take(null));
  body.append(box(asked, take), skip);
  return null;
}

async function reveal(step, asked, guess, body, hide) {
  hide(false);
  const place = element("div", { className: "lesson-text" });
  const beside = element("div", { className: "lesson-said" }, place);
  place.setAttribute("aria-live", "polite");
  body.append(beside);
  const truth = asked ? await post("lessons/truth", step).catch((error) => ({ failed: error.message })) : { reveal: step.reveal?.text || "" };
  if (truth.failed) return place.append(element("p", { textContent: `The answer could not be computed: ${truth.failed}` }));
  const said = asked ? compared(asked, guess, truth) : "";
  if (said) place.append(element("p", { className: "lesson-compared", textContent: said }));
  if (truth.reveal) place.append(element("p", { textContent: truth.reveal }));
  if (asked && asked.kind !== "number" && truth.beside?.length) {
    beside.append(bars(asked, guess === null ? [] : [[guess, 1]], truth, guess ?? ""));
  }
  return null;
}

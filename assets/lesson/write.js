// A lesson that is being written: each view that its author visits can become a step. It stays in this browser until it is saved.
import { element } from "./ask.js";
import { keep, open, owned } from "./lead.js";
import { nameOf, print, written } from "./list.js";

const DRAFT = "explorer-draft";
const KINDS = [["", "nothing"], ["word", "with a word"], ["number", "with a number"], ["choice", "with a choice"]];

const draft = () => JSON.parse(localStorage.getItem(DRAFT)) || { open: true, title: "My lesson", minutes: 10, steps: [] };
const store = (lesson) => localStorage.setItem(DRAFT, JSON.stringify(lesson));

// From the home page: a new lesson, or one of this browser.
export function start(lesson) {
  store({ title: "My lesson", minutes: 10, steps: [], ...lesson, open: true });
  begin();
}

// The address of what is in view, as a lesson has it.
function view() {
  const parts = new URLSearchParams(location.hash.slice(1));
  [...window.explorerLesson.names, "present"].forEach((name) => parts.delete(name));
  const page = location.pathname.split("/").pop();
  const run = new URLSearchParams(location.search).get("run");
  const fragment = [...parts].map(([name, value]) => `${name}=${value.replace(/[%&#+]/g, encodeURIComponent)}`).join("&");
  return `${page}${run ? `?run=${run}` : ""}${fragment && `#${fragment}`}`;
}

function titleOf() {
  const tab = [...document.querySelectorAll("[role=tab][aria-selected=true]")].filter((one) => one.offsetParent).at(-1);
  const page = document.querySelector("#content")?.textContent || "";
  return (tab ? `${page}: ${tab.textContent.trim()}` : page).slice(0, 200);
}

export function begin() {
  document.querySelector(".lesson-bar")?.remove();
  const button = (textContent, act, main) => {
    const made = element("button", { type: "button", className: main ? "lesson-main" : "lesson-plain", textContent });
    made.addEventListener("click", act);
    return made;
  };
  const lesson = draft();
  const wrong = element("p", { className: "lesson-wrong", role: "alert" });
  const attempt = (act) => async () => { wrong.textContent = ""; try { await act(complete(draft())); } catch (error) { wrong.textContent = error.message; } };
  const where = element("span", { className: "lesson-where", textContent: `Writing “${lesson.title}” · ${lesson.steps.length} step${lesson.steps.length === 1 ? "" : "s"}` });
  const bar = element(
    "section", { className: "lesson-bar" },
    element(
      "div", { className: "lesson-head" }, where,
      button("Add this view as a step", () => edit(lesson.steps.length, { at: view(), title: titleOf() }), true),
      button("Title and steps", list),
      button("Save as a file", attempt(async (one) => window.explorerSaving.save(`${nameOf(one.title)}.yaml`, await written(one), "text/yaml"))),
      button("Print", attempt((one) => print("", one))),
      button("With a class", attempt((one) => { kept(one); return open(nameOf(one.title), one); })),
      button("Done", attempt((one) => { kept(one); end(); })),
      button("Throw away", end),
    ),
    wrong,
  );
  bar.setAttribute("aria-label", "The lesson that you are writing");
  (document.querySelector(".gradio-container") || document.body).append(bar);
  document.body.classList.add("has-lesson");
}

function complete(lesson) {
  const { open: isOpen, ...rest } = lesson;
  if (!rest.steps.length) throw new Error("The lesson has no step yet. Go to a view that you want to show, and add it.");
  return rest;
}

const kept = (lesson) => keep({ ...owned(), [nameOf(lesson.title)]: lesson });

function end() {
  localStorage.removeItem(DRAFT);
  document.querySelector(".lesson-bar")?.remove();
  document.body.classList.remove("has-lesson");
}

function dialog(...inside) {
  const made = element("dialog", { className: "lesson-dialog" }, ...inside);
  made.addEventListener("close", () => { made.remove(); begin(); });
  (document.querySelector(".gradio-container") || document.body).append(made);
  made.showModal();
  return made;
}

function field(name, label, value, kind = "input", options = {}) {
  const made = element(kind, { id: `lesson-${name}`, value: value ?? "", ...options });
  return [element("label", { htmlFor: made.id, textContent: label }), made];
}

function list() {
  const lesson = draft();
  const [titleLabel, title] = field("title", "Title", lesson.title, "input", { maxLength: 200 });
  const [minutesLabel, minutes] = field("minutes", "Minutes", lesson.minutes, "input", { type: "number", min: 1, max: 300 });
  const steps = element("ol");
  const small = (label, act) => {
    const made = element("button", { type: "button", className: "lesson-plain", textContent: label });
    made.addEventListener("click", act);
    return made;
  };
  const draw = () => steps.replaceChildren(...lesson.steps.map((step, at) => element(
    "li", {}, element("span", { textContent: `${step.title} ` }),
    small("Change", () => { store_(); box.close(); edit(at, step); }),
    small("Up", () => { if (at) [lesson.steps[at - 1], lesson.steps[at]] = [step, lesson.steps[at - 1]]; draw(); }),
    small("Remove", () => { lesson.steps.splice(at, 1); draw(); }),
  )));
  const store_ = () => store({ ...lesson, title: title.value.trim() || "My lesson", minutes: Number(minutes.value) || 10 });
  const done = element("button", { type: "button", className: "lesson-main", textContent: "Done" });
  const box = dialog(titleLabel, title, minutesLabel, minutes, steps, element("div", { className: "lesson-row" }, done));
  done.addEventListener("click", () => { store_(); box.close(); });
  draw();
}

// One step: what is said and asked, and what is right, if that is known.
function edit(at, step) {
  const asked = step.answer || {};
  const parts = {
    title: field("step-title", "Title", step.title, "input", { maxLength: 200, required: true }),
    say: field("say", "Your note (hidden until you open it)", step.say, "textarea", { rows: 2, maxLength: 1500 }),
    question: field("question", "Question", step.question, "input", { maxLength: 200 }),
    kind: field("kind", "It is answered", "", "select"),
    choices: field("choices", "The choices, one a line", (asked.choices || []).join("\n"), "textarea", { rows: 3 }),
    right: field("right", "What is right (empty: the class sees its own answers alone)", asked.right, "input", { maxLength: 200 }),
    reveal: field("reveal", "What you say of it then", step.reveal?.text, "textarea", { rows: 2, maxLength: 1500 }),
  };
  const value = (name) => parts[name][1].value.trim();
  parts.kind[1].append(...KINDS.map(([kind, label]) => element("option", { value: kind, textContent: label, selected: kind === (asked.kind || "") })));
  const wrong = element("p", { className: "lesson-wrong", role: "alert" });
  const computed = asked.truth && element("p", { className: "caption", textContent: `The answer is computed: ${asked.truth.column} of ${asked.truth.action}.` });
  const done = element("button", { type: "submit", className: "lesson-main", textContent: "Keep this step" });
  const cancel = element("button", { type: "button", className: "lesson-plain", textContent: "Cancel" });
  const where = element("p", { className: "caption", textContent: `Shows ${step.at || "the home page"}` });
  const rows = Object.values(parts).map(([label, control]) => element("div", { className: "lesson-field" }, label, control));
  const form = element("form", {}, where, ...rows, computed, wrong, element("div", { className: "lesson-row" }, done, cancel));
  const shown = () => {
    parts.choices[1].parentElement.hidden = value("kind") !== "choice";
    parts.right[1].parentElement.hidden = !value("kind") || Boolean(asked.truth);
  };
  parts.kind[1].addEventListener("change", shown);
  shown();
  const box = dialog(form);
  cancel.addEventListener("click", () => box.close());
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    try {
      const lesson = draft();
      lesson.steps[at] = made(step, asked, value);
      store(lesson);
      box.close();
    } catch (error) { wrong.textContent = error.message; }
  });
}

function made(step, before, value) {
  const kind = value("kind");
  const choices = value("choices").split("\n").map((one) => one.trim()).filter(Boolean);
  if (kind && !value("question")) throw new Error("Write the question that is to be answered.");
  if (kind === "choice" && choices.length < 2) throw new Error("Write at least two choices, one a line.");
  const right = value("right");
  if (kind === "choice" && right && !choices.includes(right)) throw new Error("What is right must be one of the choices.");
  if (kind === "number" && right && !Number.isFinite(Number(right))) throw new Error("What is right must be a number.");
  const { choices: gone, right: old, ...others } = before.kind === kind ? before : {};
  const answer = kind && { ...others, kind, ...(kind === "choice" && { choices }), ...(right && !before.truth && { right: kind === "number" ? Number(right) : right }) };
  const reveal = value("reveal") && { ...(step.reveal?.text === value("reveal") ? step.reveal : {}), text: value("reveal") };
  return {
    at: step.at, title: value("title"), ...(value("say") && { say: value("say") }), ...(value("question") && { question: value("question") }),
    ...(answer && { answer }), ...(reveal && { reveal }), ...(step.hides === false && { hides: false }), ...(step.minute !== undefined && step.minute !== null && { minute: step.minute }),
  };
}

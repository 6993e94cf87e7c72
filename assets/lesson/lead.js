// The lecturer's side of a class: who is there, what they answer, live, and the answer when it is time.
import { element, get, pause, post, text } from "./ask.js";
import { bars } from "./answers.js";

const KEYS = "explorer-classes";
const OWN = "explorer-lessons";
const AGAIN = 3000;

function read(name) {
  try { return JSON.parse(localStorage.getItem(name)) || {}; } catch { return {}; }
}

export const own = (name) => read(OWN)[name];
export const owned = () => read(OWN);
export const keep = (lessons) => localStorage.setItem(OWN, JSON.stringify(lessons));

// The header that shows that this browser has opened the class.
export const keyOf = (code) => ({ "x-explorer-key": read(KEYS)[code]?.key || "" });

// Opens a lesson for a class, and goes to its first step.
export async function open(name, lesson) {
  const { code, key } = await post("class", own(name) ? { lesson } : { name });
  const day = Date.now() - 24 * 3600 * 1000;
  const others = Object.entries(read(KEYS)).filter(([, one]) => one.opened > day);
  localStorage.setItem(KEYS, JSON.stringify({ ...Object.fromEntries(others), [code]: { key, opened: Date.now() } }));
  window.explorerAddress.go(`./#class=${code}&lesson_step=1`);
}

const joinAddress = (code) => new URL(`join?class=${code}`, document.baseURI).href;

// The code and the QR code, as large as the projector.
async function invite(code) {
  const dialog = element("dialog", { className: "lesson-invite" });
  const address = joinAddress(code);
  const picture = element("div", { className: "lesson-qr", role: "img" });
  picture.setAttribute("aria-label", `QR code of ${address}`);
  const close = element("button", { type: "button", className: "lesson-main", textContent: "Close" });
  close.addEventListener("click", () => dialog.close());
  const shown = element("p", { className: "lesson-address" });
  dialog.append(element("p", { textContent: "Join the class with your phone" }), picture, shown, element("p", { className: "lesson-code", textContent: code }), close);
  dialog.addEventListener("close", () => dialog.remove());
  (document.querySelector(".gradio-container") || document.body).append(dialog);
  dialog.showModal();
  try {
    const { address: reached, svg, alone } = await get(`join-code?text=${encodeURIComponent(address)}`);
    picture.innerHTML = svg; // drawn by this server from digits and an address that it has checked
    shown.textContent = alone ? "Nobody but this computer reaches this server. Start it with --host 0.0.0.0 for a class." : reached.replace(/^https?:\/\//, "").replace(/\?.*/, "");
  } catch (error) { shown.textContent = error.message; }
}

export function lead(state, lesson, step, body, hide) {
  const code = state.class;
  const asked = step.answer;
  let truth = null;
  let last = { answers: [], students: [], answered: 0, revealed: false };
  hide(Boolean(asked) && step.hides);
  const who = element("div", { className: "lesson-who" });
  const answers = element("div", { className: "lesson-live" });
  const said = element("div", { className: "lesson-text" });
  const button = (label, act, main = false) => {
    const made = element("button", { type: "button", className: main ? "lesson-main" : "lesson-plain", textContent: label });
    made.addEventListener("click", act);
    return made;
  };
  const show = button("Show the answer", async () => draw(await post(`class/${code}/turn`, { step: Number(state.step) - 1, revealed: true }, keyOf(code))), true);
  const csv = button("All answers (CSV)", async () => window.explorerSaving.save(`class-${code}.csv`, await text(`class/${code}/answers.csv`, { headers: keyOf(code) }), "text/csv"));
  const controls = element("div", { className: "lesson-controls" }, show, button(`Join: ${code}`, () => invite(code)), csv, who);
  if (step.question) body.append(element("p", { className: "lesson-question", textContent: step.question }));
  body.append(controls, element("div", { className: "lesson-said" }, said, answers));

  async function draw(now) {
    last = now;
    const here = now.students.filter((one) => !one.away).length;
    who.replaceChildren(
      element("span", { className: "lesson-count", textContent: asked ? `${now.answered} of ${now.students.length} answered` : `${now.students.length} joined` }),
      ...now.students.map((one) => {
        const mark = element("span", { className: `lesson-student${one.answered ? " answered" : ""}${one.away ? " away" : ""}`, textContent: one.number });
        mark.title = `Student ${one.number}: ${one.away ? "away" : one.answered ? "has answered" : "is thinking"}`;
        return mark;
      }),
    );
    who.setAttribute("aria-label", `${here} of ${now.students.length} are there`);
    show.hidden = !step.question || now.revealed;
    hide(Boolean(asked) && step.hides && !now.revealed);
    if (now.revealed && !truth) await reveal();
    answers.replaceChildren(...(asked && (now.answers.length || truth?.beside?.length) ? [bars(asked, last.answers, truth)] : []));
  }

  async function reveal() {
    truth = asked ? await post("lessons/truth", step).catch((error) => ({ failed: error.message })) : { reveal: step.reveal?.text };
    const lines = [truth.failed, truth.said && `${truth.by || "Right"}: ${truth.said}.`, truth.reveal].filter(Boolean);
    said.replaceChildren(...lines.map((textContent, at) => element("p", { textContent, className: at ? "" : "lesson-compared" })));
  }

  async function follow() {
    // The page that is in front of the class is where the class is.
    let now = await post(`class/${code}/turn`, { step: Number(state.step) - 1, revealed: false }, keyOf(code));
    if (Number(state.step) === 1 && !now.students.length) invite(code);
    while (document.contains(body)) {
      await draw(now);
      try {
        now = await get(`class/${code}/watch?after=${encodeURIComponent(now.news || "")}`, keyOf(code));
      } catch (error) {
        if (error.status === 403 || error.status === 404) throw error;
        await pause(AGAIN);
      }
    }
  }
  follow().catch((error) => { said.replaceChildren(element("p", { textContent: error.message })); });
}

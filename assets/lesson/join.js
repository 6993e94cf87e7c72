// A student's page: joins the class, shows its question, takes one answer, and shows what the model and the others said.
import { element, get, pause, post } from "./ask.js";
import { bars, box, compared } from "./answers.js";

const AGAIN = 2000;
const main = document.getElementById("class");
const NAMES = "explorer-student";
let kept = {};             // where the browser keeps nothing, the page does

function names() {
  try { return JSON.parse(localStorage.getItem(NAMES)) || {}; } catch { return kept; }
}

function keep(code, name) {
  kept = { ...names(), [code]: name };
  try { localStorage.setItem(NAMES, JSON.stringify(kept)); } catch { /* then it is known until the page is closed */ }
}

const show = (...inside) => main.replaceChildren(...inside);
const line = (textContent, className = "") => element("p", { textContent, className });

function askCode(said = "") {
  const input = element("input", { type: "text", autocomplete: "off", maxLength: 5, autocapitalize: "characters", required: true });
  input.setAttribute("aria-label", "The code of your class");
  const form = element("form", { className: "lesson-box" }, input, element("button", { type: "submit", className: "lesson-main", textContent: "Join" }));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const code = input.value.trim().toUpperCase();
    history.replaceState(null, "", `?class=${encodeURIComponent(code)}`);
    follow(code);
  });
  show(element("h1", { textContent: "Join your class" }), line(said || "Write the five letters that the lecturer shows."), form);
  input.focus();
}

async function follow(code) {
  let name = "";
  let number = 0;
  try {
    ({ name, number } = await post(`class/${encodeURIComponent(code)}/join`, { name: names()[code] || "" }));
  } catch (error) {
    if (error.status === 404 || error.status === 400) return askCode(error.message);
    show(line(error.message));
    await pause(AGAIN);
    return follow(code);
  }
  keep(code, name);
  for (let news = ""; ;) {
    try {
      const step = await get(`class/${encodeURIComponent(code)}/step?name=${encodeURIComponent(name)}&after=${encodeURIComponent(news)}`);
      if (step.news !== news) draw(code, name, number, step);
      ({ news } = step);
    } catch (error) {
      if (error.status === 404) return askCode(error.message);
      await pause(AGAIN); // the server starts again, or the phone has lost its network: what was answered is kept there
    }
  }
}

function draw(code, name, number, step) {
  const head = [line(`${step.lesson} · ${step.step + 1} of ${step.steps} · you are student ${number}`, "where"), element("h1", { textContent: step.question || step.title })];
  if (!step.question || !step.kind) return show(...head, line(step.question ? "Think, and speak up." : "Look at the lecturer's screen."));
  if (step.revealed) {
    const said = [compared(step, step.own, step), step.reveal, step.failed].filter(Boolean).map((one) => line(one, "said"));
    const view = element("a", { href: step.at || "./", textContent: "Try it yourself" });
    return show(...head, ...said, bars(step, step.answers, step), element("p", {}, view));
  }
  if (step.own !== null) return show(...head, line(`You answered ${step.own}.`, "said"), line("The answer shows when the lecturer shows it."));
  const wrong = line("", "wrong");
  wrong.setAttribute("role", "alert");
  const given = async (said) => {
    main.querySelectorAll("button").forEach((one) => { one.disabled = true; });
    for (;;) {
      try {
        const { answer } = await post(`class/${encodeURIComponent(code)}/answer`, { name, step: step.step, answer: said });
        return draw(code, name, number, { ...step, own: answer });
      } catch (error) {
        wrong.textContent = error.message;
        if (error.status === 409) return draw(code, name, number, { ...step, own: said });
        if (error.status && error.status < 500) break; // a network that is lost, or a server that starts again, is asked again
        await pause(AGAIN);
      }
    }
    main.querySelectorAll("button").forEach((one) => { one.disabled = false; });
    return null;
  };
  return show(...head, box(step, given), wrong);
}

const code = new URLSearchParams(location.search).get("class");
if (code) follow(code.trim().toUpperCase());
else askCode();

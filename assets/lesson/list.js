// The lessons of the home page: with a class, on paper, and those of this browser.
import { element, text } from "./ask.js";
import { keep, open, owned } from "./lead.js";
import { start } from "./write.js";
import { addressOf } from "./play.js";

export function begin(lessons) {
  if (lessons.querySelector(".lesson-wrong")) return;
  lessons.prepend(element("p", { className: "lesson-wrong", role: "alert" }));
  mine(lessons);
}

// What a button of a lesson does.
export function act(button) {
  const lessons = button.closest("[data-lessons]");
  begin(lessons);
  const wrong = lessons.querySelector(".lesson-wrong");
  const attempt = (work) => work().catch((error) => { wrong.textContent = error.message; });
  const { class: group, sheet, open: opened, write, away, yaml } = button.dataset;
  const lesson = owned();
  wrong.textContent = "";
  if (group) attempt(() => open(group, lesson[group]));
  else if (sheet) attempt(() => print(sheet, lesson[sheet]));
  else if (opened !== undefined) choose(wrong, () => mine(lessons));
  else if (write !== undefined) start(write && lesson[write]);
  else if (yaml) attempt(async () => window.explorerSaving.save(`${yaml}.yaml`, await written(lesson[yaml]), "text/yaml"));
  else if (away) {
    const { [away]: gone, ...others } = lesson;
    keep(others);
    mine(lessons);
  }
}

export const written = (lesson) => text("lessons/yaml", { method: "POST", body: JSON.stringify(lesson) });

// A page to print, in a tab of its own.
export async function print(name, lesson) {
  const at = new URL("./", document.baseURI).href;
  const tab = window.open("", "_blank");
  const html = await (lesson ? text("lessons/sheet", { method: "POST", body: JSON.stringify({ lesson, at }) }) : text(`lessons/${name}/sheet?at=${encodeURIComponent(at)}`)).catch((error) => { tab?.close(); throw error; });
  if (!tab) throw new Error("The browser did not open another tab for the sheet; allow that for this page.");
  tab.location = URL.createObjectURL(new Blob([html], { type: "text/html" }));
}

// A lesson from a file, checked by the server.
function choose(wrong, then) {
  const input = element("input", { type: "file", accept: ".yaml,.yml,text/yaml" });
  input.addEventListener("change", async () => {
    const [file] = input.files;
    try {
      const lesson = JSON.parse(await text("lessons/check", { method: "POST", body: await file.text() }));
      keep({ ...owned(), [nameOf(lesson.title)]: lesson });
      then();
    } catch (error) { wrong.textContent = `${file.name}: ${error.message}`; }
  });
  input.click();
}

export const nameOf = (title) => `my-${title.toLowerCase().replace(/[^\p{L}\d]+/gu, "-").replace(/^-|-$/g, "").slice(0, 40) || "lesson"}`;

function mine(lessons) {
  const button = (data, textContent) => element("button", { type: "button", className: "lesson-plain", textContent, data });
  const lines = Object.entries(owned()).map(([name, lesson]) => element(
    "li", {},
    element("b", { textContent: lesson.title }),
    element("small", { textContent: ` ${lesson.steps.length} steps, in this browser` }),
    element("div", { className: "lesson-does" }, element("a", { href: addressOf(lesson.steps[0], { lesson: name, step: "1" }), textContent: "Open" }), button({ class: name }, "With a class"), button({ sheet: name }, "Print"), button({ yaml: name }, "Save as a file"), button({ write: name }, "Change"), button({ away: name }, "Remove")),
  ));
  const does = element("div", { className: "lesson-does" }, button({ write: "" }, "Write a lesson"), button({ open: "" }, "Open a file (YAML)"));
  lessons.querySelector(".lesson-own").replaceChildren(element("b", { textContent: "Your own" }), element("ul", { className: "lessons" }, ...lines), does);
}

// What was answered, as bars with the model's beside them, and the box in which one answers.
import { element } from "./ask.js";

const MOST_ROWS = 8;
const BINS = 6;
const FAR_OUT = 0.1;       // of the answers, on either side

const shown = (number) => Number(number).toLocaleString("en", { maximumSignificantDigits: 3 });

// Rows of { label, count, model, right }: a word or a choice each, or a range of numbers.
export function rowsOf({ kind, choices = [], unit = "" }, answers, truth) {
  const model = new Map(truth?.beside || []);
  const same = (one, other) => String(one).toLowerCase() === String(other).toLowerCase();
  const isRight = (label) => truth?.value !== undefined && truth.value !== null && same(label, truth.value);
  const count = (label) => answers.filter(([said]) => same(said, label)).reduce((sum, [, times]) => sum + times, 0);
  if (kind === "number") return bins(answers.map(([said, times]) => [Number(said), times]), truth, unit);
  if (kind === "choice") return choices.map((label) => ({ label, count: count(label), model: model.get(label), right: isRight(label) }));
  const labels = answers.map(([said]) => said);
  for (const label of [truth?.value, ...[...model.keys()].slice(0, 4)]) {
    if (label !== undefined && label !== null && !labels.some((one) => same(one, label))) labels.push(String(label));
  }
  const asked = (label) => [...model].find(([name]) => same(name, label))?.[1];
  const rows = labels.map((label) => ({ label, count: count(label), model: asked(label), right: isRight(label) }));
  const first = rows.filter((row) => row.right);
  const kept = [...rows.slice(0, MOST_ROWS), ...first.filter((row) => rows.indexOf(row) >= MOST_ROWS)];
  const others = rows.filter((row) => !kept.includes(row)).reduce((sum, row) => sum + row.count, 0);
  return others ? [...kept, { label: "other words", count: others }] : kept;
}

// Ranges of one width. One wild answer doesn't squeeze the others into one of them: what is far out stands in a row at the end.
function bins(answers, truth, unit) {
  const right = typeof truth?.value === "number" ? truth.value : null;
  const all = answers.flatMap(([number, times]) => Array(times).fill(number)).sort((one, other) => one - other);
  const far = Math.floor(all.length * FAR_OUT);
  const numbers = [...all.slice(far, all.length - far), ...(right === null ? [] : [right])];
  if (!numbers.length) return [];
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  const named = (text) => `${text}${unit && ` ${unit}`}`;
  const row = (label, isIn) => ({ label: named(label), count: all.filter(isIn).length, right: right !== null && isIn(right) });
  const rough = (high - low) / BINS || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const width = power * [1, 2, 5, 10].find((one) => one * power >= rough * 0.999);
  const start = Math.floor(low / width + 1e-9) * width;
  const near = width / 1e6;
  const made = [];
  let from = start;
  for (; from <= high + near; from += width) {
    const [begin, end] = [from - near, from + width - near];
    made.push(row(low === high ? shown(low) : `${shown(from)} to ${shown(from + width)}`, (number) => number >= begin && number < end));
  }
  const [below, above] = [row(`below ${shown(start)}`, (number) => number < start - near), row(`${shown(from)} or more`, (number) => number >= from - near)];
  return [...(below.count ? [below] : []), ...made, ...(above.count ? [above] : [])];
}

// A table with a bar in each row for the class, and one for the model where it has a number for each row. own: the guess of a visitor
// who is alone, which is named and needs no bars.
export function bars(asked, answers, truth, own = null) {
  const rows = rowsOf(asked, answers, truth);
  const all = answers.reduce((sum, [, times]) => sum + times, 0);
  const beside = rows.some((row) => row.model !== undefined);
  const most = { class: Math.max(1, ...rows.map((row) => row.count)), model: Math.max(1e-9, ...rows.map((row) => Math.max(0, row.model ?? 0))) };
  const bar = (of, value, said) => {
    const made = element("span", { className: `bar-${of}` });
    made.style.width = `${(100 * Math.max(0, value ?? 0)) / most[of]}%`;
    return element("td", {}, element("span", { className: "bar-room" }, made), element("span", { className: "bar-said", textContent: said }));
  };
  const alone = own !== null;
  const column = (textContent, className) => element("th", { textContent, className, scope: "col" });
  const heads = [column("", ""), alone ? null : column("The class", "of-class"), beside ? column(truth.by || "The model", "of-model") : null].filter(Boolean);
  const named = (label) => (alone && label.toLowerCase() === own.toLowerCase() ? `${label} (you)` : label);
  const lines = rows.map((row) => element(
    "tr", { className: row.right ? "right" : "" },
    element("th", { scope: "row", textContent: `${row.right ? "✓ " : ""}${named(row.label)}` }),
    alone ? null : bar("class", row.count, all ? `${row.count}` : ""),
    beside ? bar("model", row.model, row.model === undefined ? "" : `${shown(row.model)}${asked.unit === "%" ? "%" : ""}`) : null,
  ));
  return element("table", { className: "lesson-answers" }, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...lines));
}

// The box, or the choices, in which one answers; `given` is called with the answer as a text.
export function box({ kind, choices = [], unit = "" }, given) {
  if (kind === "choice") {
    const made = choices.map((choice) => {
      const button = element("button", { type: "button", className: "lesson-choice", textContent: choice });
      button.addEventListener("click", () => given(choice));
      return button;
    });
    return element("div", { className: "lesson-choices", role: "group" }, ...made);
  }
  const input = element("input", { type: "text", autocomplete: "off", maxLength: 40, inputMode: kind === "number" ? "decimal" : "text" });
  input.setAttribute("aria-label", kind === "number" ? "Your number" : "Your word");
  input.placeholder = kind === "number" ? "a number" : "one word";
  const form = element("form", { className: "lesson-box" }, input, unit && kind === "number" ? element("span", { textContent: unit }) : null, element("button", { type: "submit", className: "lesson-main", textContent: "Guess" }));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const said = input.value.trim();
    const isNumber = kind !== "number" || (said && Number.isFinite(Number(said.replace("%", "").replace(",", "."))));
    input.setCustomValidity(!said ? "Write a guess first." : isNumber ? "" : "Write a number, such as 40.");
    if (form.reportValidity()) given(kind === "number" ? said.replace("%", "").replace(",", ".").trim() : said);
    input.addEventListener("input", () => input.setCustomValidity(""), { once: true });
  });
  return form;
}

// "You: 40%. bert-small: 65.9%."
export function compared(asked, guess, truth) {
  const right = truth.said;
  const by = truth.by || "Right";
  if (guess === null) return right ? `${by}: ${right}.` : "";
  const own = `You: ${guess}${asked.kind === "number" && asked.unit ? (asked.unit === "%" ? "%" : ` ${asked.unit}`) : ""}.`;
  if (!right) return own;
  if (asked.kind === "number") return `${own} ${by}: ${right}.`;
  const same = guess.toLowerCase() === String(truth.value).toLowerCase();
  const share = (truth.beside || []).find(([name]) => name.toLowerCase() === guess.toLowerCase())?.[1];
  const top = (truth.beside || []).find(([name]) => name.toLowerCase() === String(truth.value).toLowerCase())?.[1];
  const percent = (value) => (value === undefined ? "" : ` (${shown(value)}${asked.unit === "%" ? "%" : ""})`);
  if (same) return truth.by ? `You: ${guess}, and so says ${truth.by}${percent(top)}.` : `You: ${guess}. That is right.`;
  return `You: ${guess}${percent(share)}. ${by}: ${right}${percent(top)}.`;
}

// What every page does around Gradio: it says what is being computed and with which model, keeps what was pressed before the
// page knows its model and run, acknowledges Start and Stop at once, and is quiet when it is left.
(() => {
  const SOON = 300;          // milliseconds after which a figure that is being computed says so
  const LATE = 1500;         // after which, and every so often, it says how many questions stand before its own
  const LONGEST = 60000;     // after which it no longer says so, whatever became of it
  const config = () => window.gradio_config || {};
  const part = (id) => (config().components || []).find((component) => component.id === id);
  const place = (id) => part(id) && document.getElementById(part(id).props.elem_id || `component-${id}`);
  const idOf = (element) => (config().components || []).find((one) => (one.props.elem_id || `component-${one.id}`) === element.id)?.id;
  const events = () => config().dependencies || [];
  const figuresOf = (event) => event.outputs.map(place).filter((found) => found && found.classList.contains("figure"));
  const empty = (figure) => !figure.querySelector(".plot:not([hidden])");
  const heightKey = (figure) => `explorer-height:${location.pathname}#${figure.id}`;

  // A page may have figures that stay empty: a place is kept for its first, and for those that were drawn the last time.
  function remembered(figure) {
    const others = (figure.closest("[role=tabpanel]") || document).querySelectorAll(".block.figure");
    const usual = others[0] === figure ? 320 : 0;
    try { return Number(localStorage.getItem(heightKey(figure))) || usual; } catch { return usual; }
  }

  function remember(figure) {
    const key = heightKey(figure);
    try {
      if (empty(figure)) localStorage.removeItem(key);
      else if (figure.clientHeight) localStorage.setItem(key, String(figure.clientHeight));
    } catch { /* a browser that keeps nothing */ }
  }

  function keepPlace(figure) {
    const height = remembered(figure);
    if (!empty(figure) || figure.explorerAnswered || !height) return;
    figure.style.setProperty("--awaited", `${height}px`);
    figure.dataset.awaited = "";
    setTimeout(() => delete figure.dataset.awaited, LONGEST);
  }

  function begin(figure, model) {
    const waits = (figure.explorerWaits = (figure.explorerWaits || 0) + 1);
    keepPlace(figure);
    const computing = model ? `computing with ${model}…` : "computing…";
    const soon = setTimeout(() => {
      if (figure.explorerSettled >= waits) return; // a question that was put after this one has been answered
      figure.dataset.waiting = computing;
      figure.setAttribute("aria-busy", "true");
    }, SOON);
    const asked = performance.now();
    const late = setInterval(async () => {
      const line = await lineSince(asked);
      if (!over && figure.dataset.waiting) figure.dataset.waiting = line || computing;
    }, LATE);
    let over = false;
    const end = () => {
      if (over) return;
      over = true;
      clearTimeout(soon);
      clearInterval(late);
      if (figure.explorerWaits !== waits) return;
      figure.explorerSettled = waits;
      settle(figure);
    };
    setTimeout(end, LONGEST);
    return end;
  }

  // What stands before a question that was asked at a moment, in words; nothing where it is its turn or nobody can say.
  async function lineSince(asked) {
    try {
      const answer = await fetched(`explorer/line?ago=${(performance.now() - asked) / 1000}`);
      const { questions, seconds } = await answer.json();
      if (!questions) return "";
      const time = seconds >= 1 ? `: about ${Math.ceil(seconds)} s` : "";
      return `${questions} question${questions === 1 ? "" : "s"} before this one${time}`;
    } catch { return ""; }
  }

  function settle(figure) {
    figure.explorerAnswered = true;
    delete figure.dataset.waiting;
    delete figure.dataset.awaited;
    figure.removeAttribute("aria-busy");
  }

  // A figure calls this when it has drawn, or has nothing to draw.
  document.addEventListener("explorer:drawn", (event) => {
    const figure = event.target.closest(".block.figure");
    if (!figure) return;
    (figure.explorerEnds || []).splice(0).forEach((end) => end());
    delete figure.dataset.awaited;
    delete figure.dataset.stale;
    if (event.detail) figure.dataset.model = event.detail; else delete figure.dataset.model;  // explorer/ui/whose.py
    remember(figure);
    document.querySelectorAll("button[data-said='Starting…']").forEach(unsay);
  });

  // Or when it has nothing to draw yet, and what stands there is of the run before.
  document.addEventListener("explorer:kept", (event) => {
    const figure = event.target.closest(".block.figure");
    if (!figure) return;
    (figure.explorerEnds || []).splice(0).forEach((end) => end());
    figure.dataset.stale = event.detail;
    document.querySelectorAll("button[data-said='Starting…']").forEach(unsay);
  });

  // A figure that is computed when the page opens keeps its place from the first.
  document.addEventListener("explorer:mounted", (event) => {
    const figure = event.target.closest(".block.figure");
    const id = figure && idOf(figure);
    if (id === undefined || known.size) return;
    const opened = (config().components || []).find((one) => one.props.elem_id === "opened")?.id;  // explorer/ui/address.py
    const chain = new Set(events().filter((one) => one.targets.some(([target]) => target === opened)).map((one) => one.id));
    for (let size = -1; size !== chain.size; ) {
      size = chain.size;
      events().forEach((one) => { if (chain.has(one.trigger_after)) chain.add(one.id); });
    }
    if (events().some((one) => chain.has(one.id) && one.outputs.includes(id))) keepPlace(figure);
  });

  // Gradio's client asks by fetch: which event, with what, and whether the answer is the response or a stream.
  const answered = window.fetch.bind(window);
  const REFUSALS = new Set([401, 413, 429, 507]);  // explorer/ui/class_door.py and limits.py
  async function fetched(resource, options) {
    const response = await answered(resource, options);
    if (REFUSALS.has(response.status)) response.clone().json().then(({ error }) => showRefusal(error), () => {});
    return response;
  }

  // Gradio says nothing of an answer that is refused before it sees the question.
  function showRefusal(sentence) {
    document.querySelector(".refused")?.remove();
    const box = sentence && Object.assign(document.createElement("div"), { className: "notice refused", textContent: sentence });
    if (!box) return;
    box.setAttribute("role", "alert");
    document.querySelector(".notice-place")?.before(box);
  }

  // A long answer can be read later than a short one that was given after it: it doesn't take away an alert that came meanwhile.
  const NONE = { told: 0, by: "" };
  let alert = NONE;
  async function inOrder(response, event, told) {
    const at = event.outputs.findIndex((id) => part(id)?.props.elem_classes?.includes("notice-place"));
    if (at < 0 || !response.ok) return response;
    const text = await response.text();
    const { data, ...rest } = alert.told || text.includes("data-told=") ? JSON.parse(text) : {};
    const found = /data-told="(\d+)" data-by="([\d,]*)"/.exec(data?.[at]);
    const stays = !found && alert.told > told && alert.by !== event.outputs.join(",");
    if (found) alert = { told: Number(found[1]), by: found[2] };
    else if (data?.[at] === "" && !stays) alert = NONE;
    const left = stays && data?.[at] === "" && data.map((value, place) => (place === at ? { __type__: "update" } : value));
    return new Response(left ? JSON.stringify({ ...rest, data: left }) : text, response);
  }

  // Of questions that fill the same places the one that was asked last stands, in whatever order their answers come: each control
  // of an action asks by an event of its own, so Gradio lets two of them answer at once.
  const lines = new Map();
  function joinLine({ outputs }) {
    const line = lines.get(outputs.join()) || { asked: 0, waiting: new Set(), last: null };
    const number = ++line.asked;
    lines.set(outputs.join(), line);
    line.waiting.add(number);
    return {
      async answeredBy(response) {
        if (line.last?.number > number) return new Response(await line.last.text, response);
        if (response.ok && Math.min(...line.waiting) < number) line.last = { number, text: response.clone().text() };
        return response;
      },
      leave() {
        line.waiting.delete(number);
        if (!line.waiting.size) line.last = null;
      },
    };
  }

  window.fetch = async (resource, options) => {
    const asked = about(resource, options);
    if (!asked) return /\/queue\/data(\?|$)/.test(addressOf(resource)) ? opened(resource, options) : fetched(resource, options);
    const { event, model, streams } = asked;
    // An answer takes away the alert that stood here when it was asked for, and no later one (explorer/ui/notices.py).
    const told = document.querySelector(".notice-place [data-told]")?.dataset.told || "0";
    options = { ...options, headers: new Headers(options.headers) };
    options.headers.set("x-explorer-told", told);
    const figures = figuresOf(event);
    const ends = figures.map((figure) => begin(figure, model));
    const line = joinLine(event);
    try {
      const answer = await fetched(resource, options);
      const response = await inOrder(streams ? answer : await line.answeredBy(answer), event, Number(told));
      if (response.ok) showRefusal("");
      if (streams && response.ok) {
        const all = () => ends.forEach((end) => end()); // what this stream leaves empty draws nothing
        figures.forEach((figure, place) => {
          (figure.explorerEnds = figure.explorerEnds || []).push(ends[place], () => setTimeout(all, 500));
        });
        response.clone().json().then(({ event_id }) => atEnd(event_id, all), () => {});
        await heardEnd(response);
      } else {
        setTimeout(() => ends.forEach((end) => end()), 30);
      }
      return response;
    } catch (error) {
      ends.forEach((end) => end());
      throw error;
    } finally {
      line.leave();
    }
  };

  // Streams that have ended, and what is to be done when the others do: one that draws nothing leaves no figure marked.
  const ended = new Set();
  const awaited = new Map();

  function atEnd(stream, act) {
    if (ended.delete(stream)) act();
    else awaited.set(stream, act);
  }

  function hasEnded(stream) {
    const act = awaited.get(stream);
    if (!awaited.delete(stream)) ended.add(stream);
    else setTimeout(act, 100); // its last figure is on its way
  }

  // A stream of answers has a number. A question that is confirmed after one has ended is given to Gradio's client when it has
  // read that end, since until then it opens no other stream (explorer/serving/closing.py).
  const numbered = [null];
  const READ = 50;       // milliseconds after which Gradio's client has read an end that we have read
  const UNREAD = 10000;  // after which an end that nobody reads is waited for no longer
  const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

  async function opened(resource, options) {
    const stream = { at: 0 };
    stream.end = new Promise((done) => { stream.close = () => { stream.at ||= performance.now(); done(); }; });
    const headers = new Headers(options?.headers);
    headers.set("x-explorer-stream", String(numbered.push(stream) - 1));
    const response = await fetched(resource, { ...options, headers });
    if (response.ok) listen(response.clone()).then(stream.close);
    else stream.close();
    return response;
  }

  async function heardEnd(response) {
    const stream = numbered[Number(response.headers.get("x-explorer-ended"))];
    if (!stream) return;
    await Promise.race([stream.end, pause(UNREAD)]);
    const left = READ - (performance.now() - stream.at);
    if (left > 0) await pause(left);
  }

  async function listen(response) {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    try {
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        const messages = (rest + part.value).split("\n\n");
        rest = messages.pop();
        messages.filter((one) => one.includes('"process_completed"')).forEach((one) => {
          const said = JSON.parse(one.slice(one.indexOf("{")));
          if (said.msg === "process_completed") hasEnded(said.event_id);
        });
      }
    } catch { /* the page was left, or the server went away: LONGEST ends the marks */ }
  }

  const addressOf = (resource) => (typeof resource === "string" ? resource : resource?.url || String(resource));
  const named = (model) => (model.startsWith("/") ? model.split("/").at(-1) : model);

  function about(resource, options) {
    const found = /\/(run\/predict|queue\/join)(\?|$)/.exec(addressOf(resource));
    if (!found || typeof options?.body !== "string") return null;
    try {
      const body = JSON.parse(options.body);
      const event = events().find((one) => one.id === body.fn_index);
      if (!event) return null;
      const names = (one) => one?.elem_id === "model-picker" || one?.elem_classes?.includes("used-model");  // explorer/ui/used_model.py
      const at = event.inputs.findIndex((id) => names(part(id)?.props));
      const ofRun = event.inputs.some((id, place) => body.data[place] && part(id)?.props.elem_classes?.includes("of-run"));  // explorer/ui/whose.py
      return { event, model: at < 0 || ofRun ? "" : named(String(body.data[at] || "")), streams: found[1] === "queue/join" };
    } catch {
      return null;
    }
  }

  const ASKED = 100; // milliseconds after which the page has asked what it asks by itself once it knows them
  // Presses. Until the page knows the visitor's model, and where there are runs the visitor and the run, the last is kept.
  const known = new Set();
  let kept = null;
  const needs = () => ((config().components || []).some((one) => one.props.elem_id === "run-picker") ? ["model", "run"] : ["model"]);
  const ready = () => needs().every((one) => known.has(one));

  window.explorerKnows = (what) => {
    known.add(what);
    if (!ready() || !kept) return;
    const button = kept;
    kept = null;
    unsay(button);
    setTimeout(() => button.isConnected && button.click(), ASKED);
  };
  window.addEventListener("load", () => setTimeout(() => ["model", "run"].forEach(window.explorerKnows), LONGEST));

  function say(button, words) {
    button.dataset.said = words;
    button.setAttribute("aria-label", words);
    setTimeout(() => unsay(button), LONGEST);
  }

  function unsay(button) {
    delete button.dataset.said;
    button.removeAttribute("aria-label");
  }

  function startsStream(button) {
    const id = idOf(button);
    return events().some((one) => one.types?.generator && one.targets.some(([target, name]) => target === id && name === "click"));
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("button.primary, button.secondary, button.stop");
    if (!button) return;
    if (!ready()) {
      event.stopImmediatePropagation();
      event.preventDefault();
      if (kept) unsay(kept);
      kept = button;
      say(button, "One moment…");
    } else if (button.textContent.trim() === "Stop") {
      say(button, "Stopping…");
      settleAll();
    } else if (button.classList.contains("primary") && startsStream(button)) {
      say(button, "Starting…");
    }
  }, true);

  const settleAll = () => document.querySelectorAll(".figure[data-waiting], .figure[data-awaited]").forEach(settle);

  // A refusal stands in the notice: button and figure are as they were, and what it would have filled is of the text before.
  document.addEventListener("explorer:notice", (event) => {
    document.querySelectorAll("button[data-said]").forEach((button) => button !== kept && unsay(button));
    settleAll();
    const by = /data-by="([\d,]*)"/.exec(event.detail || "");
    (by ? by[1].split(",").map(Number) : []).map(place).filter(shown).forEach((one) => {
      one.dataset.stale = "of the text before";
      if (!one.classList.contains("figure")) setTimeout(() => freshWhenChanged(one), SOON);  // by then the refusal's own update has been laid out
    });
  });

  const freshen = () => document.querySelectorAll("[data-stale]").forEach((one) => delete one.dataset.stale);
  document.addEventListener("explorer:unnoticed", () => { alert = NONE; freshen(); });

  function freshWhenChanged(element) {
    const seen = new MutationObserver(() => { delete element.dataset.stale; seen.disconnect(); });
    seen.observe(element, { childList: true, subtree: true, characterData: true });
  }

  // Gradio saves every script as file.py: it is named by its action, and the one without this package says so.
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.('a[download^="file."]');
    const [, kind, name] = /^(script|plain)-(.+)$/.exec(link?.closest("[id^='script-'], [id^='plain-']")?.id || "") || [];
    if (name) link.download = kind === "plain" ? `${name}_plain.py` : `${name}.py`;
  }, true);

  // A refusal may lead to a tab of the same page, by the first word of its name.
  document.addEventListener("click", (event) => {
    const offer = event.target.closest?.(".offer[data-tab]");
    const tabs = offer ? [...document.querySelectorAll("[role=tab]")] : [];
    tabs.find((tab) => tab.textContent.trim().startsWith(offer.dataset.tab))?.click();
  });

  // Tab leaves a list, whose own focus Gradio drops, for what stands next.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Tab" || !event.target.matches?.("input[role=combobox], input[role=listbox]")) return;
    const stops = [...document.querySelectorAll("a[href], button, input, textarea, select, summary, [tabindex]")]
      .filter((one) => one.tabIndex >= 0 && !one.disabled && one.checkVisibility());
    const next = stops[stops.indexOf(event.target) + (event.shiftKey ? -1 : 1)];
    if (!next) return;
    event.preventDefault();
    next.focus();
  }, true);

  // Left and Right move between tabs, which are one stop for Tab.
  const tabsOf = (list) => [...list.querySelectorAll("[role=tab]")].filter((tab) => tab.offsetParent && !tab.disabled);
  const rove = () => document.querySelectorAll("[role=tablist]").forEach((list) => tabsOf(list).forEach((tab) => {
    tab.tabIndex = tab.getAttribute("aria-selected") === "true" ? 0 : -1;
  }));
  document.addEventListener("focusin", rove);
  document.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const list = step && event.target.closest?.("[role=tab]") && event.target.closest("[role=tablist]");
    if (!list) return;
    const tabs = tabsOf(list);
    const next = tabs[(tabs.indexOf(event.target) + step + tabs.length) % tabs.length];
    event.preventDefault();
    next.click();
    next.focus();
    rove();
  });

  // A figure that is drawn, or a text that stands there; no control.
  function shown(element) {
    if (!element || element.tagName === "BUTTON") return false;
    if (element.classList.contains("figure")) return !empty(element);
    return !element.querySelector("input, textarea, select") && Boolean(element.textContent.trim());
  }

  // A key that is typed onto a cell replaces what stands there: Gradio opens the cell and lets the key go.
  window.addEventListener("keydown", (event) => {
    const typed = event.key.length === 1 && !event.ctrlKey && !event.metaKey && event.target.matches?.(".typed .body-cell");
    const opened = typed && event.target.querySelector("textarea");
    if (!opened) return;
    opened.focus();
    opened.select();
  });

  // Requests that are under way when a page is left fail; nobody is there to be told. Gradio's listener is older than this one
  // and ends its streams before `leaving` is known, so what they say waits for the next turn.
  let leaving = false;
  const tell = console.error.bind(console);
  console.error = (...what) => { setTimeout(() => leaving || tell(...what)); };
  window.addEventListener("unhandledrejection", (event) => { if (leaving) event.preventDefault(); });
  window.addEventListener("beforeunload", () => { leaving = true; setTimeout(() => { leaving = false; }, 10000); });
  window.addEventListener("pagehide", () => { leaving = true; });
  window.addEventListener("pageshow", () => { leaving = false; });
})();

// A lesson in the page's address: `lesson` is its name and `lesson_step` its step, from 1; `class` is the code of a class that follows it.
// What shows and leads it (assets/lesson/) is fetched only where there is one, or where a lesson is being written.
window.explorerLesson = (() => {
  const NAMES = { lesson: "lesson", step: "lesson_step", class: "class" };  // pages have a `step` of their own
  const DRAFT = "explorer-draft";
  const LAST = "explorer-lesson";
  let state = {};
  let playing = null;

  const started = new Promise((resolve) => {
    addEventListener("DOMContentLoaded", resolve);
    if (document.readyState !== "loading") resolve();
  });
  const load = (name) => started.then(() => import(new URL(`explorer/lesson/${name}.js`, document.baseURI)));

  function writes() {
    try { return Boolean(JSON.parse(localStorage.getItem(DRAFT))?.open); } catch { return false; }
  }

  function remembered() {
    try { return JSON.parse(sessionStorage.getItem(LAST)); } catch { return null; }
  }

  if (writes()) load("write").then((write) => write.begin());
  document.addEventListener("toggle", (event) => {
    const lessons = event.target.open && event.target.querySelector?.("[data-lessons]");
    if (lessons) load("list").then((list) => list.begin(lessons));
  }, true);
  // Here and not in list.js, which may still be on its way when the first button is pressed.
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("[data-lessons] button");
    if (button) load("list").then((list) => list.act(button));
  });

  return {
    on: () => Boolean(state.lesson || state.class),
    // As a page opens: takes what is the lesson's out of what its address says. Returns whether there is a lesson.
    begin(parts) {
      state = Object.fromEntries(Object.entries(NAMES).filter(([, called]) => parts.get(called)).map(([name, called]) => [name, parts.get(called)]));
      Object.values(NAMES).forEach((called) => parts.delete(called));
      if (!state.lesson && !state.class) {
        const last = remembered();
        if (last) load("play").then((play) => play.back(last));
        return false;
      }
      document.body.classList.add("guessing"); // until it is known whether this step's answer may show
      playing = load("play").then((play) => play.begin(state, parts));
      playing.catch(() => document.body.classList.remove("guessing"));
      return true;
    },
    inAddress: (of = state) => Object.entries(of).map(([name, value]) => [NAMES[name], value]),
    names: Object.values(NAMES),
    // To the next step, or the one before.
    turn: (by) => playing?.then((play) => play?.turn(by)),
    // What a page that is none of the lesson's leads back to.
    remember(title) {
      const address = `${location.pathname}${location.search}${location.hash}`;
      try { sessionStorage.setItem(LAST, JSON.stringify({ title, address })); } catch { /* a browser that keeps nothing */ }
    },
    leave() {
      state = {};
      try { sessionStorage.removeItem(LAST); } catch { /* it kept nothing */ }
      document.body.classList.remove("guessing");
      window.explorerAddress.write();
    },
    load,
  };
})();

// Some browsers give a page no storage inside a frame of another site, and Gradio's components end where they find none. What
// they keep is then kept in the frame's own name, which goes along from page to page and is gone with the tab.
(() => {
  try { if (window.localStorage) return; } catch { /* refused */ }
  let before = {};
  try { before = JSON.parse(window.name).explorer || {}; } catch { /* another's name, or none */ }
  const kept = new Map(Object.entries(before));
  const keep = () => { window.name = JSON.stringify({ explorer: Object.fromEntries(kept) }); };
  const storage = {
    getItem: (key) => kept.get(String(key)) ?? null,
    setItem: (key, value) => { kept.set(String(key), String(value)); keep(); },
    removeItem: (key) => { kept.delete(String(key)); keep(); },
    clear: () => { kept.clear(); keep(); },
    key: (place) => [...kept.keys()][place] ?? null,
    get length() { return kept.size; },
  };
  Object.defineProperty(window, "localStorage", { value: storage, configurable: true });
})();

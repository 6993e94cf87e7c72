// Code is coloured by Gradio's editor, on white with less than half of the contrast that text needs: its colours are mixed with
// the text's own, in light and in dark.
(() => {
  const INK = 50;            // per cent of it
  const isColour = (rule) => /^\.ͼ\w+$/.test(rule.selectorText) && rule.style.color && !rule.style.color.startsWith("color-mix");

  function mix() {
    for (const { cssRules } of [...document.styleSheets].filter((sheet) => !sheet.href)) {
      for (const rule of [...cssRules].filter(isColour)) rule.style.color = `color-mix(in oklab, ${rule.style.color}, var(--body-text-color) ${INK}%)`;
    }
  }

  new MutationObserver((changes) => {
    if (changes.some(({ addedNodes }) => [...addedNodes].some((one) => one.matches?.(".cm-editor, style") || one.querySelector?.(".cm-editor")))) mix();
  }).observe(document, { childList: true, subtree: true });
})();

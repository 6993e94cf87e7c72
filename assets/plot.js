// One Plotly figure. Plotly comes from this server, once; roles such as "@mask" become colours of the page's palette, and
// become them again when the visitor switches between light and dark.
// A figure may say how high it is where a projector has 768 lines (low), and how it is laid out on a phone (narrow).
const frame = element.querySelector(".plot");
const root = ((window.gradio_config || {}).root || "").replace(/\/$/, "");

let listens = false;
let unseen = false;
let palettes = props.palettes;

// One object for as long as the figure lives: Plotly builds a figure anew when its settings are other ones, and two draws at
// once, each with settings of its own, would do that to each other for ever.
const settings = { responsive: true, displayModeBar: false };

function plotly() {
  if (!window.explorerPlotly) {
    window.explorerPlotly = new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = root + "/explorer/plotly.min.js";
      script.onload = () => resolve(window.Plotly);
      script.onerror = () => reject(new Error("plotly.min.js did not load"));
      document.head.append(script);
    });
  }
  return window.explorerPlotly;
}

// For the last row: no letter under 20 pixels, and a figure that stands alone as high as the screen lets it.
const LEAST = 20;
function enlarge(layout, data) {
  const larger = (font) => ({ ...font, size: Math.max(LEAST, 1.4 * (font?.size || 14)) });
  layout.font = larger(layout.font);
  for (const [name, part] of Object.entries(layout)) {
    if (!/^[xy]axis/.test(name)) continue;
    part.tickfont = larger(part.tickfont);
    if (part.title?.text) part.title.font = larger(part.title.font);
    part.automargin = true;
  }
  (layout.annotations || []).forEach((note) => { note.font = larger(note.font); });
  if (layout.legend) layout.legend.font = larger(layout.legend.font);
  data.forEach((trace) => { if (trace.textfont || trace.text) trace.textfont = larger(trace.textfont); });
  const figures = [...document.querySelectorAll(".block.figure .plot:not([hidden], .arcs)")].filter((one) => one.offsetParent);
  const room = window.innerHeight - frame.getBoundingClientRect().top - window.scrollY - 70;
  layout.height = Math.max(1.2 * layout.height, figures.length <= 1 ? room : 0);
  frame.style.minHeight = layout.height + "px";
}

// Beside the figure and not in it: to a screen reader the figure is one image, in which nothing can be pressed.
element.querySelectorAll(".saves button").forEach((button) => button.addEventListener("click", () => {
  const { format } = button.dataset;
  const [width, height] = [frame.clientWidth, frame.clientHeight];
  window.Plotly.downloadImage(frame, { format, filename: props.filename || "figure", width, height, scale: format === "png" ? 2 : 1 });
}));

async function draw() {
  const value = props.value;
  if (value && value.before && frame.data && !frame.hidden) {  // nothing to draw yet: what stands there stays, and is called so
    say("kept", value.before);
    return;
  }
  frame.hidden = !value || !value.data || value.data.length === 0;
  if (frame.hidden) {
    say("drawn", value?.of);
    return;
  }
  frame.setAttribute("aria-label", value.described || "figure");
  const library = await plotly();
  palettes = props.palettes || palettes;  // an update that names the value alone takes them away for a moment
  const palette = palettes[document.body.classList.contains("dark") ? "dark" : "light"];
  frame.explorerFigure = { value: { data: value.data, layout: value.layout, narrow: value.narrow }, palettes };  // for report.js
  unseen = !frame.clientWidth;
  const narrow = frame.clientWidth < 560 && value.narrow;
  const { data, layout } = window.explorerColoured({ data: value.data, layout: narrow || value.layout }, palette);
  if (value.low && window.innerWidth >= 640 && window.innerHeight <= 800) layout.height = value.low;
  frame.style.minHeight = layout.height + "px";
  if (window.innerWidth < 640) {  // a phone; a figure that shares a projector's width keeps its sizes
    layout.font = { ...layout.font, size: 13 };
    (layout.annotations || []).forEach((note) => { note.font = { ...note.font, size: 13 }; });
    data.filter((trace) => trace.meta === "cells" && new Set(trace.x).size > 6).forEach((trace) => {
      trace.textfont = { ...trace.textfont, size: 11 };
    });
  }
  if (frame.clientWidth < 520) {
    data.filter((trace) => trace.type === "heatmap").forEach((trace) => { trace.showscale = false; });
  }
  if (document.body.classList.contains("present")) enlarge(layout, data);
  await library.react(frame, data, layout, settings);
  if (!listens) {
    listens = true;
    frame.on("plotly_click", (event) => {
      const { x, y, curveNumber, pointNumber } = event.points[0];
      trigger("select", { x, y, curve: curveNumber, point: pointNumber });
    });
    window.explorerCells.reach(frame);
  }
  frame.dataset.drawn = String(Number(frame.dataset.drawn || 0) + 1);
  say("drawn", value.of);
}

// For page.js, which says what is being computed.
function say(what, detail) {
  element.dispatchEvent(new CustomEvent(`explorer:${what}`, { bubbles: true, detail }));
}

draw();
say("mounted");
watch("value", draw);
new MutationObserver(draw).observe(document.body, { attributes: true, attributeFilter: ["class"] });
new ResizeObserver(() => {
  if (!window.Plotly || !frame.data || !frame.clientWidth) return;
  const late = unseen ? draw() : Promise.resolve();  // what was laid out for no width at all is laid out anew
  unseen = false;
  late.then(() => window.Plotly.Plots.resize(frame));
}).observe(frame);

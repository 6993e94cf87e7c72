// One of bertviz's views in a sandboxed document that runs scripts and can reach nothing: not this page, not the network.
// The document is fetched once and stays; new weights are handed to it, so that nothing flickers.
const holder = element.querySelector(".view-frame");
const bar = element.querySelector(".view-save");
const root = ((window.gradio_config || {}).root || "").replace(/\/$/, "");
const FORMATS = { html: "text/html", svg: "image/svg+xml", png: "image/png" };
const MOST_PIXELS = 60e6;
let frame = null;
let ready = false;
let given = "";

function template() {
  window.explorerViewTemplate = window.explorerViewTemplate
    || fetch(root + props.address).then((answer) => {
      if (!answer.ok) throw new Error("the view's document did not load");
      return answer.text();
    });
  return window.explorerViewTemplate;
}

function isDark() { return document.body.classList.contains("dark"); }

async function open() {
  frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.title = "Attention, drawn by bertviz";
  holder.append(frame);
  frame.srcdoc = (await template()).replace(props.marker, () => "null");
}

function draw() {
  const value = props.value;
  element.querySelector(".view").hidden = !value || !value.data;
  if (!value || !value.data) { given = ""; return; }
  if (!frame) open();
  const wanted = value.data + isDark();
  if (!ready || wanted === given) return;
  given = wanted;
  frame.title = value.title;
  frame.contentWindow.postMessage({ explorer: "draw", data: JSON.parse(value.data), dark: isDark() }, "*");
}

function download(content, format) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type: FORMATS[format] }));
  link.download = `${props.value.name}.${format}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// An image of SVG runs no script; twice the size where a canvas can be that large.
function downloadPng({ svg, width, height }) {
  const image = new Image();
  image.onload = () => {
    const scale = Math.min(2, Math.sqrt(MOST_PIXELS / (width * height)), 16000 / Math.max(width, height));
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => download(blob, "png"), "image/png");
  };
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svg);
}

async function save(format) {
  if (format !== "html") {
    frame.contentWindow.postMessage({ explorer: "save", format }, "*");
    return;
  }
  const whole = (await template()).replace(props.marker, () => props.value.data);
  download(isDark() ? whole.replace('<html lang="en">', '<html lang="en" class="dark">') : whole, "html");
}

window.addEventListener("message", (event) => {
  if (!frame || event.source !== frame.contentWindow || !event.data) return;
  const message = event.data;
  if (message.explorer === "ready") {
    ready = true;
    given = "";
    draw();
  } else if (message.explorer === "drawn") {
    frame.style.height = Math.max(260, Math.min(Number(message.height) || 0, props.tallest)) + "px";
    holder.dataset.drawn = String(Number(holder.dataset.drawn || 0) + 1);
  } else if (message.explorer === "saved" && message.format === "svg") {
    download(String(message.svg), "svg");
  } else if (message.explorer === "saved") {
    downloadPng({ svg: String(message.svg), width: Number(message.width), height: Number(message.height) });
  }
});

bar.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-format]");
  if (button) save(button.dataset.format);
});

draw();
watch("value", draw);
new MutationObserver(draw).observe(document.body, { attributes: true, attributeFilter: ["class"] });

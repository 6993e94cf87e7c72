// Parts of a page as they stand, for a document without the page's style sheets: copies whose looks, by day and by night,
// are rules of their own.
window.explorerFrozen = (() => {
  const LOOKS = [
    "display", "flex-direction", "flex-wrap", "align-items", "align-self", "justify-content", "column-gap", "row-gap", "grid-template-columns",
    "grid-column-start", "grid-column-end", "position", "top", "left", "right", "bottom", "box-sizing", "min-width", "max-width", "min-height",
    "overflow-x", "text-overflow", "white-space", "vertical-align", "opacity", "transform", "color", "background-color", "background-image",
    ...["top", "right", "bottom", "left"].flatMap((side) => [
      `border-${side}-width`, `border-${side}-style`, `border-${side}-color`, `padding-${side}`, `margin-${side}`,
    ]),
    "border-top-left-radius", "border-top-right-radius", "border-bottom-left-radius", "border-bottom-right-radius", "border-collapse",
    "font-family", "font-size", "font-weight", "font-style", "line-height", "letter-spacing", "text-align", "text-transform",
    "text-decoration-line", "text-decoration-style", "list-style-type", "fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "dominant-baseline", "stroke-dasharray", "text-anchor",
  ];
  const DROPPED = "script, style, link, iframe, object, embed, .saves, .stepper, [hidden]";
  // A control is a picture of itself in a report: nobody answers a press.
  const PRESSED = { BUTTON: "span", A: "span", SUMMARY: "div", DETAILS: "div" };

  function rule(element, pseudo) {
    const style = getComputedStyle(element, pseudo);
    if (pseudo && ["none", "normal", ""].includes(style.content)) return "";
    const width = pseudo ? style.width : String(element.computedStyleMap?.().get("width") ?? "auto");
    const pairs = [...LOOKS.map((name) => [name, style.getPropertyValue(name)]), ["width", width]];
    if (pseudo) pairs.push(["content", style.content]);
    const columns = pairs.find(([name]) => name === "grid-template-columns");
    columns[1] = columns[1].replace(/[\d.]+px/g, "fit-content($&)");  // as wide as here, narrower where there is less room
    return pairs.filter(([, value]) => value).map(([name, value]) => `${name}:${value}!important`).join(";").replaceAll("<", "\\3c ");
  }

  const PSEUDOS = ["", "::before", "::after"];
  const looksOf = (elements) => elements.map((element) => PSEUDOS.map((pseudo) => rule(element, pseudo)));

  // Under the other scheme of colours too, in which nobody sees the page meanwhile: it is as before ere it is painted.
  function inBoth(elements) {
    const still = Object.assign(document.createElement("style"), { textContent: "*, ::before, ::after { transition: none !important; }" });
    document.head.append(still);
    const { classList } = document.body;
    const before = classList.contains("dark");
    const [day, night] = [false, true].map((dark) => { classList.toggle("dark", dark); return looksOf(elements); });
    classList.toggle("dark", before);
    still.remove();
    return [day, night];
  }

  // The parts' own attributes are left behind but for what is read out and measured: no handler and no address comes along.
  function bare(original, copy, into) {
    const made = PRESSED[copy.tagName] ? into.createElement(PRESSED[copy.tagName]) : copy;
    const drawing = copy instanceof SVGElement;
    for (const { name, value } of [...copy.attributes]) {
      const kept = drawing ? !/^on|href$/i.test(name) && name !== "class" : /^(colspan|rowspan|scope|lang|dir|role|aria-.*)$/.test(name);
      if (!kept) copy.removeAttribute(name);
      else if (made !== copy) made.setAttribute(name, value);
    }
    if (made !== copy) { made.append(...copy.childNodes); copy.replaceWith(made); }
    return made;
  }

  // Copies of parts, made for another document, and the rules for them.
  function frozen(parts, into) {
    const pairs = [];
    const copied = (part) => {
      if (part.nodeType === Node.TEXT_NODE) return into.createTextNode(part.data);
      if (part.nodeType !== Node.ELEMENT_NODE || part.matches(DROPPED)) return null;
      const painted = part instanceof HTMLCanvasElement && Object.assign(into.createElement("img"), { src: part.toDataURL() });
      const copy = painted || bare(part, into.importNode(part, false), into);
      pairs.push([part, copy]);
      copy.append(...[...part.childNodes].map(copied).filter(Boolean));
      return copy;
    };
    const copies = parts.map(copied);
    const [day, night] = inBoth(pairs.map(([part]) => part));
    const names = new Map();
    const rules = [];
    pairs.forEach(([, copy], at) => {
      const key = JSON.stringify([day[at], night[at]]);
      if (!names.has(key)) {
        const name = `f${names.size}`;
        names.set(key, name);
        PSEUDOS.forEach((pseudo, place) => {
          if (day[at][place]) rules.push(`.${name}${pseudo}{${day[at][place]}}`);
          if (night[at][place] !== day[at][place]) rules.push(`@media screen and (prefers-color-scheme:dark){.${name}${pseudo}{${night[at][place]}}}`);
        });
      }
      copy.setAttribute("class", names.get(key));
    });
    return { copies, css: rules.join("\n") };
  }

  return { frozen };
})();

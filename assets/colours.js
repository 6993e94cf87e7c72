// A figure's roles, such as "@mask", as colours of a palette: on the page, and in a report that is taken home.
window.explorerColoured = function coloured(value, palette) {
  if (typeof value === "string") return value.startsWith("@") && palette[value.slice(1)] ? palette[value.slice(1)] : value;
  if (Array.isArray(value)) return value.map((entry) => coloured(entry, palette));
  if (value && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, coloured(entry, palette)]));
  }
  return value;
};

// A tab as a Jupyter notebook (nbformat 4.5): what report.js has gathered, in cells.
window.explorerNotebook = (() => {
  const escaped = (text) => String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replace(/[\\`*_{}[\]$#|~]/g, "\\$&");
  const lines = (text) => text.split(/(?<=\n)/);

  // A Python literal: JSON's is one for a text.
  const literal = (text) => `(\n${lines(text).map((line) => `    ${JSON.stringify(line)}`).join("\n")}\n)`;

  function tableCode({ headers, data }) {
    return [
      "import csv",
      "import io",
      "",
      `TABLE = ${literal(window.explorerSaving.csv(headers, data))}`,
      "rows = list(csv.DictReader(io.StringIO(TABLE)))",
      "rows[:5]",
    ].join("\n");
  }

  function opening(parts) {
    const sentences = parts.sections.flatMap(({ elements }) => elements.filter((one) => one.classList.contains("said"))).map((one) => one.innerText.trim());
    const facts = [...(parts.models.length ? [["model", parts.models.join(", ")]] : []), ["date", parts.date], ...parts.settings.filter(([name]) => name !== "model")];
    return [
      `# ${escaped([parts.title, parts.tab].filter(Boolean).join(": "))}`,
      escaped(parts.question),
      ...sentences.map(escaped),
      `| | |\n|---|---|\n${facts.map(([name, value]) => `| ${escaped(name)} | ${escaped(value).replace(/\s+/g, " ")} |`).join("\n")}`,
      `From <${parts.address.replaceAll("<", "%3C").replaceAll(">", "%3E")}>`,
    ].filter(Boolean).join("\n\n");
  }

  const markdown = (source) => ({ cell_type: "markdown", metadata: {}, source: lines(source) });
  const code = (source) => ({ cell_type: "code", metadata: {}, execution_count: null, outputs: [], source: lines(source) });

  return (parts) => {
    const cells = [markdown(opening(parts))];
    for (const { name, script, label, table } of parts.sections) {
      if (script) cells.push(markdown(`## ${escaped(label)}`), code(script));
      if (table) cells.push(markdown(`## Data: ${escaped(name)}`), code(tableCode(table)));
    }
    parts.whys.forEach(([title, why]) => cells.push(markdown(`## ${escaped(title)}\n\n${why}`)));
    const metadata = { kernelspec: { display_name: "Python 3", language: "python", name: "python3" }, language_info: { name: "python" } };
    const numbered = cells.map((cell, at) => ({ ...cell, id: `cell-${at}` }));
    return JSON.stringify({ cells: numbered, metadata, nbformat: 4, nbformat_minor: 5 }, null, 1);
  };
})();

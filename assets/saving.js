// What a page saves: a table as CSV, and a text as a file of the visitor's.
window.explorerSaving = {
  csv(headers, rows) {
    const quote = (cell) => (/[",\n]/.test(String(cell)) ? '"' + String(cell).replaceAll('"', '""') + '"' : String(cell ?? ""));
    return [headers, ...rows].map((row) => row.map(quote).join(",")).join("\n") + "\n";
  },
  save(name, text, type) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);  // a browser may begin to read it later
  },
};

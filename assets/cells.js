// A figure by the keyboard: one stop for Tab, on which the arrows move from cell to cell, bar to bar, point to point. What the
// pointer would be shown is shown there and said aloud, and Enter or Space is a press of the pointer. The element that has the
// focus stands beside the drawing, which to a screen reader is one image, and is the ring around the cell itself.
window.explorerCells = (() => {
  const MARGIN = 8;          // pixels around a point
  const LEAST = 6;           // pixels of a bar of nothing, or a cell too small to see a ring around
  const SIDES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const ENDS = { Home: -1, End: 1 };

  // Where Plotly has drawn what can be pointed at, in pixels of the figure. asked: by what Plotly's hover names it.
  function found(calculated, layout) {
    const { trace } = calculated[0];
    if (trace.visible !== true || trace.hoverinfo === "skip" || !trace.xaxis) return [];
    const axis = (name) => layout[name.replace(/^([xy])/, "$1axis")];
    const [across, up] = [axis(trace.xaxis), axis(trace.yaxis)];
    const x = (value) => across._offset + across.c2p(value, true);
    const y = (value) => up._offset + up.c2p(value, true);
    const box = (row, asked, [x0, x1], [y0, y1]) => ({
      row, asked: { curveNumber: trace.index, ...asked }, plot: trace.xaxis + trace.yaxis, line: trace.type === "scatter" ? trace.index : null,
      left: Math.min(x0, x1), right: Math.max(x0, x1), top: Math.min(y0, y1), bottom: Math.max(y0, y1), x: (x0 + x1) / 2, y: (y0 + y1) / 2,
    });
    const around = (at) => [at - MARGIN, at + MARGIN];
    const make = {
      heatmap: () => {
        const { x: lefts, y: lows, z } = calculated[0]; // edges: one more than there are columns, and rows
        const middle = (edges, at) => (edges[at] + edges[at + 1]) / 2;
        const cell = (r, c) => box(`${trace.index} ${r}`, { xval: middle(lefts, c), yval: middle(lows, r) }, [x(lefts[c]), x(lefts[c + 1])], [y(lows[r]), y(lows[r + 1])]);
        return z.flatMap((row, r) => [...row].flatMap((value, c) => (Number.isFinite(value) ? [cell(r, c)] : [])));
      },
      bar: () => calculated.filter((one) => Number.isFinite(one.s0 + one.s1)).map((one) => {
        const flat = trace.orientation === "h";
        const [along, aside] = flat ? [x, y] : [y, x];
        const [length, width] = [[along(one.s0), along(one.s1)], [aside(one.p0), aside(one.p1)]];
        return box(flat ? `${trace.index} ${one.p}` : trace.index, { pointNumber: one.i }, ...(flat ? [length, width] : [width, length]));
      }),
      scatter: () => calculated.map((one, at) => box(trace.index, { pointNumber: at }, around(x(one.x)), around(y(one.y)))),
    }[trace.type];
    const within = (at, { _offset, _length }) => at >= _offset - 1 && at <= _offset + _length + 1;
    return (make ? make() : []).filter((one) => within(one.x, across) && within(one.y, up));
  }

  const same = (one, other) => one && other && JSON.stringify(one.asked) === JSON.stringify(other.asked);

  // The next in a direction: the nearest beside it, on a line the line's next; else the nearest of another panel there.
  function next(cells, from, [right, down]) {
    const ahead = (cell) => (right ? (cell.x - from.x) * right : (cell.y - from.y) * down);
    const aside = (cell) => (right ? Math.abs(cell.y - from.y) : Math.abs(cell.x - from.x));
    const gap = (cell) => (right ? Math.max(cell.top - from.bottom, from.top - cell.bottom) : Math.max(cell.left - from.right, from.left - cell.right));
    const onward = cells.filter((cell) => ahead(cell) > 0.5);
    const own = (cell) => (from.line === null ? gap(cell) < 1 : right ? cell.line === from.line : cell.line !== from.line && gap(cell) < 1);
    const nearest = (some, cost) => some.reduce((best, cell) => (!best || cost(cell) < cost(best) ? cell : best), null);
    return nearest(onward.filter(own), (cell) => ahead(cell) + aside(cell) * (from.line !== null && down ? 10 : 0.01))
      || nearest(onward.filter((cell) => cell.plot !== from.plot), (cell) => ahead(cell) + 3 * aside(cell));
  }

  const end = (cells, from, side) => cells.filter((cell) => cell.row === from.row)
    .reduce((best, cell) => ((cell.x - best.x) * side > 0 ? cell : best), from);

  // What the label says that Plotly has put there, its lines and the name beside it.
  const lines = (text) => [...text.querySelectorAll("tspan.line")].map((line) => line.textContent);
  const said = (frame) => [".nums", ".name"].flatMap((part) => [...frame.querySelectorAll(`.hoverlayer .hovertext text${part}`)])
    .flatMap((text) => (lines(text).length ? lines(text) : [text.textContent])).map((line) => line.trim()).filter(Boolean).join(", ");

  function reach(frame) {
    const ring = document.createElement("div");
    const heard = Object.assign(document.createElement("div"), { className: "cell-said" });
    ring.className = "cell-ring";
    ring.setAttribute("role", "application");
    ring.tabIndex = 0;
    heard.setAttribute("aria-live", "polite");
    frame.after(ring, heard);
    let cells = [];
    let at = null;

    function place() {
      const [wide, high] = [Math.max(LEAST, at.right - at.left), Math.max(LEAST, at.bottom - at.top)];
      Object.assign(ring.style, {
        left: `${frame.offsetLeft + at.x - wide / 2}px`, top: `${frame.offsetTop + at.y - high / 2}px`, width: `${wide}px`, height: `${high}px`,
      });
    }

    function show() {
      place();
      window.Plotly.Fx.unhover(frame); // or the label waits until the last one has stood for a moment
      window.Plotly.Fx.hover(frame, [at.asked], at.plot);
      heard.textContent = said(frame);
    }

    function read() {
      cells = (frame.calcdata || []).flatMap((one) => found(one, frame._fullLayout));
      at = cells.find((cell) => same(cell, at)) || cells[0] || null;
      ring.hidden = !at;
      const kind = cells.some((cell) => frame._fullData[cell.asked.curveNumber].type === "heatmap") ? "cells" : "marks";
      ring.setAttribute("aria-label", `${cells.length} ${kind} of the figure: the arrow keys move between them`);
      if (at) place();
    }

    frame.on("plotly_afterplot", () => {
      read();
      if (at && document.activeElement === ring) show();
    });
    ring.addEventListener("focus", () => at && show());
    ring.addEventListener("blur", () => {
      heard.textContent = "";
      window.Plotly.Fx.unhover(frame);
    });
    ring.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !at) return;
      if (event.key === "Enter" || event.key === " ") {
        if (frame._hoverdata?.length) frame.emit("plotly_click", { points: frame._hoverdata });
      } else if (event.key === "Escape") {
        ring.blur();
      } else if (SIDES[event.key] || ENDS[event.key]) {
        const to = SIDES[event.key] ? next(cells, at, SIDES[event.key]) : end(cells, at, ENDS[event.key]);
        if (to && !same(to, at)) {
          at = to;
          show();
          ring.scrollIntoView({ block: "nearest", inline: "nearest" });
        }
      } else {
        return;
      }
      event.preventDefault();
      event.stopPropagation();
    });
    read();
  }

  return { reach };
})();

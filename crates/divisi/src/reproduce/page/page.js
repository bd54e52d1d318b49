// What the page does beyond its tables: plots of measured figures beside the papers', and filters by engine
// and security. All data is the JSON in #report. How many rows and marks each plot has drawn stands in its
// data attributes, which a test compares with the JSON.
"use strict";
(() => {
  const { colour, isNumber, key, make } = Marks;
  const { PEERS, chosen, lines, measured, point, strip } = Plots;
  const report = JSON.parse(document.getElementById("report").textContent);
  const tables = report.papers.flatMap((paper) =>
    paper.tables.map((table) => ({ table, section: document.getElementById(`${paper.name}/${table.id}`) })),
  );
  const rows = tables.flatMap(({ table }) => table.rows);
  const MOST_LINES = 8;
  const LEAST_PLACES = 3;
  const NONE = "none";
  /** What the boxes have deselected. */
  const without = { engine: new Set(), security: new Set() };

  const wanted = (row) =>
    !without.engine.has(row.engine || NONE) && !without.security.has(row.security || NONE);

  // Tables whose rows or columns are a number (parties, entries, milliseconds) are drawn as lines over it.

  /** The number that a label is, as in "n = 4", "64 parties" or "AES, 4 parties", and what else it says. */
  function placeOf(label) {
    const parts = label.split(/,\s+/);
    const of = parts.map((part) =>
      /^(?:([A-Za-z]{1,9})\s*=\s*)?(\d[\d,]*(?:\.\d+)?)(?:\s*([A-Za-z%]+))?$/.exec(part),
    );
    const found = of.filter(Boolean);
    if (found.length !== 1) return null;
    const [, before, digits, after] = found[0];
    const rest = parts.filter((_, i) => !of[i]).join(", ");
    return { x: Number(digits.replaceAll(",", "")), rest, across: before || after || "" };
  }

  /** Groups of at least three with different numbers. */
  function places(items, place, apart) {
    const groups = new Map();
    for (const item of items) {
      const found = place(item);
      if (!found) continue;
      const name = JSON.stringify([found.rest, found.across, apart(item)]);
      groups.set(name, [...(groups.get(name) || []), { item, ...found }]);
    }
    return [...groups.values()].filter(
      (group) => group.length >= LEAST_PLACES && new Set(group.map(({ x }) => x)).size === group.length,
    );
  }

  function columnLines(plot, columns, shown) {
    const { table } = plot;
    const drawn = new Set();
    for (const group of places(
      columns,
      (i) => placeOf(table.columns[i].label),
      (i) => table.columns[i].network,
    )) {
      const series = table.rows
        .map((row, order) => ({ row, order, name: row.label }))
        .filter(({ row }) => group.filter(({ item }) => measured(row.cells[item])).length >= 2);
      if (!series.length || series.length > MOST_LINES) continue;
      // a row with less than two figures would be no line: then all rows are drawn as points
      if (
        table.rows.some(
          (row) =>
            !series.some((one) => one.row === row) && group.some(({ item }) => measured(row.cells[item])),
        )
      )
        continue;
      const { unit, network } = table.columns[group[0].item];
      lines(plot, {
        unit,
        across: group[0].across || "number",
        title: [group[0].rest, network].filter(Boolean).join("; "),
        series: series
          .filter(({ row }) => shown.includes(row))
          .map((one) => ({
            ...one,
            points: group.map(({ item, x }) => ({ x, p: point(table, one.row, item) })),
          })),
      });
      group.forEach(({ item }) => drawn.add(item));
    }
    return columns.filter((index) => !drawn.has(index));
  }

  function rowLines(plot, columns, shown) {
    const { table } = plot;
    const drawn = new Set();
    const apart = (row) => `${row.engine} ${row.security}`;
    const sameParties = new Set(table.rows.map((row) => row.parties)).size < 2;
    const place = (row) => {
      const found = placeOf(row.label);
      return found && !found.across && !sameParties && row.parties === found.x
        ? { ...found, across: "parties" }
        : found;
    };
    for (const group of places(table.rows, place, apart)) {
      const of = (index) => group.filter(({ item }) => measured(item.cells[index]));
      const series = columns.filter((index) => of(index).length >= 2);
      if (!series.length || series.length > MOST_LINES || columns.some((index) => of(index).length === 1))
        continue;
      lines(plot, {
        unit: table.columns[series[0]].unit,
        across: group[0].across || "number",
        title: group[0].rest,
        series: series.map((index, order) => ({
          order,
          name: [table.columns[index].label, table.columns[index].network].filter(Boolean).join(", "),
          points: group
            .filter(({ item }) => shown.includes(item))
            .map(({ item, x }) => ({ x, p: point(table, item, index) })),
        })),
      });
      group.forEach(({ item }) => drawn.add(item));
    }
    return shown.filter((row) => !drawn.has(row));
  }

  /** What the marks of a table's plots mean. */
  function meaning(plot, columns, shown) {
    const points = shown.flatMap((row) => columns.map((index) => point(plot.table, row, index)));
    const [ours, paper, page, soft] = ["ours", "paper", "page", "soft"].map(colour);
    const some = (test) => points.some(test);
    const dagger = plot.table.machine_a_party ? "† (a machine for each party)" : "";
    const entries = [];
    if (plot.kinds.has("lines")) {
      entries.push(["full: ours, with least and greatest", "circle", { stroke: soft, fill: soft }]);
      entries.push([`hollow, on dashes: the paper${dagger}`, "circle", { stroke: soft, fill: page }]);
    }
    if (plot.kinds.has("strip")) {
      entries.push(["ours, with least and greatest", "circle", { stroke: ours, fill: ours }]);
      if (some((p) => p.nearest && p.ours !== null)) {
        entries.push(["nearest run", "circle", { stroke: ours, fill: page }]);
      }
      if (some((p) => p.paper !== null)) {
        entries.push([`the paper${dagger}`, "diamond", { stroke: paper, fill: page }]);
      }
    }
    if (some((p) => p.corrected !== null)) {
      entries.push(["with a dot: the paper, corrected", "diamond", { stroke: paper, fill: page, dot: true }]);
    }
    const peers = new Map(points.flatMap((p) => p.peers).map(({ peer, order }) => [order, peer.name]));
    for (const [order, name] of peers) {
      entries.push([name, PEERS[order % PEERS.length], { stroke: colour("peer"), fill: page }]);
    }
    return entries;
  }

  function draw({ table, section }) {
    const host = section.querySelector(".plot");
    (host.drawn || []).forEach((u) => u.destroy());
    host.replaceChildren();
    const shown = table.rows.filter(wanted);
    const all = table.rows.flatMap((row) => row.cells).filter(measured);
    const columns = table.columns
      .map((_, i) => i)
      .filter((i) => table.rows.some((row) => measured(row.cells[i])));
    if (all.length < 2 || !shown.some((row) => row.cells.some(measured))) return;
    const plot = {
      table,
      host,
      drawn: [],
      counts: { ours: new Set(), counted: new Set(), paper: new Set(), peers: new Set() },
      kinds: new Set(),
      readout: make("div", { className: "readout", hidden: true }),
    };
    plot.readout.setAttribute("role", "status");
    host.append(plot.readout);
    for (const unit of new Set(columns.map((i) => table.columns[i].unit))) {
      const rest = columnLines(
        plot,
        columns.filter((i) => table.columns[i].unit === unit),
        shown,
      );
      if (!rest.length) continue;
      const left = rowLines(plot, rest, shown);
      if (left.some((row) => rest.some((i) => measured(row.cells[i])))) strip(plot, rest, left);
    }
    host.prepend(key(meaning(plot, columns, shown)));
    host.drawn = plot.drawn;
    plot.drawn.forEach((u, i) => withKeys(plot, u, i));
    // uPlot draws when this task has ended
    queueMicrotask(() =>
      queueMicrotask(() => {
        const { ours, paper, peers } = plot.counts;
        host.dataset.rows = new Set([...ours].map((p) => p.row)).size;
        host.dataset.ours = ours.size;
        host.dataset.paper = paper.size;
        host.dataset.peers = peers.size;
      }),
    );
  }

  /** Arrow keys read a plot: along its rows or places, and across to the next column or line. */
  function withKeys(plot, u, index) {
    const upright = u.scales.x.ori === 1;
    const of = { place: 0, line: 1 };
    // the columns of a strip are one stop of the key Tab
    u.root.tabIndex = upright && plot.drawn[index - 1]?.scales.x.ori === 1 ? -1 : 0;
    u.root.setAttribute("role", "group");
    const label = `Plot of ${plot.table.title}: arrow keys read its points; the table has the same figures`;
    u.root.setAttribute("aria-label", label);
    u.root.querySelector("canvas").setAttribute("aria-hidden", "true");
    const show = () => {
      const place = u.valToPos(u.data[0][of.place], "x");
      const value = u.data[of.line][of.place];
      const other = isNumber(value) ? u.valToPos(value, "v") : 10;
      u.setCursor(upright ? { left: other, top: place } : { left: place, top: other });
    };
    const step = (what, by, end) => {
      of[what] = Math.min(Math.max(of[what] + by, what === "line" ? 1 : 0), end);
      show();
    };
    u.root.addEventListener("focus", show);
    u.root.addEventListener("blur", () => u.setCursor({ left: -10, top: -10 }));
    u.root.addEventListener("keydown", (event) => {
      const by = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 }[event.key];
      if (!by) return;
      const along = ["ArrowUp", "ArrowDown"].includes(event.key) === upright;
      if (along) step("place", by, u.data[0].length - 1);
      else if (upright) plot.drawn[index + by]?.root.focus();
      else step("line", by, u.data.length - 1);
      event.preventDefault();
    });
  }

  function filterRows(count) {
    let seen = 0;
    for (const { table, section } of tables) {
      const hidden = new Set(table.rows.filter((row) => !wanted(row)).map((row) => row.id));
      for (const tr of section.querySelectorAll("tr[data-row], tr[data-of]")) {
        tr.hidden = hidden.has(tr.dataset.row || tr.dataset.of);
      }
      seen += table.rows.length - hidden.size;
    }
    count.textContent = `${seen} of ${rows.length} rows`;
  }

  function drawAll() {
    tables.forEach(draw);
  }

  function filters() {
    const bar = document.getElementById("filters");
    const count = make("output");
    for (const [fact, title] of [
      ["engine", "Engine"],
      ["security", "Security"],
    ]) {
      const values = [...new Set(rows.map((row) => row[fact] || NONE))].sort();
      if (values.length < 2) continue;
      const boxes = values.map((value) => {
        const box = make("input", { type: "checkbox", checked: true, name: fact, value });
        box.addEventListener("change", () => {
          without[fact][box.checked ? "delete" : "add"](value);
          filterRows(count);
          drawAll();
        });
        return make("label", { children: [box, value] });
      });
      bar.append(make("fieldset", { children: [make("legend", { textContent: title }), ...boxes] }));
    }
    const axes = [
      ["logarithmic", true],
      ["from zero", false],
    ].map(([name, log]) => {
      const radio = make("input", { type: "radio", name: "axes", value: name, checked: log });
      radio.addEventListener("change", () => {
        chosen.log = log;
        drawAll();
      });
      return make("label", { children: [radio, name] });
    });
    bar.append(make("fieldset", { children: [make("legend", { textContent: "Axes" }), ...axes] }), count);
    bar.hidden = false;
    filterRows(count);
  }

  filters();
  drawAll();
  let width = document.body.clientWidth;
  new ResizeObserver(() => {
    if (document.body.clientWidth === width) return;
    width = document.body.clientWidth;
    requestAnimationFrame(drawAll);
  }).observe(document.body);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  setTimeout(() => {
    document.documentElement.dataset.drawn = "yes";
  });
})();

// How the page draws: what is drawn of a cell, axes, the two kinds of plots and their read-out, by uPlot,
// which gives scales, axes and the pointer.
"use strict";
const Plots = (() => {
  const { colour, fit, font, format, isNumber, key, line, make, mark, pen, printed, ratio, short } = Marks;
  const PEERS = ["plus", "cross", "asterisk", "fork"];
  /** Where a plot has no labels: pixels before its axis. */
  const PAD = 8;
  const SERIES = ["circle", "square", "triangle", "down", "star", "diamond", "six", "bar"];
  const KINDS = { exact: "exact", measured: "measured", derived: "derived", "out-of-reach": "out of reach" };
  const chosen = { log: true };
  // Figures: what is drawn of a cell.
  const measured = (cell) => cell && cell.kind !== "exact" && isNumber(cell.ours);

  function point(table, row, index) {
    const cell = row.cells[index];
    const column = table.columns[index];
    const names = [...new Set(table.peers.map((peer) => peer.name))];
    const peers = table.peers
      .map((peer) => ({ peer, order: names.indexOf(peer.name), value: peer.values[row.id] }))
      .filter(({ peer, value }) => peer.column === column.id && isNumber(value))
      .filter(({ peer }) => !peer.unit || peer.unit === column.unit);
    const ours = cell && isNumber(cell.ours) ? cell.ours : null;
    const spread = ours !== null && isNumber(cell.least) && isNumber(cell.greatest);
    return {
      table,
      row,
      column,
      cell,
      ours,
      peers,
      paper: cell && isNumber(cell.paper) ? cell.paper : null,
      corrected: cell && isNumber(cell.corrected) ? cell.corrected : null,
      spread: spread ? [cell.least, cell.greatest] : [],
      nearest: Boolean(cell) && cell.kind === "out-of-reach",
      counted: Boolean(cell) && cell.kind === "exact",
    };
  }

  const numbers = (p) =>
    [p.ours, p.paper, p.corrected, ...p.spread, ...p.peers.map((peer) => peer.value)].filter(isNumber);

  /** Range and ticks of an axis for these values; what is not above 0 stands at a logarithmic axis' end. */
  function axisOf(values, pixels) {
    const positive = values.filter((value) => value > 0);
    if (!chosen.log) {
      const most = Math.max(...values, 0) || 1;
      const step =
        [1, 2, 5, 10]
          .map((m) => m * 10 ** Math.floor(Math.log10(most / 4)))
          .find((size) => (most / size) * 52 <= pixels) || most;
      const ticks = Array.from({ length: Math.floor((most * 1.06) / step) + 1 }, (_, i) => i * step);
      return { least: Math.min(0, ...values), greatest: most * 1.06, ticks };
    }
    const least = Math.min(...positive, Infinity);
    const greatest = Math.max(...positive, 0);
    if (!positive.length) return { least: 0.1, greatest: 10, ticks: [0.1, 1, 10] };
    const room = Math.max(1.25, (greatest / least) ** 0.06);
    let [from, to] = [least / room, greatest * room];
    const between = (steps) => {
      const found = [];
      for (let e = Math.floor(Math.log10(from)); e <= Math.ceil(Math.log10(to)); e += 1) {
        for (const step of steps) found.push(Number(`${step}e${e}`));
      }
      return found;
    };
    const inside = (steps) => between(steps).filter((tick) => tick >= from && tick <= to);
    let ticks = inside([1]);
    if (ticks.length < 3) ticks = inside([1, 2, 5]);
    if (ticks.length < 2) {
      const all = between([1, 2, 5]);
      from = Math.max(...all.filter((tick) => tick <= from));
      to = Math.min(...all.filter((tick) => tick >= to));
      ticks = inside([1, 2, 5]);
    }
    const every = Math.ceil((ticks.length * 40) / pixels);
    return { least: from, greatest: to, ticks: ticks.filter((_, i) => i % every === 0) };
  }

  const clamp = (axis, value) => Math.min(Math.max(value, axis.least), axis.greatest);

  const axisLook = (more) => ({
    stroke: colour("soft"),
    font: font(),
    gap: 4,
    space: 1,
    filter: (_, splits) => splits,
    grid: { stroke: colour("faint"), width: 1, filter: (_, splits) => splits },
    ticks: { stroke: colour("rule"), width: 1, size: 4, filter: (_, splits) => splits },
    ...more,
  });

  /** What all plots share: no legend and no zoom of uPlot's, and no path, since marks are drawn here. */
  const base = (width, height, series) => ({
    width,
    height,
    legend: { show: false },
    padding: [6, 14, 0, 4],
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false, setScale: false } },
    series: [
      {},
      ...Array.from({ length: series }, () => ({ scale: "v", paths: () => null, points: { show: false } })),
    ],
  });

  /** Draws a point's marks; `at` gives the place of a value on the canvas. Counts what is in the plot. */
  function drawPoint(u, p, at, look, counts) {
    const ctx = u.ctx;
    const box = u.bbox;
    const put = (value, form, radius, style, kind) => {
      const [x, y] = at(value);
      mark(ctx, form, x, y, radius, style);
      const margin = 2 * ratio();
      const within = x >= box.left - margin && x <= box.left + box.width + margin;
      if (within && y >= box.top - margin && y <= box.top + box.height + margin) counts[kind].add(p);
    };
    if (p.spread.length) {
      const ends = p.spread.map(at);
      const cap = 3.5 * ratio();
      line(ctx, ends, { stroke: look.ours, width: 1.6 });
      const across = Math.abs(ends[0][1] - ends[1][1]) < Math.abs(ends[0][0] - ends[1][0]) || look.horizontal;
      for (const [x, y] of ends) {
        line(
          ctx,
          across
            ? [
                [x, y - cap],
                [x, y + cap],
              ]
            : [
                [x - cap, y],
                [x + cap, y],
              ],
          { stroke: look.ours, width: 1.6 },
        );
      }
    }
    for (const { value, order } of p.peers) {
      put(value, PEERS[order % PEERS.length], 5, { stroke: colour("peer") }, "peers");
    }
    if (p.ours !== null) {
      const fill = p.nearest ? colour("page") : look.ours;
      put(p.ours, look.form, look.radius || 4.5, { stroke: look.ours, fill }, p.counted ? "counted" : "ours");
    }
    // hollow and larger than ours, so that one shows where both are equal
    const hollow = { stroke: look.paper, fill: "transparent" };
    if (p.paper !== null) put(p.paper, look.paperForm, 6.5, hollow, "paper");
    if (p.corrected !== null) put(p.corrected, look.paperForm, 6.5, { ...hollow, dot: true }, "paper");
  }

  // The read-out beside the pointer, or for the keyboard.
  function facts(p) {
    const unit = p.column.unit ? ` ${p.column.unit}` : "";
    const found = [];
    if (p.ours !== null) {
      const what = p.nearest ? "nearest run" : `ours, ${KINDS[p.cell.kind] || p.cell.kind}`;
      found.push([what, `${format(p.ours)}${unit}`]);
      if (p.spread.length)
        found.push(["least, greatest", p.spread.map((value) => format(value)).join(" to ")]);
    }
    const mark = p.table.machine_a_party ? "†" : "";
    if (p.paper !== null)
      found.push(["paper", `${printed(p.cell.printed) || format(p.paper)}${mark}${unit}`]);
    if (p.corrected !== null) found.push(["corrected", `${format(p.corrected)}${unit}`]);
    const beside = p.corrected === null ? p.paper : p.corrected;
    if (p.ours !== null && beside && !p.nearest)
      found.push(["ours / paper", `${format(p.ours / beside, 3)}×`]);
    if (p.cell && isNumber(p.cell.cpu_us))
      found.push(["CPU a block and party", `${format(p.cell.cpu_us, 3)} µs`]);
    for (const { peer, value } of p.peers) found.push([peer.name, `${format(value)}${unit}`]);
    return found.length ? found : [["no figure", ""]];
  }

  const named = (row) => [row.engine, row.security].filter(Boolean).join(", ");

  function readOut(plot, u, points, where) {
    plot.readout.replaceChildren();
    for (const p of points) {
      const title = where(p);
      const pairs = facts(p).flatMap(([name, value]) => [
        make("i", { textContent: name }),
        make("span", { textContent: value }),
      ]);
      plot.readout.append(make("b", { textContent: title }), make("div", { children: pairs }));
    }
    plot.readout.hidden = points.length === 0;
    if (!points.length) return;
    const [host, over] = [plot.host.getBoundingClientRect(), u.over.getBoundingClientRect()];
    const [x, y] = [over.left - host.left + u.cursor.left, over.top - host.top + u.cursor.top];
    const width = plot.readout.offsetWidth;
    const left = x + 16 + width > host.width ? x - 16 - width : x + 16;
    plot.readout.style.left = `${Math.max(0, Math.min(left, host.width - width))}px`;
    plot.readout.style.top = `${y + 14}px`;
  }

  /** Columns of one unit beside each other: rows down, figures across, on one and the same axis. */
  function strip(plot, columns, rows) {
    const points = rows.map((row) => columns.map((index) => point(plot.table, row, index)));
    // what only the paper has, the table shows
    const kept = points.filter((row) => row.some((p) => p.ours !== null));
    if (!kept.length) return;
    const all = plot.host.clientWidth;
    pen.font = font();
    const twice = new Set(rows.map((row) => row.label)).size < rows.length;
    const names = kept.map(([p]) =>
      twice && named(p.row) ? `${p.row.label} (${named(p.row)})` : p.row.label,
    );
    const longest = Math.max(...names.map((name) => pen.measureText(name).width));
    const label = Math.ceil(Math.min(longest + 20, all < 600 ? all * 0.36 : 260));
    const least = all < 600 ? 200 : 190;
    const across = Math.max(1, Math.min(columns.length, Math.floor((all - label) / least)));
    const wide = Math.min(Math.floor((all - label - PAD * (across - 1)) / across), across === 1 ? 620 : 420);
    const axis = axisOf(kept.flat().flatMap(numbers), wide - 24);
    const fitted = names.map((name) => fit(name, label - 18, pen));
    const strips = make("div", { className: "strip" });
    plot.host.insertBefore(strips, plot.readout);
    plot.kinds.add("strip");
    columns.forEach((index, order) => {
      const column = plot.table.columns[index];
      const first = order % across === 0;
      const side = first ? label : PAD;
      const title = [column.label, column.unit].filter(Boolean).join(", ");
      const captions = [title, ...(column.network ? [make("span", { textContent: column.network })] : [])];
      const caption = make("figcaption", { children: captions });
      caption.style.paddingLeft = `${side}px`;
      const figure = make("figure", { children: [caption] });
      figure.style.width = `${wide + side}px`;
      strips.append(figure);
      const look = {
        ours: colour("ours"),
        paper: colour("paper"),
        form: "circle",
        paperForm: "diamond",
        horizontal: true,
      };
      const options = base(wide + side, kept.length * 23 + 40, 1);
      const here = kept.map((row) => row[order]);
      options.scales = {
        x: { time: false, ori: 1, dir: -1, range: () => [-0.6, kept.length - 0.4] },
        v: { ori: 0, distr: chosen.log ? 3 : 1, range: () => [axis.least, axis.greatest] },
      };
      options.axes = [
        axisLook({
          scale: "x",
          side: 3,
          size: side,
          incrs: [1],
          splits: () => kept.map((_, i) => i),
          stroke: colour("ink"),
          values: () => (first ? fitted : fitted.map(() => "")),
          ticks: { show: false },
          border: { show: true, stroke: colour("rule"), width: 1 },
        }),
        axisLook({ scale: "v", side: 2, size: 26, splits: () => axis.ticks, values: (_, s) => s.map(short) }),
      ];
      options.hooks = {
        draw: [
          (u) =>
            here.forEach((p, i) => {
              const y = u.valToPos(i, "x", true);
              const at = (value) => [u.valToPos(clamp(axis, value), "v", true), y];
              const beside = p.corrected === null ? p.paper : p.corrected;
              if (p.ours !== null && beside !== null)
                line(u.ctx, [at(p.ours), at(beside)], { stroke: colour("rule"), width: 3 });
              drawPoint(u, p, at, look, plot.counts);
            }),
        ],
        setCursor: [
          (u) => {
            const p = here[u.cursor.idx];
            const shown = u.cursor.left >= 0 && p ? [p] : [];
            readOut(plot, u, shown, () => `${p.row.label}: ${title}`);
          },
        ],
      };
      const data = [kept.map((_, i) => i), here.map((p) => (p.ours === null ? null : clamp(axis, p.ours)))];
      plot.drawn.push(new uPlot(options, data, figure));
    });
  }

  /** One picture of lines: figures up, a number of the table's (such as the parties) across. */
  function lines(plot, { series, unit, across, title }) {
    const shown = series
      .map((one) => ({ ...one, points: one.points.filter(({ p }) => numbers(p).length) }))
      .filter((one) => one.points.length);
    if (!shown.length) return;
    const places = [...new Set(shown.flatMap((one) => one.points.map(({ x }) => x)))].sort((a, b) => a - b);
    const width = Math.min(plot.host.clientWidth, 780);
    const height = width < 600 ? 300 : 360;
    const up = axisOf(
      shown.flatMap((one) => one.points.flatMap(({ p }) => numbers(p))),
      height - 70,
    );
    const logarithmic = chosen.log && places[0] > 0;
    const edge = logarithmic
      ? [places[0] / 1.15, places.at(-1) * 1.15]
      : [places[0] - 0.5, places.at(-1) + 0.5];
    const caption = make("figcaption", { textContent: title });
    const figure = make("figure", { children: [caption] });
    plot.host.insertBefore(make("div", { className: "strip", children: [figure] }), plot.readout);
    plot.kinds.add("lines");
    const looks = shown.map((one) => ({
      ours: colour(`c${one.order % SERIES.length}`),
      paper: colour(`c${one.order % SERIES.length}`),
      form: SERIES[one.order % SERIES.length],
      // the same form, but hollow, on a line of dashes
      paperForm: SERIES[one.order % SERIES.length],
      radius: 5,
    }));
    const options = base(width, height, shown.length);
    options.scales = {
      x: { time: false, distr: logarithmic ? 3 : 1, range: () => edge },
      v: { distr: chosen.log ? 3 : 1, range: () => [up.least, up.greatest] },
    };
    const crowded = (pixels) => places.filter((_, i) => i % Math.ceil((places.length * 32) / pixels) === 0);
    options.axes = [
      axisLook({
        scale: "x",
        side: 2,
        size: 30,
        label: across,
        labelSize: 18,
        labelFont: font(),
        splits: () => crowded(width - 60),
        values: (_, s) => s.map((place) => `${+place.toPrecision(6)}`),
      }),
      axisLook({
        scale: "v",
        side: 3,
        size: 54,
        label: unit,
        labelSize: unit ? 18 : 0,
        labelFont: font(),
        splits: () => up.ticks,
        values: (_, s) => s.map(short),
      }),
    ];
    options.hooks = {
      draw: [
        (u) =>
          shown.forEach((one, i) => {
            const at = (x) => (value) => [u.valToPos(x, "x", true), u.valToPos(clamp(up, value), "v", true)];
            const path = (of) => one.points.filter(({ p }) => p[of] !== null).map(({ x, p }) => at(x)(p[of]));
            line(u.ctx, path("paper"), { stroke: looks[i].paper, width: 1.2, dash: [4, 4] });
            line(u.ctx, path("ours"), { stroke: looks[i].ours, width: 1.8 });
            one.points.forEach(({ x, p }) => drawPoint(u, p, at(x), looks[i], plot.counts));
          }),
      ],
      setCursor: [
        (u) => {
          const x = u.cursor.left >= 0 ? places[u.cursor.idx] : undefined;
          const here = shown.flatMap((one) =>
            one.points.filter((at) => at.x === x).map(({ p }) => [p, one.name]),
          );
          const close = nearest(u, here, up);
          readOut(
            plot,
            u,
            close.map(([p]) => p),
            (p) => `${close.find(([q]) => q === p)[1]}: ${across} ${x}`,
          );
        },
      ],
    };
    const value = (one, x) => one.points.find((at) => at.x === x)?.p.ours ?? null;
    const data = [places, ...shown.map((one) => places.map((x) => value(one, x)))];
    plot.drawn.push(new uPlot(options, data, figure));
    const names = shown.map((one, i) => [
      one.name,
      looks[i].form,
      { stroke: looks[i].ours, fill: looks[i].ours },
    ]);
    caption.after(key(names));
  }

  /** Of the points at one place the one that the pointer is closest to. */
  function nearest(u, here, axis) {
    const distance = ([p]) =>
      Math.min(...numbers(p).map((value) => Math.abs(u.valToPos(clamp(axis, value), "v") - u.cursor.top)));
    const best = Math.min(...here.map(distance), Infinity);
    return here.filter((one) => distance(one) === best).slice(0, 1);
  }

  return { PEERS, chosen, lines, measured, point, strip };
})();

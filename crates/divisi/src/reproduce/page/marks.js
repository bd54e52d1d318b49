// What everything is drawn with: colours of the style sheet, figures as text, marks and lines on a canvas,
// and their key. Text gets into the page as text only, never as HTML.
"use strict";
const Marks = (() => {
  const ratio = () => uPlot.pxRatio;
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const font = () => `12px ${getComputedStyle(document.body).fontFamily}`;
  const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

  /** An element with text, or with children. */
  function make(tag, { children = [], ...properties } = {}) {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  }

  /** A figure with this many digits or more, its thousands apart. */
  function format(value, least = 4) {
    if (value !== 0 && (Math.abs(value) >= 1e15 || Math.abs(value) < 1e-6)) return value.toExponential(2);
    const whole = Math.floor(Math.log10(Math.abs(value) || 1)) + 1;
    const digits = Number.isInteger(value) && least > 3 ? 0 : Math.max(0, least - whole);
    return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  }

  /** A paper's figure as it is printed; thousands apart if it is a plain number. */
  function printed(text) {
    if (!/^\d{4,}(\.\d+)?$/.test(text)) return text;
    const [whole, ...rest] = text.split(".");
    return [whole.replace(/\B(?=(\d{3})+$)/g, ","), ...rest].join(".");
  }

  /** A mark of an axis: 20k, 0.5. */
  function short(value) {
    for (const [size, letter] of [
      [1e12, "T"],
      [1e9, "G"],
      [1e6, "M"],
      [1e3, "k"],
    ]) {
      if (Math.abs(value) >= size) return `${+(value / size).toPrecision(3)}${letter}`;
    }
    return value !== 0 && Math.abs(value) < 1e-3 ? value.toExponential(0) : `${+value.toPrecision(3)}`;
  }

  // Marks: each has a form of its own, so that none needs its colour.
  const corners = (n, turn) =>
    Array.from({ length: n }, (_, i) => turn + (2 * Math.PI * i) / n).map((a) => [Math.cos(a), Math.sin(a)]);
  const FORMS = {
    diamond: corners(4, 0),
    square: corners(4, Math.PI / 4),
    six: corners(6, 0),
    triangle: corners(3, -Math.PI / 2),
    down: corners(3, Math.PI / 2),
    bar: [
      [-0.3, -1],
      [0.3, -1],
      [0.3, 1],
      [-0.3, 1],
    ],
    star: corners(10, -Math.PI / 2).map(([x, y], i) => (i % 2 ? [x * 0.45, y * 0.45] : [x, y])),
  };
  const STROKES = {
    plus: corners(4, 0),
    cross: corners(4, Math.PI / 4),
    asterisk: corners(6, 0),
    fork: corners(3, Math.PI / 2),
  };

  function mark(ctx, form, x, y, radius, { stroke, fill, dot }) {
    ctx.save();
    ctx.lineWidth = 1.6 * ratio();
    ctx.strokeStyle = stroke;
    ctx.fillStyle = fill || colour("page");
    const r = radius * ratio();
    ctx.beginPath();
    if (form in STROKES) {
      for (const [dx, dy] of STROKES[form]) {
        ctx.moveTo(x, y);
        ctx.lineTo(x + dx * r, y + dy * r);
      }
    } else if (form in FORMS) {
      FORMS[form].forEach(([dx, dy], i) => ctx[i ? "lineTo" : "moveTo"](x + dx * r, y + dy * r));
      ctx.closePath();
      ctx.fill();
    } else {
      ctx.arc(x, y, r * 0.85, 0, 2 * Math.PI);
      ctx.fill();
    }
    ctx.stroke();
    if (dot) {
      ctx.fillStyle = stroke;
      ctx.fillRect(x - ratio(), y - ratio(), 2 * ratio(), 2 * ratio());
    }
    ctx.restore();
  }

  function line(ctx, points, { stroke, width = 1, dash = [] }) {
    ctx.save();
    ctx.strokeStyle = stroke;
    ctx.lineWidth = width * ratio();
    ctx.setLineDash(dash.map((length) => length * ratio()));
    ctx.beginPath();
    points.forEach(([x, y], i) => ctx[i ? "lineTo" : "moveTo"](x, y));
    ctx.stroke();
    ctx.restore();
  }

  /** Shortens a label until it has this many pixels. */
  function fit(text, pixels, ctx) {
    if (ctx.measureText(text).width <= pixels) return text;
    let end = text.length;
    while (end > 1 && ctx.measureText(`${text.slice(0, end).trimEnd()}…`).width > pixels) end -= 1;
    return `${text.slice(0, end).trimEnd()}…`;
  }

  const pen = document.createElement("canvas").getContext("2d");

  /** What the marks mean. */
  function key(entries) {
    const items = entries.map(([name, form, style]) => {
      const canvas = make("canvas", { width: 16 * ratio(), height: 16 * ratio() });
      canvas.style.cssText = "width: 16px; height: 16px";
      canvas.setAttribute("aria-hidden", "true");
      mark(canvas.getContext("2d"), form, 8 * ratio(), 8 * ratio(), form === "diamond" ? 6 : 5, style);
      return make("li", { children: [canvas, name] });
    });
    return make("ul", { className: "key", children: items });
  }

  return { colour, fit, font, format, isNumber, key, line, make, mark, pen, printed, ratio, short };
})();

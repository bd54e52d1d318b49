// What a reader sees of the page: what is cut, which rows show, what the plots say of themselves. An
// expression that `check.py` evaluates in the page, whether the page's own scripts run or not.
(() => {
  const found = [];
  const root = document.documentElement;
  const say = (...texts) => found.push(texts.join(""));
  if (root.scrollWidth > root.clientWidth) {
    say("the page is ", root.scrollWidth, " pixels wide, not ", root.clientWidth);
  }
  for (const table of document.querySelectorAll("table")) {
    const name = table.closest("section")?.id || table.className || "a table";
    if (!table.rows.length || !table.getClientRects().length) say(name, ": the table does not show");
    for (const cell of table.querySelectorAll("th, td")) {
      const text = cell.textContent.trim().slice(0, 40);
      if (cell.scrollWidth > cell.clientWidth + 1) say(name, ": cut: ", text);
      if (cell.tagName === "TH" && !cell.scope) say(name, ": a heading without a scope: ", text);
    }
    const box = table.closest(".scroll");
    if (!box) {
      say(name, ": the table has no box that scrolls");
      continue;
    }
    const edges = box.getBoundingClientRect();
    const scrolls = ["auto", "scroll"].includes(getComputedStyle(box).overflowX);
    const [wide, room] = [table.scrollWidth, box.clientWidth];
    if (edges.left < 0 || edges.right > root.clientWidth + 1) say(name, ": the box ends outside of the page");
    if (wide > room + 1 && !scrolls) say(name, ": the table is cut");
    if (wide > room + 1 && root.clientWidth >= 1280) {
      say(name, ": the table is ", wide, " pixels wide, its box ", room);
    }
    if (wide > Math.max(box.scrollWidth, room) + 1) say(name, ": the table is wider than what scrolls");
  }
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  const twice = ids.filter((id, i) => ids.indexOf(id) !== i);
  if (twice.length) say("ids stand twice: ", twice.slice(0, 3));
  for (const link of document.querySelectorAll("a[href^='#']")) {
    const to = link.getAttribute("href");
    if (!document.getElementById(decodeURIComponent(to.slice(1)))) say("a link leads nowhere: ", to);
  }
  const empty = (canvas) => {
    if (!canvas.width || !canvas.height) return true;
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return data.every((byte) => byte === 0);
  };
  const plots = {};
  for (const plot of document.querySelectorAll(".plot")) {
    const canvases = [...plot.querySelectorAll(".uplot canvas")];
    const outside = (one) => one.getBoundingClientRect().right > root.clientWidth + 1;
    plots[plot.closest("section").id] = {
      ...plot.dataset,
      shows: plot.getClientRects().length > 0,
      canvases: canvases.length,
      blank: canvases.filter(empty).length,
      outside: [...plot.querySelectorAll("figure")].filter(outside).length,
    };
  }
  const rows = {};
  for (const row of document.querySelectorAll("tr[data-row]")) {
    const { id } = row.closest("section");
    rows[id] = (rows[id] || 0) + (row.getClientRects().length > 0);
  }
  const filters = document.getElementById("filters");
  return {
    found,
    plots,
    rows,
    filters: Boolean(filters && filters.getClientRects().length),
    height: root.scrollHeight,
  };
})();

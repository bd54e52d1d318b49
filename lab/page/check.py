"""A page of `divisi reproduce` in headless Chromium: `check.py REPORT.html FOLDER`.

At each width the page must open without a complaint on the console and without asking for anything; no table
and no cell may be cut; and each row that has a measured figure must have its mark. Without scripts the tables
stand alone. Screenshots stay in the folder. `check.py --faults REPORT.html FOLDER` plants errors in copies of
the page and shows that each is found.
"""

import json
import re
import sys
from pathlib import Path

import browser
import faults

WIDTHS = [1280, 420]
# What one screenshot may have: Chromium cannot draw pictures of any height.
TALL = 6000

# The page says of itself how many marks it drew: `compare` holds that against its JSON.
LOOK = Path(__file__).with_name("look.js").read_text()
DRAWN = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def report_of(page):
    """The JSON that the page carries."""
    found = re.search(r'<script type="application/json" id="report">(.*?)</script>', page, re.DOTALL)
    if not found:
        raise SystemExit("the page carries no report")
    return json.loads(found[1])


def tables_of(report):
    for paper in report["papers"]:
        for table in paper["tables"]:
            yield f"{paper['name']}/{table['id']}", table


def has_figure(cell):
    return cell is not None and cell["kind"] != "exact" and cell["ours"] is not None


def expected(table):
    """How many rows have a figure that is no count, and how many such figures there are."""
    rows = [sum(map(has_figure, row["cells"])) for row in table["rows"]]
    return sum(map(bool, rows)), sum(rows)


def compare(report, seen, scripts):
    """What the page shows, beside its JSON."""
    found = []
    for name, table in tables_of(report):
        shown, rows = seen["rows"].get(name, 0), len(table["rows"])
        if shown != rows:
            found.append(f"{name}: {shown} rows show, the report has {rows}")
        if name in seen["plots"]:
            found += [f"{name}: {text}" for text in compare_plot(table, seen["plots"][name], scripts)]
        else:
            found.append(f"{name}: there is no place for a plot")
    if seen["filters"] != scripts:
        found.append("the filters do not show" if scripts else "filters show without scripts")
    return found


def compare_plot(table, plot, scripts):
    rows, marks = expected(table)
    if not scripts or marks < 2:
        if plot["shows"]:
            yield "a plot shows that is empty"
        return
    drawn = (int(plot.get("rows", 0)), int(plot.get("ours", 0)))
    if drawn != (rows, marks):
        yield f"{drawn[0]} rows and {drawn[1]} marks are drawn, the report has {rows} and {marks}"
    if plot["blank"] or not plot["canvases"]:
        yield f"{plot['blank']} of {plot['canvases']} plots are blank"
    if plot["outside"]:
        yield f"{plot['outside']} plots end outside of the page"


def look(chromium, path, width, scripts=True, dark=False, folder=None):
    """All that is wrong with a page at a width; with a folder, screenshots are kept there."""
    report = report_of(Path(path).read_text())
    page = chromium.page(width, scripts=scripts, dark=dark)
    try:
        page.open(path)
        if scripts:
            # two pictures later everything is drawn, or never will be
            page.evaluate(DRAWN)
        seen = page.evaluate(LOOK)
        if folder:
            name = f"{width}" + ("-dark" if dark else "") + ("" if scripts else "-without-script")
            for part, top in enumerate(range(0, seen["height"], TALL), 1):
                height = min(TALL, seen["height"] - top)
                clip = {"x": 0, "y": top, "width": width, "height": height}
                page.screenshot(folder / f"{name}-{part}.png", clip)
        found = page.complaints() + seen["found"] + compare(report, seen, scripts)
        if scripts and not found:
            found += [*try_filters(page, report), *try_axes(page, report), *try_read_out(page)]
            found += page.complaints()
        return found
    finally:
        page.close()


def fact_of(row, fact):
    return row[fact] or "none"


def press_space(page):
    for kind in ["keyDown", "keyUp"]:
        page.call(
            "Input.dispatchKeyEvent", type=kind, key=" ", code="Space", text=" ", windowsVirtualKeyCode=32
        )


def try_filters(page, report):
    """Deselects an engine, then a security, by the keyboard, and selects it again: rows and marks follow."""
    tables = dict(tables_of(report))
    rows = [row for table in tables.values() for row in table["rows"]]
    for fact in ["engine", "security"]:
        values = sorted({fact_of(row, fact) for row in rows})
        if len(values) < 2:
            continue
        box = f"document.querySelector('#filters input[name={fact}][value={json.dumps(values[-1])}]')"
        for without in [values[-1], None]:
            page.evaluate(f"{box}.focus()")
            press_space(page)
            page.evaluate(DRAWN)
            seen = page.evaluate(LOOK)
            for name, table in tables.items():
                left = [row for row in table["rows"] if fact_of(row, fact) != without]
                shown = seen["rows"].get(name, 0)
                if shown != len(left):
                    yield f"{name}: {shown} rows show, {len(left)} are selected"
                plot = seen["plots"][name]
                drawn = int(plot.get("ours", 0)) if plot["shows"] else 0
                marks = expected({"rows": left})[1] if expected(table)[1] >= 2 else 0
                if drawn != marks:
                    yield f"{name}: {drawn} marks are drawn, {marks} are selected"


def try_axes(page, report):
    """Axes from zero must have the same marks as logarithmic ones."""
    for axes in ["from zero", "logarithmic"]:
        page.evaluate(f"document.querySelector('#filters input[value={json.dumps(axes)}]').click()")
        page.evaluate(DRAWN)
        for text in compare(report, page.evaluate(LOOK), True):
            yield f"axes {axes}: {text}"


def try_read_out(page):
    """The first plot must tell its figures under the pointer, and to the keys of arrows, and then be silent."""
    shown = (
        "[...document.querySelectorAll('.readout')].filter((one) => !one.hidden).map((one) => one.innerText)"
    )
    over = "document.querySelector('.plot .u-over')"
    if not page.evaluate(f"Boolean({over})"):
        return
    page.evaluate(f"{over}.scrollIntoView({{ block: 'center' }})")
    box = page.evaluate(
        f"(({{ x, y, width, height }}) => ({{ x, y, width, height }}))({over}.getBoundingClientRect())"
    )
    for x, y, wanted in [(box["x"] + box["width"] / 2, box["y"] + 15, True), (1, 1, False)]:
        page.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        page.evaluate(DRAWN)
        texts = page.evaluate(shown)
        if bool(texts) != wanted:
            yield f"the pointer {'over' if wanted else 'beside'} a plot shows {texts}"
    page.evaluate("document.querySelector('.uplot[tabindex=\"0\"]').focus()")
    read = [page.evaluate(shown)]
    for key in ["ArrowDown", "ArrowRight"]:
        page.call("Input.dispatchKeyEvent", type="keyDown", key=key)
        page.evaluate(DRAWN)
        read.append(page.evaluate(shown))
    if not all(read) or len(set(map(str, read))) < 2:
        yield f"the keys of arrows read {read}"


def main(arguments):
    if arguments == ["--chromium"]:
        return 0 if browser.find() else 1
    planted = arguments[:1] == ["--faults"]
    path, folder = map(Path, arguments[planted:])
    folder.mkdir(parents=True, exist_ok=True)
    with browser.Browser(browser.find()) as chromium:
        if planted:
            wrong = faults.all_found(chromium, path, folder, look)
        else:
            wrong = []
            for width in WIDTHS:
                wrong += [f"{width} pixels: {text}" for text in look(chromium, path, width, folder=folder)]
                texts = look(chromium, path, width, scripts=False, folder=folder)
                wrong += [f"{width} pixels, without scripts: {text}" for text in texts]
            texts = look(chromium, path, WIDTHS[0], dark=True, folder=folder)
            wrong += [f"{WIDTHS[0]} pixels, dark: {text}" for text in texts]
    for text in wrong[:40]:
        print(text)
    if len(wrong) > 40:
        print(f"and {len(wrong) - 40} more")
    return 1 if wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except browser.Refused as refused:
        sys.exit(f"Chromium: {refused}")
